"""Looks at the forward calls of one sampled update: the size of the batch, and the outputs."""

import sys
import threading
import time
import weakref

from .noise_norm import Unknown

now_ns = time.perf_counter_ns


class Call:
    """One call of an outermost module in training mode."""

    def __init__(self, rows, time_steps, outputs):
        self.rows = rows  # samples in the batch, 0 if no tensor went in
        self.time_steps = time_steps  # where time is the first dimension, else 0
        self.outputs = outputs


def tensors(torch, value, depth=0):
    """All tensors in nested sequences and mappings."""
    if isinstance(value, torch.Tensor):
        return [value]
    if depth < 3:
        if hasattr(value, "values") and callable(value.values):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            return [t for v in value for t in tensors(torch, v, depth + 1)]
    return []


class Forward:
    """Global module hooks, there only while an update is sampled.

    Calls in other threads (DataParallel's replicas) and calls during backward (checkpointing) are
    ignored. During a long evaluation the hooks remove themselves.
    """

    MAX_OTHER_CALLS = 64  # calls without gradients after which the hooks are removed
    MAX_CALLS = 16  # calls of outermost modules that are kept for one pass

    def __init__(self, torch, guard, refuse):
        self.torch = torch
        self.guard = guard
        self.refuse = refuse  # function(why), before backward begins
        self.handles = []
        self.ddp = None  # weak reference to the DistributedDataParallel that was called
        self.watch_outputs = False  # the first time: look for hooks on inner tensors
        self.spent_ns = 0
        self.clear()

    def clear(self):
        self.calls, self.eval_calls, self.inner = [], [], []
        self.depth = self.other_calls = 0
        self.time_first = None
        self.compiled = False
        self.packed = False
        self.versions = {}

    def open(self):
        self.clear()
        self.thread = threading.get_ident()
        module = self.torch.nn.modules.module
        leave = self.guard("gradient_noise.leave", self.leave)
        self.handles = [
            module.register_module_forward_pre_hook(self.guard("gradient_noise.enter", self.enter))]
        try:
            self.handles.append(module.register_module_forward_hook(leave, with_kwargs=True,
                                                                    always_call=True))
        except TypeError:  # an older torch: arguments by keyword are not seen
            self.handles.append(module.register_module_forward_hook(leave))

    def close(self):
        for handle in self.handles:
            handle.remove()
            # torch leaves this mark behind, and warns of hooks when a compiled module runs.
            with_kwargs = getattr(
                self.torch.nn.modules.module, "_global_forward_hooks_with_kwargs", {})
            with_kwargs.pop(handle.id, None)
        self.handles = []

    def next_pass(self):
        self.calls, self.eval_calls, self.inner = [], [], []
        self.depth = 0

    def enter(self, module, args):
        if threading.get_ident() != self.thread:
            return
        started = now_ns()
        self.depth += 1
        name = type(module).__name__
        if name == "OptimizedModule":
            self.compiled = True
        elif name == "DistributedDataParallel":
            self.ddp = weakref.ref(module)
        if module._backward_hooks or getattr(module, "_backward_pre_hooks", None):
            self.refuse(FUNCTIONS["BackwardHookFunction"])
            return
        if self.depth == 1:
            self.enter_outermost(module)
        if self.is_time_first(module, name):
            if args and isinstance(args[0], self.torch.Tensor) and args[0].dim() == 3:
                self.time_first = (args[0].shape[0], args[0].shape[1])
        self.spent_ns += now_ns() - started

    @staticmethod
    def is_time_first(module, name):
        """True for torch's own sequence modules where the batch is the second dimension."""
        if name.startswith("Transformer"):
            module = getattr(module, "self_attn", module)
        return module.__dict__.get("batch_first") is False

    def enter_outermost(self, module):
        self.time_first = None
        self.packed = self.packed or self.packs_saved_tensors()
        if not self.torch.is_grad_enabled():
            self.other_calls += 1
            if self.other_calls > self.MAX_OTHER_CALLS:
                self.close()
        elif self.watch_outputs:
            self.versions = {b: b._version for b in module.buffers()}

    def packs_saved_tensors(self):
        """True within saved_tensors_hooks, whose unpacking may work only once."""
        top = getattr(getattr(self.torch._C, "_autograd", None),
                      "_top_saved_tensors_default_hooks", None)
        return top is not None and self.torch.is_grad_enabled() and top(False) is not None

    def leave(self, module, args, *rest):
        """rest is (kwargs, output), or only the output where the call has raised."""
        if threading.get_ident() != self.thread or self.depth == 0:
            return
        started = now_ns()
        self.depth -= 1
        if self.torch.is_grad_enabled():
            self.left(module, args, rest[0] if len(rest) == 2 else {}, rest[-1])
        self.spent_ns += now_ns() - started

    def left(self, module, args, kwargs, output):
        if self.watch_outputs:
            self.inner.extend(weakref.ref(t) for t in tensors(self.torch, output) if t.grad_fn)
        if self.depth == 0:
            call = self.look(args, kwargs, output)
            calls = self.calls if module.training else self.eval_calls
            calls.append(call)
            del calls[:-(self.MAX_CALLS if module.training else 1)]

    def look(self, args, kwargs, output):
        entered = [t for t in tensors(self.torch, (args, kwargs)) if t.dim()]
        outputs = [t for t in tensors(self.torch, output) if t.dim() and t.grad_fn is not None]
        rows, steps = entered[0].shape[0] if entered else 0, 0
        if self.time_first:
            steps, rows = self.time_first
        return Call(rows, steps, outputs)

    def of_pass(self):
        """The calls of the pass whose backward begins now."""
        return self.calls or self.eval_calls

    def has_state(self):
        """True if the forward call changed buffers, as BatchNorm's running means."""
        return any(b._version != v for b, v in self.versions.items())


def is_compiled():
    """True if torch.compile has compiled anything in this process."""
    utils = sys.modules.get("torch._dynamo.utils")
    counters = getattr(utils, "counters", None)
    return bool(counters and counters.get("frames", {}).get("ok"))


def refuse_unsafe(root, parameters, forward):
    """Raises Unknown if a second backward over this graph could change the program's results."""
    if any(p._backward_hooks for p in parameters):
        raise Unknown("the program has hooks on its parameters' gradients")
    for reference in forward.inner:
        tensor = reference()
        if tensor is not None and (tensor._backward_hooks or
                                   (not tensor.is_leaf and tensor.retains_grad)):
            raise Unknown("the program has hooks on the gradients of inner tensors")
    seen, stack = set(), [root.grad_fn]
    while stack:
        node = stack.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        function = getattr(type(node), "_forward_cls", None)
        if function is not None and function.__name__ not in SAFE_FUNCTIONS:
            raise Unknown(FUNCTIONS.get(function.__name__) or
                          "backward of %s may not be safe to run twice" % function.__name__)
        stack.extend(n for n, _ in node.next_functions)


SAFE_FUNCTIONS = {"_DDPSink", "_NoopSaveInputs"}  # their backward only passes gradients on
FUNCTIONS = {
    "CheckpointFunction": "reentrant checkpointing",
    "BackwardHookFunction": "the program has backward hooks on modules",
    "SyncBatchNorm": "SyncBatchNorm communicates in its backward",
    "CompiledFunction": "torch.compile",
}
