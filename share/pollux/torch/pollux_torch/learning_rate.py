"""Multiplies the learning rate of every update by POLLUX_LR_SCALE.

Where POLLUX_LR_GAIN is set the rule is "auto": each optimizer follows AdaScale's gain by the rule
of its family, see optimizers.py.

The rate is scaled just before an optimizer uses it and taken back just after: schedulers, logs and
checkpoints of the program see their own rate. Nothing is kept but in the rate itself, which carries
the program's own: so a step that fails leaves no reference, and a rate that the program sets within
its step stays.
"""

import functools
import importlib
import math
import os
import weakref

from . import hooked
from .optimizers import kind_of


class Scaled(float):
    """A scaled rate. What the program makes of it by a factor carries its own rate, too."""

    def __new__(cls, own, scale):
        rate = super().__new__(cls, own * scale)
        rate._pollux_own, rate.scale = own, scale
        return rate

    def __mul__(self, factor):
        if type(factor) in (int, float):
            return Scaled(self._pollux_own * factor, self.scale)
        return float(self) * factor

    def __truediv__(self, divisor):
        if type(divisor) in (int, float):
            return Scaled(self._pollux_own / divisor, self.scale)
        return float(self) / divisor

    __rmul__ = __mul__

    def __reduce__(self):
        return float, (self._pollux_own,)  # a copy is the program's own rate


def scaled(rate, scale):
    if isinstance(rate, (int, float)):
        return Scaled(rate, scale)
    value = rate * scale  # a tensor
    value._pollux_own = rate
    return value


def own_rate(group):
    """The program's own rate where the group's is a scaled one, else None."""
    return getattr(group.get("lr"), "_pollux_own", None)


class Owner:
    """An optimizer whose step is under way: the groups that it scaled, calls within each other."""

    def __init__(self, optimizer, groups):
        self.optimizer = weakref.ref(optimizer)
        self.groups = {id(g) for g in groups}
        self.depth = 1


class LearningRate:
    def __init__(self, helper):
        self.scale = scale_at_launch(helper, "POLLUX_LR_SCALE")
        self.gain = scale_at_launch(helper, "POLLUX_LR_GAIN", None)
        self.owners = {}  # id of an optimizer in its step -> Owner
        self.is_installed = False
        self.helper = helper
        if self.scale != 1.0:
            self.install()

    def install(self):
        if self.is_installed:
            return
        self.is_installed = True
        optimizer = importlib.import_module("torch.optim.optimizer")
        before = self.helper.guard_step("learning_rate.pre", self.before_step)
        after = self.helper.guard_step("learning_rate.post", self.after_step)
        optimizer.register_optimizer_step_pre_hook(before)
        optimizer.register_optimizer_step_post_hook(after)
        self.helper.before_step.append(before)
        self.helper.after_step.append(after)
        self.wrap_state(optimizer.Optimizer)
        self.helper.on_refusal["learning rate"] = self.restore_all

    def wrap_state(self, kind):
        """Saves the unscaled rate: a handler of SIGTERM may write a checkpoint within a step."""
        real = kind.state_dict
        own = self.helper.guard("learning_rate.state", self.with_own_rates)

        @functools.wraps(real)
        def state_dict(optimizer, *args, **kwargs):
            state = real(optimizer, *args, **kwargs)
            own(state)
            return state

        state_dict._torchdynamo_disable = True
        kind.state_dict = state_dict

    def with_own_rates(self, state):
        for packed in state["param_groups"]:
            own = own_rate(packed)
            if own is not None:
                packed["lr"] = own

    def before_step(self, optimizer):
        if self.owners:
            self.forget_failed(optimizer)
        owner = self.owners.get(id(optimizer))
        if owner is not None:  # super().step()
            owner.depth += 1
            return
        # An optimizer that wraps another shares its groups: they are scaled once.
        groups = [g for g in optimizer.param_groups
                  if g.get("lr") is not None and not (self.owners and own_rate(g) is not None)]
        self.restore(groups)  # after a step that failed
        scale = self.scale_of(optimizer) if self.scale != 1.0 else 1.0
        if scale != 1.0:
            for group in groups:
                group["lr"] = scaled(group["lr"], scale)
            self.owners[id(optimizer)] = Owner(optimizer, groups)

    def scale_of(self, optimizer):
        if self.gain is None:
            return self.scale
        return {"sgd": self.gain, "adam": math.sqrt(self.gain)}.get(kind_of(optimizer)[0], 1.0)

    def change(self, scale, gain):
        """Another batch size begins; gain: None where one rule holds for all optimizers."""
        self.scale, self.gain = scale, gain
        if scale != 1.0:
            self.install()

    def forget_failed(self, optimizer):
        """A step that raised an error had no hook at its end."""
        under_way = hooked.steps_under_way()
        if id(optimizer) in under_way:
            under_way.remove(id(optimizer))
        self.owners = {k: owner for k, owner in self.owners.items() if k in under_way}

    def after_step(self, optimizer):
        owner = self.owners.get(id(optimizer))
        if owner is None:
            return
        owner.depth -= 1
        if not owner.depth:
            del self.owners[id(optimizer)]
            self.restore([g for g in optimizer.param_groups if id(g) in owner.groups])

    @staticmethod
    def restore(groups):
        for group in groups:
            own = own_rate(group)
            if own is not None:  # else the program has set its own within the step
                group["lr"] = own

    def restore_all(self):
        for owner in self.owners.values():
            optimizer = owner.optimizer()
            if optimizer is not None:
                self.restore(optimizer.param_groups)
        self.owners.clear()


def scale_at_launch(helper, name, otherwise=1.0):
    """The scale at launch; 1 if the arguments of the program contain the scale already."""
    if "keep-lr" in helper.options:
        return otherwise
    try:
        scale = float(os.environ.get(name) or "nan")
    except ValueError:
        return otherwise
    return scale if math.isfinite(scale) and scale > 0 else otherwise
