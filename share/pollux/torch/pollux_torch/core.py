"""Shared by all parts: reports, the rank of this process, and parts that can be switched off."""

import functools
import math
import os
import socket
import time

from .kept import KeptFile
from .stages import Stage


START_NS = 5_000_000  # what it costs at Python's start, before its own time is taken


class InjectedFault(Exception):
    """Raised by a hook that POLLUX_TORCH_FAULT names. Only tests set that variable."""


class Reporter:
    """Sends datagrams of KEY=VALUE lines to the supervisor. Waits only at the end.

    A report with a key in KEPT is sent again with the next report if it could not be delivered. A
    position that nobody took is kept in a file.
    """

    KEPT = {"CHECKPOINT", "RESUMED", "FRAMEWORK", "HELPER", "TOTAL_STEPS", "TOTAL_SAMPLES",
            "TOTAL_EPOCHS", "PARAMETERS", "ENDS", "OPTIMIZER", "OUT_OF_MEMORY", "RESUMES", "ENDED",
            "STAGE"}
    MAX_KEPT = 32
    MAX_TEXT = 1000  # characters of one value
    LAST_TRIES, CHECKPOINT_TRIES, TRY_EVERY_S = 20, 1000, 0.01

    def __init__(self, path):
        self.path = path
        self.socket = None
        self.is_full = False
        self.kept = []
        self.file = KeptFile(path) if path else None
        self.stage = Stage(path)

    def send_last(self, values):
        """Before the program's end. Waits a moment if the supervisor has not read what came, and
        ten seconds to tell of a checkpoint."""
        for n in range(self.CHECKPOINT_TRIES):
            is_sent = self.send(values)
            if is_sent or not self.is_full:
                break
            if n >= self.LAST_TRIES and not any(b"CHECKPOINT=" in m for m in self.kept):
                break
            time.sleep(self.TRY_EVERY_S)
        if self.file is not None:
            self.file.end(self.socket, is_sent)

    def send(self, values):
        first = self.stage.tell(values)
        if first is not None:
            self.send(first)
        lines = [self.line(k, v) for k, v in values.items() if v is not None]
        message = "".join(lines).encode("utf-8", "surrogateescape")
        while self.kept:
            if not self.deliver(self.kept[0]):
                break
            del self.kept[0]
        is_sent = not message or self.deliver(message)
        if self.file is not None and (b"STEP=" in message or b"SAMPLES=" in message):
            self.file.add(message, is_sent)
        if not is_sent and not self.KEPT.isdisjoint(values):
            self.kept = self.kept[-self.MAX_KEPT:] + [message]
        return is_sent and not self.kept

    def line(self, key, value):
        if isinstance(value, float):
            if not math.isfinite(value) and key != "LOSS":
                return ""
            value = "%.9g" % value
        text = "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else " "
                       for c in str(value))
        return "%s=%s\n" % (key, text if key in ("CHECKPOINT", "RESUMED") else text[:self.MAX_TEXT])

    def deliver(self, message):
        try:
            if self.socket is None:
                kind = socket.SOCK_DGRAM | socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK
                self.socket = socket.socket(socket.AF_UNIX, kind)
            self.socket.sendto(message, self.path)
            return True
        except OSError as error:
            self.is_full = isinstance(error, BlockingIOError)
            return False

    def forget_socket(self):
        """Called in a forked child: the parent keeps the socket."""
        if self.socket is not None:
            self.socket.close()
        self.socket, self.kept = None, []
        self.stage.forget()


class Rank:
    """The place of this process among those that train together, and whether it reports."""

    def __init__(self):
        self.claim = None
        self.refused = False

    @staticmethod
    def number():
        group = distributed()
        return group.get_rank() if group else int(os.environ.get("RANK") or 0)

    @staticmethod
    def world():
        group = distributed()
        return group.get_world_size() if group else 1

    def reports(self):
        """True for one process of the job at a time: rank 0, and the first one that trains.

        The claim is the name of an abstract socket, which the kernel drops with its process.
        """
        if self.claim is None and not self.refused:
            self.refused = self.number() != 0 or not self.take_claim()
        return self.claim is not None

    def take_claim(self):
        name = "\0pollux-torch:" + os.environ.get("POLLUX_REPORT_SOCKET", "")[-90:]
        claim = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC)
        try:
            claim.bind(name)
        except OSError:
            claim.close()
            return False
        self.claim = claim
        return True

    def forget(self):
        """Called in a forked child: the claim belongs to the parent."""
        if self.claim is not None:
            self.claim.close()
        self.claim, self.refused = None, False


def distributed():
    """The module torch.distributed if a process group is there, else None."""
    import sys

    module = sys.modules.get("torch.distributed")
    try:
        return module if module and module.is_available() and module.is_initialized() else None
    except Exception:
        return None


class Helper:
    """Holds the parts. One in a process."""

    def __init__(self):
        environ = os.environ.get
        self.options = set((environ("POLLUX_TORCH") or "off").split(","))
        self.fault = environ("POLLUX_TORCH_FAULT")
        self.reporter = Reporter(environ("POLLUX_REPORT_SOCKET") or "")
        self.rank = Rank()
        self.refusals = {}  # part -> why it is off
        self.on_refusal = {}  # part -> function that takes away what it installed
        # Parts, once torch is there.
        self.steps = self.totals = self.checkpoints = self.learning_rate = None
        self.optimizers = None  # another part
        self.before_step, self.after_step = [], []  # the hooks of optimizers that torch calls
        self.tqdm = None  # the class, once tqdm is there
        self.versions = []
        self.start_ns = START_NS  # what the helper cost before the first update
        os.register_at_fork(after_in_child=self.after_fork)

    def after_fork(self):
        self.reporter.forget_socket()
        self.rank.forget()

    def framework(self, name, version):
        """Reports that a framework is in use. The first call also reports that the helper is on."""
        text = "%s %s" % (name, version)
        if text not in self.versions:
            self.versions.append(text)
            self.reporter.send({"FRAMEWORK": ", ".join(self.versions)})

    def refuse(self, part, why):
        """Switches a part off for good and says so once."""
        if part in self.refusals:
            return
        self.refusals[part] = " ".join(str(why).split())[:200]
        undo = self.on_refusal.get(part)
        if undo is not None:
            try:
                undo()
            except Exception:
                pass
        if not self.rank.refused:
            text = "; ".join("no %s: %s" % item for item in self.refusals.items())
            self.reporter.send({"HELPER": text})

    def refuse_updates(self, passes):
        """The program changes its parameters without an optimizer that torch knows: no update is
        seen, and the learning rate of none can be scaled."""
        why = "no step of an optimizer of torch in %d backward passes" % passes
        if self.learning_rate is not None and self.learning_rate.scale != 1.0:
            self.refuse("learning rate", why)
        if "batch" in self.options:
            self.refuse("batch", why)
        self.refuse("steps", why)

    def ended(self, is_whole, report=None):
        """Tells that a training has ended. is_whole: it came to its last update, so that nothing
        is left to do, even if the program was told to stop meanwhile. report sends the position
        as well: an update that is told later would be one of another training."""
        values = {"ENDED": 1 if is_whole else 2}
        if report is not None:
            report(send=lambda position: self.reporter.send(dict(position, **values)))
        elif self.rank.reports():
            self.reporter.send(values)

    def is_off(self, part):
        return part in self.refusals

    def guard(self, name, function):
        """Wraps a hook: an error in the hook switches its part off and does not reach the program.

        name is 'part.hook'. The wrapped hook returns None if it is off or has failed.
        """
        part = name.split(".")[0].replace("_", " ")
        function = self.or_fault(name, function)
        refusals = self.refusals

        @functools.wraps(function)
        def guarded(*args, **kwargs):
            if refusals and part in refusals:
                return None
            try:
                return function(*args, **kwargs)
            except Exception as error:
                self.fault_in(part, error)
                return None

        return guarded

    def guard_step(self, name, function):
        """guard() for a hook that every step of an optimizer calls; faster than guard()."""
        part = name.split(".")[0].replace("_", " ")
        function = self.or_fault(name, function)
        refusals = self.refusals

        def guarded(optimizer, args, kwargs):
            if refusals and part in refusals:
                return
            try:
                function(optimizer)
            except Exception as error:
                self.fault_in(part, error)

        return guarded

    def or_fault(self, name, function):
        """The function; or, if a test asks for it, a function that fails."""
        return fail if self.fault in (name, name.split(".")[0]) else function

    def fault_in(self, part, error):
        self.refuse(part, "%s in the helper: %s" % (type(error).__name__, error))


def fail(*args, **kwargs):
    raise InjectedFault("injected")


_helper = None


def helper():
    """The helper of this process, made at the first call."""
    global _helper
    if _helper is None:
        _helper = Helper()
    return _helper
