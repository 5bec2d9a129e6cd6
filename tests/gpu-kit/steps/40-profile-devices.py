# profile-devices - pollux profile --devices beside PyTorch and a cudaMemcpyAsync loop.
# shows: products in bf16, tf32, fp32, fp64, copies, launches: 98 % of what others reach in one run
# needs: gpu python
# limit: 240
# takes: 120
import json
import statistics

import kit
from kit import check, fail, goal, ok, skip

WIDTH, ROWS = 8192, 4096
COPY_BYTES = kit.quick(256 * kit.MIB, 16 * kit.MIB)
torch = None
if kit.ON_GPU:
    try:
        import torch

        torch = torch if torch.cuda.is_available() else None
    except ImportError:
        pass


def torch_flops(variant):
    """FLOP/s of ROWS x WIDTH by WIDTH x WIDTH, the better layout of the weights; None: not here."""
    types = {
        "fp32": torch.float32,
        "tf32": torch.float32,
        "fp64": torch.float64,
        "fp16": torch.float16,
        "bf16": torch.bfloat16,
    }
    torch.backends.cuda.matmul.allow_tf32 = variant == "tf32"
    a = torch.rand(ROWS, WIDTH, device="cuda", dtype=torch.float32).sub_(0.5).to(types[variant])
    b = torch.rand(WIDTH, WIDTH, device="cuda", dtype=torch.float32).sub_(0.5).to(types[variant])
    best = 0
    for weights in (b, b.t()):
        for _ in range(3):
            a @ weights
        spans = []
        for _ in range(8):
            begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(
                enable_timing=True
            )
            begun.record()
            for _ in range(4):
                a @ weights
            ended.record()
            ended.synchronize()
            spans.append(begun.elapsed_time(ended) / 4e3)
        best = max(best, 2 * ROWS * WIDTH * WIDTH / statistics.median(spans))
    return best


def all_torch_flops():
    return {v: torch_flops(v) for v in ("bf16", "fp16", "tf32", "fp32", "fp64")} if torch else {}


# PyTorch before and after, as the card's clock moves while it is measured.
before = all_torch_flops()
document = json.loads(kit.pollux("profile", "--devices", *kit.quick([], ["--quick"]), "--json"))
after = all_torch_flops()
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
    if variant not in before:
        skip(f"product-{variant}-of-torch", "no PyTorch on a GPU")
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
        theirs = COPY_BYTES / cuda.copies_s(to, source, COPY_BYTES, direction, 8)
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
    limit = 2 * hz * pynvml.nvmlDeviceGetMemoryBusWidth(h) / 8 / 2
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
