from . import modules


class Module:
    training = True

    def parameters(self):
        from torch import Tensor

        return [Tensor()]
