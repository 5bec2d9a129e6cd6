"""An optimizer with the hooks that PyTorch calls for all of them."""

import functools
import time

_global_optimizer_pre_hooks, _global_optimizer_post_hooks = {}, {}


class Handle:
    def __init__(self, hooks, hook):
        self.hooks = hooks
        hooks[id(self)] = hook

    def remove(self):
        self.hooks.pop(id(self), None)


def register_optimizer_step_pre_hook(hook):
    return Handle(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook):
    return Handle(_global_optimizer_post_hooks, hook)


def with_hooks(step):
    @functools.wraps(step)
    def wrapper(*args, **kwargs):
        for hook in list(_global_optimizer_pre_hooks.values()):
            hook(args[0], args, kwargs)
        result = step(*args, **kwargs)
        for hook in list(_global_optimizer_post_hooks.values()):
            hook(args[0], args, kwargs)
        return result

    wrapper.hooked = True
    return wrapper


class Optimizer:
    def __init__(self, parameters, lr):
        self.param_groups = [{"params": list(parameters), "lr": lr}]
        self.used_lr = None  # the rate of the last step, with what hooks made of it
        self.pass_s = 0.0  # what the device takes for a step
        self._patch_step_function()

    def _patch_step_function(self):
        """As in PyTorch: the first instance of a class puts the hooks around its step."""
        kind = type(self)
        if not getattr(kind.step, "hooked", False):
            kind.step = with_hooks(kind.step)

    def zero_grad(self):
        pass

    def state_dict(self):
        return {"state": {}, "param_groups": [{"lr": self.param_groups[0]["lr"]}]}

    def load_state_dict(self, state):
        self.param_groups[0]["lr"] = state["param_groups"][0]["lr"]


class SGD(Optimizer):
    def step(self, closure=None):
        if closure is not None:
            closure()
        self.used_lr = float(self.param_groups[0]["lr"])
        time.sleep(self.pass_s)
