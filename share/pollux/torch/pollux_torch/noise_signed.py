"""The signed second backward: tr(Sigma) from one batch, without per-sample gradients.

Let g_i be the gradient of sample i and g = (1/m) sum g_i the gradient of a batch of m. With random
signs s_i, half of them +1 and half -1, the signed gradient v = (1/m) sum s_i g_i has

    E v = 0 over the signs, as they are balanced       E |v|^2 = tr(Sigma) / m

where Sigma is the covariance of single samples' gradients. So m |v|^2 estimates tr(Sigma), and it
is independent of |g|^2 in first order: v is half the difference and g half the sum of the gradients
of two half batches. v needs no per-sample gradients: sample i enters the loss through its row of
the outermost module's output o, so v is the backward of s_i dL/do_i instead of dL/do_i.

The signs are an unbiased half-batch comparison; for the two-batch estimators see McCandlish et al.,
"An Empirical Model of Large-Batch Training", 2018, appendix A.
"""

from .noise_norm import Skip, Unknown


class Signed:
    CHECK_LIMIT = 0.02  # relative difference between the gradient through the outputs and .grad
    CHECK_LIMIT_LOW = 0.05  # where parameters or gradients have 16 bits
    CHECK_ELEMENTS = 4096  # of each parameter are compared
    LAST_OUTPUT, ALL_OUTPUTS = 0, 1

    def __init__(self, torch):
        self.torch = torch
        # The program's random numbers stay as they are.
        self.generator = torch.Generator(device="cpu").manual_seed(20110711)
        self.way = self.LAST_OUTPUT
        self.checked = False
        self.check = None

    # --- where the loss meets the outputs

    def rows_of(self, calls, samples):
        """The batch size m that entered the module; samples is the loader's word for it, or 0."""
        rows = calls[-1].rows or samples
        if rows == 1:
            raise Unknown("batch of 1")
        if rows < 1:
            raise Unknown("no batch dimension found")
        return rows

    def signs(self, n):
        """n/2 random +1 and n/2 random -1; for odd n one sign more of either kind, at random."""
        torch = self.torch
        order = torch.randperm(n, generator=self.generator, device="cpu")
        signs = torch.ones(n, dtype=torch.float32, device="cpu")
        signs[order[:n // 2]] = -1
        if n % 2 and int(torch.randint(2, (1,), generator=self.generator, device="cpu")):
            signs.neg_()
        return signs

    @staticmethod
    def layout(output, rows, time_steps):
        """How samples lie in an output: ("rows", k), k rows each; ("columns", 0); ("tiled", k)."""
        size = output.shape[0]
        second = output.shape[1] if output.dim() > 1 else 0
        if time_steps and size == second == rows:
            return None
        if time_steps and size == time_steps and second == rows:
            return ("columns", 0)
        if time_steps and size == time_steps * rows and time_steps > 1:
            return ("tiled", time_steps)
        if size % rows == 0 and size:
            return ("rows", size // rows)
        return None

    def signed(self, signs, gradient, layout):
        kind, k = layout
        s = signs.to(device=gradient.device, dtype=gradient.real.dtype)
        if kind == "columns":
            return gradient * s.view(1, -1, *[1] * (gradient.dim() - 2))
        s = s.repeat(k) if kind == "tiled" else s.repeat_interleave(k)
        return gradient * s.view(-1, *[1] * (gradient.dim() - 1))

    def reached(self, root, calls, rows):
        """The outputs that reach the loss, with dL/do and the layout, the last one first."""
        calls = calls[-1:] if self.way == self.LAST_OUTPUT else calls
        found = {}
        for call in calls:
            for o in call.outputs:
                layout = self.layout(o, rows, call.time_steps)
                if layout is not None and o.requires_grad:
                    found[id(o)] = (o, layout)
        if not found:
            raise Unknown("no batch dimension found")
        outputs = list(found.values())
        gradients = self.torch.autograd.grad(root, [o for o, _ in outputs], retain_graph=True,
                                             allow_unused=True)
        used = [(o, g, layout) for (o, layout), g in zip(outputs, gradients) if g is not None]
        if not used:
            raise Unknown("the loss does not depend on the module's output")
        used.sort(key=lambda u: -u[0].grad_fn._sequence_nr())
        return used[:1] if self.way == self.LAST_OUTPUT else self.direct(used)

    def direct(self, used):
        """From each dL/do takes away what reaches the loss through a later output."""
        done = []
        for o, g, layout in used:
            if done:
                y, = self.torch.autograd.grad([d[0] for d in done], [o], [d[1] for d in done],
                                              retain_graph=True, allow_unused=True)
                if y is not None:
                    g = g - y
            done.append((o, g, layout))
        return done

    # --- the extra backward

    def gradient(self, root, calls, rows, parameters):
        """v of this pass, by parameter; None where a parameter has no part."""
        used = self.reached(root, calls, rows)
        signs = self.signs(rows)
        outputs = [o for o, _, _ in used]
        v = self.torch.autograd.grad(
            outputs, parameters, [self.signed(signs, g, layout) for _, g, layout in used],
            retain_graph=True, allow_unused=True)
        if not self.checked:
            w = self.torch.autograd.grad(outputs, parameters, [g for _, g, _ in used],
                                         retain_graph=True, allow_unused=True)
            self.check = [(p, self.part(x), self.part(p.grad)) for p, x in zip(parameters, w)]
            self.several = len(calls) > 1 or sum(len(c.outputs) for c in calls) > 1
        return v

    def part(self, x):
        """A copy of some elements of x, evenly spread, or None."""
        if x is None:
            return None
        if x.is_sparse:
            raise Unknown("sparse gradients")
        x = x.detach().reshape(-1)
        return x[::max(1, x.numel() // self.CHECK_ELEMENTS)].clone()

    def compare_with_grad(self):
        """Once: does the whole gradient go through the outputs? Called after the real backward.

        A loss term that bypasses the output, such as a penalty on the weights, shows as a
        difference between the gradient through the outputs and what was added to .grad.
        """
        check, self.check = self.check, None
        if check is None:
            return
        difference = total = 0.0
        limit = self.CHECK_LIMIT
        for p, through, before in check:
            if p.grad is None:
                continue
            added = self.part(p.grad)
            if p.grad.element_size() < 4:
                limit = self.CHECK_LIMIT_LOW
            if before is not None:
                added = added - before
            rest = added - through if through is not None else added
            total += float(added.abs().square().sum())
            difference += float(rest.abs().square().sum())
        if not (total > 0 and difference < float("inf")):
            raise Skip("gradients are not finite, or zero")
        error = (difference / total) ** 0.5
        if error <= limit:
            self.checked = True
        elif self.way == self.LAST_OUTPUT and self.several:
            self.way = self.ALL_OUTPUTS
            raise Skip("other outputs are looked at")
        else:
            raise Unknown("%.0f %% of the gradient bypass the module's output" % (100 * error))
