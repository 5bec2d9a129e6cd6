"""The least training that still goes through all that the helper hooks into, for overhead.py.

A batch is a constant, the loss has one parameter and the optimizer does nothing: what the helper
adds to an update is a large part of the whole. Prints the least microseconds of an update over
chunks of 50. Argument: the number of updates."""
import sys
import time

import torch
from torch.utils.data import DataLoader


class Data(torch.utils.data.Dataset):
    batch = (torch.zeros(8, 1), torch.zeros(8))

    def __len__(self):
        return 8 * 500

    def __getitems__(self, indices):
        return self.batch


class Nothing(torch.optim.Optimizer):
    def step(self):
        pass


torch.set_num_threads(1)
weight = torch.nn.Parameter(torch.ones(()))
optimizer = Nothing([weight], {"lr": 0.1})
loader = DataLoader(Data(), batch_size=8, collate_fn=lambda batch: batch)
least = float("inf")
done = 0
while done < int(sys.argv[1]):
    start = time.thread_time_ns()
    for batch in loader:
        weight.sum().backward()
        optimizer.step()
        done += 1
        if done % 50 == 0:
            now = time.thread_time_ns()
            if done > 1000:
                least = min(least, now - start)
            start = now
print(least / 50 / 1000)
