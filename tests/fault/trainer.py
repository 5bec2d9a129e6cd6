"""A small trainer for PyTorch that knows nothing of pollux: trainer.py DIRECTORY UPDATES RESULT.

Each update has the batch of its number, so that a run which begins from a checkpoint comes to the
same parameters, bit by bit, as a run that nobody disturbed. It saves every 50 updates. At its end
a line of the file RESULT gets the number of updates that were made, and a digest of the parameters.
"""

import hashlib
import os
import sys
import time

import torch
from torch import nn

directory, updates, result = sys.argv[1], int(sys.argv[2]), sys.argv[3]
torch.manual_seed(0)
torch.set_num_threads(1)
model = nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
path = os.path.join(directory, "last.pt")
first = 0
if os.path.exists(path):
    saved = torch.load(path)
    model.load_state_dict(saved["model"])
    optimizer.load_state_dict(saved["optimizer"])
    first = saved["updates"]
for update in range(first, updates):
    numbers = torch.Generator().manual_seed(update)
    inputs = torch.randn(32, 16, generator=numbers)
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(model(inputs), inputs[:, :4].argmax(1))
    loss.backward()
    optimizer.step()
    time.sleep(0.005)
    if (update + 1) % 50 == 0 or update + 1 == updates:
        torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                    "updates": update + 1}, path + ".new")
        os.replace(path + ".new", path)
digest = hashlib.sha256()
for parameter in model.parameters():
    digest.update(parameter.detach().numpy().tobytes())
with open(result, "a") as file:
    print(torch.load(path)["updates"], digest.hexdigest(), file=file)
