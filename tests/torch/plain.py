"""A training of 3 epochs of 4 batches, that saves nothing. It prints the learning rate that it has,
and that of its last update."""

import torch
from torch.utils.data import DataLoader

data = DataLoader(range(100), batch_size=32)
optimizer = torch.optim.SGD([torch.Tensor(1.0)], lr=0.1)
for epoch in range(3):
    for batch in data:
        torch.Tensor(0.5).backward()
        optimizer.step()
print(optimizer.param_groups[0]["lr"], optimizer.used_lr)
