import torch
from fastai.basics import *
x, y = torch.randn(3000, 16), torch.randint(0, 2, (3000,))
dls = DataLoaders.from_dsets(list(zip(x[:2400], y[:2400])), list(zip(x[2400:], y[2400:])), bs=32)
Learner(dls, nn.Linear(16, 2), loss_func=nn.CrossEntropyLoss(), metrics=accuracy).fit(4)
