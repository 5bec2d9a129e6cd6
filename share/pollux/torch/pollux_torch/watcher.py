"""The import hook of the helper, which is installed once a program looks for a framework."""

import os
import sys

from . import frameworks


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
            self.act(name, module)

        try:
            loader.exec_module = exec_module
        except AttributeError:
            pass  # a built-in loader; no watched module has one

    def act(self, name, module):
        action = self.actions.pop(name, None)
        if action is not None:
            try:
                action(module)
            except Exception:
                pass  # the parts report their errors; the program must not see this one


def main_texts():
    """What is known of the text of the program that runs."""
    words = list(getattr(sys, "orig_argv", sys.argv))
    for name in ("__main__", "__mp_main__"):
        path = getattr(sys.modules.get(name), "__file__", None)
        try:
            if os.path.isfile(path):  # to open a pipe again would wait for a writer
                with open(path, "rb") as file:
                    yield file.read(1 << 20)
        except (OSError, TypeError, ValueError):
            pass
    if "-c" in words[:-1]:
        yield words[words.index("-c") + 1].encode("utf-8", "surrogateescape")


def speaks_itself():
    """True if the program, or a parent that runs Python, speaks to pollux by itself."""
    if any(b"POLLUX_" in text for text in main_texts()):
        os.environ["POLLUX_TORCH"] = ""  # for its children
        return True
    return False


_installed = None


def install():
    """Returns the hook; None: it is not wanted, or was installed before."""
    global _installed
    # Where nobody has looked into the program before, POLLUX_TORCH says "offered".
    is_offered = os.environ.get("POLLUX_TORCH", "").split(",")[0] == "offered"
    if _installed or (is_offered and speaks_itself()):
        return None
    _installed = Watcher(frameworks.actions())
    sys.meta_path.insert(0, _installed)
    if hasattr(sys.modules.get("tqdm.std"), "tqdm"):
        _installed.act("tqdm.std", sys.modules["tqdm.std"])
    return _installed
