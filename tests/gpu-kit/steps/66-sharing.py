# sharing - two small PyTorch jobs beside each other on the one GPU, kept so only where it pays.
# shows: both compute at once; pollux's factors against the rates of the two; both end right
# needs: gpu torch
# limit: 160
# takes: 100
import json
import re
import time

import kit
from kit import check, fail, goal, ok

# A step waits as long as it computes, as one does whose data come slowly: there is room for two.
WAIT_MS = kit.quick(15, 20)
SAMPLES_S = kit.quick(40, 24)  # what the shorter of two jobs takes alone
BATCH = 8


def command(samples):
    small = ["--pause-ms", WAIT_MS]
    return kit.plain("--batch", BATCH, "--samples", samples, "--pause-ms", WAIT_MS, small=small)


def steps_of(number):
    return len(re.findall(r"^step \d+/", kit.log(number), re.M))


alone = kit.run(command(BATCH * kit.quick(300, 60)))
step_s = float(re.search(r" step ([0-9.]+) s", alone.stdout)[1])
ok("step-alone", 1e3 * step_s, "ms")
steps = max(60, int(SAMPLES_S / step_s))

# plain.py prints no steps: a job that tells none is nobody's host.
SHOW = """
import runpy, sys
from torch.optim import AdamW
inner, n, last = AdamW.step, 0, int(sys.argv[1])
def step(self, *arguments, **named):
    global n
    result = inner(self, *arguments, **named)
    n += 1
    print(f"step {n}/{last}", flush=True)
    return result
AdamW.step = step
sys.argv = sys.argv[2:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
with open("show.py", "w") as file:
    file.write(SHOW)


def submit(name, steps):
    python, program, *options = command(BATCH * steps)
    memory = ["--gpu-memory", kit.quick("6G", "1G")]
    return kit.submit(
        *("--share", "--no-torch", "--workload", "small", "--name", name, *memory, "--"),
        *(python, "show.py", steps, program, *options),
    )


# The first is measured alone for a while before the second is tried beside it.
first, second = submit("first", 2 * steps), submit("second", steps)
begun_s = time.time()


def state(number):
    return kit.jobs()[number]["state"]


def both_run():
    kit.pollux_quietly("schedule")
    return [state(n) for n in (first, second)] == ["running", "running"]


met = kit.wait_for(both_run, kit.seconds_left() - 40, 0.5)
if not met:
    print(kit.pollux_quietly("explain", str(second)))
check("tried", time.time() - begun_s, "s until both computed", met, "both at once")

# What they really do beside each other, by their own lines.
before, at_s = [steps_of(n) for n in (first, second)], time.time()
time.sleep(kit.quick(5, 3))
rates = [(steps_of(n) - b) / (time.time() - at_s) for n, b in zip((first, second), before)]
both = kit.jobs()
if met and all(both[n]["state"] == "running" for n in (first, second)):
    ok("rate-of-both", sum(rates) * step_s, "of one alone, by the lines of 3 to 5 s")


def judged():
    kit.pollux_quietly("schedule")
    pairs = json.loads(kit.pollux_quietly("explain", str(second), "--json")).get("beside_others")
    return [p for p in pairs or [] if p["verdict"] in ("together", "by turns")]


pairs = kit.wait_for(judged, kit.seconds_left() - 30, 0.5)
if pairs:
    together = pairs[0]["verdict"] == "together"
    ok("factors", pairs[0]["sum"], f"sum of both, 1.05 is needed: {pairs[0]['verdict']}")
    goal("pays", pairs[0]["sum"], "sum", together, "together: half of each step is a wait")
else:
    fail("factors", "-", "the pair was not judged")
done = kit.watch_until_over(kit.seconds_left() - 12)
for n, wanted in ((first, 2 * steps), (second, steps)):
    check(f"steps-{n}", steps_of(n), "printed", done and steps_of(n) >= wanted, f"{wanted}")
