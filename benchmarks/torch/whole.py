"""Small unmodified trainings for overhead.py: whole.py KIND UPDATES prints the processor seconds of
the updates after the first WARM ones. KIND: mlp, cnn, gpt or trainer (of transformers)."""
import sys
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

WARM = 100
kind, updates = sys.argv[1], int(sys.argv[2])
torch.set_num_threads(1)
torch.manual_seed(1)
times = []


def tick():
    times.append(time.process_time())


class Gpt(nn.Module):
    """Two layers of width 64 over 64 tokens of 256."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(256, 64)
        layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(64, 256)

    def forward(self, tokens):
        mask = nn.Transformer.generate_square_subsequent_mask(tokens.shape[1])
        return self.head(self.layers(self.embed(tokens), mask=mask))


def train(model, inputs, labels, batch, loss_of):
    loader = DataLoader(TensorDataset(inputs, labels), batch_size=batch, shuffle=True)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    while len(times) <= updates:
        for x, y in loader:
            optimizer.zero_grad()
            loss_of(model(x), y).backward()
            optimizer.step()
            tick()
            if len(times) > updates:
                break


def trainer(inputs, labels):
    from transformers import Trainer, TrainerCallback, TrainingArguments

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512),
                                     nn.ReLU(), nn.Linear(512, 2))

        def forward(self, x, labels):
            logits = self.net(x)
            return {"loss": nn.functional.cross_entropy(logits, labels), "logits": logits}

    class Clock(TrainerCallback):
        def on_step_end(self, args, state, control, **kwargs):
            tick()

    data = [{"x": x, "labels": y} for x, y in zip(inputs, labels)]
    Trainer(Model(), TrainingArguments("out", per_device_train_batch_size=128,
                                       max_steps=updates + 1, save_strategy="no",
                                       report_to=[], disable_tqdm=True, logging_steps=1000,
                                       use_cpu=True),
            train_dataset=data, callbacks=[Clock()]).train()


cross = nn.functional.cross_entropy
if kind == "mlp":
    points = torch.randn(8192, 64)
    train(nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(),
                        nn.Linear(512, 2)), points, (points[:, 0] > 0).long(), 128, cross)
elif kind == "cnn":
    images = torch.randn(2048, 1, 16, 16)
    train(nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
                        nn.Conv2d(8, 16, 3, padding=1), nn.ReLU(), nn.Flatten(),
                        nn.Linear(1024, 10)),
          images, torch.randint(0, 10, (2048,)), 32, cross)
elif kind == "gpt":
    tokens = torch.randint(0, 256, (1024, 64))
    train(Gpt(), tokens, tokens.roll(-1, 1), 4,
          lambda out, y: cross(out.flatten(0, 1), y.flatten()))
elif kind == "trainer":
    points = torch.randn(8192, 64)
    trainer(points, (points[:, 0] > 0).long())
else:
    sys.exit("whole.py: mlp, cnn, gpt or trainer")
print(times[updates] - times[WARM])
