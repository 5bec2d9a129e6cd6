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
    ("epochs", "epochs of folds", "for k, fold in enumerate('abcde'):\n"
     "  for epoch in range(4):\n    for b in data: update()"),
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
    ("epochs", "a loop whose counter is an attribute", "class T: pass\nt = T()\n"
     "for t.epoch in range(20):\n  for b in data: update()"),
    ("epochs", "no number of updates was given", "most = -1\n"
     "for i in range(most if most > 0 else 20 * len(data)): next(ever); update()"),
    ("epochs", "a guard that is off", "most, step = -1, 0\nfor epoch in range(20):\n"
     "  for b in data:\n    update(); step += 1\n    if most > 0 and step >= most: break"),
    ("epochs", "a limit that is off", "debug = False\nfor epoch in range(20):\n"
     "  for i, b in enumerate(data):\n    update()\n    if debug and i >= 8: break"),
    ("epochs", "patience after some epochs", "bad = 0\nfor epoch in range(20):\n"
     "  for b in data: update()\n  bad += 0\n  if epoch > 3 and bad >= 5: break"),
    ("epochs", "epochs of a number of samples", "total = 6400\n"
     "for epoch in range(total // len(data.dataset)):\n  for b in data: update()"),
    ("steps", "a number of updates or that of epochs", "most = 200\n"
     "for i in range(most if most > 0 else 20 * len(data)): next(ever); update()"),
    ("steps", "the same by or", "most = 200\ntotal = most or 20 * len(data)\n"
     "for i in range(total): next(ever); update()"),
    ("steps", "epochs as many as updates need", "import math\ntotal = 200\n"
     "E = math.ceil(total / len(data))\nfor epoch in range(E):\n  for b in data: update()"),
    ("steps", "the smaller of a number and the length", "for epoch in range(30):\n"
     "  n = min(5, len(data))\n  for i, b in enumerate(data):\n    if i >= n: break\n"
     "    update()"),
    ("steps", "a guard beside the limit", "most, step = 200, 0\nfor epoch in range(1000):\n"
     "  for b in data:\n    if most > 0 and step >= most: break\n    update(); step += 1\n"
     "  if most > 0 and step >= most: break"),
    ("steps", "a flag that is set", "step, done = 0, False\nwhile not done:\n"
     "  next(ever); update(); step += 1\n  if step == 200: done = True"),
    ("steps", "an exception", "step = 0\ntry:\n  while True:\n    for b in data:\n"
     "      update(); step += 1\n      if step >= 200: raise StopIteration\n"
     "except StopIteration: pass"),
    ("steps", "else: break", "step = 0\nwhile True:\n  if step < 200:\n"
     "    next(ever); update(); step += 1\n  else: break"),
    ("steps", "a range in a variable", "r = range(200)\nfor i in r: next(ever); update()"),
    ("steps", "a range in a function", "def shown(x): yield from x\n"
     "for i in shown(range(200)): next(ever); update()"),
    ("steps", "the length of a list", "seen = []\n"
     "while len(seen) < 200: next(ever); update(); seen.append(1)"),
    ("steps", "counting down", "left = 200\nwhile left > 0: next(ever); update(); left -= 1"),
    ("steps", "while left", "left = 200\nwhile left: next(ever); update(); left -= 1"),
    ("steps", "a range down", "for i in range(200, 0, -1): next(ever); update()"),
    ("steps", "a counter of updates that is named epoch", "class S: pass\ns = S()\n"
     "s.last_epoch = 0\nfor k in range(1000):\n  for b in data:\n    update()\n"
     "    s.last_epoch += 1\n    if s.last_epoch >= 200: break\n"
     "  if s.last_epoch >= 200: break"),
    ("samples", "while seen < total", "seen = 0\n"
     "while seen < 6400: b = next(ever); update(); seen += len(b)"),
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
    ("other", "Mine", "AdamWScheduleFree", "Optimizer"), ("other", "SignSGD", "SGD", "Optimizer"),
    ("other", "Mine", "Lion", "SGD", "Optimizer"), ("other", "Adadelta", "Optimizer"),
    ("adam", "NAdam", "Optimizer"), ("adam", "Adagrad", "Optimizer"),
    ("other", "SGDRprop", "Rprop", "SGD", "Optimizer"),
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


def run(code, arguments=(), **variables):
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(SETUP + code + "\n")
        file.flush()
        command = [sys.executable, file.name, *arguments]
        return listen.run(command, "on", before=[STAND_IN], **variables)


OPTION = """
import argparse, math
p = argparse.ArgumentParser()
p.add_argument("--epochs", type=int, default=20)
p.add_argument("--max_train_steps", type=int)
a = p.parse_args()
per = len(data)
if a.max_train_steps is None:
    a.max_train_steps = a.epochs * per
a.epochs = math.ceil(a.max_train_steps / per)
done = 0
for epoch in range(a.epochs):
    for b in data:
        update()
        done += 1
        if done >= a.max_train_steps:
            break
"""
ENDLESS = """
def endless():
    while True: yield from data
def more():
    global k; k += 1; return k < 200
k, ever = 0, endless()
while more():
    next(ever); update()
"""


def options():
    """The form of many examples: the number of updates is an option, else that of the epochs."""
    for end, arguments in (("epochs", []), ("epochs", ["--epochs", "15"]),
                           ("steps", ["--max_train_steps", "200"]),
                           ("steps", ["--max_train_steps=195", "--epochs=50"])):
        one = run(OPTION, arguments)
        check(one.status == 0 and one.last("ENDS") == end, "%s: %s" % (" ".join(arguments), end),
              "%s\n%s" % (one.last("ENDS"), one.err))
    one = run(ENDLESS)
    check(one.status == 0 and one.last("EPOCH") is None,
          "an endless iterator has no epochs that would end the training", one.reports[-3:])


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


if __name__ == "__main__":
    ends()
    options()
    optimizers()
    print("1..%d" % n)
    sys.exit(1 if failed else 0)
