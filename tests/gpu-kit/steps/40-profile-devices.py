# profile-devices - pollux profile --devices beside PyTorch and a cudaMemcpyAsync loop.
# shows: products in bf16, tf32, fp32, fp64, copies, launches: 98 % of what others reach in one run
# needs: gpu python
# limit: 240
# takes: 120
import json
import os
import sys

import kit
from kit import check, fail, goal, ok, skip

WIDTH, ROWS = 8192, 4096
COPY_BYTES = kit.quick(256 * kit.MIB, 16 * kit.MIB)


def of_torch():
    """PyTorch's FLOP/s by type; empty where it cannot be had."""
    done = kit.run([sys.executable, os.path.join(kit.KIT, "products.py")])
    return json.loads(done.stdout) if done.returncode == 0 else {}


# PyTorch before and after, as the card's clock moves while it is measured.
before = of_torch()
document = json.loads(kit.pollux("profile", "--devices", *kit.quick([], ["--quick"]), "--json"))
after = of_torch()
print(json.dumps(document, indent=1), before, after, sep="\n")
kind = document["kinds"][0]
for note in kind["notes"]:
    ok("note", "-", note)

# --- products ---

measured = {
    m["variant"]: m
    for m in kind["measurements"]
    if m["what"] == "product" and m["n"] == WIDTH and m["m"] == ROWS
}
for variant in ("bf16", "tf32", "fp32", "fp64", "fp16"):
    m = measured.get(variant)
    if not m:
        skip(f"product-{variant}", f"pollux measures no products in {variant} on GPUs")
        continue
    ok(
        f"product-{variant}",
        m["flops"] / 1e12,
        "TFLOP/s" + ("" if m["steady"] else " (not steady)"),
    )
    if variant not in before or variant not in after:
        skip(f"product-{variant}-of-torch", "no PyTorch, or none that computes here")
        continue
    theirs = (before[variant] + after[variant]) / 2
    ok(f"product-{variant}-torch", theirs / 1e12, "TFLOP/s")
    ratio = m["flops"] / theirs
    goal(f"product-{variant}-ratio", ratio, "", 0.98 <= ratio <= 1.1, "0.98 to 1.10 of PyTorch's")

# --- copies ---

ours = {
    (m["what"], m["variant"] or ""): m
    for m in kind["measurements"]
    if m["what"] in ("memory", "copy") and m["bytes"] == COPY_BYTES
}
try:
    import cudart

    cuda = cudart.Runtime()
except (OSError, RuntimeError) as error:
    cuda = None
    skip("copies-beside", str(error))
if cuda:
    a, b = cuda.malloc(COPY_BYTES), cuda.malloc(COPY_BYTES)
    pinned = cuda.malloc(COPY_BYTES, "cudaMallocHost")
    for name, key, to, source, direction in (
        ("memory", ("memory", ""), b, a, cudart.DEVICE_TO_DEVICE),
        ("to-device", ("copy", "pinned to device"), a, pinned, cudart.HOST_TO_DEVICE),
        ("to-host", ("copy", "pinned to host"), pinned, a, cudart.DEVICE_TO_HOST),
    ):
        m = ours.get(key)
        if not m:
            fail(f"copy-{name}", "-", "not measured by pollux")
            continue
        ways = 2 if name == "memory" else 1  # within the memory a byte is read and written
        theirs = ways * COPY_BYTES / cuda.copies_s(to, source, COPY_BYTES, direction, 8)
        ok(f"copy-{name}", m["bytes_per_s"] / 1e9, "GB/s")
        ok(f"copy-{name}-loop", theirs / 1e9, "GB/s")
        ratio = m["bytes_per_s"] / theirs
        goal(f"copy-{name}-ratio", ratio, "", 0.98 <= ratio <= 1.05, "0.98 to 1.05 of the loop's")

# What the memory could do on paper: its width times twice its clock, for bytes read and written.
try:
    import pynvml

    pynvml.nvmlInit()
    h = pynvml.nvmlDeviceGetHandleByIndex(0)
    hz = 1e6 * pynvml.nvmlDeviceGetMaxClockInfo(h, pynvml.NVML_CLOCK_MEM)
    limit = 2 * hz * pynvml.nvmlDeviceGetMemoryBusWidth(h) / 8
    ok("copy-memory-limit", limit / 1e9, "GB/s on paper")
    if ("memory", "") in ours:
        share = ours["memory", ""]["bytes_per_s"] / limit
        goal("copy-memory-of-limit", share, "", 0.5 < share <= 1, "0.5 to 1")
except Exception as error:  # no module, or a function that this driver lacks
    skip("copy-memory-limit", f"nvidia-ml-py: {error}")

# --- launches ---

for m in kind["measurements"]:
    if m["what"] == "launch":
        name = "launch-" + ("waited" if m["variant"].startswith("until") else "queued")
        goal(name, 1e6 * m["time_s"], "us", 5e-7 < m["time_s"] < 5e-5, "0.5 to 50 us")
check(
    "steady",
    sum(m["steady"] for m in kind["measurements"]) / len(kind["measurements"]),
    "of the measurements",
    kind["measurements"],
    "some",
)
