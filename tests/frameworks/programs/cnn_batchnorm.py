"""A convolutional network with BatchNorm, loader workers, a number of updates over any epochs."""
import hashlib

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

UPDATES = 60
torch.manual_seed(2)
images = torch.randn(640, 1, 12, 12)
labels = (images.mean((1, 2, 3)) > 0).long()
loader = DataLoader(TensorDataset(images, labels), 32, shuffle=True, num_workers=2, drop_last=True)
model = nn.Sequential(
    nn.Conv2d(1, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3), nn.BatchNorm2d(8),
    nn.ReLU(), nn.Flatten(), nn.Linear(512, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9, nesterov=True)
updates = samples = 0
while updates < UPDATES:
    for a, b in loader:
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(a), b).backward()
        optimizer.step()
        updates += 1
        samples += a.shape[0]
        if updates == UPDATES:
            break
print("seen", updates, "updates", samples, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
