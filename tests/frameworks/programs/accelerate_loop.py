"""A loop with accelerate: prepare, accumulate, a scheduler stepped with each update."""
import hashlib

import torch
from accelerate import Accelerator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(5)
x = torch.randn(330, 20)
loader = DataLoader(TensorDataset(x, (x[:, 1] > 0).long()), batch_size=16, shuffle=True)
model = nn.Sequential(nn.Linear(20, 32), nn.Tanh(), nn.Linear(32, 2))
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
scheduler = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=20)
accelerator = Accelerator(gradient_accumulation_steps=3, cpu=True)
model, optimizer, loader, scheduler = accelerator.prepare(model, optimizer, loader, scheduler)
updates = samples = 0
for epoch in range(3):
    for inputs, labels in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.cross_entropy(model(inputs), labels)
            accelerator.backward(loss)
            optimizer.step()
            scheduler.step()
            optimizer.zero_grad()
        updates += accelerator.sync_gradients
        samples += len(inputs)
print("seen", updates, "updates", samples, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
