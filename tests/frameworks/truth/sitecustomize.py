"""Counts updates by another way than the helper: around step() of each optimizer class itself.

It stands behind the helper in PYTHONPATH, as the sitecustomize of a site would. At the end it
writes the updates of the optimizer with the most parameters to the file that TRUTH names.
"""
import atexit
import os
import sys


class Recorder:
    def __init__(self):
        self.updates = []  # of each optimizer: [parameters, updates]

    def find_spec(self, name, path=None, target=None):
        if name == "torch.optim.adam":  # by then torch.optim is being imported
            sys.meta_path.remove(self)
            atexit.register(self.write)
        return None

    def wrap_all(self, torch):
        for kind in vars(torch.optim).values():
            is_class = isinstance(kind, type) and "step" in vars(kind)
            if is_class and kind is not torch.optim.Optimizer:
                kind.step = self.wrap(kind.step)

    def wrap(self, real):
        import functools

        @functools.wraps(real)
        def step(optimizer, *args, **kwargs):
            result = real(optimizer, *args, **kwargs)
            if "_truth" not in optimizer.__dict__:
                size = sum(p.numel() for g in optimizer.param_groups for p in g["params"])
                optimizer._truth = [size, 0]
                self.updates.append(optimizer._truth)
            optimizer._truth[1] += 1
            return result

        return step

    def write(self):
        if os.environ.get("RANK", "0") == "0" and self.updates:
            size, updates = max(self.updates)
            with open(os.environ["TRUTH"], "w") as file:
                file.write("%d %d\n" % (size, updates))


class AfterTorch:
    """Wraps the optimizers when `import torch` is complete: at the first dataset of the program."""

    def __init__(self, recorder):
        self.recorder = recorder
        self.busy = False

    def find_spec(self, name, path=None, target=None):
        torch = sys.modules.get("torch")
        spec = getattr(torch, "__spec__", None)
        if not self.busy and spec is not None and not getattr(spec, "_initializing", True):
            self.busy = True
            sys.meta_path.remove(self)
            self.recorder.wrap_all(torch)
        return None


if os.environ.get("TRUTH"):
    _recorder = Recorder()
    sys.meta_path.insert(0, _recorder)
    sys.meta_path.insert(0, AfterTorch(_recorder))
