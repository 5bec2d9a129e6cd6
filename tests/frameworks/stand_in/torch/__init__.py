"""A stand-in for torch: as much as the helper hooks into. The tests of CI have no torch."""
from . import autograd, nn, optim, serialization
from .serialization import load, save

__version__ = "0.0.stand-in"


class Tensor:
    """A loss. backward() does nothing."""

    def __init__(self, value=None, size=()):
        self.value, self.shape = value, size

    def backward(self):
        autograd.backward(self)

    def numel(self):
        return 4

    def dim(self):
        return len(self.shape)


class cuda:
    class OutOfMemoryError(RuntimeError):
        pass

    @staticmethod
    def is_initialized():
        return False


class amp:
    class GradScaler:
        def scale(self, outputs):
            return outputs

        def step(self, optimizer):
            optimizer.step()


def is_grad_enabled():
    return True


def compile(model):
    return model
