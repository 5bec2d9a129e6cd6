"""fastai has optimizers of its own, which call none of torch's hooks: the helper calls its own
around their steps. Its OptimWrapper has an optimizer of torch within, which calls them itself.
"""

import functools
import weakref

from . import core

# The function that makes the step -> the class of torch that does the same.
NAMES = {"sgd_step": "SGD", "momentum_step": "SGD", "rms_prop_step": "RMSprop",
         "adam_step": "Adam", "radam_step": "RAdam", "qhadam_step": "QHAdam", "lamb_step": "Lamb"}


class Group:
    """A group of parameters: its values are those that fastai reads."""

    def __init__(self, values, parameters):
        self.values, self.parameters = values, parameters

    def get(self, key, otherwise=None):
        return self.parameters if key == "params" else self.values.get(key, otherwise)

    def __getitem__(self, key):
        return self.parameters if key == "params" else self.values[key]

    def __setitem__(self, key, value):
        self.values[key] = value


class Like:
    """What the helper's hooks see in the place of such an optimizer."""

    def __init__(self, optimizer):
        self.made_of = list(optimizer.hypers)
        self.param_groups = [Group(values, parameters) for values, parameters
                             in zip(optimizer.hypers, optimizer.param_lists)]

    def is_of(self, optimizer):
        its = list(optimizer.hypers)  # others after load_state_dict()
        return len(its) == len(self.made_of) and all(a is b for a, b in zip(its, self.made_of))


def like(optimizer):
    steps = [getattr(function, "__name__", "") for function in optimizer.cbs]
    name = NAMES.get(steps[-1] if steps else "", "fastai")
    return type(name, (Like,), {})(optimizer)


def install(module):
    """module: fastai.optimizer"""
    helper = core.helper()
    if helper.steps is None:
        return
    from importlib import import_module

    helper.framework("fastai", getattr(import_module("fastai"), "__version__", ""))
    likes = weakref.WeakKeyDictionary()
    kind = module.Optimizer
    real = kind.step

    def like_of(optimizer):
        known = likes.get(optimizer)
        if known is None or not known.is_of(optimizer):
            helper.refuse("gradient noise", "optimizers of fastai")
            known = likes[optimizer] = like(optimizer)
        return known

    like_of = helper.guard("steps.fastai", like_of)

    @functools.wraps(real)
    def step(optimizer, *args, **kwargs):
        its = like_of(optimizer)
        if its is None:
            return real(optimizer, *args, **kwargs)
        for hook in list(helper.before_step):
            hook(its, (its,), {})
        result = real(optimizer, *args, **kwargs)
        for hook in list(helper.after_step):
            hook(its, (its,), {})
        return result

    kind.step = step
