"""Makes an unmodified training program report its progress to pollux.

pollux puts the directory of this file first in the PYTHONPATH of a job. Each Python of the job, of
any version and whatever started it, then imports this file at its start. So this file is short, and
runs in Python 2.7, too. It installs an import hook and nothing else: the parts in pollux_torch/ are
loaded when the program looks for torch or another framework.

Without POLLUX_REPORT_SOCKET or POLLUX_TORCH this file only runs the sitecustomize module that
Python would have found without this file.
"""

import os
import sys

FRAMEWORKS = ("torch", "keras", "xgboost", "lightgbm", "optax")


class Doorkeeper(object):
    """An import hook that loads the helper once a program looks for one of FRAMEWORKS."""

    has_looked = False

    def find_spec(self, name, path=None, target=None):
        if name not in FRAMEWORKS or self.has_looked:
            return None
        # The hook stays in the list, or Python, which goes through it, would pass one finder over.
        self.has_looked = True
        try:
            from pollux_torch import watcher

            ours = watcher.install()
        except Exception:
            ours = None
        return ours and ours.find_spec(name, path, target)


def is_wanted():
    options = os.environ.get("POLLUX_TORCH", "off").split(",")
    return (sys.version_info >= (3, 7) and bool(os.environ.get("POLLUX_REPORT_SOCKET"))
            and options[0] not in ("", "off"))


def run_shadowed():
    """Runs the sitecustomize that Python would have found without this file.

    Its errors go to Python, which treats them as if this file were not there.
    """
    name = "sitecustomize"
    own = sys.modules.pop(name, None)
    here = os.path.dirname(os.path.abspath(__file__))
    ours = [(i, p) for i, p in enumerate(sys.path) if os.path.abspath(p or ".") == here]
    for _, path in ours:
        sys.path.remove(path)
    try:
        __import__(name)
    except ImportError as error:
        # In Python 2 an error has no name.
        if getattr(error, "name", str(error).split(" ")[-1]) != name:
            raise
        sys.modules[name] = own
    finally:
        for i, path in ours:
            sys.path.insert(i, path)


if is_wanted():
    sys.meta_path.insert(0, Doorkeeper())
run_shadowed()
