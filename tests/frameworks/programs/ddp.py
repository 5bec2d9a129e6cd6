"""Data-parallel training by torchrun, gloo on processors, two passes an update without no_sync."""
import hashlib

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
torch.manual_seed(4)
x = torch.randn(600, 20)
data = TensorDataset(x, (x[:, 0] > 0).long())
sampler = DistributedSampler(data)
loader = DataLoader(data, batch_size=16, sampler=sampler)
model = DistributedDataParallel(nn.Sequential(nn.Linear(20, 32), nn.ReLU(), nn.Linear(32, 2)))
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
num_epochs, updates, samples = 3, 0, 0
for epoch in range(1, num_epochs + 1):
    sampler.set_epoch(epoch)
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
        updates += 1
        samples += len(a) * dist.get_world_size()
if dist.get_rank() == 0:
    print("seen", updates, "updates", samples, "samples")
    weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
    print("digest", hashlib.sha256(weights).hexdigest()[:16])
dist.destroy_process_group()
