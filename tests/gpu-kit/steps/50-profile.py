# profile - pollux profile of a PyTorch GPT: model, memory bound, out of memory.
# shows: error on sizes left out (5 %), memory bound against bisection, out of memory told
# needs: gpu torch
# limit: 400
# takes: 60
import json
import statistics

import kit
from kit import check, fail, goal, ok, skip

# What the program may take of the card; without a GPU, the largest batch that "fits".
MEMORY_MIB, MOST = 8192, 50
FIRST, LARGEST = kit.quick(16, 32), kit.quick(2048, 256)
limit = ["--memory-mib", MEMORY_MIB] if kit.ON_GPU else ["--most", MOST]

command = kit.gpt(*limit, "--samples", 10**9, "--batch", "{local_batch}")
budget_s = kit.quick(int(min(200, 0.55 * kit.seconds_left())), 180)
text = kit.pollux(
    "profile",
    "-t",
    f"{budget_s}s",
    "-b",
    FIRST,
    "--batch-range",
    f"{FIRST}:{LARGEST}",
    "--json",
    "--",
    *command,
)
profile = json.loads(text)
print(text)
points = profile["points"]
for warning in profile["warnings"]:
    print("#", warning)
measured = [p for p in points if p["outcome"] == "measured"]
ok("points", len(measured), "measured")
if len({p["local_batch_size"] for p in measured}) < 3:
    # Where nothing is to be hurried a profile has to get further than this.
    (skip if kit.QUICK or kit.SHORT else fail)("model", "too few sizes in so short a time")
    raise SystemExit(0)
ok(
    "parameters",
    next(
        (
            line.split()[0]
            for line in kit.log(profile["id"]).splitlines()
            if line.endswith(" parameters")
        ),
        "?",
    ),
)
ok("first-step", statistics.median(p["first_step_s"] for p in measured), "s from launch")

# --- out of memory ---

told = [p for p in points if p["outcome"] == "out of memory"]
others = [p for p in points if p["outcome"] not in ("measured", "out of memory")]
if check("out-of-memory-told", len(told), "points", told or kit.QUICK or kit.SHORT, "one at least"):
    print([p["diagnosis"] for p in told])
check(
    "other-failures", len(others), " ".join(str(p["outcome"]) for p in others), not others, "none"
)

# --- the memory bound, by bisection ---

bound = profile["memory"]
low, high = bound["fits"], bound["too_large"]
if low is None or high is None:
    (skip if kit.QUICK or kit.SHORT else fail)(
        "memory-bound", f"the profile has none: {low} fits, {high} does not"
    )
else:
    done = kit.run(kit.gpt(*limit, "--bisect", f"{FIRST}:{LARGEST}"))
    true = json.loads(done.stdout.splitlines()[-1])
    ok("memory-bound-profile", f"{low}:{high}", "samples: fits, does not")
    ok("memory-bound-bisected", f"{true['fits']}:{true['too_large']}", "samples: fits, does not")
    ok("memory-at-bound", true["peak_bytes"] / kit.MIB, "MiB allocated, by PyTorch")
    check(
        "memory-bound",
        true["fits"],
        "samples",
        low <= true["fits"] and true["too_large"] <= high,
        f"from {low} to below {high}",
    )
    goal(
        "memory-bound-width", high / low, "too large over fits", high <= 1.13 * low, "1.13 at most"
    )

# --- the model, on sizes that it has not seen ---

tried = {p["local_batch_size"] for p in points}
top = max(p["local_batch_size"] for p in measured)
sizes = sorted({int(FIRST * (top / FIRST) ** x) for x in (0.15, 0.35, 0.55, 0.75, 0.9)} - tried)
parameters = {
    name: p["value"] for name, p in (profile["model"] or {"parameters": {}})["parameters"].items()
}
choices = {
    c["local_batch_size"]: c["step_time_s"]
    for c in profile["batch_sizes"]
    if c["replicas"] == 1 and c["accumulation_steps"] == 1
}
if not parameters or not sizes:
    fail("model", "-", f"no model, or no sizes: {profile['missing']}")
    raise SystemExit(1)
done = kit.run(kit.gpt(*limit, "--measure", ",".join(map(str, sizes))))
errors = []
for m in (json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")):
    # One replica that accumulates nothing: a pass, and nobody to wait for.
    predicted = (
        choices.get(m["batch"]) or parameters["alpha_grad"] + parameters["beta_grad"] * m["batch"]
    )
    errors.append(predicted / m["step_s"] - 1)
    ok(f"model-{m['batch']}", 100 * errors[-1], f"% off, of {1e3 * m['step_s']:.3g} ms")
if errors:
    mean = 100 * statistics.fmean(map(abs, errors))
    goal("model-error", mean, "% mean over sizes left out", mean <= 5, "5 at most")
else:
    fail("model-error", "-", "nothing measured")

# --- memory that pollux saw, against PyTorch's own count ---

peaks = [p["peak_device_memory_bytes"] for p in measured if p["peak_device_memory_bytes"]]
if kit.ON_GPU and peaks:
    count = kit.run(kit.gpt(*limit, "--measure", str(top)))
    theirs = json.loads(count.stdout.splitlines()[-1])["peak_bytes"]
    at_top = [p["peak_device_memory_bytes"] for p in measured if p["local_batch_size"] == top]
    ok("peak-of-torch", theirs / kit.MIB, "MiB allocated")
    # The driver also counts CUDA's context, cuBLAS's workspace and what PyTorch keeps.
    check(
        "peak-memory",
        (at_top[0] or 0) / kit.MIB,
        "MiB",
        at_top[0] and at_top[0] >= 0.95 * theirs,
        "at least what PyTorch allocated",
    )
else:
    skip("peak-memory", "the driver tells of no memory")
