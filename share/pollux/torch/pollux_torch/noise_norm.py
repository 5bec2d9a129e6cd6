"""Squared norms of gradients, preconditioned as the optimizer does, and read without waiting.

With an adaptive optimizer the update is the gradient divided elementwise by a preconditioner D. The
noise scale that matters is then that of g / D (Qiao et al., "Pollux", OSDI 2021). D is taken from
the optimizer's state as the former update left it, so it does not depend on g.

D is close to 0 where an element had hardly a gradient before, such as the row of a rare word in an
embedding. The optimizer counts g itself in, so it divides by at least |g| sqrt(1 - beta2), and no
element of the update exceeds 1 / sqrt(1 - beta2) (Kingma and Ba, "Adam", 2015, section 2.1). The
elements of g / D are held to the same limit.
"""

CHUNK = 1 << 22  # elements that are preconditioned at a time: bounds the extra memory
HARMLESS = {"step", "momentum_buffer", "exp_avg", "eta", "mu", "mu_product", "ax"}
FEW_STEPS = 10  # of an adaptive optimizer, before which D says little


class Unknown(Exception):
    """The noise of this program cannot be measured. The text says why."""


class Skip(Exception):
    """This update cannot be used; others may."""


class Preconditioner:
    """D of each parameter and the limit of g / D, by the names in the optimizer's state."""

    def __init__(self, optimizer):
        self.group_of = {p: g for g in optimizer.param_groups for p in g["params"]}
        self.state = optimizer.state
        self.name = type(optimizer).__name__
        self.is_adaptive = any(self.form_of(p) for p in self.group_of)

    def form_of(self, p):
        """The function that computes D, or None for optimizers without one, such as SGD."""
        state = self.state.get(p) or {}
        if "exp_avg_sq" in state and "betas" in self.group_of[p]:
            return adam
        if "exp_inf" in state:
            return adamax
        if "square_avg" in state:
            return adadelta if "acc_delta" in state else rmsprop
        if "sum" in state:
            return adagrad
        if set(state) - HARMLESS:
            raise Unknown("the optimizer %s is not known" % self.name)
        return None

    def of(self, p):
        """(D, limit), or None if this parameter has no state yet."""
        form = self.form_of(p)
        return form(self.state[p], self.group_of[p]) if form else None

    def is_young(self):
        """True if the optimizer has made few steps. Steps on a GPU are not read."""
        steps = [self.state[p].get("step") for p in self.group_of if self.form_of(p)]
        known = [float(s) for s in steps if s is not None and not is_on_device(s)]
        return bool(known) and max(known) < FEW_STEPS


def adam(state, group):
    """D = sqrt(v / (1 - beta2^t)) + eps: Kingma and Ba, 2015, algorithm 1."""
    v = state["max_exp_avg_sq"] if group.get("amsgrad") else state["exp_avg_sq"]
    step, beta2 = state.get("step", group.get("step", 1)), group["betas"][1]
    correction = 1 - beta2 ** (step if is_on_device(step) else float(step))
    limit = (correction / max(1 - beta2, 1e-12)) ** 0.5
    return (v / correction).sqrt_().add_(group["eps"]), limit


def adamax(state, group):
    return state["exp_inf"], 1.0  # contains eps already


def rmsprop(state, group):
    v = state["square_avg"]
    if group.get("centered"):
        v = v - state["grad_avg"].square()
    return v.clamp(min=0).sqrt_().add_(group["eps"]), max(1 - group["alpha"], 1e-12) ** -0.5


def adadelta(state, group):
    eps, limit = group["eps"], max(1 - group["rho"], 1e-12) ** -0.5
    return (state["square_avg"] + eps).sqrt_().div_((state["acc_delta"] + eps).sqrt_()), limit


def adagrad(state, group):
    return state["sum"].sqrt().add_(group["eps"]), 1.0


def is_on_device(x):
    return hasattr(x, "device") and x.device.type != "cpu"


class Norms:
    """Squared norms over the parameters of one optimizer at one time."""

    def __init__(self, torch, optimizer):
        self.torch = torch
        self.preconditioner = Preconditioner(optimizer)

    def scaled(self, p, x):
        """x / D, or None if x has no part in the norm."""
        if x is None:
            return None
        if x.is_sparse:
            raise Unknown("sparse gradients")
        form = self.preconditioner.of(p)
        if form is not None:
            divisor, limit = form
            return (x / divisor).clamp_(-limit, limit)
        if self.preconditioner.is_adaptive:
            return None
        return x.float() if x.dtype in (self.torch.float16, self.torch.bfloat16) else x

    def squared(self, parameters, gradients):
        """|g / D|^2 over all parameters as a tensor without dimensions. Does not wait for a GPU."""
        torch, norms, chunk, size = self.torch, [], [], 0
        for p, x in zip(parameters, gradients):
            x = self.scaled(p, x)
            if x is None:
                continue
            chunk.append(x)
            size += x.numel()
            if size >= CHUNK:
                norms.extend(torch._foreach_norm(chunk))
                chunk, size = [], 0
        if chunk:
            norms.extend(torch._foreach_norm(chunk))
        return self.sum_of_squares(norms)

    def sum_of_squares(self, norms):
        if not norms:
            raise Skip("backward reaches no parameter of the main optimizer")
        device = norms[0].device
        return self.torch.stack([n.to(device).float() for n in norms]).square().sum()


class Late:
    """Numbers on the way from a device to this process. ready() never waits."""

    def __init__(self, torch, tensors):
        device = tensors[0].device
        stacked = torch.stack([t.detach().to(device, torch.float64) if device.type != "mps"
                               else t.detach().to(device, torch.float32) for t in tensors])
        self.event = None
        if device.type == "cuda":
            self.numbers = torch.empty(len(tensors), dtype=stacked.dtype, device="cpu",
                                       pin_memory=True)
            self.numbers.copy_(stacked, non_blocking=True)
            self.event = torch.cuda.Event()
            self.event.record(torch.cuda.current_stream(device))
        else:
            self.numbers = stacked

    def ready(self):
        return self.event is None or self.event.query()

    def read(self):
        return self.numbers.tolist()
