"""A program that makes a number of updates, whatever their batch is, and saves when it is told to
stop. samples.log has a line for each update: its number, its samples and its learning rate."""

import argparse
import os
import signal
import sys

import torch
from torch.utils.data import DataLoader

parser = argparse.ArgumentParser()
parser.add_argument("--batch_size", type=int, required=True)
parser.add_argument("--out_dir", required=True)
parser.add_argument("--max_iters", type=int, default=3000)
options = parser.parse_args()

optimizer = torch.optim.SGD([torch.Tensor(1.0)], lr=0.1)
optimizer.pass_s = 0.004 + 2e-5 * options.batch_size
path = os.path.join(options.out_dir, "last.pt")
iteration = 0
if os.path.exists(path):
    saved = torch.load(path)
    optimizer.load_state_dict(saved["optimizer"])
    iteration = saved["iteration"]

stop = []
signal.signal(signal.SIGTERM, lambda *_: stop.append(True))


def endless():
    while True:
        yield from DataLoader(range(20000), batch_size=options.batch_size)


log = open("samples.log", "a", buffering=1)
batches = endless()
while iteration < options.max_iters:
    batch = next(batches)
    optimizer.zero_grad()
    torch.Tensor(0.5).backward()
    optimizer.step()
    iteration += 1
    print(iteration, len(batch), "%.6g" % optimizer.used_lr, file=log)
    if stop or iteration == options.max_iters:
        saved = {"optimizer": optimizer.state_dict(), "iteration": iteration}
        torch.save(saved, path + ".new")
        os.replace(path + ".new", path)
    if stop:
        sys.exit(75)
