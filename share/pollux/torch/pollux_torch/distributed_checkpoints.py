"""Checkpoints of torch.distributed.checkpoint: directories, complete when .metadata is written.

The position is that of the call. async_save() writes on while the training goes on: its checkpoint
is told at the first update that finds the directory complete.
"""

import functools
import os

from . import core


class Directory:
    """A checkpoint that is being written."""

    is_weights = False

    def __init__(self, path, steps):
        self.path = path
        self.step, self.samples = steps.position()
        self.base = steps.base
        self.before = self.identity()

    def identity(self):
        try:
            st = os.stat(metadata_of(self.path))
            return (st.st_ino, st.st_size, st.st_mtime_ns)
        except OSError:
            return None

    def is_complete(self):
        return self.identity() not in (None, self.before)


def metadata_of(path):
    return os.path.join(path, ".metadata")


def directory_of(kwargs, storage):
    """The directory that save() or load() was given, or None for another kind of storage."""
    path = kwargs.get("checkpoint_id") or getattr(kwargs.get(storage), "path", None)
    path = os.fspath(path) if isinstance(path, (str, os.PathLike)) else ""
    return os.path.abspath(path) if path and "://" not in path else None


def watch_saver(module):
    helper = core.helper()
    guard = helper.guard
    begin = guard("checkpoints.distributed",
                  lambda state, kwargs: begin_save(helper, state, kwargs))
    tell = guard("checkpoints.written", lambda: tell_complete(helper))

    def wrap(real):
        @functools.wraps(real)
        def save(state_dict, *args, **kwargs):
            begin(state_dict, kwargs)
            result = real(state_dict, *args, **kwargs)
            tell()
            return result

        return save

    for name in ("save", "async_save"):
        if hasattr(module, name):
            setattr(module, name, wrap(getattr(module, name)))


def begin_save(helper, state, kwargs):
    files = helper.checkpoints
    if files is None:
        return
    files.steps.is_disturbed()
    path = directory_of(kwargs, "storage_writer")
    if path and files.holds_position(state) and helper.rank.reports():
        files.directories.append(Directory(path, files.steps))
        files.tell_later()


def tell_complete(helper):
    """After a save, and after updates as long as one is under way."""
    files = helper.checkpoints
    if files is not None:
        files.tell_directories()


def watch_loader(module):
    helper = core.helper()
    real = module.load
    begin = helper.guard("checkpoints.loading", lambda kwargs: begin_load(helper, kwargs))

    @functools.wraps(real)
    def load(state_dict, *args, **kwargs):
        begin(kwargs)  # before: an optimizer may take its state within
        return real(state_dict, *args, **kwargs)

    module.load = load


def begin_load(helper, kwargs):
    files = helper.checkpoints
    path = directory_of(kwargs, "storage_reader")
    if files is None or path is None:
        return
    files.steps.is_disturbed()
    try:
        entry = files.positions.find(metadata_of(path), os.stat(metadata_of(path)))
    except OSError:
        return
    if entry is not None:
        files.loaded = (path, entry)
