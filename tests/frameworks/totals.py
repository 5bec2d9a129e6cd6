"""Tests the totals that the helper finds in the loops of programs, on the stand-in for torch
(tests/torch). Prints TAP."""

import sys
import tempfile

import ends

# What is told of the updates in the end: "all", or "none" where nobody can know; what it is; its
# loops.
PROGRAMS = [
    ("all", "folds around epochs", "for fold in range(5):\n  for epoch in range(4):\n"
     "    for b in data: update()"),
    ("all", "seeds in a list around epochs", "for seed in [3, 14, 15]:\n"
     "  for epoch in range(4):\n    for b in data: update()"),
    ("all", "seeds and folds", "for seed in (1, 2):\n  for fold in range(3):\n"
     "    for epoch in range(2):\n      for b in data: update()"),
    ("all", "configurations in a dictionary", "grid = {'a': 1, 'b': 2, 'c': 3}\n"
     "for name, lr in grid.items():\n  for epoch in range(4):\n    for b in data: update()"),
    ("all", "a product of parameters", "for lr, wd in itertools.product([1, 2, 3], [4, 5]):\n"
     "  for epoch in range(4):\n    for b in data: update()"),
    ("all", "folds in functions", "def fit():\n  for epoch in range(4):\n"
     "    for b in data: update()\ndef cross():\n  for k, f in enumerate('abc'): fit()\ncross()"),
    ("all", "a list made by trainings", "def fit(seed):\n  for epoch in range(4):\n"
     "    for b in data: update()\n  return seed\nscores = [fit(s) for s in range(3)]"),
    ("all", "seeds around a number of updates", "for seed in range(3):\n"
     "  for i in range(60): next(ever); update()"),
    ("all", "seeds around a counter", "for seed in range(3):\n  step = 0\n"
     "  while step < 50:\n    next(ever); update(); step += 1"),
    ("all", "folds that scikit-learn splits", "class KFold:\n"
     "  def __init__(self): self.n_splits = 3\n  def split(self, x): return iter([(1, 2)] * 3)\n"
     "kf = KFold()\nfor k, (a, b) in enumerate(kf.split(data)):\n  for epoch in range(4):\n"
     "    for b in data: update()"),
    ("all", "a retry that is left", "for attempt in range(3):\n  try:\n"
     "    for epoch in range(6):\n      for b in data: update()\n    break\n"
     "  except RuntimeError: pass"),
    ("all", "phases, one of which trains", "for epoch in range(8):\n"
     "  for phase in ['train', 'val']:\n    for b in data:\n"
     "      if phase == 'train': update()"),
    ("all", "stages, one of which trains", "for stage in ('prepare', 'train', 'report'):\n"
     "  if stage == 'train':\n    for epoch in range(8):\n      for b in data: update()"),
    ("all", "two loaders that are zipped", "other = DataLoader(range(128), batch_size=32)\n"
     "for epoch in range(20):\n  for a, b in zip(data, other): update()"),
    ("all", "a small loader begun again", "other = DataLoader(range(128), batch_size=32)\n"
     "for epoch in range(12):\n  it = iter(other)\n  for b in data:\n    try: x = next(it)\n"
     "    except StopIteration: it = iter(other); x = next(it)\n    update()"),
    ("all", "a cycle zipped with a loader", "other = DataLoader(range(128), batch_size=32)\n"
     "for epoch in range(12):\n  for a, b in zip(itertools.cycle(other), data): update()"),
    ("all", "all data at once", "for epoch in range(150): update()"),
    ("all", "all data at once, from 1", "for epoch in range(1, 151): update()"),
    ("all", "an update for every second batch", "for epoch in range(30):\n"
     "  for i, b in enumerate(data):\n    torch.Tensor(0.5).backward()\n"
     "    if i % 2: optimizer.step()"),
    ("all", "passes in a loop of their own", "for epoch in range(40):\n"
     "  for k in range(4): torch.Tensor(0.5).backward()\n  optimizer.step()"),
    ("all", "an epoch that goes on at the third", "start = 3\nfor epoch in range(start, 12):\n"
     "  for b in data: update()"),
    ("all", "a loop in a method", "class Trainer:\n  def __init__(self): self.epochs = 12\n"
     "  def epoch(self):\n    for i, b in enumerate(data): update()\n  def fit(self):\n"
     "    for self.k in range(self.epochs): self.epoch()\nTrainer().fit()"),
    ("all", "while over epochs", "epoch = 0\nwhile epoch < 12:\n  for b in data: update()\n"
     "  epoch += 1"),
    ("all", "a limit of updates within many epochs", "step, done = 0, False\n"
     "for epoch in range(1000):\n  for b in data:\n    update(); step += 1\n"
     "    if step >= 200: done = True; break\n  if done: break"),
    ("none", "batches of a generator", "def batches():\n  for i in range(12): yield i\n"
     "for epoch in range(30):\n  for b in batches(): update()"),
    ("all", "two trainings after each other", "for epoch in range(5):\n"
     "  for b in data: update()\nfor k in range(12):\n  for b in data: update()"),
    ("none", "trainings that map() begins", "def fit(seed):\n  for epoch in range(4):\n"
     "    for b in data: update()\nlist(map(fit, range(4)))"),
    ("none", "a loop of async for around epochs", "import asyncio\nasync def fit():\n"
     "  async def seeds():\n    for i in range(4): yield i\n  async for seed in seeds():\n"
     "    for epoch in range(4):\n      for b in data: update()\nasyncio.run(fit())"),
    ("none", "a loop without an end around epochs", "n = 0\ndef more():\n"
     "  global n; n += 1; return n < 4\nwhile more():\n  for epoch in range(4):\n"
     "    for b in data: update()"),
]

# Programs that are stopped within an epoch go on there. What it is; the loops of an epoch.
STOPPED = """
import os, sys
epochs, first, skipped, is_first = 12, 0, 0, not os.path.exists("last.pt")
if not is_first:
    saved = torch.load("last.pt")
    optimizer.load_state_dict(saved["optimizer"])
    first, skipped = saved["epoch"], saved["done"]
def made(epoch, done):
    global skipped
    skipped = 0
    if is_first and epoch * 10 + done == STOP:
        torch.save({"optimizer": optimizer.state_dict(), "epoch": STOP // 10, "done": STOP % 10},
                   "last.pt")
        sys.exit(75)
    if not is_first and epoch * 10 + done == LAST:
        sys.exit(0)
"""
GOES_ON = [
    ("with the rest of the data", "for epoch in range(first, epochs):\n  n = skipped\n"
     "  for b in DataLoader(range(n * 32, 320), batch_size=32):\n"
     "    update(); n += 1; made(epoch, n)"),
    ("with a loader that holds the rest", "for epoch in range(first, epochs):\n  n = skipped\n"
     "  loader = DataLoader(range(n * 32, 320), batch_size=32)\n  for b in loader:\n"
     "    update(); n += 1; made(epoch, n)"),
    ("in the epochs that are left", "for k in range(epochs - first):\n  n = skipped\n"
     "  for b in DataLoader(range(n * 32, 320), batch_size=32):\n"
     "    update(); n += 1; made(first + k, n)"),
    ("and passes batches over", "for epoch in range(first, epochs):\n"
     "  for i, b in enumerate(data):\n    if i < skipped: continue\n"
     "    update(); made(epoch, i + 1)"),
    ("behind islice", "for epoch in range(first, epochs):\n  n = skipped\n"
     "  for b in itertools.islice(data, n, None):\n    update(); n += 1; made(epoch, n)"),
    ("with two passes an update", "for epoch in range(first, epochs):\n  n = skipped\n"
     "  for i, b in enumerate(DataLoader(range(n * 32, 320), batch_size=16)):\n"
     "    torch.Tensor(0.5).backward()\n"
     "    if i % 2: optimizer.step(); n += 1; made(epoch, n)"),
]


def told(one):
    """(the first total, the last one), 0 for one that was taken back or never told."""
    totals = [int(t) for t in one.all("TOTAL_STEPS")]
    return (totals[0], totals[-1]) if totals else (0, 0)


def resumed(code, stop, last=120):
    """The two runs of a program: to update stop, and from there to update last."""
    code = STOPPED.replace("STOP", str(stop)).replace("LAST", str(last)) + code
    with tempfile.TemporaryDirectory() as directory:
        return [ends.run(code, directory=directory, POLLUX_CHECKPOINT_DIR=directory)
                for _ in range(2)]


def resumes():
    for what, code in GOES_ON:
        for stop in (3, 50, 53, 59):
            one, two = resumed(code, stop)
            totals = [int(t) for t in two.all("TOTAL_STEPS")]
            ends.check((one.status, two.status, two.last("STEP")) == (75, 0, "120") and totals and
                       all(abs(t - 120) <= 1 for t in totals),
                       "it goes on behind update %d %s: the total is right" % (stop, what),
                       "%s of %s, told %s\n%s" % (two.last("STEP"), two.all("RESUMED"), totals,
                                                  one.err[-1000:] + two.err[-1000:]))
    for stop, totals in ((50, ["120"]), (53, [])):
        two = resumed(GOES_ON[0][1], stop, stop + 6)[1]
        ends.check(two.last("STEP") == str(stop + 6) and two.all("TOTAL_STEPS") == totals,
                   "behind update %d the total is known in the first epoch: %s" % (stop, totals),
                   "%s, told %s" % (two.last("STEP"), two.all("TOTAL_STEPS")))


def main():
    table = "-v" in sys.argv
    for when, what, code in PROGRAMS + [("any", what, code) for _, what, code in ends.PROGRAMS]:
        one = ends.run(code)
        updates, (first, last) = int(one.last("STEP") or 0), told(one)
        if table:
            print("# %-45s %6d updates, told first %6d, last %6d %s" %
                  (what, updates, first, last, one.all("TOTAL_STEPS")))
        is_right = abs(last - updates) <= 1
        good = {"all": is_right, "none": last == 0, "any": last == 0 or is_right}[when]
        if when == "all" and "after each other" not in what:
            good = good and abs(first - updates) <= 1
        ends.check(one.status == 0 and good and "no totals" not in (one.last("HELPER") or ""),
                   "%s: %s" % (what, "right or none" if when == "any" else when),
                   "%d updates, told %s %s\n%s" % (updates, one.all("TOTAL_STEPS"),
                                                   one.last("HELPER"), one.err[-2000:]))
    resumes()
    print("1..%d" % ends.n)
    return 1 if ends.failed else 0


if __name__ == "__main__":
    sys.exit(main())
