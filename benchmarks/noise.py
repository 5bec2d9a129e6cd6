#!/usr/bin/env python3
"""How right the torch helper's noise scale is: against a direct measurement at frozen weights.

usage: benchmarks/noise.py [--updates N] [--points A,B,C] [--direct K] [NETWORK ...]

Each network trains for real to three points. At each point its weights and its optimizer's state
are held still, and two things are measured there on batches of the training size:

    direct   the gradients of many batches: tr(Sigma) = B var(g), |G|^2 = |mean g|^2; all images
             once, or K batches of text
    helper   N updates through share/pollux/torch/pollux_torch/noise.py itself, each one sampled

mlp, cnn and cnn-bn classify Fashion-MNIST (Debian's dataset-fashion-mnist), gpt predicts characters
of the texts in /usr/share. Set OMP_NUM_THREADS=1. Needs PyTorch. Prints a table in Markdown; `+-`
is one standard error. The last column: of each 20 reports, whether the lower bound that pollux
computes is below the direct phi, and the median of these bounds over that phi.
"""

import argparse
import copy
import glob
import gzip
import math
import os
import sys

os.environ["POLLUX_TORCH_EVERY"] = "1"
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "share", "pollux", "torch"))

import torch
import torch.nn as nn
import torch.nn.functional as F

from pollux_torch.noise import Noise

IMAGES = "/usr/share/datasets/fashion-mnist/train-"
TEXTS = ("/usr/share/common-licenses/*", "/usr/share/perl/5*/pod/*.pod",
         "/usr/share/doc/*/copyright")


class Images:
    """Batches of Fashion-MNIST; a pass over all of it has no image twice."""

    def __init__(self, batch):
        raw = gzip.open(IMAGES + "images-idx3-ubyte.gz").read()[16:]
        labels = gzip.open(IMAGES + "labels-idx1-ubyte.gz").read()[8:]
        pixels = torch.frombuffer(bytearray(raw), dtype=torch.uint8).view(-1, 1, 28, 28).float()
        self.x = pixels.div_(255).sub_(0.286).div_(0.353)
        self.y = torch.frombuffer(bytearray(labels), dtype=torch.uint8).long()
        self.batch, self.population = batch, len(self.x)
        self.direct_batches = self.population // batch

    def batches(self, generator):
        while True:
            order = torch.randperm(self.population, generator=generator)
            for part in order[:self.direct_batches * self.batch].view(-1, self.batch):
                yield self.x[part], self.y[part]


class Text:
    LENGTH, VOCABULARY = 64, 96
    direct_batches = 700

    def __init__(self, batch):
        files = sorted(f for pattern in TEXTS for f in glob.glob(pattern))
        raw = b"".join(open(f, "rb").read() for f in files)[:8_000_000]
        self.text = torch.tensor([min(max(c, 31), 126) - 31 for c in raw])
        self.batch, self.population = batch, math.inf

    def batches(self, generator):
        offsets = torch.arange(self.LENGTH + 1)
        while True:
            at = torch.randint(len(self.text) - self.LENGTH - 1, (self.batch,), generator=generator)
            part = self.text[at[:, None] + offsets]
            yield part[:, :-1], part[:, 1:]


def convolutions(norm):
    def block(a, b):
        return [nn.Conv2d(a, b, 3, padding=1)] + ([nn.BatchNorm2d(b)] if norm else []) + [
            nn.ReLU(), nn.MaxPool2d(2)]
    return nn.Sequential(*block(1, 16), *block(16, 32), *block(32, 32), nn.Flatten(),
                         nn.Linear(288, 10))


def perceptron():
    return nn.Sequential(nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128),
                         nn.ReLU(), nn.Linear(128, 10))


class Block(nn.Module):
    HEADS = 4

    def __init__(self, width):
        super().__init__()
        self.norm_1, self.norm_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = self.qkv(self.norm_1(x)).view(batch, length, 3, self.HEADS, -1).permute(
            2, 0, 3, 1, 4)
        y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
        return x + self.down(F.gelu(self.up(self.norm_2(x))))


class Gpt(nn.Module):
    """Three blocks; the head's weights are the embedding's."""

    def __init__(self, width=96, depth=3):
        super().__init__()
        self.token = nn.Embedding(Text.VOCABULARY, width)
        self.position = nn.Embedding(Text.LENGTH, width)
        self.blocks = nn.Sequential(*(Block(width) for _ in range(depth)))
        self.norm = nn.LayerNorm(width)
        for p in self.parameters():
            if p.dim() > 1:
                nn.init.normal_(p, std=0.02)

    def forward(self, x):
        x = self.token(x) + self.position(torch.arange(x.shape[1]))
        return F.linear(self.norm(self.blocks(x)), self.token.weight)


def sgd(lr):
    return lambda model: torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9)


def adamw(model):
    return torch.optim.AdamW(model.parameters(), lr=1e-3, betas=(0.9, 0.99), weight_decay=0.1)


NETWORKS = {
    "mlp": (perceptron, sgd(0.02), Images, 64, None),
    "cnn": (lambda: convolutions(False), sgd(0.02), Images, 64, None),
    "cnn-bn": (lambda: convolutions(True), sgd(0.05), Images, 64, None),
    "gpt": (Gpt, adamw, Text, 16, 1.0),
}


def loss_of(model, batch):
    out = model(batch[0])
    return F.cross_entropy(out.reshape(-1, out.shape[-1]), batch[1].reshape(-1))


def train(model, optimizer, batches, updates, clip):
    for _ in range(updates):
        optimizer.zero_grad()
        loss_of(model, next(batches)).backward()
        if clip:
            nn.utils.clip_grad_norm_(model.parameters(), clip)
        optimizer.step()


# --- the direct measurement

def preconditioners(optimizer):
    """For each parameter D and the limit of g / D.

    Adam: sqrt(v / (1 - beta2^t)) + eps and sqrt((1 - beta2^t) / (1 - beta2)), the largest element
    of an update that has g in v. Without the limit, rare characters decide: of the gradients of a
    direct measurement a few then make up nearly all of tr(Sigma).
    """
    result = []
    for group in optimizer.param_groups:
        for p in group["params"]:
            state = optimizer.state[p]
            if "exp_avg_sq" in state:
                correction = 1 - group["betas"][1] ** float(state["step"])
                result.append(((state["exp_avg_sq"] / correction).sqrt() + group["eps"],
                               (correction / (1 - group["betas"][1])) ** 0.5))
            else:
                result.append((torch.ones(()), math.inf))
    return result


def direct(model, optimizer, data, batches):
    """tr(Sigma), |G|^2, the standard error of tr(Sigma), and the share of noise in |g|^2."""
    parameters = [p for g in optimizer.param_groups for p in g["params"]]
    scales = preconditioners(optimizer)
    k, b, size = data.direct_batches, data.batch, data.population
    mean = [torch.zeros(p.shape, dtype=torch.double) for p in parameters]
    squares = []
    for _ in range(k):
        gradients = torch.autograd.grad(loss_of(model, next(batches)), parameters)
        scaled = [(g / d).clamp(-limit, limit).double()
                  for g, (d, limit) in zip(gradients, scales)]
        squares.append(sum(float(x.square().sum()) for x in scaled))
        for m, x in zip(mean, scaled):
            m += x / k
    square, of_mean = sum(squares) / k, sum(float(m.square().sum()) for m in mean)
    if math.isinf(size):
        var = b * (square - of_mean) * k / (k - 1)
        sqr = of_mean - var / (b * k)
    else:  # all samples once: their mean is the true gradient; batches are without replacement
        var, sqr = b * (square - of_mean) * (k * b - 1) / (k * b - b), of_mean
    return var, sqr, b * deviation(squares) / k ** 0.5, var / b / square


def deviation(values):
    return float(torch.tensor(values, dtype=torch.double).std())


# --- the helper's measurement

class Helper:
    """What noise.py wants of the helper: here it only must not refuse."""

    class rank:
        reports = staticmethod(lambda: True)

    def refuse(self, part, why):
        raise SystemExit("no %s: %s" % (part, why))

    def guard(self, name, function):
        return function


class Update:
    """What noise.py wants to know of the update under way."""

    class clock:
        mean_ns = 0

    def __init__(self, optimizer, batch):
        self.main = lambda: optimizer
        self.own, self.accumulation, self.passes_in_step, self.others = 1, 1, 0, {}
        self.extras = []
        self.samples = type("Samples", (), {"batch": batch})


def sampled(model, optimizer, data, batches, updates):
    """(GRAD_VAR, GRAD_SQR) of each update, as the helper would report them."""
    noise, update = Noise(Helper(), torch), Update(optimizer, data.batch)
    reports = []
    noise.arm(update)
    while len(reports) < updates:
        optimizer.zero_grad()
        loss = loss_of(model, next(batches))
        if noise.before_backward(loss, {}, update):
            loss.backward()
            noise.after_backward()
        update.own += 1
        values = noise.after_step(update)
        if values:
            reports.append((values["GRAD_VAR"], values["GRAD_SQR"]))
        elif not noise.armed:
            noise.arm(update)
    return reports


def measure(name, points, updates):
    make, make_optimizer, make_data, size, clip = NETWORKS[name]
    torch.manual_seed(1)
    data, generator = make_data(size), torch.Generator().manual_seed(2)
    model = make()
    optimizer = make_optimizer(model)
    training, done = data.batches(generator), 0
    for point in points:
        train(model, optimizer, training, point - done, clip)
        done = point
        state = copy.deepcopy(model.state_dict())
        fresh = data.batches(torch.Generator().manual_seed(point))
        true = direct(model, optimizer, data, fresh)
        reports = sampled(model, optimizer, data, fresh, updates)
        optimizer.zero_grad()
        model.load_state_dict(state)  # BatchNorm's running means
        yield point, true, reports


WINDOW = 20  # reports for one bound
STUDENT_T = 2.093  # 97.5 % point for so many


def lower_bound(reports):
    """The lower end of the interval of phi, as noise_scale_interval() in src/model computes it."""
    v, g = (torch.tensor(x, dtype=torch.double) for x in zip(*reports))
    var, sqr, each = v.mean(), g.mean().clamp(min=0), STUDENT_T ** 2 / len(v) / (len(v) - 1)
    a = sqr ** 2 - each * (g - g.mean()).square().sum()
    b = sqr * var - each * ((v - var) * (g - g.mean())).sum()
    c = var ** 2 - each * (v - var).square().sum()
    return float(c / (b + (b * b - a * c).clamp(min=0).sqrt())) if c > 0 else 0.0


def bounds(reports, phi):
    """(windows whose bound holds, windows, the median bound over phi)."""
    windows = [reports[i:i + WINDOW] for i in range(0, len(reports) - WINDOW + 1, WINDOW)]
    ratios = sorted(lower_bound(w) / phi for w in windows)
    return sum(r <= 1 for r in ratios), len(ratios), ratios[len(ratios) // 2] if ratios else 0


def row(name, point, true, reports):
    var, sqr, error, share = true
    v, g = (torch.tensor(x, dtype=torch.double) for x in zip(*reports))
    n, phi = len(reports), float(v.mean() / g.mean())
    bias_error = math.hypot(float(v.std()) / var / n ** 0.5, error / var)
    spread = (v / v.mean() - g / g.mean()).std() / n ** 0.5  # of ln phi
    return "| %s | %d | %.1f | %+.1f +- %.1f | %.0f | %.0f | %.4g | %.4g +- %.2g | %s |" % (
        name, point, 100 * share, 100 * (float(v.mean()) / var - 1), 100 * bias_error,
        100 * float(v.std() / v.mean()), 100 * float(g.std()) / sqr, var / sqr, phi,
        abs(phi) * float(spread), "%d of %d, %.2f" % bounds(reports, var / sqr))


def main():
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1])
    parser.add_argument("--updates", type=int, default=300)
    parser.add_argument("--points", default="100,500,1500")
    parser.add_argument("--direct", type=int, default=Text.direct_batches)
    parser.add_argument("networks", nargs="*", metavar="NETWORK")
    options = parser.parse_args()
    Text.direct_batches = options.direct
    points = [int(x) for x in options.points.split(",")]
    print("| network | updates | tr(Sigma)/B of mean abs(g)^2, % | tr(Sigma), % off | spread of a "
          "sample, % | of its abs(G)^2, % | phi, direct | phi, helper | bounds that hold, median |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|---:|")
    for name in options.networks or NETWORKS:
        for point, true, reports in measure(name, points, options.updates):
            print(row(name, point, true, reports), flush=True)


if __name__ == "__main__":
    main()
