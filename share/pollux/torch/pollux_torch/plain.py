"""Counts updates for frameworks that announce each update: Keras, XGBoost, LightGBM."""

import atexit
import time

from .clock import Clock
from .steps import REPORT_EVERY_NS


class PlainSteps:
    """The position of a training, told after each update."""

    def __init__(self, helper):
        self.helper = helper
        self.count = 0  # updates since the first launch, by the framework's own count
        self.consumed = 0  # samples
        self.own = 0
        self.epoch = None
        self.clock = Clock()
        self.sent_ns = 0
        self.totals = {}
        atexit.register(helper.guard("plain.exit", lambda: self.own and self.report()))

    def tick(self, updates=1, samples=0):
        now = time.perf_counter_ns()
        self.count += updates
        self.own += updates
        self.consumed += samples
        self.clock.tick(now, self.own)
        if now - self.sent_ns > REPORT_EVERY_NS:
            self.sent_ns = now
            self.report()

    def pause(self):
        """Called at an evaluation or another pause: time until the next update does not count."""
        self.clock.is_clean = False

    def expect(self, **totals):
        stage = self.helper.reporter.stage
        before = {"TOTAL_STEPS": stage.steps, "TOTAL_SAMPLES": stage.samples}
        totals = {k: v + before.get(k, 0) for k, v in totals.items() if v}
        totals = {k: v for k, v in totals.items() if self.totals.get(k) != v}
        if totals and self.helper.rank.reports():
            self.totals.update(totals)
            self.helper.reporter.send(totals)

    def report(self, send=None, **more):
        stage = self.helper.reporter.stage
        if self.helper.rank.reports():
            (send or self.helper.reporter.send)(dict({
                "STEP": stage.steps + self.count, "EPOCH": self.epoch,
                "SAMPLES": stage.samples + self.consumed if self.consumed else None,
                "STEP_NS": self.clock.take()}, **more))
