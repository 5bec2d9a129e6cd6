"""products.py - PyTorch's FLOP/s in products of matrices, by type, as one line of JSON.

This runs as a process of its own: a process that stays would hold the GPU, and pollux measures no
GPU that another process holds. Without a GPU the products are small and the processor's.
"""

import json
import os
import statistics
import time

import torch

ON_GPU = os.environ["GPU_KIT_DEVICE"] == "cuda"
DEVICE = "cuda" if ON_GPU else "cpu"
ROWS, WIDTH = (4096, 8192) if ON_GPU else (64, 128)
TYPES = {
    "bf16": torch.bfloat16,
    "fp16": torch.float16,
    "tf32": torch.float32,
    "fp32": torch.float32,
    "fp64": torch.float64,
}


def seconds(a, b, n):
    """What each of n products takes."""
    if not ON_GPU:
        begun_s = time.monotonic()
        for _ in range(n):
            a @ b
        return (time.monotonic() - begun_s) / n
    begun, ended = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    begun.record()
    for _ in range(n):
        a @ b
    ended.record()
    ended.synchronize()
    return begun.elapsed_time(ended) / 1e3 / n


def flops(variant):
    """Of ROWS x WIDTH by WIDTH x WIDTH, with the weights as they lie faster."""
    torch.backends.cuda.matmul.allow_tf32 = variant == "tf32"
    a, b = (
        torch.rand(rows, WIDTH, device=DEVICE).sub_(0.5).to(TYPES[variant])
        for rows in (ROWS, WIDTH)
    )
    best_s = float("inf")
    for weights in (b, b.t()):
        seconds(a, weights, 3)  # warms up
        best_s = min(best_s, statistics.median(seconds(a, weights, 4) for _ in range(8)))
    return 2 * ROWS * WIDTH * WIDTH / best_s


print(json.dumps({variant: flops(variant) for variant in TYPES}))
