"""Option batch: another batch size for a program that has no option for its batch size.

The size is replaced inside the DataLoader that training reads: the first one that shuffles a
map-style dataset, by shuffle=True, or by a sampler or batch sampler of torch that the program made.
The learning rate follows by POLLUX_LR_SCALE. A loop that ends after a number of iterations would
train on more samples than was meant: where one is seen, the program's own size comes back with the
next batch. Where training reads another DataLoader, or none, the option is refused.

With one process, one pass an update and a learning rate that no scheduler changes at each update,
the size also changes while the program runs, see POLLUX_CONFIG_FILE in pollux-program(7).
"""

import inspect
import itertools
import os
import time

LOOK_EVERY_S = 0.05
SHUFFLING = ("RandomSampler", "SubsetRandomSampler", "WeightedRandomSampler")
MAX_NESTED = 4  # samplers around the one that was changed
STEADY_UPDATES = 8  # updates with one learning rate before the batch size may change


class Batch:
    def __init__(self, helper, torch, steps):
        self.helper = helper
        self.steps = steps
        self.wanted = int(os.environ.get("POLLUX_LOCAL_BATCH") or 0)
        self.sampler = None  # the batch sampler of the training DataLoader
        self.own_size = 0  # the batch size that the program asked for
        self.rate = None  # the learning rate at the last update
        self.steady = 0
        self.live = None
        helper.on_refusal["batch"] = self.undo
        if not self.wanted:
            helper.refuse("batch", "no batch size was declared (--batch)")
        elif int(os.environ.get("POLLUX_ACCUM") or 1) > 1:
            helper.refuse("batch", "the passes of an update are the program's")
        else:
            self.install(helper, torch)

    def install(self, helper, torch):
        from torch.utils.data import dataloader, sampler

        self.plain = sampler.BatchSampler
        self.resizable = make_resizable(sampler.BatchSampler)
        self.shuffling = tuple(getattr(sampler, name) for name in SHUFFLING
                               if hasattr(sampler, name))
        kind = dataloader.DataLoader
        real = kind.__init__
        signature = inspect.signature(real)
        chosen = helper.guard("batch.choose", self.own_size_of)
        made = helper.guard("batch.made", self.made)

        def __init__(loader, *args, **kwargs):
            own_size = chosen(signature, loader, args, kwargs)
            if not own_size:
                return real(loader, *args, **kwargs)
            call = signature.bind(loader, *args, **kwargs)
            if call.arguments.get("batch_sampler") is None:
                call.arguments["batch_size"] = self.wanted
            real(*call.args, **call.kwargs)
            made(loader, own_size)

        __init__.__wrapped__ = real
        kind.__init__ = __init__
        self.iterable = torch.utils.data.IterableDataset
        self.on_pass = helper.guard("batch.first", self.pass_begins)
        self.steps.watch_passes(self.on_pass)
        self.steps.after_update.append(helper.guard("batch.update", self.after_update))

    def own_size_of(self, signature, loader, args, kwargs):
        """The batch size that the program asks for, if this DataLoader is for training; else 0."""
        call = signature.bind(loader, *args, **kwargs).arguments
        batches, sampler = call.get("batch_sampler"), call.get("sampler")
        if self.sampler is not None or isinstance(call["dataset"], self.iterable):
            return 0
        if batches is not None:
            shuffles = type(batches) is self.plain and self.shuffles(batches.sampler)
            size = batches.batch_size if shuffles else 0
        else:
            shuffles = call.get("shuffle") or self.shuffles(sampler)
            size = call.get("batch_size", 1) if shuffles else 0
        return size if size and size > 1 else 0

    def shuffles(self, sampler):
        return isinstance(sampler, self.shuffling) or getattr(sampler, "shuffle", False) is True

    def made(self, loader, own_size):
        self.own_size = own_size
        sampler = loader.batch_sampler
        sampler.__class__ = self.resizable
        self.sampler = sampler
        self.loader = loader
        if loader.batch_size is None:
            self.resize(self.wanted)

    def pass_begins(self):
        """Before the first pass: training must read the batches of the size that was put in."""
        steps = self.steps
        steps.on_pass = [f for f in steps.on_pass if f is not self.on_pass]
        stream = steps.samples.stream
        if self.sampler is None:
            why = "no DataLoader was found that shuffles a dataset"
        elif stream is None or not self.is_read_by(stream):
            why = "training does not read the DataLoader that can be changed"
        else:
            return
        self.helper.refuse("batch", why)

    def is_read_by(self, stream):
        """True if the stream's batches are those of the sampler, also within another sampler."""
        found = stream.batch_sampler and stream.batch_sampler()
        for _ in range(MAX_NESTED):
            if found is self.sampler:
                return True
            found = getattr(found, "batch_sampler", None)
        return False

    def undo(self):
        """Returns to the program's own size from the next batch on."""
        self.live = None
        self.steps.config_version = None
        if self.sampler is not None:
            self.resize(self.own_size)
        if self.helper.learning_rate is not None:
            self.helper.learning_rate.change(1.0, None)  # the scale for the program's own size

    def resize(self, size):
        self.sampler.batch_size = size
        if self.loader.batch_size is not None:
            self.loader.__dict__["batch_size"] = size

    def after_update(self):
        if self.sampler is None:
            return
        if "steps" in self.helper.options:
            return  # pollux passes the number of updates at each launch: no change meanwhile
        if self.helper.totals.counts_iterations:
            self.helper.refuse("batch", "the program's loop counts iterations")
            return
        if self.live is not None:
            self.live.look()
        elif self.steady <= STEADY_UPDATES:
            self.watch_rate()

    def watch_rate(self):
        """A learning rate that changes at each update comes from a schedule with a fixed length."""
        optimizer = self.steps.main()
        rate = optimizer.param_groups[0].get("lr") if optimizer is not None else None
        self.steady = self.steady + 1 if rate == self.rate else 0
        self.rate = rate
        path = os.environ.get("POLLUX_CONFIG_FILE")
        if self.steady == STEADY_UPDATES and path and self.is_alone():
            self.live = Live(self, path)
            self.steps.config_version = 0

    def is_alone(self):
        return self.steps.samples.replicas() == 1 and self.steps.accumulation == 1


class Live:
    """Changes of the batch size while the program runs."""

    def __init__(self, batch, path):
        self.batch, self.path = batch, path
        self.due = 0.0
        self.seen = None  # identity of the file that was read last
        self.offer = None  # the configuration that begins with the first batch of its size
        batch.steps.watch_passes(batch.helper.guard("batch.pass", self.pass_begins))

    def look(self):
        now = time.monotonic()
        if now < self.due:
            return
        self.due = now + LOOK_EVERY_S
        try:
            st = os.stat(self.path)
            identity = (st.st_ino, st.st_size, st.st_mtime_ns)
            if identity == self.seen:
                return
            with open(self.path) as file:
                offer = parse(file.read())
        except OSError:
            return
        self.seen = identity
        if offer is not None and offer["VERSION"] > self.batch.steps.config_version:
            self.offer = offer
            self.batch.resize(offer["LOCAL_BATCH"])

    def pass_begins(self):
        """Batches that were fetched earlier still have the former size."""
        steps = self.batch.steps
        if self.offer is not None and steps.samples.batch == self.offer["LOCAL_BATCH"]:
            rate = self.batch.helper.learning_rate
            if "keep-lr" not in self.batch.helper.options:
                rate.change(self.offer["LR_SCALE"], self.offer.get("LR_GAIN"))
            steps.config_version, self.offer = int(self.offer["VERSION"]), None


def parse(text):
    """The configuration, if it is for one process with one pass an update; else None."""
    values = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        try:
            values[key] = float(value) if key in ("LR_SCALE", "LR_GAIN") else int(value)
        except ValueError:
            continue
    if not text.endswith("\n") or not values.get("VERSION") or not values.get("LR_SCALE", 0) > 0:
        return None
    size = values.get("LOCAL_BATCH", 0)
    is_whole = size > 0 and values.get("ACCUM") == 1 and values.get("BATCH") == size
    return values if is_whole else None


def make_resizable(base):
    class ResizableBatchSampler(base):
        """Draws the same indices in the same order, in batches of the size that holds now."""

        def __iter__(self):
            indices = iter(self.sampler)
            while True:
                size = self.batch_size
                batch = list(itertools.islice(indices, size))
                if not batch or (self.drop_last and len(batch) < size):
                    return
                yield batch

    return ResizableBatchSampler
