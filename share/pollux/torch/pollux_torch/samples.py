"""Counts the samples that updates consume: at the DataLoader, or at the input of the module.

A program may fetch batches ahead (accelerate does), so a batch counts when a backward pass used the
batch, not when the program fetched it. Batches are matched to passes in order. There are three ways
of counting:

    by pass     one backward pass uses one batch of the DataLoader; the usual way
    by update   an update uses all batches fetched since the last one: several losses a batch, or
                several batches a pass
    by input    the program has no DataLoader, or updates several times on one batch: the batch is
                what entered the outermost module
"""

import os
import weakref
from collections import deque

from .module_input import ModuleInput, tensors_of

BY_PASS, BY_UPDATE, BY_INPUT = "pass", "update", "input"
MAX_NESTED = 4  # batch samplers around that of torch
SAMPLERS = ("torch.utils.data.sampler", "torch.utils.data.distributed")  # their length is exact


class Stream:
    """The batches that one pass through a DataLoader has yielded and no backward pass has used."""

    def __init__(self, loader):
        self.loader_id = id(loader)
        # None, as all that samples, of a loader of fastai: it gets whole batches.
        batches = getattr(loader, "batch_sampler", None)
        self.batch_sampler = weak(batches)
        self.length = length_of(loader)
        self.batch_size = getattr(loader, "batch_size", None) or 0
        self.samples = samples_of(loader) if batches is not None else 0
        self.replicas = replicas_of(loader)
        self.by_size = hasattr(loader, "sampler") and is_by_size(loader)
        self.of_dataset = length_of(getattr(loader, "dataset", ()))
        # Batches of a map-style dataset are counted by their indices, others by their tensors.
        self.by_index = getattr(loader, "_dataset_kind", None) == 0 and batches is not None
        self.last = last_batch(loader, self.samples) if self.by_index else 0
        # Sizes of the batches to come, where they are not known from the loader.
        self.sizes = None if self.last else deque()
        self.yielded = 0
        self.used = 0
        self.first = 0  # the size of the first batch of this pass; the last one may be smaller
        self.is_watched = True  # Samples.see() looks at the next batch

    def restart(self):
        """Begins another pass: the iterator of persistent workers makes many."""
        if self.sizes is not None:
            self.sizes.clear()
        self.yielded = self.used = 0

    def draw(self, index):
        self.sizes.append(len(index))

    def use(self):
        """The size of the first batch that was not used, which now is."""
        self.used += 1
        if self.sizes is not None:
            return self.sizes.popleft()
        return self.last if self.used == self.length else self.batch_size


class Drawn:
    """The indices of batches, in the place of an iterator's sampler, counted as they are drawn."""

    def __init__(self, indices, draw):
        self.indices, self.draw = indices, draw

    def __iter__(self):
        return self

    def __next__(self):
        index = next(self.indices)
        self.draw(index)
        return index


class Samples:
    MAX_UNUSED = 4096  # batches of an evaluation that nobody takes
    MAX_STREAMS = 64
    GROWING_UPDATES = 8  # updates in a row that fetched more batches than they had passes

    def __init__(self, helper, torch):
        self.torch = torch
        self.declared = int(os.environ.get("POLLUX_LOCAL_BATCH") or 0)
        self.way = None
        self.stream = None  # the one that training reads
        self.streams = {}  # id of a loader -> its latest stream
        self.latest = None  # the one that yielded last; Stream.is_watched of all others is true
        self.taken = 0  # samples used by passes since the last update
        self.batch = 0  # samples of the latest pass
        self.unknown = 0  # passes whose batch could not be seen yet
        self.on_shared = None  # function(), when several passes were seen on one batch
        self.growing = 0
        self.unused_before = 0
        self.on_evaluation = None  # function(), when batches are fetched without gradients
        self.epochs = 0  # passes through the training DataLoader that have begun
        self.on_stream = None  # function(), at the same time
        self.on_change = None  # function(), before another stream, or another pass through one
        # At the first batch of each pass of training: function(), function(stream).
        self.on_stream = self.on_epoch = None
        self.input = ModuleInput(helper, torch, self.declared)
        self.input.on_evaluation = lambda: self.on_evaluation()
        self.install(helper)

    # --- at the DataLoader

    def install(self, helper):
        from torch.utils.data import dataloader

        base = dataloader._BaseDataLoaderIter
        real_init, real_next, real_reset = base.__init__, base.__next__, base._reset
        begin = helper.guard("samples.begin", self.begin)
        see = helper.or_fault("samples.count", self.see)
        self.draw = helper.guard("samples.draw", lambda stream, index: stream.draw(index))
        restart = helper.guard("samples.restart", self.restart)

        def __init__(iterator, loader):
            iterator._pollux_stream = None
            real_init(iterator, loader)
            begin(iterator, loader)

        def _reset(iterator, *args, **kwargs):
            result = real_reset(iterator, *args, **kwargs)
            restart(iterator)
            return result

        def __next__(iterator):
            data = real_next(iterator)
            try:
                stream = iterator._pollux_stream
                stream.yielded += 1
                if stream.is_watched:
                    see(stream, data)
            except Exception as error:
                helper.fault_in("samples", error)
            return data

        def stop():
            self.input.close()
            self.way = BY_INPUT
            if base.__next__ is __next__:
                base.__next__, base.__init__, base._reset = real_next, real_init, real_reset

        base.__init__, base.__next__, base._reset = __init__, __next__, _reset
        helper.on_refusal["samples"] = stop

    def begin(self, iterator, loader):
        iterator._pollux_stream = stream = Stream(loader)
        if len(self.streams) >= self.MAX_STREAMS:
            self.streams.clear()
        self.streams[stream.loader_id] = stream
        self.watch_draws(iterator)

    def restart(self, iterator):
        stream = getattr(iterator, "_pollux_stream", None)
        if stream is not None:
            self.on_change()
            stream.restart()
            self.watch_draws(iterator)

    def watch_draws(self, iterator):
        stream, draw = iterator._pollux_stream, self.draw
        drawn = getattr(iterator, "_sampler_iter", None)
        if stream.by_index and stream.sizes is not None and not isinstance(drawn, Drawn):
            iterator._sampler_iter = Drawn(drawn, lambda index: draw(stream, index))

    def see(self, stream, data):
        """After a batch of another stream than before, or of one whose batches are looked at."""
        if stream is not self.latest:
            self.on_change()
            if self.latest is not None:
                self.latest.is_watched = True
            self.latest = stream
            stream.is_watched = stream.sizes is not None
        if stream.sizes is not None and not stream.by_index:
            stream.sizes.append(batch_of(self.torch, data, stream.batch_size))
        if not self.torch.is_grad_enabled():
            self.on_evaluation()
            if stream.yielded - stream.used > self.MAX_UNUSED:
                stream.use()

    def skip(self):
        """The batches that the last stream has yielded were passed over, to resume an epoch."""
        stream = self.latest
        self.on_change()
        if stream is not None and stream.used < stream.yielded:
            self.begin_epoch(stream)
            while stream.used < stream.yielded:
                stream.use()

    # --- at backward passes and updates

    def take(self):
        """Called when a backward pass begins: counts the samples of its batch as used."""
        stream = self.stream
        if self.way is BY_PASS and self.latest is stream and 0 < stream.used < stream.yielded:
            stream.used = used = stream.used + 1
            if stream.sizes is not None:
                self.batch = stream.sizes.popleft()
            else:
                self.batch = stream.batch_size if used != stream.length else stream.last
            self.taken += self.batch
        else:
            self.take_carefully()

    def take_several(self, passes):
        """The same for passes that began since then, on batches of one stream."""
        stream = self.stream
        end = stream.used + passes
        if self.way is BY_PASS and self.latest is stream and stream.sizes is None and \
                0 < stream.used and end <= stream.yielded and end < stream.length:
            stream.used = end
            self.batch = stream.batch_size
            self.taken += passes * stream.batch_size
        else:
            for _ in range(passes):
                self.take()

    def take_carefully(self):
        stream = self.stream
        if self.latest is not stream:
            stream = self.choose()
        if self.way is BY_PASS:
            if stream.used < stream.yielded:
                if not stream.used:
                    self.begin_epoch(stream)
                self.batch = stream.use()
                self.taken += self.batch
            else:
                self.way = BY_UPDATE
                if self.on_shared is not None:
                    self.on_shared()
        elif self.way is BY_INPUT:
            self.take_input(1)
        elif self.way is None:
            self.way = BY_PASS if stream is not None else BY_INPUT
            if self.way is BY_PASS:
                self.input.close()
            self.take_carefully()

    def take_input(self, passes):
        self.batch = self.input.take()
        if self.batch:
            self.taken += self.batch * (passes + self.unknown)
            self.unknown = 0
        else:
            self.unknown += passes

    def choose(self):
        """Chooses another stream for training if the present one is used up or began anew."""
        stream, latest = self.stream, self.latest
        if latest is None or latest.used >= latest.yielded:
            return stream
        if stream is None or stream.used >= stream.yielded or \
                stream.loader_id == latest.loader_id:
            self.stream = latest
        return self.stream

    def begin_epoch(self, stream):
        self.epochs += 1
        stream.first = stream.sizes[0] if stream.sizes else stream.batch_size
        if self.on_stream is not None:
            self.on_stream()
        if self.on_epoch is not None:
            self.on_epoch(stream)

    def update(self, passes):
        """Called when an update ends. Returns the samples that it consumed in this process."""
        if self.way is BY_PASS:
            unused = self.stream.yielded - self.stream.used
            if unused > self.unused_before:
                self.grows()
            else:
                self.growing = 0
            self.unused_before = unused
        else:
            self.update_otherwise(passes)
        taken, self.taken = self.taken, 0
        return taken

    def look_at_unused(self):
        """Now and then, where update() is not called for each update."""
        if self.way is BY_PASS and self.stream.yielded - self.stream.used \
                >= self.unused_before + self.GROWING_UPDATES:
            self.way = BY_UPDATE

    def update_otherwise(self, passes):
        if self.way is None:
            self.way = BY_UPDATE if self.latest is not None else BY_INPUT
        if self.way is BY_UPDATE:
            self.take_all(passes)
        elif not passes:
            self.take_input(1)

    def take_all(self, passes):
        """Counts all batches fetched since the last update as used."""
        stream = self.stream if self.latest is self.stream else self.choose()
        if stream.used < stream.yielded:
            if stream.used == 0:
                self.begin_epoch(stream)
            self.batch = sum(stream.use() for _ in range(stream.yielded - stream.used))
            self.taken += self.batch
        elif passes and not self.taken:
            self.way = BY_INPUT
            self.unknown += passes
            self.input.open()

    def grows(self):
        """Called after an update with fewer passes than fetched batches."""
        self.growing += 1
        if self.growing >= self.GROWING_UPDATES:
            self.way = BY_UPDATE

    def replicas(self):
        """The number of processes that share an update, each with its own samples."""
        from . import core

        known = self.stream.replicas if self.stream is not None else 0
        return known or core.Rank.world()


def length_of(loader):
    try:
        return len(loader)
    except Exception:
        return 0


def samples_of(loader):
    """Samples of a whole pass through the loader; 0 if not known."""
    if not loader.batch_size:
        return 0
    try:
        n = len(loader.sampler)
    except Exception:
        return 0
    return n - n % loader.batch_size if loader.drop_last else n


def is_by_size(loader):
    """True if the batches are cut by a sampler of torch: their number follows from their size."""
    batches = loader.sampler if loader.batch_sampler is None else loader.batch_sampler
    for _ in range(MAX_NESTED):
        if type(batches).__module__ in SAMPLERS:
            return type(batches).__name__ == "BatchSampler"
        batches = getattr(batches, "batch_sampler", None)
    return False


def last_batch(loader, samples):
    """The size of the last batch, where all others have batch_size; 0 if that is not certain."""
    if not samples or type(loader.batch_sampler).__module__ not in SAMPLERS or \
            type(loader.sampler).__module__ not in SAMPLERS:
        return 0
    return loader.batch_size if loader.drop_last else samples % loader.batch_size or \
        loader.batch_size


def weak(x):
    try:
        return weakref.ref(x)
    except TypeError:
        return None


def replicas_of(loader):
    """The replicas, by the samplers of torch and accelerate; 0 if these do not tell."""
    for place, name in (("sampler", "num_replicas"), ("batch_sampler", "num_processes")):
        n = getattr(getattr(loader, place, None), name, 0)
        if isinstance(n, int) and n > 0:
            return n
    return 0


def batch_of(torch, data, batch_size):
    """The samples in a batch: batch_size if a tensor has it, else the length of the first one."""
    sizes = [t.shape[0] for t in tensors_of(torch, data)]
    if not sizes:
        return len(data) if isinstance(data, (list, tuple)) and batch_size else batch_size
    return batch_size if batch_size in sizes else sizes[0]
