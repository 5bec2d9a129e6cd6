"""Faults of the helper that were mended: one small program for each. See small.py."""

import os
import re
import sys
import tempfile

import small
from small import REAL, STAND_IN_ONLY, test


# --- the learning rate

@test("a rate that the program sets within its step stays")
def rate_in_step(start):
    result = start("""
class Own(SGD):
    new = None
    def step(self, closure=None):
        group = self.param_groups[0]
        used.append(float(group["lr"]))
        group["lr"] = self.new if self.new else group["lr"] * 0.5
used = []
optimizer = Own([weight], lr=0.1)
optimizer.step()
print(optimizer.param_groups[0]["lr"])
optimizer.new = 0.7
optimizer.step()
print(optimizer.param_groups[0]["lr"], used, type(optimizer.param_groups[0]["lr"]) is float)
""", POLLUX_LR_SCALE=2)
    return result.out == "0.05\n0.7 [0.2, 0.1] True\n" or result


@test("a checkpoint or a copy within a step has the program's own rate")
def rate_saved_in_step(start):
    result = start("""
class Own(SGD):
    def step(self, closure=None):
        group = self.param_groups[0]
        print(float(group["lr"]), self.state_dict()["param_groups"][0]["lr"],
              repr(pickle.loads(pickle.dumps(group["lr"]))), copy.copy(group["lr"]))
Own([weight], lr=0.1).step()
""", POLLUX_LR_SCALE=2)
    return result.out == "0.2 0.1 0.1 0.1\n" or result


@test("a step that fails leaves no reference and no scaled rate")
def failed_step(start):
    result = start("""
class Fails(SGD):
    fails = True
    def step(self, closure=None):
        if self.fails:
            raise ValueError
        print(float(self.param_groups[0]["lr"]))
def fail():
    own = torch.nn.Parameter(torch.ones(3)) if is_real else torch.Tensor(1.0)
    optimizer = Fails([own], lr=0.1)
    try:
        optimizer.step()
    except ValueError:
        pass
    return weakref.ref(own)
gone = fail()
gc.collect()
print(gone() is None)
optimizer = Fails([weight], lr=0.1)
for optimizer.fails in (True, False, False):
    try:
        optimizer.step()
    except ValueError:
        pass
print(optimizer.param_groups[0]["lr"])
""", POLLUX_LR_SCALE=2)
    return result.out == "True\n0.2\n0.2\n0.1\n" or result


# --- updates

@test("an optimizer whose step calls that of its base is counted once, and scaled once")
def subclass(start):
    result = start("""
class Base(SGD):
    def step(self, closure=None):
        rates.add(float(self.param_groups[0]["lr"]))
class Own(Base):
    def step(self, closure=None):
        super().step(closure)
        rates.add(float(self.param_groups[0]["lr"]))
rates = set()
other = Base([torch.nn.Parameter(torch.ones(())) if is_real else torch.Tensor(1.0)], lr=0.1)
optimizer = Own([weight], lr=0.1)
train(optimizer, 40)
print(rates)
""", POLLUX_LR_SCALE=2)
    return (result.out, result.run.last("STEP")) == ("{0.2}\n", "40") or result


@test("a base that gets its hooks during the training changes no count")
def subclass_later(start):
    result = start("""
class Base(SGD):
    def step(self, closure=None):
        pass
class Own(Base):
    def step(self, closure=None):
        super().step(closure)
optimizer = Own([weight], lr=0.1)
train(optimizer, 40)
other = Base([torch.nn.Parameter(torch.ones(())) if is_real else torch.Tensor(1.0)], lr=0.1)
train(optimizer, 40)
""")
    return result.run.last("STEP") == "80" or result


@test("closures that begin late do not count their passes as samples")
def late_closure(start):
    result = start("""
optimizer = SGD([weight], lr=0.1)
train(optimizer, 40)
def closure():
    backward()
    return 0.5
for batch in DataLoader(range(80), batch_size=8):
    optimizer.step(closure)
""")
    return (result.run.last("STEP"), result.run.last("SAMPLES")) == ("50", "400") or result


@test("torch 2.0 to 2.2: torch.compile removes hooks, which is told", STAND_IN_ONLY)
def compile_removes_hooks(start):
    programs = ["torch.__version__ = %r\ntorch.compile(None)\ntrain(SGD([weight], lr=0.1))\n" % v
                for v in ("2.1.2+cpu", "2.3.0", "2.20.0")]
    old, new, newer = (start(p) for p in programs)
    good = "no steps: torch.compile of torch 2.1.2+cpu removes the hooks" in old.told
    return good and all("steps" not in r.told and r.run.last("STEP") == "12"
                        for r in (new, newer)) or (old, new, newer)


@test("at the end nothing of torch is held, and torch is as it was")
def exit_is_safe(start):
    result = start("""
from pollux_torch import core
helper = core.helper()
def look():
    steps = helper.steps
    print(steps.loss, steps.extras, steps.noise.armed, steps.pass_hook.wrapper is not
          torch.autograd.backward, torch.autograd._make_grads.__module__)
train(SGD([weight], lr=0.1))
helper.steps.loss = weight
helper.steps.at_exit()
look()
""")
    return re.match(r"None \[\] False True torch\.", result.out) is not None or result


# --- loops and samples

@test("locals() of the program stays what it was")
def own_locals(start):
    result = start("""
def run():
    optimizer = SGD([weight], lr=0.1)
    seen = locals()
    for step in range(40):
        backward()
        optimizer.step()
    print(sorted(seen))
run()
""")
    return result.out == "['optimizer']\n" or result


@test("a loop that is looked at keeps no variable alive")
def loop_keeps_nothing(start):
    result = start("""
class Large:
    pass
def run():
    optimizer = SGD([weight], lr=0.1)
    for step in range(6):
        large = Large()
        gone = weakref.ref(large)
        backward()
        optimizer.step()
        del large
        if gone() is not None:
            print("held", step)
run()
""")
    total = result.run.last("TOTAL_STEPS")
    return (result.out, total) == ("", "6") or result


@test("an own sampler is counted by what it draws", REAL)
def own_sampler(start):
    result = start("""
class Batches:
    def __iter__(self):
        for n in (3, 5, 7):
            yield list(range(n))
    def __len__(self):
        return 99
loader = DataLoader(range(100), batch_sampler=Batches())
optimizer = SGD([weight], lr=0.1)
for epoch in range(2):
    for batch in loader:
        backward()
        optimizer.step()
""")
    return (result.run.last("STEP"), result.run.last("SAMPLES")) == ("6", "30") or result


@test("time first inside of a module: counted where it can be seen, else refused", REAL)
def time_first(start):
    program = """
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.head = torch.nn.LSTM(3, 4), torch.nn.Linear(4, 1)
    def forward(self, x):
        x = %s
        return self.head(self.cells(x)[0])
net = Net()
optimizer = SGD(net.parameters(), lr=0.1)
for _ in range(30):
    net(torch.randn(10, 6, 3)).mean().backward()
    optimizer.step()
"""
    second, first, unclear = (start(program % x) for x in (
        "x", "x.transpose(0, 1)", "x.reshape(5, 12, 3)"))
    good = (second.run.last("SAMPLES"), first.run.last("SAMPLES")) == ("180", "300")
    return good and "no samples: no DataLoader, and the first dimension" in unclear.told \
        or (second, first, unclear)


# --- option batch

LOADERS = """
from torch.utils.data import BatchSampler, RandomSampler, SequentialSampler
sizes = set()
optimizer = SGD([weight], lr=0.1)
used = []
optimizer.register_step_pre_hook(lambda o, *rest: used.append(float(o.param_groups[0]["lr"])))
for batch in %s:
    sizes.add(len(batch))
    backward()
    optimizer.step()
print(sorted(sizes), used[-1])
"""


@test("option batch: samplers that the program made", REAL)
def batch_samplers(start):
    data, results = "range(192)", []
    for loader, want in (
            ("DataLoader(D, batch_size=8, sampler=RandomSampler(D))", "[64] 0.2"),
            ("DataLoader(D, batch_sampler=BatchSampler(RandomSampler(D), 8, False))", "[64] 0.2"),
            ("DataLoader(D, batch_sampler=BatchSampler(SequentialSampler(D), 8, False))",
             "[8] 0.1"),
            ("DataLoader(D, batch_size=8)", "[8] 0.1"),
            ("[DataLoader(D, batch_size=8, shuffle=True)] and DataLoader(D, batch_size=4)",
             "[4] 0.1"),
            ("[[0] * 8] * 9", "[8] 0.1")):
        result = start(LOADERS % loader.replace("D,", data + ",").replace("(D)", "(%s)" % data),
                       "on,batch", POLLUX_LOCAL_BATCH=64, POLLUX_LR_SCALE=2)
        refused = "no batch: " in result.told and "DataLoader" in result.told
        if result.out != want + "\n" or refused != want.endswith("0.1") or \
                want.endswith("0.2") and result.run.last("SAMPLES") != "192":
            results.append((loader, want, result))
    return not results or results


@test("option batch: where it is taken back, so is the scale", REAL)
def batch_undone(start):
    result = start("""
def run():
    optimizer = SGD([weight], lr=0.1)
    used = []
    optimizer.register_step_pre_hook(lambda o, *rest: used.append(float(o.param_groups[0]["lr"])))
    loader = DataLoader(range(800), batch_size=8, shuffle=True)
    done = 0
    while done < 60:
        for batch in loader:
            backward()
            optimizer.step()
            done += 1
            if done >= 60:
                break
    print(used[0], used[-1], len(batch))
run()
""", "on,batch", POLLUX_LOCAL_BATCH=16, POLLUX_LR_SCALE=2)
    return result.out == "0.2 0.1 8\n" and "counts iterations" in result.told or result


# --- frameworks

@test("optax beside torch: updates of torch are counted; alone: refused", STAND_IN_ONLY)
def optax(start):
    with tempfile.TemporaryDirectory() as directory:
        open(os.path.join(directory, "optax.py"), "w").close()
        beside = start("import optax\ntrain(SGD([weight], lr=0.1))", before=[directory])
        alone = start("", before=[directory], whole="import optax")
    good = beside.run.last("STEP") == "12" and "steps" not in beside.told
    return good and "no steps: updates of JAX" in alone.told or (beside, alone)


# --- graphs

@test("a pass that fails holds nothing of its graph, sampled or not", REAL)
def failed_pass(start):
    program = """
class Mark:
    pass
model = torch.nn.Linear(4, 2)
optimizer = SGD(model.parameters(), lr=0.1)
def one(update, fails_at):
    mark, calls = Mark(), []
    loss = model(torch.randn(8, 4)).square().mean()
    def hook(gradient, mark=mark):
        calls.append(1)
        if len(calls) == fails_at:
            raise ArithmeticError
    loss.register_hook(hook)
    try:
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    except ArithmeticError:
        failures.append(update)
    return weakref.ref(mark)
failures = []
for update in range(12):
    gone = one(update, FAILS_AT if update in (3, 9) else 0)
    gc.collect()
    if gone() is not None:
        print("held", update)
print(failures)
"""
    plain = start(program.replace("FAILS_AT", "1"), POLLUX_TORCH_BUDGET=0)
    # The first call is that of the second backward, the second one the program's own.
    sampled = start(program.replace("FAILS_AT", "2"), POLLUX_TORCH_EVERY=1)
    good = plain.out == sampled.out == "[3, 9]\n"
    return good and sampled.run.last("GRAD_VAR") is not None or (plain, sampled)


if __name__ == "__main__":
    sys.exit(small.main())
