"""Sees each backward pass before it runs.

torch.autograd.backward() calls torch.autograd._make_grads() just before the engine. A hook there
is no frame around the engine: tracebacks and the lines that warnings name stay the program's own.
In an update whose noise is sampled a wrapper of backward() is there as well.
"""

import functools
import sys

BACKWARD_OPTIONS = ("grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs")


class Passes:
    """Calls steps.begin_pass(tensors) before each pass, or counts it where steps.is_lazy.

    steps.sample_pass(options, tensors) and steps.end_pass(has_failed) stand around a pass while
    wrap(True) holds; a true value of the first one asks for the second one.
    """

    def __init__(self, helper, torch, steps):
        self.autograd = torch.autograd
        self.options = None  # of the sampled call of backward() that has begun
        self.is_sampled = False
        self.steps = steps
        # A pass within a pass, as of a checkpointed part, is none of its own.
        self.task = getattr(torch._C, "_current_graph_task_id", lambda: -1)
        self.real_make = self.autograd._make_grads
        self.real_backward = self.autograd.backward
        self.wrapper = self.make_wrapper()
        self.hook = self.make_hook(helper, helper.or_fault("steps.backward", steps.begin_pass))
        self.autograd._make_grads = self.hook

    def make_hook(self, helper, begin):
        real, task, frame, steps = self.real_make, self.task, sys._getframe, self.steps
        code = self.real_backward.__code__

        @functools.wraps(real)
        def _make_grads(outputs, grads, is_grads_batched=False):
            if frame(1).f_code is code and task() < 0:  # the other caller is autograd.grad()
                try:
                    if steps.is_lazy:
                        steps.unsettled += 1
                    else:
                        begin(outputs)
                except Exception as error:
                    helper.fault_in("steps", error)
            return real(outputs, grads, is_grads_batched)

        _make_grads._torchdynamo_disable = True  # Dynamo runs the function as it is
        return _make_grads

    def make_wrapper(self):
        real, task, steps = self.real_backward, self.task, self.steps

        @functools.wraps(real)
        def backward(tensors, *args, **kwargs):
            if task() >= 0:
                return real(tensors, *args, **kwargs)
            self.options = dict(zip(BACKWARD_OPTIONS, args), **kwargs)
            self.is_sampled = False
            try:
                result = real(tensors, *args, **kwargs)
            except BaseException:  # out of memory, say: nothing of the graph is held
                if self.is_sampled:
                    steps.end_pass(True)
                raise
            finally:
                self.options = None
            if self.is_sampled:
                steps.end_pass(False)
            return result

        backward._torchdynamo_disable = True
        return backward

    def wrap(self, is_armed):
        """Puts the wrapper in or takes it away. A program's own wrapper stays."""
        wanted = self.wrapper if is_armed else self.real_backward
        if self.autograd.backward in (self.wrapper, self.real_backward):
            self.autograd.backward = wanted

    def sampled(self, tensors):
        """In begin_pass() of an armed update."""
        if self.options is not None:
            self.is_sampled = bool(self.steps.sample_pass(tensors, self.options))

    def close(self):
        self.wrap(False)
        if self.autograd._make_grads is self.hook:
            self.autograd._make_grads = self.real_make
