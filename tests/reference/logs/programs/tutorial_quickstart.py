# as the quickstart of pytorch.org prints
import torch
from torch import nn
x, y = torch.randn(4000, 16), torch.randint(0, 2, (4000,))
dl = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=16)
m = nn.Linear(16, 2); o = torch.optim.SGD(m.parameters(), 1e-3); f = nn.CrossEntropyLoss()
for t in range(3):
    print(f"Epoch {t+1}\n-------------------------------")
    for batch, (X, Y) in enumerate(dl):
        loss = f(m(X), Y); loss.backward(); o.step(); o.zero_grad()
        if batch % 100 == 0:
            loss, current = loss.item(), batch * 16 + len(X)
            print(f"loss: {loss:>7f}  [{current:>5d}/{4000:>5d}]")
    with torch.no_grad(): acc = (m(x).argmax(1) == y).float().mean().item()
    print(f"Test Error: \n Accuracy: {(100*acc):>0.1f}%, Avg loss: {loss:>8f} \n")
print("Done!")
