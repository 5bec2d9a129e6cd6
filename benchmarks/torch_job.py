"""A training program as people write them with PyTorch: it knows nothing of pollux.

It trains a perceptron on Fashion-MNIST to an accuracy: a DataLoader, an optimizer, a schedule that
changes the learning rate after each evaluation. It saves then, not when it is told to stop, and
goes on from what it saved if the file is there. jct.sh runs it where JCT_PYTHON names a Python that
has torch.
"""

import argparse
import gzip
import os
import time

import torch
import torch.nn.functional as F
from torch.utils.data import DataLoader, Dataset


def read_images(path):
    with gzip.open(path) as file:
        pixels = torch.frombuffer(bytearray(file.read()[16:]), dtype=torch.uint8)
    return pixels.view(-1, 784).float() / 255


def read_labels(path):
    with gzip.open(path) as file:
        return torch.frombuffer(bytearray(file.read()[8:]), dtype=torch.uint8).long()


class Images(Dataset):
    """Reads the samples of a batch at once, which DataLoader asks for where it can."""

    def __init__(self, images, labels):
        self.images, self.labels = images, labels

    def __len__(self):
        return len(self.labels)

    def __getitems__(self, indices):
        chosen = torch.tensor(indices)
        return self.images[chosen], self.labels[chosen]


def make_model(hidden):
    sizes = [784] + hidden
    layers = []
    for before, after in zip(sizes, sizes[1:]):
        layers += [torch.nn.Linear(before, after), torch.nn.ReLU()]
    return torch.nn.Sequential(*layers, torch.nn.Linear(sizes[-1], 10))


def accuracy(model, images, labels):
    model.eval()
    with torch.no_grad():
        right = (model(images).argmax(1) == labels).float().mean().item()
    model.train()
    return right


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", required=True)
    parser.add_argument("--hidden", required=True, help="320,160")
    parser.add_argument("--batch", type=int, required=True)
    parser.add_argument("--lr", type=float, required=True)
    parser.add_argument("--samples", type=int, required=True, help="at most; the rate ends there")
    parser.add_argument("--target-accuracy", type=float, required=True)
    parser.add_argument("--eval-every", type=int, default=30000, help="samples")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--checkpoint", required=True, help="a directory")
    args = parser.parse_args()

    torch.set_num_threads(1)
    torch.manual_seed(args.seed)
    images = read_images(os.path.join(args.data, "train-images-idx3-ubyte.gz"))
    labels = read_labels(os.path.join(args.data, "train-labels-idx1-ubyte.gz"))
    test_images = read_images(os.path.join(args.data, "t10k-images-idx3-ubyte.gz"))
    test_labels = read_labels(os.path.join(args.data, "t10k-labels-idx1-ubyte.gz"))
    model = make_model([int(n) for n in args.hidden.split(",")])
    loader = DataLoader(Images(images, labels), batch_size=args.batch, shuffle=True,
                        collate_fn=lambda batch: batch)
    optimizer = torch.optim.SGD(model.parameters(), lr=args.lr, momentum=0.9)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(
        optimizer, T_max=max(1, args.samples // args.eval_every))

    samples, steps = 0, 0
    path = os.path.join(args.checkpoint, "last.pt")
    if os.path.exists(path):
        saved = torch.load(path)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        schedule.load_state_dict(saved["schedule"])
        samples, steps = saved["samples"], saved["steps"]
        print("resumed at", samples, flush=True)

    reached, due, begin = 0.0, samples + args.eval_every, time.time()
    while samples < args.samples and reached < args.target_accuracy:
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = F.cross_entropy(model(inputs), targets)
            loss.backward()
            optimizer.step()
            samples += len(inputs)
            steps += 1
            if samples < due:
                continue
            due += args.eval_every
            schedule.step()
            reached = accuracy(model, test_images, test_labels)
            print("samples %d loss %.4f accuracy %.4f, %.1f s" % (
                samples, loss.item(), reached, time.time() - begin), flush=True)
            if reached >= args.target_accuracy or samples >= args.samples:
                break
            torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                        "schedule": schedule.state_dict(), "samples": samples,
                        "steps": steps}, path + ".new")
            os.replace(path + ".new", path)
    print("done samples %d accuracy %.4f steps %d" % (samples, reached, steps))


main()
