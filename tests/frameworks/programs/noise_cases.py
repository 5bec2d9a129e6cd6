"""Programs for the noise scale: forms that are measured, and forms that must be refused.

Argument: the name of one. Prints a digest of parameters, buffers and random numbers. The programs
of `truth` hold their weights still and print tr(Sigma) and |G|^2 of their data, over all samples.
"""
import contextlib
import hashlib
import os
import random
import sys

import torch
from torch import nn
from torch.nn import functional as F

STEPS = 30
torch.manual_seed(5)
random.seed(6)
x = torch.randn(512, 12)
y = (x[:, 0] * x[:, 1] > 0).long()


def batch(n=32):
    i = torch.randint(len(x), (n,))
    return x[i], y[i]


def mlp():
    return nn.Sequential(nn.Linear(12, 32), nn.ReLU(), nn.Linear(32, 2))


def train(model, optimizer, loss_of, passes=1, steps=STEPS, size=32):
    for _ in range(steps):
        for _ in range(passes):
            (loss_of(model, *batch(size)) / passes).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [model]


def cross_entropy(model, a, b):
    return F.cross_entropy(model(a), b)


def sgd(model):
    return torch.optim.SGD(model.parameters(), 0.05, momentum=0.9)


def batchnorm_dropout():
    model = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.3),
                          nn.Linear(32, 2))
    return train(model, sgd(model), cross_entropy)


def optimizers():
    models = []
    for make in (torch.optim.Adam, torch.optim.AdamW, torch.optim.NAdam, torch.optim.RAdam,
                 torch.optim.Adamax, torch.optim.RMSprop, torch.optim.Adadelta,
                 torch.optim.Adagrad):
        models.append(mlp())
        train(models[-1], make(models[-1].parameters(), lr=1e-3), cross_entropy, steps=10)
    return models


def passes():
    model = mlp()
    return train(model, torch.optim.AdamW(model.parameters()), cross_entropy, passes=4)


def passes_of_one():
    model = mlp()
    return train(model, sgd(model), cross_entropy, passes=4, size=1)


def batch_of_one():
    model = mlp()
    return train(model, sgd(model), cross_entropy, size=1)


def evaluation():
    model = mlp()
    optimizer = sgd(model)
    for _ in range(4):
        train(model, optimizer, cross_entropy, steps=8)
        model.eval()
        with torch.no_grad():
            for _ in range(100):
                model(x)
        model(x[:8]).sum()
        model.train()
    return [model]


def trained_in_eval_mode():
    model = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Linear(32, 2)).eval()
    return train(model, sgd(model), cross_entropy)


def bfloat16():
    model = mlp().to(torch.bfloat16)
    return train(model, sgd(model), lambda m, a, b: F.cross_entropy(m(a.bfloat16()).float(), b))


def default_double():
    torch.set_default_dtype(torch.float64)
    model = mlp()
    return train(model, sgd(model), lambda m, a, b: F.cross_entropy(m(a.double()), b))


def cleared_to_zero():
    model = mlp()
    optimizer = sgd(model)
    for _ in range(STEPS):
        optimizer.zero_grad(set_to_none=False)
        cross_entropy(model, *batch()).backward()
        optimizer.step()
    return [model]


def flat_tokens():
    """The model returns one row for each token."""
    class Tokens(nn.Module):
        def __init__(self):
            super().__init__()
            self.table, self.head = nn.Embedding(16, 24), nn.Linear(24, 16)

        def forward(self, t):
            return self.head(self.table(t)).view(-1, 16)

    model = Tokens()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        t = torch.randint(16, (8, 11))
        F.cross_entropy(model(t[:, :-1]), t[:, 1:].reshape(-1)).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [model]


def siamese():
    """One model, called twice for one loss."""
    model = mlp()
    return train(model, sgd(model), lambda m, a, b: F.mse_loss(m(a), m(a.flip(0)) + 1))


# --- refused

class Checkpointed(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Sequential(nn.Linear(12, 32), nn.BatchNorm1d(32), nn.ReLU())
        self.last = nn.Linear(32, 2)

    def forward(self, z):
        from torch.utils.checkpoint import checkpoint

        return self.last(checkpoint(self.first, z, use_reentrant=False))


def checkpointed_batchnorm():
    model = Checkpointed()
    return train(model, sgd(model), cross_entropy)


class Once(torch.autograd.Function):
    """Its backward changes what it has saved: a second backward would get another gradient."""

    @staticmethod
    def forward(ctx, z):
        ctx.factor = torch.ones(())
        return z.clone()

    @staticmethod
    def backward(ctx, g):
        ctx.factor.mul_(0.5)
        return g * ctx.factor * 2


def own_function():
    model = mlp()
    return train(model, sgd(model), lambda m, a, b: F.cross_entropy(Once.apply(m(a)), b))


def packed():
    """What is saved for backward can be unpacked once only, as if it came from a file."""
    model = mlp()
    kept = {}

    def pack(t):
        kept[len(kept)] = t
        return len(kept) - 1

    def loss_of(m, a, b):
        kept.clear()
        with torch.autograd.graph.saved_tensors_hooks(pack, kept.pop):
            return F.cross_entropy(m(a), b)

    return train(model, sgd(model), loss_of)


def module_backward_hook():
    model = mlp()
    calls = []
    model[0].register_full_backward_hook(lambda m, i, o: calls.append(1))
    train(model, sgd(model), cross_entropy)
    print("calls", len(calls))
    return [model]


class Kept(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(12, 32), nn.Linear(32, 2)

    def forward(self, z):
        self.inner = self.a(z)
        self.inner.retain_grad()
        return self.b(self.inner.relu())


def kept_gradient():
    model = Kept()
    total = []

    def loss_of(m, a, b):
        if total or hasattr(m, "inner"):
            total.append(float(m.inner.grad.abs().sum()))
        return F.cross_entropy(m(a), b)

    train(model, sgd(model), loss_of)
    print("total", sum(total))
    return [model]


def gradient_penalty():
    model = mlp()

    def loss_of(m, a, b):
        loss = F.cross_entropy(m(a), b)
        g = torch.autograd.grad(loss, m.parameters(), create_graph=True)
        return loss + 0.1 * sum(v.square().sum() for v in g)

    return train(model, sgd(model), loss_of)


def loss_only():
    class Loss(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = mlp()

        def forward(self, a, b):
            return F.cross_entropy(self.net(a), b)

    model = Loss()
    return train(model, sgd(model), lambda m, a, b: m(a, b))


def never_cleared():
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 1e-4)
    for _ in range(STEPS):
        cross_entropy(model, *batch()).backward()
        optimizer.step()
    return [model]


def sparse_gradients():
    table, head = nn.EmbeddingBag(50, 8, sparse=True), nn.Linear(8, 2)
    model = nn.Sequential(table, head)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(STEPS):
        F.cross_entropy(model(torch.randint(50, (16, 4))), torch.randint(2, (16,))).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [model]


def two_optimizers():
    model = mlp()
    first = torch.optim.SGD(model[0].parameters(), 0.05)
    second = torch.optim.Adam(model[2].parameters())
    for _ in range(STEPS):
        cross_entropy(model, *batch()).backward()
        for optimizer in (first, second):
            optimizer.step()
            optimizer.zero_grad()
    return [model]


def two_losses():
    model = mlp()
    optimizer = sgd(model)
    for _ in range(STEPS):
        a, b = batch()
        out = model(a)
        F.cross_entropy(out, b).backward(retain_graph=True)
        (0.1 * out.square().mean()).backward()
        optimizer.step()
        optimizer.zero_grad()
    return [model]


def sharpness_aware():
    """Two passes at different weights for one update; gradients are cleared between."""
    model = mlp()
    optimizer = sgd(model)
    for _ in range(STEPS):
        a, b = batch()
        cross_entropy(model, a, b).backward()
        with torch.no_grad():
            shifts = [0.01 * p.grad for p in model.parameters()]
            for p, s in zip(model.parameters(), shifts):
                p.add_(s)
        optimizer.zero_grad()
        cross_entropy(model, a, b).backward()
        with torch.no_grad():
            for p, s in zip(model.parameters(), shifts):
                p.sub_(s)
        optimizer.step()
        optimizer.zero_grad()
    return [model]


def out_of_memory():
    """No room for a second set of gradients."""
    model = mlp()

    def full(*args, **kwargs):
        raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")

    torch.autograd.grad = full
    return train(model, sgd(model), cross_entropy)


# --- truth

def truth(size=32, passes=1, steps=400, time_first=False, scaled=False):
    world = int(os.environ.get("WORLD_SIZE", "1"))
    rank = int(os.environ.get("RANK", "0"))
    net = Recurrent() if time_first else mlp()
    parameters = list(net.parameters())
    if rank == 0:
        print_truth(net, parameters, time_first)
    model = net
    if world > 1:
        torch.distributed.init_process_group("gloo")
        model = nn.parallel.DistributedDataParallel(net)
    optimizer = torch.optim.SGD(parameters, lr=0.0)
    scaler = torch.amp.GradScaler("cpu", init_scale=256.0, enabled=scaled)
    torch.manual_seed(11 + rank)
    for _ in range(steps):
        for n in range(passes):
            a, b = batch(size)
            last = n == passes - 1 or world == 1
            with contextlib.nullcontext() if last else model.no_sync():
                loss = F.cross_entropy(model(reshape(a, time_first)), b) / passes
                scaler.scale(loss).backward()
        scaler.step(optimizer)
        scaler.update()
        optimizer.zero_grad()
    if world > 1:
        torch.distributed.destroy_process_group()
        if rank:
            sys.exit(0)
    return [net]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.head = nn.LSTM(3, 8), nn.Linear(8, 2)

    def forward(self, z):
        return self.head(self.cells(z)[0][-1])


def reshape(a, time_first):
    return a.view(-1, 4, 3).transpose(0, 1) if time_first else a


def print_truth(net, parameters, time_first):
    total = torch.zeros(sum(p.numel() for p in parameters), dtype=torch.double)
    square = 0.0
    for i in range(len(x)):
        loss = F.cross_entropy(net(reshape(x[i:i + 1], time_first)), y[i:i + 1])
        g = torch.cat([v.reshape(-1) for v in torch.autograd.grad(loss, parameters)]).double()
        total += g / len(x)
        square += float(g.square().sum()) / len(x)
    sqr = float(total.square().sum())
    print("truth", square - sqr, sqr)


CASES = {f.__name__: f for f in (
    batchnorm_dropout, optimizers, passes, passes_of_one, batch_of_one, evaluation,
    trained_in_eval_mode, bfloat16, default_double, cleared_to_zero, flat_tokens, siamese,
    checkpointed_batchnorm, own_function, packed, module_backward_hook, kept_gradient,
    gradient_penalty, loss_only, never_cleared, sparse_gradients, two_optimizers, two_losses,
    sharpness_aware,
    out_of_memory, truth)}
CASES.update(truth_odd=lambda: truth(size=7), truth_passes=lambda: truth(passes=4),
             truth_time_first=lambda: truth(time_first=True),
             truth_scaled=lambda: truth(scaled=True))


def main():
    modules = CASES[sys.argv[1]]()
    digest = hashlib.sha256()
    for module in modules:
        for p in module.state_dict().values():
            digest.update(p.detach().contiguous().view(torch.uint8).numpy().tobytes()
                          if p.dim() else repr(p.item()).encode())
    digest.update(torch.get_rng_state().numpy().tobytes())
    digest.update(repr(random.getstate()).encode())
    print("digest", digest.hexdigest()[:16])


if __name__ == "__main__":
    main()
