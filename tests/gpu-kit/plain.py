"""plain.py - a training program that knows nothing of pollux, as anybody would write one.

    plain.py --samples N [--batch N]    train; print the time of a step at the end
"""

import argparse
import os
import statistics
import time

import torch
from gpt_model import Gpt, made_up
from torch.utils.data import DataLoader

p = argparse.ArgumentParser()
p.add_argument("--device", default=os.environ.get("GPU_KIT_DEVICE", "cuda"))
p.add_argument("--layers", type=int, default=8)
p.add_argument("--width", type=int, default=512)
p.add_argument("--context", type=int, default=256)
p.add_argument("--vocabulary", type=int, default=4096)
p.add_argument("--batch", type=int, default=8)
p.add_argument("--samples", type=int, default=8000)
p.add_argument("--rate", type=float, default=3e-4)
p.add_argument("--pause-ms", type=float, default=0)
p.add_argument("--warm-up", type=int, default=10, help="steps that the mean leaves out")
o = p.parse_args()

torch.manual_seed(1)
on_gpu = o.device == "cuda"
if not on_gpu:
    torch.set_num_threads(1)
model = Gpt(o).to(o.device)


def loss_of(tokens):
    tokens = tokens.to(o.device)
    with torch.autocast(o.device, dtype=torch.bfloat16, enabled=on_gpu):
        return model(tokens[:, :-1], tokens[:, 1:])


def collate(numbers):
    return torch.cat([made_up(n, 1, o, "cpu") for n in numbers])


def train():
    optimizer = torch.optim.AdamW(model.parameters(), lr=o.rate)
    loader = DataLoader(
        range(o.samples), batch_size=o.batch, shuffle=True, collate_fn=collate, drop_last=True
    )
    begun_s, spans = time.monotonic(), []
    for tokens in loader:
        loss = loss_of(tokens)
        loss.backward()
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        loss = loss.item()
        time.sleep(1e-3 * o.pause_ms)
        now_s = time.monotonic()
        spans.append(now_s - begun_s)
        begun_s = now_s
    mean_s = statistics.fmean(spans[o.warm_up :])
    print(f"done samples {len(spans) * o.batch} loss {loss:.4f} step {mean_s:.9f} s", flush=True)


train()
