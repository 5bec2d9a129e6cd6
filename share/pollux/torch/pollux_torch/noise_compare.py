"""tr(Sigma) from passes or replicas that an update has anyway: no second backward.

The gradient T of an update is the mean over N samples. The last pass of this process contributes d,
from n of these samples. With A passes, A d is the gradient of the n samples alone, in units of T:

    E |A d - T|^2 = tr(Sigma) (1/n - 1/N)

because the n samples are a part of the N. McCandlish et al., "An Empirical Model of Large-Batch
Training", 2018, appendix A.1, use two norms; the norm of the difference has less spread.

Hooks on the parameters see d; they exist only during this backward pass. The hooks see the gradient
before DistributedDataParallel exchanges it, and before it is added to .grad.
"""

from .noise_norm import Unknown


class Compare:
    def __init__(self, norms, parameters, passes, replicas):
        self.norms, self.parameters = norms, parameters
        self.passes, self.replicas = passes, replicas
        self.held = {}  # parameter -> d, with replicas
        self.parts = []  # norms of (A d - T) / D, with passes only
        self.error = None
        self.seen = set()
        hook = self.hold if replicas > 1 else self.take
        self.handles = [p.register_hook(lambda d, p=p: self.guarded(hook, p, d))
                        for p in parameters]

    def guarded(self, hook, p, d):
        """Wraps a hook in the program's backward, which may neither raise nor return a value."""
        try:
            if self.error is None:
                if p in self.seen:
                    raise Unknown("a parameter gets its gradient in parts")
                self.seen.add(p)
                hook(p, d.detach())
        except Exception as error:
            self.error = error

    def hold(self, p, d):
        """A copy: DistributedDataParallel may write the mean of all replicas over d."""
        self.held[p] = d.clone()

    def take(self, p, d):
        """T is .grad + d: the last pass is about to be added."""
        x = d * (self.passes - 1)
        if p.grad is not None:
            x = x - p.grad
        x = self.norms.scaled(p, x)
        if x is not None:
            self.parts.append(self.norms.torch.linalg.vector_norm(x))

    def close(self):
        for handle in self.handles:
            handle.remove()
        self.handles = []

    def result(self):
        """|A d - T|^2, after the backward pass."""
        self.close()
        if self.error is not None:
            raise self.error
        if self.replicas > 1:
            held, self.held = self.held, {}
            return self.norms.squared(held, (None if p.grad is None else self.passes * d - p.grad
                                             for p, d in held.items()))
        return self.norms.sum_of_squares(self.parts)

    def factor(self, n):
        """tr(Sigma) / |A d - T|^2 for passes of n samples."""
        return 1 / (1 / n - 1 / (n * self.passes * self.replicas))
