"""A program that knows nothing of pollux. It saves after each epoch and when it is told to stop,
and begins from what it saved. samples.log has a line for each update: what it consumed, and at
which learning rate."""

import argparse
import os
import signal
import sys

import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--epochs", type=int, default=4)
parser.add_argument("--size", type=int, default=20000)
parser.add_argument("--fits", type=int, default=1 << 30, help="the largest batch that fits")
options = parser.parse_args()

weight = torch.Tensor(1.0)
optimizer = torch.optim.SGD([weight], lr=0.1)
optimizer.pass_s = 0.004 + 2e-5 * options.batch
path = os.path.join(options.out, "last.pt")
first, skipped = 0, 0
if os.path.exists(path):
    saved = torch.load(path)
    optimizer.load_state_dict(saved["optimizer"])
    first, skipped = saved["epoch"], saved["done"]

stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))


def save(epoch, done):
    torch.save({"optimizer": optimizer.state_dict(), "epoch": epoch, "done": done}, path + ".new")
    os.replace(path + ".new", path)


log = open("samples.log", "a", buffering=1)
for epoch in range(first, options.epochs):
    done = skipped
    for batch in DataLoader(range(skipped, options.size), batch_size=options.batch):
        if len(batch) > options.fits:
            raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB")
        optimizer.zero_grad()
        torch.Tensor(0.5).backward()
        optimizer.step()
        done += len(batch)
        print(epoch, done, len(batch), "%.6g" % optimizer.used_lr,
              optimizer.param_groups[0]["lr"], file=log)
        if stop:
            save(epoch, done)
            sys.exit(75)
    skipped = 0
    save(epoch + 1, 0)
