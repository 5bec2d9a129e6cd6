"""When an update may be sampled: a ledger of the time that sampling has taken."""

import os
import time


def process_age_ns():
    """Time since the process began: a share of the start, too, may be spent on samples."""
    try:
        with open("/proc/self/stat", "rb") as file:
            ticks = int(file.read().rpartition(b")")[2].split()[19])
        born_ns = ticks * 10**9 // os.sysconf("SC_CLK_TCK")
        return max(0, time.clock_gettime_ns(time.CLOCK_BOOTTIME) - born_ns)
    except (OSError, ValueError, IndexError, AttributeError):
        return 0


class Budget:
    """Spends at most a share of the run's time on samples, with all their costs.

    The cost of a sampled update is the larger of two figures: the time in the helper's own
    sections, and the update's time less that of updates before it. The second figure includes costs
    that the helper cannot see, such as cold caches and slower calls of modules. It is noisy, so at
    most HIDDEN_RATIO times the first figure counts.
    """

    HIDDEN_RATIO = 3
    SAVED_WINDOWS = 8  # unspent time is kept up to the cost of this number of windows
    RECENT = 8  # windows whose mean cost predicts the cost of the next window
    GUESS_STEPS = 2  # cost of the first window in steps: it has no update for its norm alone

    def __init__(self, share, now_ns):
        self.share = share
        self.start_ns = now_ns - process_age_ns()
        self.spent_ns = 0
        self.costs = []

    def charge(self, ns):
        self.spent_ns += ns

    @classmethod
    def cost(cls, sections_ns, step_ns, usual_ns):
        """The cost of one sampled update; usual_ns is an unsampled one's time, 0 if not known."""
        excess = step_ns - usual_ns if usual_ns else 0
        return min(max(sections_ns, excess), cls.HIDDEN_RATIO * sections_ns)

    def window_done(self, ns):
        self.costs = self.costs[-self.RECENT + 1:] + [ns]

    def window_cost(self, usual_ns):
        if not self.costs:
            return self.GUESS_STEPS * usual_ns
        return sum(self.costs) / len(self.costs)

    def updates_to_wait(self, now_ns, usual_ns, other_ns=0):
        """0 if the next window may begin now, else about how many updates later.

        other_ns: what the rest of the helper has cost so far.
        """
        cost = self.window_cost(usual_ns)
        unspent = self.share * (now_ns - self.start_ns) - self.spent_ns - other_ns
        if unspent > self.SAVED_WINDOWS * cost:
            self.spent_ns += int(unspent - self.SAVED_WINDOWS * cost)
        if unspent >= cost:
            return 0
        if self.share <= 0:
            return 1 << 40
        return int((cost - unspent) / self.share / max(usual_ns, 1000)) + 1
