"""Multiplies the learning rate of every update by POLLUX_LR_SCALE.

The rate is scaled just before an optimizer uses it and restored just after: schedulers, logs and
checkpoints of the program see the program's own rate.
"""

import functools
import importlib
import math
import os


class LearningRate:
    def __init__(self, helper):
        self.scale = scale_at_launch(helper)
        self.saved = {}  # id of a parameter group -> (group, its own rate)
        self.owners = {}  # id of an optimizer -> ids of the groups that its step scaled
        self.is_installed = False
        self.helper = helper
        if self.scale != 1.0:
            self.install()

    def install(self):
        if self.is_installed:
            return
        self.is_installed = True
        optimizer = importlib.import_module("torch.optim.optimizer")
        guard = self.helper.guard_step
        optimizer.register_optimizer_step_pre_hook(guard("learning_rate.pre", self.before_step))
        optimizer.register_optimizer_step_post_hook(guard("learning_rate.post", self.restore))
        self.wrap_state(optimizer.Optimizer)
        self.helper.on_refusal["learning rate"] = self.restore_all

    def wrap_state(self, kind):
        """Saves the unscaled rate: a handler of SIGTERM may write a checkpoint within a step."""
        real = kind.state_dict
        own = self.helper.guard("learning_rate.state", self.with_own_rates)

        @functools.wraps(real)
        def state_dict(optimizer, *args, **kwargs):
            state = real(optimizer, *args, **kwargs)
            if self.saved:
                own(optimizer, state)
            return state

        state_dict._torchdynamo_disable = True
        kind.state_dict = state_dict

    def with_own_rates(self, optimizer, state):
        for group, packed in zip(optimizer.param_groups, state["param_groups"]):
            if id(group) in self.saved:
                packed["lr"] = self.saved[id(group)][1]

    def before_step(self, optimizer):
        self.restore(optimizer)  # if its last step raised an error
        if self.scale == 1.0:
            return
        scaled = []
        for group in optimizer.param_groups:
            key = id(group)
            # An optimizer that wraps another has the same groups; these are scaled once.
            if key not in self.saved and "lr" in group:
                self.saved[key] = (group, group["lr"])
                group["lr"] = group["lr"] * self.scale
                scaled.append(key)
        self.owners[id(optimizer)] = scaled

    def restore(self, optimizer):
        for key in self.owners.pop(id(optimizer), ()):
            group, rate = self.saved.pop(key)
            group["lr"] = rate

    def restore_all(self):
        for group, rate in self.saved.values():
            group["lr"] = rate
        self.saved.clear()
        self.owners.clear()


def scale_at_launch(helper):
    """The scale at launch; 1 if the arguments of the program contain the scale already."""
    if "keep-lr" in helper.options:
        return 1.0
    try:
        scale = float(os.environ.get("POLLUX_LR_SCALE") or 1)
    except ValueError:
        return 1.0
    return scale if math.isfinite(scale) and scale > 0 else 1.0
