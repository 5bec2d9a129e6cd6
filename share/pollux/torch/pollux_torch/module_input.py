"""The size of the batch that enters the outermost module, for programs without DataLoader."""

import weakref


class ModuleInput:
    """Watches the calls of the outermost module.

    Until the first update, a global hook finds the module that is called first. From then on the
    helper sees only the calls of this module, by its _compiled_call_impl, which torch neither
    copies nor saves.
    """

    def __init__(self, helper, torch, declared):
        self.torch = torch
        self.declared = declared
        self.sizes = None  # of the latest forward
        self.last = 0  # of the latest pass
        self.handle = None
        self.is_closed = False
        self.root = None  # weak reference
        self.call = None  # what was put into the module
        self.compiled_module = None  # weak reference; torch.compile was called
        self.is_compiled = False
        self.helper = helper
        self.refusals = helper.refusals
        self.inner = ()  # modules that take time first, as long as their input was not seen
        self.is_time_first = False
        self.on_evaluation = None  # function(), for a forward without gradients
        self.see = helper.guard("samples.input", self.see_call)
        self.find = helper.guard("samples.find", self.find_root)
        self.open()

    def open(self):
        if "samples" in self.refusals:
            return
        self.is_closed = False
        module = self.compiled_module and self.compiled_module()
        if module is not None:
            self.watch(module)
        elif not self.is_compiled and self.handle is None and self.root is None:
            hook = self.torch.nn.modules.module.register_module_forward_pre_hook
            self.handle = hook(lambda module, args: self.find(module, args))

    def disarm(self):
        self.inner = ()
        if self.handle is not None:
            self.handle.remove()
            self.handle = None

    def close(self):
        self.is_closed = True
        self.disarm()
        module = self.root and self.root()
        if module is not None and module.__dict__.get("_compiled_call_impl") is self.call:
            del module.__dict__["_compiled_call_impl"]
        self.root = self.call = None

    def find_root(self, module, args):
        if self.is_closed or not module.training or not self.torch.is_grad_enabled():
            return
        if self.inner:
            self.find_time(module, args)
            return
        self.sizes = self.size(module, args, {})
        self.watch(module)
        self.inner = [m for m in module.modules() if m is not module
                      and m.__dict__.get("batch_first") is False]
        self.outer = next(iter(tensors_of(self.torch, args)), None) if self.inner else None
        if not self.inner or self.sizes == self.declared or self.outer is None:
            self.disarm()
        else:
            self.outer = self.outer.shape[:2]

    def find_time(self, module, args):
        """In the first call of the root: the input of a module within, which takes time first."""
        is_root = self.root is not None and self.root() is module
        if not is_root and not any(m is module for m in self.inner):
            return
        self.disarm()
        x = args[0] if args and isinstance(args[0], self.torch.Tensor) else None
        if is_root or x is None or x.dim() < 2 or len(self.outer) < 2:
            return
        time_steps, rows = x.shape[:2]
        if self.outer == (time_steps, rows):
            self.is_time_first = True
            self.sizes = rows
        elif self.outer[0] != rows:
            self.helper.refuse("samples", "no DataLoader, and the first dimension of the module's "
                               "input may be time")

    def watch(self, module):
        if module.__dict__.get("_compiled_call_impl") is not None:
            return
        if not hasattr(type(module), "_compiled_call_impl"):
            return  # an older torch: the batch of the first pass stands for all
        see = self.see
        reference = weakref.ref(module)

        def call(*args, **kwargs):
            root = reference()
            see(root, args, kwargs)
            return root._call_impl(*args, **kwargs)

        module.__dict__["_compiled_call_impl"] = self.call = call
        self.root = reference

    def compiles(self):
        """Called at torch.compile: from now on there may be no global hook."""
        self.is_compiled = True
        self.disarm()

    def compiled(self, module):
        """torch.compile made this module."""
        if isinstance(module, self.torch.nn.Module):
            self.compiled_module = weakref.ref(module)
            if not self.is_closed and self.root is None:
                self.watch(module)

    def see_call(self, module, args, kwargs):
        if not self.torch.is_grad_enabled():
            self.on_evaluation()
        elif module.training:
            self.sizes = self.size(module, args, kwargs)

    def size(self, module, args, kwargs):
        torch = self.torch
        for x in tensors_of(torch, args) or tensors_of(torch, kwargs):
            if self.declared and self.declared in x.shape[:2]:
                return self.declared
            if self.is_time_first and x.dim() > 1:
                return x.shape[1]
            if isinstance(module, torch.nn.RNNBase) and x.dim() == 3 and not module.batch_first:
                return x.shape[1]
            return x.shape[0]
        return 0

    def take(self):
        if self.sizes:
            self.last = self.sizes
        return self.last or self.declared


def tensors_of(torch, value, depth=0):
    """The tensors in nested lists, tuples and dictionaries that have a first dimension."""
    if isinstance(value, torch.Tensor):
        return [value] if value.dim() else []
    if depth < 3:
        if hasattr(value, "values") and callable(value.values):
            value = list(value.values())
        if isinstance(value, (list, tuple)):
            return [t for v in value for t in tensors_of(torch, v, depth + 1)]
    return []
