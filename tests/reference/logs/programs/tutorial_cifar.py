# as the CIFAR-10 tutorial of pytorch.org prints
import torch
from torch import nn
x, y = torch.randn(2000, 16), torch.randint(0, 2, (2000,))
dl = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=4)
m = nn.Linear(16, 2); o = torch.optim.SGD(m.parameters(), 1e-3); f = nn.CrossEntropyLoss()
for epoch in range(3):
    running_loss = 0.0
    for i, (X, Y) in enumerate(dl, 0):
        o.zero_grad(); loss = f(m(X), Y); loss.backward(); o.step()
        running_loss += loss.item()
        if i % 100 == 99:
            print(f'[{epoch + 1}, {i + 1:5d}] loss: {running_loss / 100:.3f}')
            running_loss = 0.0
print('Finished Training')
