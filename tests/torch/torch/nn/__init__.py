from . import modules
from .modules.module import Module


class RNNBase(Module):
    pass
