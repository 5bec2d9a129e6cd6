"""A program for PyTorch that knows nothing of pollux: a perceptron on made data. It saves after
each epoch and begins from what it saved. samples.log has a line for each update: what it
consumes. The line is written before the update: a run may be stopped as soon as its update is
reported, and the update would then be missing."""

import argparse
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

parser = argparse.ArgumentParser()
parser.add_argument("--batch", type=int, required=True)
parser.add_argument("--out", required=True)
parser.add_argument("--epochs", type=int, default=30)
parser.add_argument("--size", type=int, default=8192)
parser.add_argument("--fits", type=int, default=1 << 30, help="the largest batch that fits")
options = parser.parse_args()

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.randn(options.size, 64)
y = (x @ torch.randn(64, 10) + 8 * torch.randn(options.size, 10)).argmax(1)
loader = DataLoader(TensorDataset(x, y), batch_size=options.batch, shuffle=True)
model = nn.Sequential(nn.Linear(64, 256), nn.ReLU(), nn.Linear(256, 10))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02)
path = os.path.join(options.out, "last.pt")
first = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["epoch"]
log = open("samples.log", "a", buffering=1)
for epoch in range(first, options.epochs):
    total = 0.0
    for inputs, labels in loader:
        if len(inputs) > options.fits:
            torch.empty(1 << 50)
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(model(inputs), labels)
        loss.backward()
        print(epoch, len(inputs), optimizer.param_groups[0]["lr"], file=log)
        optimizer.step()
        total += loss.item() * len(inputs)
    print(f"epoch {epoch} loss {total / options.size:.4f}", flush=True)
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "epoch": epoch + 1}, path + ".new")
    os.replace(path + ".new", path)
