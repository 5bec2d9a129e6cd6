"""Sees which checkpoints the program writes and reads, and keeps the position of each.

A file with the state of an optimizer is a checkpoint. A load is a resume once an optimizer takes
the loaded state. A file of weights alone is a checkpoint only of a program that begins from it:
weights.py. A program that loads its best weights at the end does not resume.

Positions are kept in one file in POLLUX_CHECKPOINT_DIR, by the inode of the checkpoint's file:
programs write under another name first and rename. What was saved into memory is known again by
its content, wherever the program has put it; pollux is told no path of it. Nothing is put into
directories of the program.
"""

import functools
import hashlib
import json
import os
import re
import weakref

from .saved_values import has_optimizer, holds_optimizer_object, holds_weights
from .weights import Weights

MAX_KEPT = 200  # positions; the oldest are dropped
CONTENT_BYTES = 1 << 16  # at each end of a file: its index, with check sums of all tensors, is last
# Words in names of files that get another name once they are written. They are those of the engine
# (marks and locks in checkpoint_names.c), which looks more closely at where a word stands: here a
# word that means something else only delays a report to the next update.
TEMPORARY = frozenset(
    "tmp incomplete unfinished inprogress uncommitted crdownload temporary partial temp writing "
    "saving progress part filepart new download opdownload swp swo swx gstmp aria wip staging "
    "lock lck pending dirty corrupt corrupted broken bad failed invalid deleted delete deleting "
    "trash".split())


class Positions:
    """The file of positions: a list of {path, dev, ino, size, mtime, step, samples, base}.

    What was saved into memory has an empty path and an entry for its content. Weights without an
    optimizer have a true entry for weights.
    """

    KEYS = {"path", "dev", "ino", "size", "mtime", "step", "samples"}

    def __init__(self, directory):
        self.path = directory and os.path.join(directory, ".pollux-torch.json")

    def read(self):
        """The entries of the file. Whatever else lies at its path counts as no entries."""
        if not self.path or not os.path.isfile(self.path):
            return []
        try:
            with open(self.path) as file:
                entries = json.load(file)
        except (OSError, ValueError):
            return []
        if not isinstance(entries, list):
            return []
        return [e for e in entries if isinstance(e, dict) and e.keys() >= self.KEYS]

    def add(self, saved, path, st, is_settled):
        if not self.path:
            return
        self.write({"path": path, "dev": st.st_dev, "ino": st.st_ino, "step": saved.step,
                    "samples": saved.samples, "base": getattr(saved, "base", 0),
                    "size": st.st_size if is_settled else None,
                    "mtime": st.st_mtime_ns if is_settled else None,
                    "weights": saved.is_weights},
                   lambda e: (e.get("dev"), e.get("ino")) == (st.st_dev, st.st_ino))

    def add_content(self, content, step, samples, base=0):
        if self.path and content:
            self.write({"path": "", "dev": None, "ino": None, "size": None, "mtime": None,
                        "content": content, "step": step, "samples": samples, "base": base},
                       lambda e: e.get("content") == content)

    def write(self, entry, is_former):
        others = [e for e in self.read() if not is_former(e)]
        new = "%s.%d" % (self.path, os.getpid())
        os.makedirs(os.path.dirname(self.path), exist_ok=True)
        with open(new, "w") as file:
            json.dump(others[-MAX_KEPT:] + [entry], file)
        os.replace(new, self.path)

    def find(self, path, st):
        """The entry of this file, or of a copy of it that kept its name and time."""
        name = os.path.basename(path)
        entries = self.read()
        for e in reversed([e for e in entries if "content" not in e]):
            is_same = (e["size"], e["mtime"]) == (st.st_size, st.st_mtime_ns)
            if (e["dev"], e["ino"]) == (st.st_dev, st.st_ino):
                if is_same or e["size"] is None:
                    return e
            elif is_same and os.path.basename(e["path"]) == name:
                return e
        if any("content" in e for e in entries):
            with open(path, "rb") as file:
                return self.find_content(content_of(file))
        return None

    def find_content(self, content):
        return next((e for e in reversed(self.read())
                     if content and e.get("content") == content), None)


class Saved:
    """A checkpoint that was written and may still be renamed."""

    def __init__(self, path, st, file, steps, is_weights):
        self.path = path
        # The program may leave the closing to its last reference.
        self.file = None if file is None else weakref.ref(file)
        self.key = (st.st_dev, st.st_ino)
        self.step, self.samples = steps.position()
        self.base = steps.base
        self.is_weights = is_weights  # and no optimizer
        self.told = None

    def is_open(self):
        file = self.file and self.file()
        return file is not None and not file.closed


class Checkpoints:
    def __init__(self, helper, torch, steps):
        self.helper = helper
        self.torch = torch
        self.steps = steps
        self.positions = Positions(os.environ.get("POLLUX_CHECKPOINT_DIR"))
        self.saved = []
        self.directories = []  # those that are being written: distributed_checkpoints.py
        self.loaded = None  # the position of the file that was read last
        self.has_resumed = False
        self.weights = Weights(helper, torch, self)
        self.pause = None  # function to be called when a save has taken time
        self.install()

    def install(self):
        import atexit
        import importlib

        torch, guard = self.torch, self.helper.guard
        after_save = guard("checkpoints.save", self.after_save)
        after_load = guard("checkpoints.load", self.after_load)
        resumed = guard("checkpoints.resume", self.optimizer_loaded)
        real_save, real_load = torch.save, torch.load

        @functools.wraps(real_save)
        def save(obj, f, *args, **kwargs):
            result = real_save(obj, f, *args, **kwargs)
            after_save(obj, f)
            return result

        @functools.wraps(real_load)
        def load(f, *args, **kwargs):
            result = real_load(f, *args, **kwargs)
            after_load(f, result)
            return result

        torch.save = torch.serialization.save = save
        torch.load = torch.serialization.load = load
        optimizer = importlib.import_module("torch.optim.optimizer").Optimizer
        real_state = optimizer.load_state_dict

        @functools.wraps(real_state)
        def load_state_dict(self, *args, **kwargs):
            result = real_state(self, *args, **kwargs)
            resumed()
            return result

        load_state_dict._torchdynamo_disable = True
        optimizer.load_state_dict = load_state_dict
        self.tell_saved = guard("checkpoints.tell", self.tell)
        atexit.register(self.tell_saved)

    # --- saves

    def after_save(self, obj, f):
        self.steps.clock.is_clean = False
        path, file = path_of(f)
        is_whole = has_optimizer(self.torch, obj)
        if not is_whole and not (path and self.steps.own and holds_weights(self.torch, obj)):
            return
        if not self.helper.rank.reports():
            return
        if path:
            self.written(path, file, not is_whole)
        else:
            self.positions.add_content(content_of(f), *self.steps.position(), self.steps.base)

    def holds_position(self, state):
        """True if a state dictionary holds an optimizer, or objects that make their own."""
        return has_optimizer(self.torch, state) or any(
            hasattr(v, "load_state_dict") for v in getattr(state, "values", tuple)())

    def written(self, path, file=None, is_weights=False):
        """Notes a checkpoint at this path, which is complete once file is closed."""
        st = os.stat(path)
        saved = Saved(path, st, file, self.steps, is_weights)
        self.positions.add(saved, path, st, file is None)
        self.saved = [s for s in self.saved if s.key != saved.key][-15:] + [saved]
        self.tell_later()
        if file is None and not is_temporary(path) and not is_part(path):
            self.send(saved, path)

    def tell_later(self):
        self.steps.tick_at = 0  # the next update tells
        if self.tell_saved not in self.steps.after_update:
            self.steps.after_update.append(self.tell_saved)

    def tell_directories(self):
        for found in [d for d in self.directories if d.is_complete()]:
            self.directories.remove(found)
            path = os.path.join(found.path, ".metadata")
            self.positions.add(found, path, os.stat(path), True)
            self.helper.reporter.send({"CHECKPOINT": found.path, "STEP": found.step,
                                       "SAMPLES": found.samples})

    def tell(self):
        """Reports checkpoints at the next update, or the end: files have their names by then."""
        waiting = []
        for saved in self.saved:
            if saved.is_open():
                waiting.append(saved)
                continue
            path = find_inode(saved.path, saved.key)
            if path is None:
                continue
            if saved.file is not None or path != saved.path:
                self.positions.add(saved, path, os.stat(path), True)
            self.send(saved, os.path.dirname(path) if is_part(path) else path)
        self.saved = waiting
        self.tell_directories()
        if not waiting and not self.directories and self.tell_saved in self.steps.after_update:
            self.steps.after_update = [
                f for f in self.steps.after_update if f is not self.tell_saved]

    def send(self, saved, path):
        if saved.told != path and (not saved.is_weights or path == self.weights.path):
            saved.told = path
            self.helper.reporter.send(
                {"CHECKPOINT": path, "STEP": saved.step, "SAMPLES": saved.samples})

    # --- loads

    def after_load(self, f, obj):
        self.steps.clock.is_clean = False
        path, _ = path_of(f)
        if path and os.path.exists(path):
            entry = self.positions.find(path, os.stat(path))
        else:
            entry = self.positions.find_content(content_of(f))
        if entry is not None and entry.get("weights"):
            self.weights.loaded(path, entry, obj)
        elif entry is not None:
            path = path or "memory"
            self.loaded = (os.path.dirname(path) if is_part(path) else path, entry)
            if holds_optimizer_object(self.torch, obj):
                self.optimizer_loaded()

    def optimizer_loaded(self):
        if self.loaded is None:
            return
        found, self.loaded = self.loaded, None
        self.resume_at(*found)

    def resume_at(self, path, entry, taken=0):
        """taken: samples of passes since then."""
        self.has_resumed = True
        if self.steps.resume(entry["step"], entry["samples"], taken, entry.get("base", 0)) \
                and self.helper.rank.reports():
            self.helper.reporter.send(
                {"RESUMED": path, "STEP": entry["step"], "SAMPLES": entry["samples"]})


def path_of(f):
    """(absolute path, file object or None) for the argument of torch.save or torch.load."""
    if isinstance(f, (str, os.PathLike)):
        return os.path.abspath(os.fspath(f)), None
    for name in (getattr(f, "name", None), getattr(f, "path", None)):
        if isinstance(name, str) and os.path.exists(name):
            return os.path.abspath(name), f if hasattr(f, "closed") else None
    return None, None


def content_of(file):
    """A digest of the ends of an open file or buffer, or None. Its position stays."""
    try:
        position = file.tell()
        try:
            size = file.seek(0, os.SEEK_END)
            digest = hashlib.sha256(str(size).encode())
            for start in (0, max(0, size - CONTENT_BYTES)):
                file.seek(start)
                digest.update(file.read(CONTENT_BYTES))
        finally:
            file.seek(position)
        return digest.hexdigest()
    except (AttributeError, OSError, TypeError, ValueError):
        return None


def is_part(path):
    """True for a file that frameworks write beside the weights: the directory is the checkpoint."""
    return os.path.basename(path).startswith("optimizer")


def is_temporary(path):
    name = os.path.basename(path)
    words = [word.lower() for word in re.findall("[A-Z]*[a-z]+|[A-Z]+", name)]
    return name.startswith((".", "#")) or name.endswith("~") or any(
        word in TEMPORARY or re.match("tmp(?!l)", word) for word in words)


def find_inode(path, key):
    """Finds the file that was at path: at path, in its directory, or in a sibling directory."""
    def is_it(p):
        try:
            st = os.stat(p)
        except OSError:
            return False
        return (st.st_dev, st.st_ino) == key

    if is_it(path):
        return path
    directory, name = os.path.split(path)
    for place, suffix in ((directory, ""), (os.path.dirname(directory), name)):
        try:
            names = os.listdir(place)
        except OSError:
            continue
        for n in names:
            candidate = os.path.join(place, n, suffix) if suffix else os.path.join(place, n)
            if is_it(candidate):
                return candidate
    return None
