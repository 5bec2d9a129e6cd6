"""Makes an unmodified training program report its progress to pollux.

pollux puts the directory of this file first in the PYTHONPATH of a job. Python then imports this
file at its start. It installs an import hook and nothing else: the parts in pollux_torch/ are
loaded when the program imports torch or another framework.

Without POLLUX_REPORT_SOCKET or POLLUX_TORCH this file only runs the sitecustomize module that
Python would have found without this file.
"""

import os
import sys


class Watcher:
    """An import hook: runs a function when a module of a given name has been imported."""

    def __init__(self, actions):
        self.actions = actions  # module name -> function(module)
        self.searching = set()

    def find_spec(self, name, path=None, target=None):
        if name not in self.actions or name in self.searching:
            return None
        self.searching.add(name)
        try:
            spec = self.ask_other_finders(name, path, target)
        finally:
            self.searching.discard(name)
        # Python may ask for a spec without importing the module, so the action stays until then.
        if spec is not None and hasattr(spec.loader, "exec_module"):
            self.extend(spec.loader, name)
        return spec

    def ask_other_finders(self, name, path, target):
        for finder in list(sys.meta_path):
            find = getattr(finder, "find_spec", None)
            spec = find(name, path, target) if find and finder is not self else None
            if spec is not None:
                return spec
        return None

    def extend(self, loader, name):
        execute = loader.exec_module

        def exec_module(module):
            execute(module)
            action = self.actions.pop(name, None)
            if action is not None:
                try:
                    action(module)
                except Exception:
                    pass  # the parts report their errors; the program must not see this one

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # a built-in loader; no watched module has one


def is_wanted():
    options = os.environ.get("POLLUX_TORCH", "off").split(",")
    return bool(os.environ.get("POLLUX_REPORT_SOCKET")) and options[0] not in ("", "off")


def install():
    from pollux_torch import frameworks

    sys.meta_path.insert(0, Watcher(frameworks.actions()))


def run_shadowed():
    """Runs the sitecustomize that Python would have found without this file.

    Its errors go to Python, which treats them as if this file were not there.
    """
    from importlib.machinery import PathFinder
    from importlib.util import module_from_spec

    here = os.path.dirname(os.path.abspath(__file__))
    elsewhere = [p for p in sys.path if os.path.abspath(p or ".") != here]
    spec = PathFinder.find_spec("sitecustomize", elsewhere)
    if spec is not None and spec.loader is not None:
        module = module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


if is_wanted():
    try:
        install()
    except Exception:
        pass
run_shadowed()
