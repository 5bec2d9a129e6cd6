# goodput - the C trainer adapts its batch on the GPU; its noise scale against a direct measurement.
# shows: the batch grows, accuracy stays; noise scale within 15 % at frozen weights
# needs: gpu python data
# limit: 260
# takes: 140
import json
import os
import re
import time

import kit
from kit import check, fail, goal, ok


def train(*options, device="cuda"):
    return [str(x) for x in (kit.TRAIN, "--data", kit.DATA, "--device", device, *options)]


def last(pattern, text):
    found = re.findall(pattern, text)
    return found[-1] if found else None


# --- a job that may have any batch of a range ---

# On a GPU as many samples as take some 40 s; the first launch also compiles the kernels.
kit.run(train("--samples", kit.quick(400_000, 20_000), "--batch", 128, "--log-every", 5))
begun_s = time.monotonic()
kit.run(train("--samples", kit.quick(400_000, 20_000), "--batch", 128, "--log-every", 5))
rate = 400_000 / (time.monotonic() - begun_s)
samples = kit.quick(int(40 * rate), 150_000)
ok("samples", samples)
base = kit.run(train("--samples", samples, "--batch", 128, "--log-every", 5))
accuracy = float(last(r"accuracy ([0-9.]+)", base.stdout) or "nan")
number = kit.submit(
    "-b",
    128,
    "--batch-range",
    "128:4096",
    "--samples",
    samples,
    "--",
    *train("--samples", samples, "--log-every", 1),
)
if not kit.watch_until_over(kit.quick(110, 90), 1):
    fail("adapts", "-", "the job did not end in time")
text = kit.log(number)
print(text)
changes = re.findall(r"^batch (\d+) -> (\d+)", text, re.M)
details = json.loads(kit.pollux_quietly("status", str(number), "--json"))["jobs"][0]["details"]
batches = sorted(
    {run["batch_size"] for run in details["runs"] if run["batch_size"]}
    | {int(b) for change in changes for b in change}
)
goal(
    "adapts",
    max(batches, default=0),
    f"samples at most, of {batches}",
    len(batches) > 1,
    "another batch than 128",
)
adapted = float(last(r"accuracy ([0-9.]+)", text) or "nan")
ok("accuracy-fixed", accuracy)
goal(
    "accuracy-adapted",
    adapted,
    "",
    adapted >= accuracy - 0.01,
    "that of the fixed batch, less 0.01",
)
check(
    "its-samples",
    last(r"done samples (\d+)", text) or "none",
    "",
    last(r"done samples (\d+)", text) == str(samples),
    samples,
)

# --- the noise scale at frozen weights, by the steps' own estimate and from single samples ---

os.makedirs("frozen")
kit.run(train("--samples", kit.quick(60_000, 6000), "--checkpoint", "frozen"))
estimate = kit.run(
    train(
        "--freeze",
        "--samples",
        kit.quick(960_000, 48_000),
        "--batch",
        96,
        "--replicas",
        1,
        "--accum",
        4,
        "--checkpoint",
        "frozen",
    )
)
direct = kit.run(
    train("--measure-noise", kit.quick(15_000, 2000), "--checkpoint", "frozen", device="cpu")
)
a, b = (last(r"scale ([-0-9.e+]+)", run.stdout) for run in (estimate, direct))
if a is None or b is None:
    fail("noise-scale", "-", f"estimate {a}, direct {b}")
else:
    ok("noise-scale-direct", float(b), "samples")
    ok("noise-scale", float(a), "samples")
    off = 100 * (float(a) / float(b) - 1)
    goal("noise-scale-off", off, "%", abs(off) <= 15, "15 either way")
