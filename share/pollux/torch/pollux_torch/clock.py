"""The mean time of an update, without those that were disturbed."""

import time

SETTLE_STEPS = 2  # the first updates are slow and are not timed
OUTLIER = 8  # updates this many times as long as the mean do not count in the mean
SLOWLY = 0.95  # weight of the former mean for each update of a new one


class Clock:
    """Sums the times of updates until they are taken for a report.

    is_clean is False after a disturbance: the time up to the next update is then not counted.
    """

    __slots__ = ("last_ns", "is_clean", "sum_ns", "n", "limit_ns", "mean_ns", "outliers")

    def __init__(self):
        self.last_ns = 0
        self.is_clean = True
        self.sum_ns = self.n = 0
        self.limit_ns = 0  # a usual update is shorter
        self.mean_ns = 0.0
        self.outliers = 0

    def tick(self, now_ns, own_steps, n=1):
        """After n updates; the last one has the number own_steps in this process."""
        ns, self.last_ns = now_ns - self.last_ns, now_ns
        if not self.is_clean or own_steps <= SETTLE_STEPS:
            self.is_clean = True
            return
        is_long = ns >= self.limit_ns * n
        if is_long and self.mean_ns and self.outliers < 3:
            self.outliers += 1
            return
        self.sum_ns += ns
        self.n += n
        if is_long:
            self.outliers = 0
            self.follow(ns / n, n)

    def follow(self, ns, n):
        """The mean moves towards that of n updates."""
        self.mean_ns = ns + SLOWLY ** n * (self.mean_ns - ns) if self.mean_ns else ns
        self.limit_ns = OUTLIER * self.mean_ns

    def restart(self):
        """Begins anew: work of the helper ran since the last update."""
        self.last_ns = time.perf_counter_ns()

    def take(self):
        """The mean since the last call in ns, or None."""
        if not self.n:
            return None
        mean, n, self.sum_ns, self.n = self.sum_ns // self.n, self.n, 0, 0
        self.follow(mean, n)
        return mean
