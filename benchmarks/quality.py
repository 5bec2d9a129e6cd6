"""Five small training programs that know nothing of pollux, for quality_rules.py: the same number
of samples, whatever the batch is. The last line says the loss on data that training does not see.

	cnn	a convolutional network, SGD with momentum
	gpt	a transformer that reads characters, AdamW
	mlp	a perceptron, AdamW
	rms	a perceptron, RMSprop
	two	a perceptron whose body has SGD and whose head has Adam
"""

import argparse
import gzip
import os

import torch
import torch.nn.functional as F
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

IMAGES, TEST, CONTEXT = 8000, 4000, 32
# name: learning rate at batch 32, epochs
PROGRAMS = {"cnn": (0.02, 20), "gpt": (1e-3, 12), "mlp": (5e-4, 40), "rms": (3e-4, 40),
            "two": (0.02, 40)}


def read_images(directory, name, n):
    with gzip.open(os.path.join(directory, name + "-images-idx3-ubyte.gz")) as file:
        pixels = torch.frombuffer(bytearray(file.read(16 + n * 784)[16:]), dtype=torch.uint8)
    with gzip.open(os.path.join(directory, name + "-labels-idx1-ubyte.gz")) as file:
        labels = torch.frombuffer(bytearray(file.read(8 + n)[8:]), dtype=torch.uint8)
    small = F.avg_pool2d(pixels.view(-1, 1, 28, 28).float() / 255, 2)
    return TensorDataset(small, labels.long())


def read_text(path):
    """Pieces of a text, and as many that training does not see."""
    with open(path, encoding="utf-8", errors="replace") as file:
        codes = torch.tensor([min(ord(c), 127) for c in file.read()])
    pieces = codes[:len(codes) // (CONTEXT + 1) * (CONTEXT + 1)].view(-1, CONTEXT + 1)
    pieces = pieces[torch.randperm(len(pieces), generator=torch.Generator().manual_seed(0))]
    test = TensorDataset(pieces[:400, :-1], pieces[:400, 1:])
    return TensorDataset(pieces[400:, :-1], pieces[400:, 1:]), test


class Gpt(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.token, self.place = nn.Embedding(128, width), nn.Embedding(CONTEXT, width)
        layer = nn.TransformerEncoderLayer(width, 4, 4 * width, 0.0, batch_first=True)
        self.body, self.head = nn.TransformerEncoder(layer, 2), nn.Linear(width, 128)
        self.register_buffer("mask", nn.Transformer.generate_square_subsequent_mask(CONTEXT))

    def forward(self, x):
        x = self.token(x) + self.place.weight
        return self.head(self.body(x, mask=self.mask, is_causal=True)).flatten(0, 1)


def make_model(name):
    if name == "gpt":
        return Gpt()
    if name == "cnn":
        return nn.Sequential(nn.Conv2d(1, 8, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3),
                             nn.ReLU(), nn.Flatten(), nn.Linear(16 * 16, 10))
    return nn.Sequential(nn.Flatten(), nn.Linear(196, 96), nn.ReLU(), nn.Linear(96, 10))


def make_optimizers(name, model, rate):
    if name == "cnn":
        return [torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)]
    if name == "rms":
        return [torch.optim.RMSprop(model.parameters(), lr=rate)]
    if name == "two":
        return [torch.optim.SGD(model[1].parameters(), lr=rate, momentum=0.9),
                torch.optim.Adam(model[3].parameters(), lr=1e-3)]
    return [torch.optim.AdamW(model.parameters(), lr=rate)]


def loss_on(model, data):
    model.eval()
    with torch.no_grad():
        inputs, labels = data.tensors
        loss = F.cross_entropy(model(inputs), labels.flatten()).item()
    model.train()
    return loss


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", choices=PROGRAMS)
    parser.add_argument("--images", required=True, help="directory of Fashion-MNIST")
    parser.add_argument("--text", required=True, help="a file")
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--checkpoint", required=True, help="a directory")
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    if args.program == "gpt":
        data, test = read_text(args.text)
    else:
        data = read_images(args.images, "train", IMAGES)
        test = read_images(args.images, "t10k", TEST)
    rate, epochs = PROGRAMS[args.program]
    model = make_model(args.program)
    optimizers = make_optimizers(args.program, model, rate)
    loader = DataLoader(data, batch_size=32, shuffle=True)
    path, first = os.path.join(args.checkpoint, "last.pt"), 0
    if os.path.exists(path):
        saved = torch.load(path)
        first = saved["epoch"]
        model.load_state_dict(saved["model"])
        for optimizer, state in zip(optimizers, saved["optimizers"]):
            optimizer.load_state_dict(state)
    samples = first * len(data)
    for epoch in range(first, epochs):
        for inputs, labels in loader:
            for optimizer in optimizers:
                optimizer.zero_grad()
            F.cross_entropy(model(inputs), labels.flatten()).backward()
            for optimizer in optimizers:
                optimizer.step()
            samples += len(inputs)
        torch.save({"epoch": epoch + 1, "model": model.state_dict(),
                    "optimizers": [o.state_dict() for o in optimizers]}, path + ".new")
        os.replace(path + ".new", path)
    print("final loss %.5f after %d samples" % (loss_on(model, test), samples))


main()
