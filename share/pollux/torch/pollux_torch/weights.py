"""Weights that a program saved and begins from, without the state of an optimizer.

Such a file is a checkpoint of this program only if the program reads it back: pollux is told that
the training continues when, before the first backward pass of the process, torch.load() has read
the file and a module has taken its tensors. Best weights that are read at the end, and a process
that only evaluates, tell nothing.
"""

import functools
import weakref

from .saved_values import values_in


class Weights:
    def __init__(self, helper, torch, checkpoints):
        self.torch = torch
        self.checkpoints = checkpoints
        self.steps = checkpoints.steps
        self.path = None  # of the file that this process continued from
        self.found = None  # (path, its entry) of the file that was read last
        self.tensors = {}  # id -> weak reference, of that file
        self.is_taken = False  # a module has its tensors
        self.see = helper.guard("checkpoints.weights", self.see_state)
        self.begin = helper.guard("checkpoints.begin", self.first_pass)
        self.real = self.wrapper = None

    def loaded(self, path, entry, obj):
        """After torch.load() of weights whose position is known."""
        if self.steps.own:
            return
        self.found = (path, entry)
        values = list(values_in(obj))
        tensor, module = self.torch.Tensor, self.torch.nn.Module
        self.tensors = {id(v): weakref.ref(v) for v in values if isinstance(v, tensor)}
        self.is_taken = any(isinstance(v, module) for v in values)
        if self.begin not in self.steps.on_pass:
            self.steps.watch_passes(self.begin)
            self.watch_modules()

    def watch_modules(self):
        """Until the first pass, load_state_dict() of modules is seen."""
        module, see = self.torch.nn.Module, self.see
        real = self.real = module.load_state_dict

        @functools.wraps(real)
        def load_state_dict(self, state_dict, *args, **kwargs):
            see(state_dict)
            return real(self, state_dict, *args, **kwargs)

        load_state_dict._torchdynamo_disable = True
        module.load_state_dict = self.wrapper = load_state_dict

    def see_state(self, state):
        tensors = self.tensors
        if any(id(v) in tensors and tensors[id(v)]() is v for v in state.values()):
            self.is_taken = True

    def first_pass(self):
        steps, module = self.steps, self.torch.nn.Module
        steps.on_pass = [f for f in steps.on_pass if f is not self.begin]
        if module.load_state_dict is self.wrapper:
            module.load_state_dict = self.real
        found, self.found, self.tensors = self.found, None, {}
        if found and self.is_taken and not (steps.own or self.checkpoints.has_resumed):
            self.path = found[0]
            self.checkpoints.resume_at(*found, taken=steps.samples.taken)
