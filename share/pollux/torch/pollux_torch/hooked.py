"""Where the hooks of an optimizer's step are called from.

torch puts a wrapper around step() of a class when its first instance is made. A class and its base
may both have one: super().step() then calls all hooks again, within the step that is under way.
"""

import sys

MAX_FRAMES = 64


class Listed:
    """A hook in a list of hooks, to be removed as one of torch is."""

    def __init__(self, hooks, hook):
        self.hooks, self.hook = hooks, hook
        hooks.append(hook)

    def remove(self):
        if self.hook in self.hooks:
            self.hooks.remove(self.hook)


def is_nested(kind):
    """True if step() of this class may call the hooks more than once."""
    return sum(bool(getattr(vars(c).get("step"), "hooked", False)) for c in kind.__mro__) > 1


def is_wrapper(frame):
    return frame.f_code.co_name == "wrapper" and "_global_optimizer_pre_hooks" in frame.f_globals


def steps_under_way():
    """Ids of the optimizers whose wrappers are on the stack, each as often as it is there."""
    frame, found = sys._getframe(1), []
    for _ in range(MAX_FRAMES):
        if frame is None:
            break
        if is_wrapper(frame):
            arguments = frame.f_locals.get("args")
            found += [id(arguments[0])] if arguments else []
        frame = frame.f_back
    return found
