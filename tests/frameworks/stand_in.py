"""Tests the helper without torch: what it does at Python's start, and its hooks on a stand-in.

Every file is compiled; chaining, switching off and the import hook are those of the real thing; the
package torch is a stand-in of a few classes (tests/torch). Prints TAP.
"""

import os
import py_compile
import re
import sys
import tempfile

import listen

HERE = os.path.dirname(os.path.abspath(__file__))
STAND_IN = os.path.abspath(os.path.join(HERE, "..", "torch"))
n = failed = 0


def check(good, what, detail=""):
    global n, failed
    n += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", n, what))
    if not good:
        print("\n".join("# " + line for line in str(detail).splitlines()))


def compiles():
    for directory, _, files in os.walk(listen.HELPER):
        for file in sorted(f for f in files if f.endswith(".py")):
            with tempfile.NamedTemporaryFile() as out:
                try:
                    py_compile.compile(os.path.join(directory, file), out.name, doraise=True)
                    check(True, file + " compiles")
                except py_compile.PyCompileError as error:
                    check(False, file + " compiles", error)


def python(code, helper="on", before=(), **variables):
    return listen.run([sys.executable, "-c", code], helper, before=before, **variables)


def chaining():
    with tempfile.TemporaryDirectory() as site:
        with open(os.path.join(site, "sitecustomize.py"), "w") as file:
            file.write("import sys\nprint('site', __name__, 'pollux_torch' in sys.modules,\n"
                       "      'Doorkeeper' in [type(f).__name__ for f in sys.meta_path])\n")
        run = python("import sitecustomize; print(sitecustomize.__file__)", before=[site])
        check(run.out == "site sitecustomize False True\n%s/sitecustomize.py\n" % site,
              "the sitecustomize that the helper shadows runs, and is the one a program imports",
              run.out + run.err)
        run = python("pass", helper="off", before=[site])
        check(run.out == "site sitecustomize False False\n", "off: it runs, and nothing else",
              run.out)
        run = python("pass", before=[site], POLLUX_REPORT_SOCKET="")
        check(run.out == "site sitecustomize False False\n", "outside a job the same", run.out)
        with open(os.path.join(site, "sitecustomize.py"), "w") as file:
            file.write("raise ValueError('of the site')\n")
        ours, theirs = python("print(1)", before=[site]), python("print(1)", None, before=[site])
        check((ours.status, ours.out) == (theirs.status, theirs.out) and "of the site" in ours.err,
              "an error in it ends as it would without the helper", ours.err)
        with open(os.path.join(site, "sitecustomize.py"), "w") as file:
            file.write("raise ImportError('no sitecustomize')\n")
        ours, theirs = python("print(1)", before=[site]), python("print(1)", None, before=[site])
        check((ours.out, ours.err) == (theirs.out, theirs.err) and "no site" in ours.err,
              "so does an import that fails in it", ours.err)
    run = python("import sys; print(sorted(m for m in sys.modules if 'torch' in m))")
    check("'torch'" not in run.out and run.err == "", "torch is not imported", run.out + run.err)
    run = python(FINDS, helper="offered")
    check(run.out == "found\n", "a finder of the program behind the hook is asked", run.err)


FINDS = """
import importlib.machinery, importlib.util, sys  # POLLUX_: the helper leaves it alone
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == "keras":
            return importlib.machinery.ModuleSpec(name, importlib.machinery.BuiltinImporter)
hooks = [type(f).__name__ for f in sys.meta_path]
sys.meta_path.insert(hooks.index("Doorkeeper") + 1, Finder())
print("found" if importlib.util.find_spec("keras") else "not found")
"""


with open(os.path.join(STAND_IN, "plain.py")) as file:
    TRAINING = file.read()


def hooks():
    plain = python(TRAINING, None, before=[STAND_IN])
    run = python(TRAINING, before=[STAND_IN])
    check(run.status == 0 and (run.out, run.err) == (plain.out, plain.err),
          "a training prints the same with the helper", plain.out + plain.err + run.out + run.err)
    check((run.last("FRAMEWORK") or "").startswith("torch "), "FRAMEWORK", run.reports)
    check((run.last("STEP"), run.last("SAMPLES")) == ("12", "300"), "12 updates, 300 samples",
          run.reports)
    run = python(TRAINING, before=[STAND_IN], POLLUX_LR_SCALE="2")
    check(run.out == "0.1 0.2\n", "the rate is scaled for updates only", run.out + run.err)
    for hook in ("steps.post", "samples.count", "steps.backward"):
        run = python(TRAINING, before=[STAND_IN], POLLUX_TORCH_FAULT=hook)
        check((run.out, run.err) == (plain.out, plain.err) and "injected" in run.last("HELPER"),
              "an error in %s changes nothing but HELPER" % hook, run.reports)
    run = python(TRAINING, before=[STAND_IN], POLLUX_REPORT_SOCKET="/nonexistent/socket")
    check((run.out, run.err) == (plain.out, plain.err), "nobody listens: the same", run.err)
    for helper in ("on", "offered"):
        run = listen.run(["sh", "-c", "mkfifo train; printf %s \"$0\" >train & exec \"$1\" train",
                          TRAINING, sys.executable], helper, timeout=60, before=[STAND_IN])
        check(run.out == plain.out and run.last("STEP") == "12",
              "a program that is read from a pipe trains, " + helper, run.err)


FASTAI = """
class Optimizer:
    def __init__(self, params, cbs, lr):
        self.param_lists, self.cbs, self.hypers = [params], cbs, [{"lr": lr}]
    @property
    def param_groups(self):
        return [{**{"params": p}, **h} for p, h in zip(self.param_lists, self.hypers)]
    def step(self):
        self.used_lr = float(self.hypers[0]["lr"])
"""
OTHERS = """
import torch
from fastai.optimizer import Optimizer
from torch.utils.data import DataLoader
def adam_step(): pass
optimizer = Optimizer([torch.Tensor(1.0)], [adam_step], lr=0.1)
for epoch in range(3):
    for batch in DataLoader(range(100), batch_size=32):
        torch.Tensor(0.5).backward()
        optimizer.step()
print(optimizer.hypers[0]["lr"], optimizer.used_lr)
"""
BY_HAND = """
import torch
for i in range(400): torch.Tensor(0.5).backward()
print("done")
"""


def others():
    """Optimizers that call none of torch's hooks."""
    with tempfile.TemporaryDirectory() as directory:
        os.mkdir(os.path.join(directory, "fastai"))
        for name, text in (("__init__", "__version__ = '2'\n"), ("optimizer", FASTAI)):
            with open(os.path.join(directory, "fastai", name + ".py"), "w") as file:
                file.write(text)
        plain = python(OTHERS, None, before=[STAND_IN, directory])
        run = python(OTHERS, before=[STAND_IN, directory])
        check(run.status == 0 and (run.out, run.err) == (plain.out, plain.err),
              "a training with fastai prints the same", plain.err + run.out + run.err)
        check((run.last("STEP"), run.last("SAMPLES"), run.last("OPTIMIZER")) ==
              ("12", "300", "adam Adam"), "updates of fastai, and its rule", run.reports)
        run = python(OTHERS, before=[STAND_IN, directory], POLLUX_LR_SCALE="2")
        check(run.out == "0.1 0.2\n", "the rate of fastai is scaled for updates only",
              run.out + run.err)
    run = python(BY_HAND, before=[STAND_IN], POLLUX_LR_SCALE="2")
    told = run.last("HELPER") or ""
    check(run.out == "done\n" and "no steps: no step of an optimizer of torch" in told and
          "no learning rate: no step" in told, "updates by hand are refused aloud", run.reports)
    run = python(BY_HAND.replace("400", "4"), before=[STAND_IN])
    check("no steps: no step of an optimizer of torch in 4" in (run.last("HELPER") or ""),
          "and of a few passes, at the end", run.reports)


def parts():
    child = "import sys; print('Doorkeeper' in [type(f).__name__ for f in sys.meta_path])"
    code = "import subprocess, sys; subprocess.run([sys.executable, '-c', %r])" % child
    run = python(code)
    check("True" in run.out, "a process that the program starts has the helper too", run.out)
    run = python("import pollux_torch; pollux_torch.report(accuracy=0.5, n=3)")
    check(run.reports == [{"METRIC.accuracy": "0.5", "METRIC.n": "3"}], "pollux_torch.report()",
          run.reports)


def unfinished():
    """What is not finished, by its name or its format, is that for the engine and the helper."""
    with open(os.path.join(HERE, "../../src/engine/local/checkpoint_names.c")) as file:
        words = re.findall(r'\{ "([a-z]+)", (?:ANYWHERE|AT_ENDS|AS_SUFFIX) \}', file.read())
    names = ["a.pt." + w for w in words] + ["a.pt.%s.4711" % w for w in words] + \
        ["a_tmp.pt", "aTmp.pt", "a.tmpAb12Cd", "tmpab12cd_x", "a.pt~", ".a.pt.swp", "#a.pt#"]
    others = ["a.pt", "attempt.pt", "newest.pt", "template.pt", "a.tmpl", "department-3.pt"]
    run = python("from pollux_torch.checkpoints import is_temporary\n"
                 "print([n for n in %r if not is_temporary(n)], [n for n in %r if is_temporary(n)])"
                 % (names, others))
    check(len(words) > 20 and run.out == "[] []\n", "names of unfinished files", run.out + run.err)
    run = python("""import os, tempfile, zipfile
from pollux_torch.resume import is_whole
path = os.path.join(tempfile.mkdtemp(), "lightning.ckpt")
print(is_whole(path))
with zipfile.ZipFile(path, "w") as file:
    file.writestr("data", bytes(100000))
print(is_whole(path))
for size in 99999, 0:
    os.truncate(path, size)
    print(is_whole(path))
""")
    check(run.out.split() == ["False", "True", "False", "False"] and
          run.err.count("was not written to its end") == 2, "a torn file is not resumed from",
          run.out + run.err)


if __name__ == "__main__":
    compiles()
    chaining()
    hooks()
    others()
    parts()
    unfinished()
    print("1..%d" % n)
    sys.exit(1 if failed else 0)
