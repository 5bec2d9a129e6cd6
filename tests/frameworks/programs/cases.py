"""Small programs of other forms. Argument: the name of one."""
import hashlib
import sys

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.data import DataLoader, IterableDataset, TensorDataset

STEPS = 40
torch.manual_seed(3)
x = torch.randn(1000, 20)
y = (x[:, 0] * x[:, 1] > 0).long()
samples = updates = 0


def loader(batch_size=32, **options):
    options = {"shuffle": True, "drop_last": True, **options}
    return DataLoader(TensorDataset(x, y), batch_size=batch_size, **options)


def batches(data):
    """STEPS batches over as many epochs as it takes."""
    n = 0
    while True:
        for batch in data:
            yield batch
            n += 1
            if n == STEPS:
                return


def mlp(dropout=0.0):
    return nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(dropout), nn.Linear(64, 2))


def train(model, optimizer, data, loss_of, after=lambda loss: None):
    global samples, updates
    for a, b in data:
        optimizer.zero_grad()
        loss = loss_of(model, a, b)
        loss.backward()
        optimizer.step()
        after(loss)
        samples += len(a)
        updates += 1
    return [model]


def cross_entropy(model, a, b):
    return F.cross_entropy(model(a), b)


def plain(**options):
    model = mlp()
    data = batches(loader(**options))
    return train(model, torch.optim.Adam(model.parameters()), data, cross_entropy)


def dropout_workers_bf16():
    model = nn.Sequential(nn.BatchNorm1d(20), mlp(0.3))
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=3)

    def loss_of(model, a, b):
        with torch.autocast("cpu", torch.bfloat16):
            return F.cross_entropy(model(a), b)

    data = loader(num_workers=2, persistent_workers=True)
    return train(model, optimizer, batches(data), loss_of, lambda loss: plateau.step(loss.item()))


def own_hooks_partial_batch():
    model = mlp()
    calls = []

    def clamp(gradient):
        calls.append(1)
        return gradient.clamp(-0.01, 0.01)

    for p in model.parameters():
        p.register_hook(clamp)
    model.register_forward_hook(lambda module, args, output: output * 1.5)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    train(model, optimizer, batches(loader(48, drop_last=False)), cross_entropy)
    print("hook calls", len(calls))
    return [model]


def lstm():
    global samples, updates
    model, head = nn.LSTM(20, 16), nn.Linear(16, 2)
    optimizer = torch.optim.Adam([*model.parameters(), *head.parameters()])
    for _ in range(STEPS):
        a = torch.randn(10, 32, 20)  # time comes first
        output, _ = model(a)
        F.cross_entropy(head(output[-1]), (a[-1, :, 0] > 0).long()).backward()
        optimizer.step()
        optimizer.zero_grad()
        samples += 32
        updates += 1
    return [model, head]


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.cells, self.head = nn.LSTM(20, 16), nn.Linear(16, 2)

    def forward(self, z):
        return self.head(self.cells(z)[0][-1])


def lstm_inside():
    """Time comes first, in a module that does not say so itself."""
    global samples, updates
    model = Recurrent()
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        a = torch.randn(10, 32, 20)
        F.cross_entropy(model(a), (a[-1, :, 0] > 0).long()).backward()
        optimizer.step()
        optimizer.zero_grad()
        samples += 32
        updates += 1
    return [model]


class Checkpointed(nn.Module):
    def __init__(self, reentrant):
        super().__init__()
        self.reentrant = reentrant
        self.first = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Dropout(0.2))
        self.second = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Dropout(0.2))
        self.last = nn.Linear(64, 2)

    def forward(self, z):
        from torch.utils.checkpoint import checkpoint

        z = checkpoint(self.first, z.requires_grad_(), use_reentrant=self.reentrant)
        return self.last(checkpoint(self.second, z, use_reentrant=self.reentrant))


def checkpointing(reentrant=False):
    model = Checkpointed(reentrant)
    optimizer = torch.optim.Adam(model.parameters())
    return train(model, optimizer, batches(loader()), cross_entropy)


def scaler_inf_accumulation():
    global samples, updates
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    for n, (a, b) in enumerate(batches(loader())):
        loss = F.cross_entropy(model(a), b) / 2
        if n == 21:
            loss = loss * float("inf")
        scaler.scale(loss).backward()
        samples += len(a)
        if n % 2:
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
            updates += n != 21
    return [model]


def lbfgs():
    global samples, updates
    model = nn.Linear(20, 2)
    optimizer = torch.optim.LBFGS(model.parameters())

    def closure():
        optimizer.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        return loss

    for _ in range(12):
        optimizer.step(closure)
        samples += len(x)
        updates += 1
    return [model]


class VariationalAutoencoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder, self.decoder = nn.Linear(20, 32), nn.Linear(4, 20)
        self.mean, self.log_variance = nn.Linear(32, 4), nn.Linear(32, 4)

    def forward(self, a):
        h = F.relu(self.encoder(a))
        mean, log_variance = self.mean(h), self.log_variance(h)
        z = mean + torch.randn_like(mean) * (log_variance / 2).exp()
        return {"x": self.decoder(z), "mean": mean, "log_variance": log_variance}


def vae():
    model = VariationalAutoencoder()

    def loss_of(model, a, b):
        out = model(a)
        kl = 1 + out["log_variance"] - out["mean"] ** 2 - out["log_variance"].exp()
        return F.mse_loss(out["x"], a) - 0.5 * kl.mean()

    return train(model, torch.optim.Adam(model.parameters()), batches(loader()), loss_of)


def gan():
    global samples, updates
    g = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 20))
    d = nn.Sequential(nn.Linear(20, 16), nn.ReLU(), nn.Linear(16, 1))
    adam_g, adam_d = torch.optim.Adam(g.parameters()), torch.optim.Adam(d.parameters())
    for a, _ in batches(loader()):
        fake = g(torch.randn(32, 8))
        adam_d.zero_grad()
        (F.softplus(-d(a)).mean() + F.softplus(d(fake.detach())).mean()).backward()
        adam_d.step()
        adam_g.zero_grad()
        F.softplus(-d(fake)).mean().backward()
        adam_g.step()
        samples += len(a)
        updates += 1
    return [g, d]


def term_beside_the_output():
    model = mlp()

    def loss_of(model, a, b):
        decay = 0.05 * sum(p.square().sum() for p in model.parameters())
        return F.cross_entropy(model(a), b) + decay

    return train(model, torch.optim.Adam(model.parameters()), batches(loader()), loss_of)


def no_module():
    w = torch.randn(20, 2, requires_grad=True)

    def loss_of(model, a, b):
        return F.cross_entropy(a @ w, b)

    train(None, torch.optim.SGD([w], 0.1), batches(loader()), loss_of)
    holder = nn.Module()
    holder.register_buffer("w", w)
    return [holder]


def compiled():
    model = mlp()
    step = torch.compile(model, backend="aot_eager")
    train(step, torch.optim.Adam(model.parameters()), batches(loader()), cross_entropy)
    return [model]


def compiled_without_loader():
    global samples, updates
    model = mlp()
    step = torch.compile(model, backend="aot_eager")
    optimizer = torch.optim.Adam(model.parameters())
    for _ in range(STEPS):
        a = torch.randn(24, 20)
        optimizer.zero_grad()
        F.cross_entropy(step(a), (a[:, 0] > 0).long()).backward()
        optimizer.step()
        samples += 24
        updates += 1
    return [model]


def sliced_by_hand():
    """No DataLoader, a partial last batch."""
    def slices():
        for _ in range(2):
            order = torch.randperm(len(x))
            for i in range(0, len(x), 64):
                yield x[order[i:i + 64]], y[order[i:i + 64]]

    model = mlp()
    return train(model, torch.optim.SGD(model.parameters(), 0.1), slices(), cross_entropy)


class Stream(IterableDataset):
    def __iter__(self):
        return iter(zip(x[:500], y[:500]))


def iterable_dataset():
    model = mlp()
    data = (batch for _ in range(2) for batch in DataLoader(Stream(), batch_size=32))
    return train(model, torch.optim.SGD(model.parameters(), 0.1), data, cross_entropy)


def two_phases():
    """A head alone first, then the whole network with another optimizer."""
    model = mlp()
    train(model, torch.optim.SGD(model[3].parameters(), 0.1), batches(loader()), cross_entropy)
    train(model, torch.optim.SGD(model[3].parameters(), 0.1), batches(loader()), cross_entropy)
    train(model, torch.optim.SGD(model.parameters(), 0.05), batches(loader()), cross_entropy)
    return [model]


def several_losses():
    """Two backward passes on one batch."""
    global samples, updates
    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    for a, b in batches(loader()):
        optimizer.zero_grad()
        F.cross_entropy(model(a), b).backward()
        (model(a).square().mean() * 0.01).backward()
        optimizer.step()
        samples += len(a)
        updates += 1
    return [model]


def saved_module():
    """The module itself is copied and pickled while it trains."""
    import copy
    import io

    model = mlp()
    optimizer = torch.optim.SGD(model.parameters(), 0.05)
    average = copy.deepcopy(model)

    def after(loss):
        with torch.no_grad():
            for a, b in zip(average.parameters(), model.parameters()):
                a.lerp_(b, 0.1)

    data = [(torch.randn(16, 20), torch.randint(2, (16,))) for _ in range(20)]
    train(model, optimizer, data, cross_entropy, after)
    second = copy.deepcopy(model)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    third = torch.load(buffer, weights_only=False)
    print("equal", torch.equal(second[0].weight, third[0].weight), sorted(third.__dict__)[:3])
    return [model, average]


CASES = {
    "plain": plain, "dropout_workers_bf16": dropout_workers_bf16,
    "own_hooks_partial_batch": own_hooks_partial_batch, "lstm": lstm, "lstm_inside": lstm_inside,
    "checkpointing": checkpointing, "checkpointing_reentrant": lambda: checkpointing(True),
    "scaler_inf_accumulation": scaler_inf_accumulation, "lbfgs": lbfgs, "vae": vae, "gan": gan,
    "term_beside_the_output": term_beside_the_output, "no_module": no_module,
    "compiled": compiled, "compiled_without_loader": compiled_without_loader,
    "sliced_by_hand": sliced_by_hand, "iterable_dataset": iterable_dataset,
    "two_phases": two_phases, "several_losses": several_losses, "saved_module": saved_module,
}


def main():
    if len(sys.argv) < 2:
        print("\n".join(CASES))
        return
    modules = CASES[sys.argv[1]]()
    print("seen", updates, "updates", samples, "samples")
    digest = hashlib.sha256()
    for module in modules:
        for p in module.state_dict().values():
            digest.update(p.detach().contiguous().numpy().tobytes())
    print("digest", digest.hexdigest()[:16], float(torch.rand(1)))


if __name__ == "__main__":
    main()
