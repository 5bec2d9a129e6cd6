import numpy as np
import torch
from skorch import NeuralNetClassifier

torch.manual_seed(0)
X = np.random.default_rng(0).normal(size=(100, 5)).astype("float32")
net = torch.nn.Sequential(torch.nn.Linear(5, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
NeuralNetClassifier(net, max_epochs=5, criterion=torch.nn.CrossEntropyLoss).fit(
    X, (X[:, 0] > 0).astype("int64"))
