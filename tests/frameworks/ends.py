"""Tests what the helper finds to end a training, and the families of optimizers, on the stand-in
for torch (tests/torch). Prints TAP."""

import os
import sys
import tempfile

import listen

STAND_IN = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "torch"))
sys.path.insert(0, listen.HELPER)
n = failed = 0

SETUP = """
import itertools, time, torch
from torch.utils.data import DataLoader
data = DataLoader(range(320), batch_size=32)
optimizer = torch.optim.SGD([torch.Tensor(1.0)], lr=0.1)
ever = iter(itertools.cycle(data))
def update():
    torch.Tensor(0.5).backward()
    optimizer.step()
"""
# What ends it, what it is, its loop.
PROGRAMS = [
    ("epochs", "epochs over a loader", "for epoch in range(30):\n  for b in data: update()"),
    ("epochs", "epochs by another name", "for k in range(30):\n  for b in data: update()"),
    ("epochs", "epochs that may stop early", "best = 0.01\nfor epoch in range(30):\n"
     "  for b in data: update(); best += 0.001\n  if best > 0.5: break"),
    ("epochs", "a loop over the length of the loader", "for epoch in range(20):\n"
     "  it = iter(data)\n  for i in range(len(data)):\n    next(it); update()"),
    ("epochs", "batches cut by hand", "n, batch_size = 320, 32\nfor epoch in range(20):\n"
     "  for i in range(n // batch_size): update()"),
    ("epochs", "their number computed before", "n, bs = 320, 32\nper_epoch = n // bs\n"
     "for epoch in range(20):\n  for i in range(per_epoch): update()"),
    ("epochs", "offsets of batches", "for epoch in range(20):\n"
     "  for i in range(0, 320, 32): update()"),
    ("epochs", "all updates computed from epochs", "E = 20; per = len(data); total = E * per\n"
     "done = 0\nfor epoch in range(E):\n  for b in data:\n    update(); done += 1\n"
     "    if done >= total: break"),
    ("epochs", "a limit that epochs do not reach", "done = 0\nfor epoch in range(20):\n"
     "  for b in data:\n    update(); done += 1\n    if done >= 100000: break"),
    ("epochs", "zip with more numbers than batches", "for epoch in range(20):\n"
     "  for i, b in zip(range(50), data): update()"),
    ("epochs", "islice of more than there is", "for epoch in range(20):\n"
     "  for b in itertools.islice(data, 50): update()"),
    ("steps", "range and next", "for i in range(200):\n  next(ever); update()"),
    ("steps", "range without a loader", "for i in range(200): update()"),
    ("steps", "epochs that are updates of all data", "for epoch in range(200): update()"),
    ("steps", "while step < total", "step = 0\nwhile step < 200:\n"
     "  next(ever); update(); step += 1"),
    ("steps", "while total > step", "step, total = 0, 200\nwhile total > step:\n"
     "  next(ever); update(); step += 1"),
    ("steps", "break at an attribute", "class T: step, most = 0, 200\nt = T(); t.step = 0\n"
     "while True:\n  next(ever); update(); t.step += 1\n  if t.step >= t.most: break"),
    ("steps", "a counter in a dictionary", "s = {'step': 0}\nwhile s['step'] < 200:\n"
     "  next(ever); update(); s['step'] += 1"),
    ("steps", "one of two reasons to break", "step, stop = 0, False\n"
     "for b in itertools.cycle(data):\n  update(); step += 1\n  if step == 200 or stop: break"),
    ("steps", "step + 1 >= total", "for step, b in enumerate(itertools.cycle(data)):\n  update()\n"
     "  if step + 1 >= 200: break"),
    ("steps", "a limit within the epochs", "step, done = 0, False\nfor epoch in range(1000):\n"
     "  for b in data:\n    update(); step += 1\n    if step >= 200: done = True; break\n"
     "  if done: break"),
    ("steps", "a limit of each epoch", "for epoch in range(40):\n  for i, b in enumerate(data):\n"
     "    if i >= 6: break\n    update()"),
    ("steps", "epochs of a number of updates", "for epoch in range(20):\n  for i in range(12):\n"
     "    next(ever); update()"),
    ("steps", "zip with fewer numbers than batches", "for epoch in range(30):\n"
     "  for i, b in zip(range(5), data): update()"),
    ("steps", "islice of the loader", "for epoch in range(40):\n"
     "  for b in itertools.islice(data, 5): update()"),
    ("steps", "islice of a cycle", "for b in itertools.islice(itertools.cycle(data), 200):\n"
     "  update()"),
    ("time", "while the time is not up", "t = time.time()\nwhile time.time() - t < 0.5:\n"
     "  update(); time.sleep(0.005)"),
    ("time", "break when the time is up", "t = time.monotonic()\nwhile True:\n"
     "  update(); time.sleep(0.005)\n  if time.monotonic() - t > 0.5: break"),
    ("metric", "while it is not good enough", "good = 0.01\nwhile good < 0.95:\n"
     "  for b in data: update(); good += 0.001"),
    (None, "a function that tells", "def more():\n  global k; k += 1; return k < 200\nk = 0\n"
     "while more():\n  next(ever); update()"),
]
# The family, the names of a class and its bases.
CLASSES = [
    ("sgd", "SGD", "Optimizer"), ("sgd", "LARS", "Optimizer"), ("sgd", "Mine", "SGD", "Optimizer"),
    ("sgd", "SGD8bit", "Optimizer"), ("adam", "AdamW", "Adam", "Optimizer"),
    ("adam", "PagedAdamW8bit", "Optimizer2State", "Optimizer"), ("adam", "RMSprop", "Optimizer"),
    ("adam", "FusedLAMB", "Optimizer"), ("adam", "Mine", "AdamW", "Optimizer"),
    ("other", "AdamWScheduleFree", "Optimizer"), ("other", "DAdaptAdam", "Optimizer"),
    ("other", "Lion8bit", "Optimizer"), ("other", "Muon", "Optimizer"),
    ("other", "SGDScheduleFree", "SGD", "Optimizer"), ("other", "Mine", "Optimizer"),
    ("other", "Rprop", "Optimizer"), ("search", "LBFGS", "Optimizer"),
    ("search", "FullBatchLBFGS", "LBFGS", "Optimizer"),
]
TWO = """
class AdamW(torch.optim.Optimizer):
    def step(self, closure=None):
        self.used_lr = float(self.param_groups[0]["lr"])
other = AdamW([torch.Tensor(1.0)], lr=0.1)
for epoch in range(3):
    for b in data:
        torch.Tensor(0.5).backward()
        optimizer.step()
        other.step()
print("%.3g %.3g" % (optimizer.used_lr, other.used_lr))
"""


def check(good, what, detail=""):
    global n, failed
    n += 1
    failed += not good
    print("%sok %d - %s" % ("" if good else "not ", n, what))
    if not good:
        print("\n".join("# " + line for line in str(detail).splitlines()))


def run(code, **variables):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(SETUP + code + "\n")
        file.flush()
        return listen.run([sys.executable, file.name], "on", before=[STAND_IN], **variables)


def ends():
    for end, what, code in PROGRAMS:
        one = run(code)
        check(one.status == 0 and one.last("ENDS") == end, "%s: %s" % (what, end or "not known"),
              "%s\n%s" % (one.last("ENDS"), one.err))


def optimizers():
    from pollux_torch.optimizers import family_of

    for family, *names in CLASSES:
        got = family_of(names)
        check(got == family, "%s (%s) is %s" % (names[0], names[1], family), got)
    check(family_of(["Adafactor"], [{"lr": None}]) == "other", "Adafactor finds its own rate")
    check(family_of(["Adafactor"], [{"lr": 1e-3, "relative_step": False}]) == "adam",
          "unless it is given one")
    one = run(PROGRAMS[0][2])
    check(one.last("OPTIMIZER") == "sgd SGD", "the optimizer is reported", one.reports)
    two = run(TWO, POLLUX_LR_SCALE="4", POLLUX_LR_GAIN="4")
    check(two.out == "0.4 0.2\n", "of two optimizers each has its own rule: the gain, and its root",
          two.out + two.err)
    check(two.last("OPTIMIZER") == "sgd SGD, AdamW", "both are reported, the main one first",
          two.reports)
    two = run(TWO, POLLUX_LR_SCALE="4")
    check(two.out == "0.4 0.4\n", "a rule that a person chose holds for both", two.out + two.err)
    two = run(TWO.replace("AdamW", "Lion"), POLLUX_LR_SCALE="4", POLLUX_LR_GAIN="4")
    check(two.out == "0.4 0.1\n", "no rule is known: the rate stays", two.out + two.err)
    check(two.last("OPTIMIZER") == "other SGD, Lion", "and that is told", two.reports)


ends()
optimizers()
print("1..%d" % n)
sys.exit(1 if failed else 0)
