"""Finds the length of the training: from the framework, else from the program's own loops.

The helper looks for loops in the source of the running program, around the line that is being
executed, and reads their bounds from the program's variables. A loop is believed once it has
advanced by one for each update (or pass, or epoch) between two looks. `for epoch in range(...)` is
believed at once.
"""

import time

from . import loops

FIRST_END = 3  # updates after which loops that count them were seen
BARS_EVERY_S = 2
BARS_ADVANCE = 20  # updates after which a progress bar is believed


class Pace:
    """How long an epoch is, and what is left of it; 0: not known."""

    def __init__(self, steps):
        stream = steps.samples.stream
        self.passes = stream.length if stream is not None else 0
        self.accumulation = max(1, steps.accumulation)
        self.used = stream.used if stream is not None else 0
        self.follows_size = stream is None or stream.by_size or is_whole_pass(steps, stream)

    @property
    def updates(self):
        """Of an epoch."""
        return self.passes / self.accumulation

    def is_epoch(self, divisor):
        """True for the number of passes or updates of an epoch, or where that is not known."""
        return divisor is not None and (
            divisor == 0 or not self.passes or divisor == self.passes or
            abs(divisor - self.updates) < 1)


def is_whole_pass(steps, stream):
    """True if the batches of a pass hold about as many samples as the data, whoever cut them."""
    batch = (stream.first or steps.samples.batch or stream.batch_size) * max(1, stream.replicas)
    return 0 < stream.of_dataset and \
        abs(stream.length * batch - stream.of_dataset) <= batch + 0.02 * stream.of_dataset


def end_of(found, kinds, pace):
    """What ends the training, by the loops around an update; None: not known.

    A loop that counts updates ends it, unless it is longer than the loop over epochs around it, or
    was computed from the length of the data. Epochs of a number of batches, whatever their size is,
    count updates as well.
    """
    counted = [x for x in found if isinstance(x, loops.Cap) or kinds.get(key_of(x)) in ("step",
                                                                                    "pass")]
    epochs = [x for x in found if kinds.get(key_of(x)) == "epoch"]
    if any(pace.is_epoch(x.per_epoch) for x in epochs):
        return "steps"  # as many epochs as these updates need
    if any(counts_updates(x, kinds, epochs, pace) for x in counted):
        return "steps"
    if epochs or counted:
        return "epochs" if pace.follows_size else "steps"
    if any(kinds.get(key_of(x)) == "samples" for x in found):
        return "samples"
    others = [x.ends for x in found if isinstance(x, loops.Unbounded)]
    return others[0] if others else None


def key_of(loop):
    return getattr(loop, "key", None)


def counts_updates(loop, kinds, epochs, pace):
    if loop.follows_data or (loop.is_named_epoch and 0 < pace.updates <= 1):
        return False
    if loop.is_with_data and pace.passes:
        return loop.total < pace.passes
    if not epochs or not pace.passes or loop.is_for:
        return True
    # A counter of updates in a loop over epochs: the first one to end.
    left = epochs[0].left * pace.passes - pace.used
    if kinds.get(loop.key) == "step":
        left /= pace.accumulation
    return loop.left < left - 1


class Totals:
    def __init__(self, helper, torch, steps):
        self.helper = helper
        self.steps = steps
        self.from_framework = None  # function() -> dictionary of keys to report
        self.sent = {}
        self.finder = loops.Finder()
        self.looks = {}  # loop -> (its value, updates, passes, epochs) when it was first seen
        self.kinds = {}  # loop -> "step", "pass", "epoch" or "samples", once it is believed
        self.counted = {}  # loop -> "step" or "pass", once it was seen to count them
        self.bars = None  # WeakSet of progress bars, once tqdm is there
        self.bars_seen = {}
        self.bars_due = 0.0
        self.end = None  # what ends the training: a word of ENDS, see pollux-report(1)
        self.end_from_framework = None  # function() -> such a word, or None
        self.look_guarded = helper.guard("totals.look", self.look)
        steps.samples.on_epoch = helper.guard("totals.epoch", self.epoch_begins)
        steps.look = self.before_pass
        steps.extras.append(helper.guard("totals.report", self.report))

    @property
    def counts_iterations(self):
        """The training ends after a number of updates, whatever their batch is."""
        return self.end == "steps"

    def ends_by(self, end):
        if end and end != self.end and self.helper.rank.reports():
            self.end = end
            self.helper.reporter.send({"ENDS": end})

    def before_pass(self):
        """Looks at the loops, in the first pass of the updates of LOOKS."""
        if not self.from_framework:
            self.look_guarded()

    def epoch_begins(self, stream):
        epochs = self.steps.samples.epochs
        if self.steps.own and not self.from_framework and epochs & (epochs - 1) == 0:
            self.look_guarded()  # in epochs 1, 2, 4, 8, ...

    # --- the program's own loops

    def look(self):
        """Compares the loops around the running line with their state at the last look."""
        steps = self.steps
        now = (steps.own, steps.total_passes + steps.passes, steps.samples.epochs,
               steps.consumed // max(1, steps.replicas))
        found = self.finder.all()
        self.reads_passes = any(isinstance(x, loops.Pass) for x in found)
        loops_found = [x for x in found if isinstance(x, loops.Loop)]
        for loop in loops_found:
            if isinstance(loop, loops.Cap):
                continue
            key, value = loop.key, loop.value
            if key not in self.looks:
                self.looks[key] = (value, now)
                if loop.is_named_epoch and loop.is_for:
                    self.kinds[key] = "epoch"
            else:
                self.believe(key, value, now)
            if key in self.kinds:
                self.tell(self.kinds[key], loop)
            if self.kinds.get(key) in ("step", "pass"):
                self.counted[key] = self.kinds[key]
        if steps.own >= FIRST_END:
            self.ends_by(end_of(found, {**self.kinds, **self.counted}, Pace(steps)))

    def believe(self, key, value, now):
        before, then = self.looks[key]
        advance = value - before
        updates, passes, epochs, samples = (n - t for n, t in zip(now, then))
        if updates == 0 or advance == 0:
            return
        if advance == updates:
            self.kinds[key] = "step"
        elif advance == passes:
            self.kinds[key] = "pass"
        elif advance == epochs and updates > epochs:
            self.kinds[key] = "epoch"
        elif samples > updates and advance % samples == 0:
            self.kinds[key] = "samples"  # or the tokens, or the pixels, of each
        else:
            self.kinds.pop(key, None)
            self.looks[key] = (value, now)

    def tell(self, kind, loop):
        steps = self.steps
        if kind == "epoch":
            if loop.total is not None:
                self.tell_epochs(loop)
            return
        if kind == "samples":
            return
        left = loop.left if kind == "step" else loop.left // max(1, steps.accumulation)
        if "TOTAL_EPOCHS" not in self.sent:
            self.send(TOTAL_STEPS=steps.count + left)

    def tell_epochs(self, loop):
        steps, stream = self.steps, self.steps.samples.stream
        values = {"TOTAL_EPOCHS": loop.total}
        if stream is not None and stream.length and steps.samples.way == "pass":
            per_epoch = stream.length / max(1, steps.accumulation)
            begun = max(0, stream.used - steps.passes) / stream.length  # of this epoch
            values["TOTAL_STEPS"] = round(steps.count + (loop.left - begun) * per_epoch)
            if stream.samples:
                left = loop.left * stream.samples - begun * stream.samples
                values["TOTAL_SAMPLES"] = round(steps.consumed + left * steps.samples.replicas())
            self.epoch_base = loop.total - loop.left - (steps.samples.epochs - 1)
        self.send(**values)

    epoch_base = None

    def epoch_now(self):
        """Epochs done, as a number with a fraction, where a loop over epochs was found."""
        stream = self.steps.samples.stream
        if self.epoch_base is None or stream is None or not stream.length:
            return None
        return self.epoch_base + self.steps.samples.epochs - 1 + stream.used / stream.length

    reads_passes = False  # the program has a loop over the data around the update

    def epochs_read(self):
        """Passes over the data in this process, where no loop over epochs was found. A program that
        takes batches from an endless iterator has no epochs that could end it."""
        samples = self.steps.samples
        if samples.epochs < 2 or self.steps.count != self.steps.own or not self.reads_passes:
            return None
        return samples.epochs - 1

    # --- progress bars

    def watch_bars(self, tqdm_class):
        import weakref

        self.bars = weakref.WeakSet()
        real_init = tqdm_class.__init__

        def __init__(bar, *args, **kwargs):
            real_init(bar, *args, **kwargs)
            try:
                self.bars.add(bar)
            except Exception:
                pass

        __init__.__doc__, __init__.__wrapped__ = real_init.__doc__, real_init
        tqdm_class.__init__ = __init__

    def look_at_bars(self):
        """Believes a bar that advances by one for each update."""
        steps = self.steps
        for bar in list(self.bars):
            total, n = getattr(bar, "total", None), getattr(bar, "n", None)
            if not isinstance(total, (int, float)) or not n or total < n:
                continue
            before = self.bars_seen.setdefault(id(bar), (n, steps.own))
            updates = steps.own - before[1]
            stream = steps.samples.stream
            is_of_epoch = stream is not None and total == stream.length
            if updates >= BARS_ADVANCE and abs(n - before[0] - updates) <= 1 and not is_of_epoch:
                self.ends_by("steps")
                self.send(TOTAL_STEPS=int(steps.count + total - n))

    # --- reports

    def report(self):
        """More keys for a report of an update."""
        if self.from_framework is not None:
            values = self.from_framework() or {}
            if self.end_from_framework is not None:
                self.ends_by(self.end_from_framework())
            self.send(**{k: v for k, v in values.items() if k.startswith("TOTAL")})
            return {k: v for k, v in values.items() if not k.startswith("TOTAL")}
        now = time.monotonic()
        if self.bars and now > self.bars_due and not self.sent and self.end is None:
            self.bars_due = now + BARS_EVERY_S
            self.look_at_bars()
        return {"EPOCH": self.epoch_now() or self.epochs_read()}

    def send(self, **values):
        """Sends new totals. A difference of one update is not new."""
        news = {k: v for k, v in values.items() if abs(self.sent.get(k, -9) - v) > 1}
        if news and self.helper.rank.reports():
            self.sent.update(news)
            self.helper.reporter.send(news)
