# slices - four PyTorch jobs on the one GPU in slices of 20 s, with checkpoints of their own.
# shows: samples exact over stops; what a relaunch costs, signal to first step; share of time lost
# needs: gpu torch
# limit: 300
# takes: 80
import json
import os
import re
import statistics
import time

import kit
from kit import check, goal, ok

N_JOBS = kit.quick(kit.short(4, 2), 2)
BATCH = 16


def seconds_at(what, text):
    return [float(x) for x in re.findall(rf"^{what} at ([0-9.]+)", text, re.M)]


# Alone: how many samples make so many seconds, and how long a start takes.
pause = ["--pause-ms", "20"]
samples = BATCH * kit.quick(kit.short(400, 100), 40)
alone = kit.run(kit.gpt("--batch", BATCH, "--samples", samples, "--warm-up", 10, small=pause))
step_s = float(re.search(r" step ([0-9.]+) s", alone.stdout)[1])
start_s = seconds_at("first step", alone.stdout)[0] - seconds_at("launched", alone.stdout)[0]
ok("step-alone", 1e3 * step_s, "ms")
ok("start-alone", start_s, "s from launch to first step")

# A busy machine without a GPU takes long to start; a slice has to be longer than that. Each job
# computes for so long that it is stopped once at least.
slice_s = kit.quick(20, int(1.3 * start_s) + 4)
steps = max(20, int(kit.quick(kit.short(22, 15), 0.4 * slice_s + 8) / step_s))
os.environ["POLLUX_SLICE"] = f"{slice_s}s"
os.environ["POLLUX_POLICY"] = "las"  # turns: the default ends short jobs first
ok("slice", slice_s, "s")

begun_s = time.time()
numbers = [
    kit.submit(
        "-b",
        BATCH,
        "--preempt",
        "--samples",
        steps * BATCH,
        "--name",
        f"gpt-{i}",
        "--workload",
        "gpt-slices",
        "--",
        *kit.gpt("--batch", BATCH, "--samples", steps * BATCH, "--seed", i, small=pause),
    )
    for i in range(N_JOBS)
]
finished = kit.watch_until_over(kit.seconds_left() - 25)
wall_s = time.time() - begun_s
computed_s = sum(
    float(s) for n in numbers for s in re.findall(r" computed ([0-9.]+) s", kit.log(n))
)
for n in numbers:
    print(kit.log(n))
check("all-done", sum(j["state"] == "done" for j in kit.jobs().values()), "jobs", finished, N_JOBS)

# --- exactness ---

wrong, relaunches, stops = [], [], 0
for n in numbers:
    text = kit.log(n)
    saved = [int(x) for x in re.findall(r"^saved samples (\d+)", text, re.M)]
    resumed = [int(x) for x in re.findall(r"^resumed samples (\d+)", text, re.M)]
    ended = re.findall(r"^done samples (\d+) steps (\d+)", text, re.M)
    if resumed != saved[: len(resumed)] or len(saved) != len(resumed) + 1:
        wrong.append(f"job {n} saved {saved}, resumed {resumed}")
    # A stop that comes while Python ends kills it; the next run then finds nothing to do.
    if set(ended) != {(str(steps * BATCH), str(steps))}:
        wrong.append(f"job {n} ended with {ended}, not {steps} steps")
    if kit.job(n)["lost_samples"]:
        wrong.append(f"job {n} lost {kit.job(n)['lost_samples']} samples")
    stops += len(resumed)
check("samples-exact", len(wrong), "; ".join(wrong), not wrong, "none wrong")
check("stops", stops, "with a resume", stops >= 1, "1 at least")

# --- costs ---

# From pollux's asking a job to stop to the first step of whoever computes next.
asked = sorted(
    e["time_s"]
    for n in numbers
    for e in json.loads(kit.pollux_quietly("status", str(n), "--json"))["jobs"][0]["details"][
        "events"
    ]
    if "stop" in e["kind"] or "preempt" in e["kind"]
)
first = sorted(x for n in numbers for x in seconds_at("first step", kit.log(n)))
launched = sorted(x for n in numbers for x in seconds_at("launched", kit.log(n)))
saved_at = sorted(x for n in numbers for x in seconds_at("saved .*", kit.log(n)))
for a in asked:
    following = [f for f in first if f > a]
    if following:
        relaunches.append(following[0] - a)
for name, values in (
    ("relaunch", relaunches),
    (
        "launch-to-first-step",
        [next(f for f in first if f > x) - x for x in launched if any(f > x for f in first)],
    ),
    (
        "save-to-launch",
        [next(y for y in launched if y > x) - x for x in saved_at if any(y > x for y in launched)],
    ),
):
    if values:
        ok(
            name,
            statistics.median(values),
            f"s, median of {len(values)}, at most {max(values):.3g}",
        )
check(
    "relaunches-seen",
    len(relaunches),
    "signals with a first step after them",
    relaunches,
    "1 at least",
)
lost = 1 - computed_s / wall_s
goal(
    "time-lost", 100 * lost, f"% of {wall_s:.0f} s in which nobody computed", lost < 0.5, "below 50"
)
