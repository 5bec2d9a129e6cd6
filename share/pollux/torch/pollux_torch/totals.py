"""Finds the length of the training: from the framework, else from the program's own loops.

The helper looks for loops in the source of the running program, around the line that is being
executed, and reads their bounds from the program's variables. A loop is believed once it has
advanced by one for each update (or pass, or epoch) between two looks. `for epoch in range(...)` is
believed at once.
"""

import math
import time

from . import loops, nest

SURE_UPDATES = 3  # after which totals are told
PASSED = 2  # updates beyond the total, after which it was none
SOON = (1, 4, 30)  # updates after which loops are looked at once such a total was dropped
STEADY = 0.03
AGAIN = 2  # times as many updates of an iteration as before: the loops are run again
MAX_DIVISOR = 64  # batches of an update
MANY_UPDATES = 20  # of which one more or less is no other ratio
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


class Record:
    """What was seen of loops around an update, since they were seen first."""

    def __init__(self, steps):
        self.began = steps.own  # updates then
        self.first = None  # (updates, iterations of the innermost loop), once these are known
        self.last = None  # the same at the last look
        self.counts = {}  # key of a counter -> [(updates, passes, its value), ...]
        self.each = 1.0  # updates of an iteration of the innermost loop
        self.is_sure = False  # several updates were seen
        self.begins_anew = False  # the loops are run several times, nobody knows how often

    def see(self, levels, steps, may_be_rest):
        own, passes = steps.own, steps.total_passes + steps.passes
        each = own / steps.total_passes if own and steps.total_passes else self.each
        if may_be_rest:
            nest.mark_rest(levels, steps.count - steps.base, each)
        at = nest.position(levels)
        if at is not None and self.last is not None:
            # Fewer iterations than updates since the last look: others were in between.
            self.begins_anew |= own - self.last[0] > AGAIN * self.each * max(0, at - self.last[1])
        self.last = (own, at) if at is not None else None
        self.each = each
        if at is not None:
            self.first = self.first or (own, at)
            updates, iterations = own - self.first[0], at - self.first[1]
            if updates > 0 and iterations > 0:
                self.each = simple(updates, iterations)
        self.is_sure |= own - self.began >= SURE_UPDATES
        for counter in (c for level in levels for c in level.counters):
            seen = self.counts.setdefault(counter.key, [])
            if seen and counter.value < seen[-1][2]:
                seen.clear()
            seen.append((own, passes, counter.value))

    def rate_of(self, counter):
        """Updates of one count: of updates or passes, or of what advances as steadily as these."""
        seen = self.counts[counter.key]
        updates, passes, advance = (b - a for a, b in zip(seen[0], seen[-1]))
        if not updates or not advance:
            return None
        is_steady = len(seen) > 2 and all(
            abs((b[0] - a[0]) / updates - (b[2] - a[2]) / advance) < STEADY and b[2] - a[2] > 1
            for a, b in zip(seen, seen[1:]))
        return updates / advance if advance in (updates, passes) or is_steady else None


def simple(updates, iterations):
    """Their ratio: that of small numbers, where an update more or less would make it so."""
    for divisor in range(1, MAX_DIVISOR + 1 if updates >= MANY_UPDATES else 0):
        near = round(updates / iterations * divisor)
        if near and abs(near * iterations / divisor - updates) <= 1:
            return near / divisor
    return updates / iterations


class Totals:
    def __init__(self, helper, torch, steps):
        self.helper = helper
        self.steps = steps
        self.from_framework = None  # function() -> dictionary of keys to report
        self.sent = {}
        self.finder = loops.Finder()
        self.looks = {}  # loop -> (its value, updates, passes, epochs) when it was first seen
        self.nests = {}  # loops around an update, and their callers -> Record
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
        epochs, total = self.steps.samples.epochs, self.sent.get("TOTAL_STEPS") or math.inf
        if self.steps.own and not self.from_framework and (
                epochs & (epochs - 1) == 0 or self.steps.count >= total):
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
            if self.kinds.get(key) in ("step", "pass"):
                self.counted[key] = self.kinds[key]
        if steps.own >= FIRST_END:
            self.ends_by(end_of(found, {**self.kinds, **self.counted}, Pace(steps)))
        self.look_at_nest()

    def believe(self, key, value, now):
        before, then = self.looks[key]
        advance = value - before
        updates, passes, epochs, samples = (n - t for n, t in zip(now, then))
        if updates == 0 or advance == 0 or advance == updates == epochs == 1:
            return  # by one alone nobody can tell whether it counts updates or epochs
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

    # --- what is left of them

    def look_at_nest(self):
        """Tells the totals that follow from the loops, or that they are not known."""
        steps = self.steps
        levels, sites = self.finder.levels()
        self.see_loaders(levels)
        nest.settle(levels)
        key = (tuple(x.key for x in levels), sites)
        record = self.nests.get(key)
        if record is None or steps.own < record.began:
            record = self.nests[key] = Record(steps)
            if levels and levels[-1].key != self.outermost:  # another training
                self.outermost = levels[-1].key
                self.epochs_before = round(self.epoch_now() or self.epochs_before)
        has_resumed = self.helper.checkpoints.has_resumed
        record.see(levels, steps, has_resumed and steps.samples.epochs <= 1)
        self.epoch_at = None
        if not record.is_sure:
            return
        values = {}
        if not record.begins_anew:
            nest.place(levels, steps.own / record.each)
            values = self.totals_of(levels, *nest.left_of(levels, record.each, record.rate_of))
        self.send(**values)

    def see_loaders(self, levels):
        """The lengths of loops over a DataLoader, and where these stand."""
        samples = self.steps.samples
        for level in levels:
            streams = [samples.streams[i] for i in level.ids if i in samples.streams]
            if not streams and level is levels[0] and level.gets_batches and \
                    level.length is None and samples.way == "pass":
                streams = [samples.stream]  # the innermost loop over something else
            if not streams:
                continue
            stream = min(streams, key=lambda s: s.length)
            level.is_data = True
            if level.length is None:
                level.length = stream.length or None
            if level.index is None:
                level.index = stream.yielded - 1

    def totals_of(self, levels, found, limit):
        steps = self.steps
        lefts = [x for x in found if x is not None]
        left = found[-1].left if found and found[-1] is not None else None
        if left is None or (limit is not None and limit < left - 0.5):
            return {} if limit is None else {"TOTAL_STEPS": round(steps.count + limit)}
        values = {"TOTAL_STEPS": round(steps.count + left)}
        n = next((k for k, x in enumerate(levels) if k and (
            x.is_named_epoch or levels[k - 1].is_data)), None)
        if n is None:
            return values
        epochs, done = 1, 0
        for level in levels[n:]:
            if level.length is None:
                continue  # of a package: it is not known to repeat
            done += level.index * epochs
            epochs *= level.length
        inner = lefts[n - 1]
        values["TOTAL_EPOCHS"] = self.epochs_before + epochs
        done_now = self.epochs_before + done + 1 - inner.left / inner.full
        self.epoch_at = (done_now, 1 / inner.full, steps.count)
        stream, data = steps.samples.stream, levels[n - 1]
        if n == 1 and stream is not None and stream.samples and steps.samples.way == "pass" and \
                stream.loader_id in data.ids and data.length == stream.length:
            begun = max(0, stream.used - steps.passes) / stream.length  # of this epoch
            samples = (epochs - done - begun) * stream.samples * steps.samples.replicas()
            values["TOTAL_SAMPLES"] = round(steps.consumed + samples)
        return values

    outermost, epochs_before = None, 0  # key of a loop; epochs of the trainings before it
    epoch_at = None  # (epochs done, epochs of an update, the updates at that time)

    def epoch_now(self):
        """Epochs done, as a number with a fraction, where a loop over epochs was found."""
        if self.epoch_at is None:
            return None
        done, each, count = self.epoch_at
        return done + (self.steps.count - count) * each

    reads_passes = False  # the program has a loop over the data around the update

    def epochs_read(self):
        """Passes over the data in this process, where no loop over epochs was found. A program that
        takes batches from an endless iterator has no epochs that could end it."""
        samples = self.steps.samples
        has_resumed = self.steps.count != self.steps.base + self.steps.own
        if samples.epochs < 2 or has_resumed or not self.reads_passes:
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
            if values.get("TOTAL_STEPS"):
                values["TOTAL_STEPS"] += self.steps.base
            self.send(**{k: v for k, v in values.items() if k.startswith("TOTAL")})
            return {k: v for k, v in values.items() if not k.startswith("TOTAL")}
        now = time.monotonic()
        if self.bars and now > self.bars_due and not self.sent and self.end is None:
            self.bars_due = now + BARS_EVERY_S
            self.look_at_bars()
        if 0 < (self.sent.get("TOTAL_STEPS") or math.inf) < self.steps.count - PASSED:
            self.epoch_at, self.epochs_before = None, self.sent.get("TOTAL_EPOCHS", 0)
            self.send()  # something goes on around the loops
            self.steps.looks = sorted({*self.steps.looks, *(self.steps.own + n for n in SOON)})
        return {"EPOCH": self.epoch_now() or self.epochs_read()}

    def send(self, **values):
        """Sends new totals, 0 for one that is no longer known. A difference of one update is not
        new."""
        values = {**{k: 0 for k, v in self.sent.items() if v}, **values}
        news = {k: v for k, v in values.items() if abs(self.sent.get(k, -9) - v) > 1 or
                (not v and self.sent[k])}
        if news and self.helper.rank.reports():
            self.sent.update(news)
            self.helper.reporter.send(news)
