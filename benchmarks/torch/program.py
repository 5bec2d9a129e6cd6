"""A small unmodified training for overhead.py: prints the processor seconds of the whole process,
imports and start included. Argument: the number of updates; 0: nothing but the start."""
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

updates = int(sys.argv[1])
torch.set_num_threads(1)
torch.manual_seed(1)
x = torch.randn(4096, 32)
loader = DataLoader(TensorDataset(x, (x[:, 0] > 0).long()), batch_size=32, shuffle=True)
model = nn.Sequential(
    nn.Linear(32, 256), nn.ReLU(), nn.Linear(256, 256), nn.ReLU(), nn.Linear(256, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
done = 0
while done < updates:
    for inputs, labels in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(inputs), labels).backward()
        optimizer.step()
        done += 1
        if done == updates:
            break
print(time.process_time())
