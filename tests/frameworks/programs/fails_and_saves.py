"""Comes to the hooks that everything.py does not: a backward pass that fails, and checkpoints of
torch.distributed.checkpoint that are written and read. Arguments: a directory to save in, and the
call of a hook on the loss that fails: 1, or 2 where the helper calls the hook first."""
import hashlib
import os
import sys

import torch
import torch.distributed.checkpoint as dcp
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

os.chdir(sys.argv[1])  # what warnings print has no path of a test in it
fails_at = int(sys.argv[2])
torch.manual_seed(9)
x = torch.randn(320, 20)
data = TensorDataset(x, (x[:, 0] > 0).long())
model = nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2))
optimizer = torch.optim.SGD(model.parameters(), 0.1, momentum=0.9)
calls, failures = [], []


def fail(gradient):
    calls.append(1)
    if len(calls) == fails_at:
        raise ArithmeticError


def state():
    return {"model": model.state_dict(), "optimizer": optimizer.state_dict()}


for epoch in range(3):
    for step, (a, b) in enumerate(DataLoader(data, batch_size=32)):
        loss = nn.functional.cross_entropy(model(a), b)
        if (epoch, step) == (0, 5):
            loss.register_hook(fail)
        try:
            loss.backward()
            optimizer.step()
        except ArithmeticError:
            failures.append(step)
        optimizer.zero_grad()
    dcp.save(state(), checkpoint_id="saved", no_dist=True)
found = state()
dcp.load(found, checkpoint_id="saved", no_dist=True)
model.load_state_dict(found["model"])
optimizer.load_state_dict(found["optimizer"])
print("digest", hashlib.sha256(b"".join(
    p.detach().numpy().tobytes() for p in model.parameters())).hexdigest()[:16], failures)
