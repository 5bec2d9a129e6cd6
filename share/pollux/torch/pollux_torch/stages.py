"""Trainings of one run that follow each other in processes of their own: their positions add up.

The file SOCKET.stage has the number of the stage that has ended last, and the position there. A
process that fails with an exception, or is killed, ends no stage: what trains after it does its
work again. Python does not tell here with which status sys.exit() was called.
"""

import atexit
import os
import sys


class Stage:
    """The training of this process among those of the run."""

    OF_TRAINING = {"STEP", "TOTAL_STEPS", "TOTAL_SAMPLES", "TOTAL_EPOCHS", "ENDS"}

    def __init__(self, socket_path):
        self.path = socket_path and socket_path + ".stage"
        self.number = 1
        self.steps = self.samples = 0  # of the stages before
        self.is_told = False
        self.last = None  # the position that was told last
        self.read()
        atexit.register(self.end)

    def read(self):
        try:
            with open(self.path, "rb") as file:
                number, steps, samples = (int(word) for word in file.read(100).split())
        except (OSError, ValueError, TypeError):
            return
        if number > 0 and steps >= 0 and samples >= 0:
            self.number, self.steps, self.samples = number + 1, steps, samples

    def tell(self, values):
        """Sees what is told of the training; returns what is to be told before, or None."""
        if values.get("STEP") is not None and "CHECKPOINT" not in values:
            self.last = (values["STEP"], values.get("SAMPLES") or 0)
        if self.is_told or self.number == 1 or self.OF_TRAINING.isdisjoint(values):
            return None
        self.is_told = True
        return {"STAGE": self.number, "STEP": self.steps, "SAMPLES": self.samples or None}

    def forget(self):
        """Called in a forked child, whose end is no end of the training."""
        self.last = None

    def end(self):
        has_failed = getattr(sys, "last_type", None) or getattr(sys, "last_exc", None)
        if self.last is None or has_failed or not self.path:
            return
        new = "%s.%d" % (self.path, os.getpid())
        try:
            with open(os.open(new, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
                file.write("%d %d %d\n" % ((self.number,) + self.last))
            os.replace(new, self.path)
        except OSError:
            pass
