"""Checkpoints and resumes: one small program for each. See small.py."""

import os
import sys
import tempfile

import small
from small import REAL, test


@test("a file that only torch.save() was given is complete at once")
def file_is_closed(start):
    result = start("""
optimizer = SGD([weight], lr=0.1)
train(optimizer)
torch.save({"optimizer": optimizer.state_dict(), "n": 5}, open("saved", "wb"))
print(torch.load("saved")["n"])
""")
    return result.out == "5\n" or result


@test("a checkpoint is told with the next update, however short updates are")
def told_at_once(start):
    # Without the noise scale, whose reports would fill the socket where its reader is not at work:
    # then the checkpoint would be told with the next report.
    result = start("""
optimizer = SGD([weight], lr=0.1)
train(optimizer, 400)
torch.save({"optimizer": optimizer.state_dict()}, "last.new")
os.replace("last.new", "last")
train(optimizer, 1)
os.kill(os.getpid(), 9)
""", POLLUX_TORCH_BUDGET="0")
    told = [r["STEP"] for r in result.run.reports if "CHECKPOINT" in r]
    return told == ["400"] or result


WEIGHTS = """
class Model(torch.nn.Module):
    def __init__(self):
        if is_real:
            super().__init__()
        self.weight = weight
    def state(self):
        return {"model": {"weight": self.weight}, "n": 5}
    def load_state_dict(self, state):
        if is_real:
            super().load_state_dict(state)
        else:
            torch.nn.Module.load_state_dict(self, state)
model, optimizer = Model(), SGD([weight], lr=0.1)
if os.path.exists("saved.pt"):
    saved = torch.load("saved.pt")
%s
    torch.save(model.state(), "saved.pt")
"""
CONTINUES = """    state = saved["model"].items()
    model.load_state_dict({k.replace("module.", ""): v for k, v in state})
if True:
    train(optimizer, 5)
"""


def run_twice(start, first, second, **variables):
    """Two runs of one job: their results, and the position of RESUMED in the second one."""
    with tempfile.TemporaryDirectory() as directory:
        keep = {"directory": directory, "POLLUX_CHECKPOINT_DIR": directory + "/positions"}
        results = start(first, **keep), start(second, **keep, **variables)
    reports = results[1].run.reports
    return results, [(r["STEP"], r["SAMPLES"]) for r in reports if "RESUMED" in r]


@test("weights without an optimizer are a checkpoint of a program that begins from them")
def begins_from_weights(start):
    program = WEIGHTS % CONTINUES
    (first, second), resumed = run_twice(start, program, program)
    told = [[(r["STEP"], os.path.basename(r["CHECKPOINT"])) for r in result.run.reports
             if "CHECKPOINT" in r] for result in (first, second)]
    good = (resumed, told) == ([("5", "40")], [[], [("10", "saved.pt")]]) and \
        (second.run.last("STEP"), second.run.last("SAMPLES")) == ("10", "80")
    return good or (told, first, second)


@test("a whole module that a program begins from is a checkpoint", REAL)
def begins_from_module(start):
    program = """
path = "saved.pt"
is_second = os.path.exists(path)
model = torch.load(path, weights_only=False) if is_second else torch.nn.Linear(3, 1)
optimizer = SGD(model.parameters(), lr=0.1)
for step in range(6):
    model(torch.ones(4, 3)).sum().backward()
    optimizer.step()
torch.save(model, path)
"""
    results, resumed = run_twice(start, program, program)
    last = results[1].run.last("STEP"), results[1].run.last("SAMPLES")
    return (resumed, last) == ([("6", "24")], ("12", "48")) or results


@test("weights that are only looked at, or read at the end or to evaluate, are no checkpoint")
def other_weights(start):
    program, results = WEIGHTS % CONTINUES, []
    for second, want in (
            (WEIGHTS % "if True:\n    train(optimizer, 5)\n", "5"),
            (WEIGHTS % ("    sys.exit(model.load_state_dict(saved['model']))\nif True:\n"), None),
            (WEIGHTS % "if True:\n    train(optimizer, 5)\n"
             "    model.load_state_dict(torch.load('saved.pt')['model'])", "5")):
        both, resumed = run_twice(start, program, second)
        if resumed or both[1].run.last("STEP") != want or both[1].run.status:
            results.append((want, *both))
    return not results or results[0]


@test("weights beside an optimizer's file: the optimizer's position counts")
def weights_and_optimizer(start):
    program = WEIGHTS % (CONTINUES + "    torch.save(optimizer.state_dict(), 'state.pt')\n"
                         "    train(optimizer, 2)\n")
    second = program.replace("    model.load", "    optimizer.load_state_dict(torch.load("
                             "'state.pt'))\n    model.load")
    results, resumed = run_twice(start, program, second)
    return (resumed, results[1].run.last("STEP")) == ([("5", "40")], "12") or results


@test("an error in the hooks on weights changes nothing but HELPER")
def faults_at_weights(start):
    program, results = WEIGHTS % CONTINUES, []
    for hook in ("checkpoints.weights", "checkpoints.begin"):
        (_, result), _ = run_twice(start, program, program, POLLUX_TORCH_FAULT=hook)
        if "injected" not in result.told or result.run.status or result.out + result.err:
            results.append((hook, result))
    return not results or results[0]


@test("what was saved into memory is known again from a file and from memory")
def saved_in_memory(start):
    program = """
optimizer = SGD([weight], lr=0.1)
def save(name):
    buffer = io.BytesIO()
    torch.save({"optimizer": optimizer.state_dict(), "name": name}, buffer)
    open(name, "wb").write(buffer.getvalue())
if not os.path.exists("second"):
    train(optimizer, 5)
    save("first")
    train(optimizer, 7)
    save("second")
else:
    source = %s
    optimizer.load_state_dict(torch.load(source)["optimizer"])
    train(optimizer, 2)
"""
    with tempfile.TemporaryDirectory() as directory:
        keep = {"directory": directory, "POLLUX_CHECKPOINT_DIR": directory + "/positions"}
        start(program % 0, **keep)
        results = [start(program % source, **keep) for source in (
            "'first'", "io.BytesIO(open('second', 'rb').read())", "open('first', 'rb')")]
    found = [next(((r["STEP"], r["SAMPLES"]) for r in result.run.reports if "RESUMED" in r), None)
             for result in results]
    ends = [result.run.last("STEP") for result in results]
    good = found == [("5", "40"), ("12", "96"), ("5", "40")] and ends == ["7", "14", "7"]
    return good or (found, ends, *results)


@test("torch.distributed.checkpoint: saved, saved meanwhile, and resumed from", REAL)
def distributed_checkpoint(start):
    program = """
import torch.distributed.checkpoint as dcp
optimizer = SGD([weight], lr=0.1, momentum=0.9)
def state():
    return {"weight": weight, "optimizer": optimizer.state_dict()}
if not os.path.exists("dcp"):
    train(optimizer, 5)
    dcp.save(state(), checkpoint_id="dcp", no_dist=True)
    train(optimizer, 7)
else:
    train(optimizer, 1)
    found = state()
    dcp.load(found, checkpoint_id="dcp", no_dist=True)
    optimizer.load_state_dict(found["optimizer"])
    train(optimizer, 2)
"""
    with tempfile.TemporaryDirectory() as directory:
        keep = {"directory": directory, "POLLUX_CHECKPOINT_DIR": directory + "/positions"}
        first, second = start(program, **keep), start(program, **keep)
    saved = next((r for r in first.run.reports if "CHECKPOINT" in r), {})
    resumed = next((r for r in second.run.reports if "RESUMED" in r), {})
    good = (saved.get("STEP"), saved.get("CHECKPOINT")) == ("5", directory + "/dcp") and \
        (resumed.get("STEP"), resumed.get("RESUMED")) == ("5", directory + "/dcp") and \
        (second.run.last("STEP"), second.run.last("SAMPLES")) == ("7", "56")
    return good or (first, second)


@test("long lists in a checkpoint are not searched")
def long_lists(start):
    result = start("""
from pollux_torch.checkpoints import has_optimizer
class Counted(list):
    n = 0
    def __iter__(self):
        for x in list.__iter__(self):
            Counted.n += 1
            yield x
optimizer = SGD([weight], lr=0.1)
log = Counted(range(1000000))
print(has_optimizer(torch, {"log": log}), Counted.n < 5000,
      has_optimizer(torch, {"log": log, "state": {"o": [optimizer.state_dict()]}}))
""")
    return result.out == "False True True\n" or result


if __name__ == "__main__":
    sys.exit(small.main())
