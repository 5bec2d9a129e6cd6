"""A stand-in for PyTorch: what the helper hooks into, and a model of one weight.

Its gradient is that of a noisy quadratic, and its batches take the time of a device: so a program
written for it trains, saves, resumes and gains by larger batches. It is for tests of pollux on
machines without PyTorch.
"""

import sys
import types

__version__ = "0-standin"
_C = types.SimpleNamespace()


class Tensor:
    """A number, or a batch of samples."""

    device = types.SimpleNamespace(type="cpu")
    requires_grad = True

    def __init__(self, value, shape=()):
        self.value, self.shape = value, shape

    def dim(self):
        return len(self.shape)

    def numel(self):
        return self.shape[0] if self.shape else 1

    def detach(self):
        return self

    def item(self):
        return self.value

    def __float__(self):
        return float(self.value)

    def backward(self):
        autograd.backward(self)


def is_grad_enabled():
    return True


def compile(model):
    return model


from . import amp, autograd, cuda, nn, optim, serialization, utils  # noqa: E402

save, load = serialization.save, serialization.load


def measure_noise():
    """The part of the helper that measures gradients needs a whole PyTorch. This one stands for it:
    it knows the noise scale, and tells it with the errors of an estimate."""
    import os
    import random

    from pollux_torch.no_noise import NoNoise

    class Noise(NoNoise):
        EVERY = 4  # updates

        def __init__(self, helper, torch):
            self.due = self.EVERY
            self.random = random.Random(os.environ.get("POLLUX_RUN"))

        def arm(self, update):
            self.armed = True

        def after_step(self, update):
            self.armed, self.due = False, update.own + self.EVERY
            return {"GRAD_SQR": self.random.gauss(1, 1), "GRAD_VAR": self.random.gauss(2000, 400)}

    module = types.ModuleType("pollux_torch.noise")
    module.Noise = Noise
    sys.modules["pollux_torch.noise"] = module


try:
    measure_noise()
except ImportError:
    pass  # the program runs without the helper
