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

BY_PASS, BY_UPDATE, BY_INPUT = "pass", "update", "input"


class Stream:
    """The batches that one pass through a DataLoader has yielded and no backward pass has used."""

    def __init__(self, loader, iterator):
        self.loader_id = id(loader)
        self.length = length_of(loader)
        self.batch_size = getattr(loader, "batch_size", None) or 0
        self.samples = samples_of(loader)
        self.replicas = replicas_of(loader)
        # Batches of a map-style dataset are counted by their indices, others by their tensors.
        self.by_index = iterator._dataset_kind == 0 and loader.batch_sampler is not None
        self.asked = deque()  # sizes of batches whose indices were drawn
        self.unused = deque()  # sizes of batches that were yielded and not used
        self.yielded = 0
        self.used = 0

    def restart(self):
        """Begins another pass: the iterator of persistent workers makes many."""
        self.asked.clear()
        self.unused.clear()
        self.yielded = self.used = 0


class Samples:
    MAX_UNUSED = 4096  # batches of an evaluation that nobody takes
    GROWING_UPDATES = 8  # updates in a row that fetched more batches than they had passes

    def __init__(self, helper, torch):
        self.torch = torch
        self.declared = int(os.environ.get("POLLUX_LOCAL_BATCH") or 0)
        self.way = None
        self.stream = None  # the one that training reads
        self.latest = None  # the one that yielded last
        self.taken = 0  # samples used by passes since the last update
        self.batch = 0  # samples of the latest pass
        self.unknown = 0  # passes whose batch could not be seen yet
        self.on_shared = None  # function(), when several passes were seen on one batch
        self.growing = 0
        self.unused_before = 0
        self.is_evaluating = False  # batches were fetched without gradients since the last update
        self.epochs = 0  # passes through the training DataLoader that have begun
        self.on_epoch = None  # function(stream), at the first batch of each pass of training
        self.input = ModuleInput(helper, torch, self.declared)
        self.input.on_evaluation = self.evaluates
        self.install(helper)

    def evaluates(self):
        self.is_evaluating = True

    # --- at the DataLoader

    def install(self, helper):
        from torch.utils.data import dataloader

        base = dataloader._BaseDataLoaderIter
        real_init, real_next, real_index = base.__init__, base.__next__, base._next_index
        real_reset = base._reset
        begin = helper.guard("samples.begin", self.begin)
        count = helper.or_fault("samples.count", self.count)
        draw = helper.or_fault("samples.draw", len)
        restart = helper.guard("samples.restart", self.restart)
        refusals = helper.refusals

        def __init__(iterator, loader):
            iterator._pollux_stream = None
            begin(iterator, loader)
            real_init(iterator, loader)

        def _reset(iterator, loader, first_iter=False):
            restart(iterator)
            return real_reset(iterator, loader, first_iter)

        # The next two functions run for each batch; they guard themselves, without another call.
        def __next__(iterator):
            data = real_next(iterator)
            if not refusals or "samples" not in refusals:
                try:
                    count(iterator._pollux_stream, data)
                except Exception as error:
                    helper.fault_in("samples", error)
            return data

        def _next_index(iterator):
            index = real_index(iterator)
            if not refusals or "samples" not in refusals:
                try:
                    stream = iterator._pollux_stream
                    if stream.by_index:
                        stream.asked.append(draw(index))
                except Exception as error:
                    helper.fault_in("samples", error)
            return index

        base.__init__, base.__next__ = __init__, __next__
        base._next_index, base._reset = _next_index, _reset

    def begin(self, iterator, loader):
        iterator._dataset_kind = getattr(loader, "_dataset_kind", None)
        iterator._pollux_stream = Stream(loader, iterator)

    def restart(self, iterator):
        stream = iterator._pollux_stream
        if stream is not None and stream.yielded:
            stream.restart()

    def count(self, stream, data):
        if stream.by_index:
            stream.unused.append(stream.asked.popleft())
        else:
            stream.unused.append(batch_of(self.torch, data, stream.batch_size))
        stream.yielded += 1
        self.latest = stream
        if not self.torch.is_grad_enabled():
            self.is_evaluating = True
            if len(stream.unused) > self.MAX_UNUSED:
                stream.unused.popleft()

    # --- at backward passes and updates

    def take(self):
        """Called when a backward pass begins: counts the samples of its batch as used."""
        stream = self.stream
        if self.latest is not stream:
            stream = self.choose()
        if self.way is BY_PASS:
            if stream.unused:
                if not stream.used:
                    self.begin_epoch(stream)
                self.batch = stream.unused.popleft()
                stream.used += 1
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
            self.take()

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
        if latest is None or not latest.unused:
            return stream
        if stream is None or not stream.unused or stream.loader_id == latest.loader_id:
            self.stream = latest
        return self.stream

    def begin_epoch(self, stream):
        self.epochs += 1
        if self.on_epoch is not None:
            self.on_epoch(stream)

    def update(self, passes):
        """Called when an update ends. Returns the samples that it consumed in this process."""
        if self.way is BY_PASS:
            unused = len(self.stream.unused)
            if unused > self.unused_before:
                self.grows()
            else:
                self.growing = 0
            self.unused_before = unused
        else:
            self.update_otherwise(passes)
        taken, self.taken = self.taken, 0
        return taken

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
        if stream.unused:
            if stream.used == 0:
                self.begin_epoch(stream)
            self.batch = sum(stream.unused)
            self.taken += self.batch
            stream.used += len(stream.unused)
            stream.unused.clear()
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


class ModuleInput:
    """The size of the batch that entered the outermost module, for programs without DataLoader.

    Until the first update, a global hook finds the module that is called first. From then on the
    helper sees only the calls of this module, by its _compiled_call_impl, which torch neither
    copies nor saves.
    """

    def __init__(self, helper, torch, declared):
        self.torch = torch
        self.declared = declared
        self.sizes = None  # of the latest forward
        self.last = 0  # of the latest pass
        self.handle = None
        self.is_closed = False
        self.root = None  # weak reference
        self.call = None  # what was put into the module
        self.compiled_module = None  # weak reference; torch.compile was called
        self.is_compiled = False
        self.refusals = helper.refusals
        self.on_evaluation = None  # function(), for a forward without gradients
        self.see = helper.guard("samples.input", self.see_call)
        self.find = helper.guard("samples.find", self.find_root)
        self.open()

    def open(self):
        if "samples" in self.refusals:
            return
        self.is_closed = False
        module = self.compiled_module and self.compiled_module()
        if module is not None:
            self.watch(module)
        elif not self.is_compiled and self.handle is None and self.root is None:
            hook = self.torch.nn.modules.module.register_module_forward_pre_hook
            self.handle = hook(lambda module, args: self.find(module, args))

    def disarm(self):
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def close(self):
        self.is_closed = True
        self.disarm()
        module = self.root and self.root()
        if module is not None and module.__dict__.get("_compiled_call_impl") is self.call:
            del module.__dict__["_compiled_call_impl"]
        self.root = self.call = None

    def find_root(self, module, args):
        if self.is_closed or not module.training or not self.torch.is_grad_enabled():
            return
        self.disarm()
        self.sizes = self.size(module, args, {})
        self.watch(module)

    def watch(self, module):
        if module.__dict__.get("_compiled_call_impl") is not None:
            return
        if not hasattr(type(module), "_compiled_call_impl"):
            return  # an older torch: the batch of the first pass stands for all
        see = self.see
        reference = weakref.ref(module)

        def call(*args, **kwargs):
            root = reference()
            see(root, args, kwargs)
            return root._call_impl(*args, **kwargs)

        module.__dict__["_compiled_call_impl"] = self.call = call
        self.root = reference

    def compiles(self):
        """Called at torch.compile: from now on there may be no global hook."""
        self.is_compiled = True
        self.disarm()

    def compiled(self, module):
        """torch.compile made this module."""
        if isinstance(module, self.torch.nn.Module):
            self.compiled_module = weakref.ref(module)
            if not self.is_closed and self.root is None:
                self.watch(module)

    def see_call(self, module, args, kwargs):
        if not self.torch.is_grad_enabled():
            self.on_evaluation()
        elif module.training:
            self.sizes = self.size(module, args, kwargs)

    def size(self, module, args, kwargs):
        torch = self.torch
        for x in tensors_of(torch, args) or tensors_of(torch, kwargs):
            if self.declared and self.declared in x.shape[:2]:
                return self.declared
            if isinstance(module, torch.nn.RNNBase) and x.dim() == 3 and not module.batch_first:
                return x.shape[1]
            return x.shape[0]
        return 0

    def take(self):
        if self.sizes:
            self.last = self.sizes
        return self.last or self.declared


def length_of(loader):
    try:
        return len(loader)
    except Exception:
        return 0


def samples_of(loader):
    """Samples of a whole pass through the loader; 0 if not known."""
    if not loader.batch_size or loader.batch_sampler is None:
        return 0
    try:
        n = len(loader.sampler)
    except Exception:
        return 0
    return n - n % loader.batch_size if loader.drop_last else n


def replicas_of(loader):
    """The replicas, by the samplers of torch and accelerate; 0 if these do not tell."""
    for sampler, name in ((loader.sampler, "num_replicas"),
                          (loader.batch_sampler, "num_processes")):
        n = getattr(sampler, name, 0)
        if isinstance(n, int) and n > 0:
            return n
    return 0


def tensors_of(torch, value, depth=0):
    """The tensors in nested lists, tuples and dictionaries that have a first dimension."""
    if isinstance(value, torch.Tensor):
        return [value] if value.dim() else []
    if depth < 3:
        if hasattr(value, "values") and callable(value.values):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            return [t for v in value for t in tensors_of(torch, v, depth + 1)]
    return []


def batch_of(torch, data, batch_size):
    """The samples in a batch: batch_size if a tensor has it, else the length of the first one."""
    sizes = [t.shape[0] for t in tensors_of(torch, data)]
    if not sizes:
        return len(data) if isinstance(data, (list, tuple)) and batch_size else batch_size
    return batch_size if batch_size in sizes else sizes[0]
