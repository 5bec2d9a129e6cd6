"""A perceptron with SGD: epochs over a shuffled DataLoader with a partial last batch, a scheduler
for each epoch, an evaluation after it."""
import hashlib

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

EPOCHS = 4
torch.manual_seed(1)
x = torch.randn(1000, 20)
y = (x[:, 0] * x[:, 1] > 0).long()
train = DataLoader(TensorDataset(x[:900], y[:900]), batch_size=32, shuffle=True)
test = DataLoader(TensorDataset(x[900:], y[900:]), batch_size=50)
model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.1), nn.Linear(64, 2))
optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
scheduler = torch.optim.lr_scheduler.StepLR(optimizer, 2)
updates = samples = 0
for epoch in range(EPOCHS):
    model.train()
    for inputs, labels in train:
        loss = nn.functional.cross_entropy(model(inputs), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        updates += 1
        samples += len(inputs)
    scheduler.step()
    model.eval()
    with torch.no_grad():
        right = sum((model(a).argmax(1) == b).sum().item() for a, b in test)
    print("epoch", epoch, "accuracy", right / 100, "lr", scheduler.get_last_lr())
print("seen", updates, "updates", samples, "samples")
weights = b"".join(p.detach().numpy().tobytes() for p in model.state_dict().values())
print("digest", hashlib.sha256(weights).hexdigest()[:16])
