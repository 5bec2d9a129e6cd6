"""Measures the gradient noise scale of a program that knows nothing of it.

Some updates are sampled. From each window of a few updates one report results:

    GRAD_VAR   tr(Sigma), the trace of the covariance of single samples' gradients
    GRAD_SQR   |G|^2 = mean |g|^2 - tr(Sigma) / B, the unbiased squared norm of the true gradient;
               g is the gradient of an update over B samples (McCandlish et al., 2018, appendix A)

tr(Sigma) comes from one update of the window, by noise_signed.py or noise_compare.py. |g|^2 is
taken from all updates of the window, as a norm costs less than a backward, and |G|^2 has by far the
larger spread.
Gradients are read right after backward, before the program unscales or clips them. With adaptive
optimizers all gradients are preconditioned (noise_norm.py).

Nothing is touched on updates that are not sampled. A failure switches this part off for good.
"""

import math
import os
import sys
import time
import weakref

from .noise_budget import Budget
from .noise_compare import Compare
from .noise_forward import Forward, is_compiled, refuse_unsafe
from .noise_norm import FEW_STEPS, Late, Norms, Preconditioner, Skip, Unknown
from .noise_room import has_room
from .noise_signed import Signed

now_ns = time.perf_counter_ns
NEVER = math.inf
SHARDED = ("DTensor", "FlatParameter")


class Window:
    """What was measured in consecutive updates, as tensors that are not read yet."""

    def __init__(self, plan):
        self.plan = plan  # kinds of updates to come, NORM or FULL
        self.cost_ns = 0
        self.events = []  # pairs around extra work on a GPU
        self.norms = []  # |g|^2 of each update
        self.signed = None  # |v|^2 of the signed backward
        self.compared = None  # |A d - T|^2 of passes or replicas
        self.factor = None  # function(n): tr(Sigma) / compared
        self.rows = self.passes = self.replicas = 0
        self.late = None


class Noise:
    """The part of the helper. no_noise.py says who calls its methods, and what `update` is."""

    PART = "gradient noise"
    NORM, FULL = "norm", "full"
    FIRST_UPDATE = 8  # the first windows allocate memory, and have to be timed
    MAX_NORMS = 8  # of one window, besides the full update
    RETRY_UPDATES = 16
    MAX_SKIPS = 8  # in a row
    AGREEMENTS = 4  # updates on which passes and signs are compared
    AGREE_RATIO = 2.0

    def __init__(self, helper, torch):
        self.helper, self.torch = helper, torch
        self.budget = Budget(number("POLLUX_TORCH_BUDGET", 0.01), now_ns())
        self.every = int(number("POLLUX_TORCH_EVERY", 0))  # of tests: a window each so many updates
        self.armed = False
        self.due = 1 if self.every else self.FIRST_UPDATE
        self.scaler = None  # a GradScaler if the program uses one
        self.skips = 0
        self.window = None  # the window that is being measured
        self.late = None  # the window that is being read
        self.kind = None  # of the present update; None: spoilt
        self.compare = None
        self.armed_ns = self.sections_ns = 0
        self.norm_costs, self.full_costs = [], []
        self.forward = Forward(torch, helper.guard, lambda why: helper.refuse(self.PART, why))
        self.begin_optimizer(None)
        self.passes = self.rows = self.batch = 0
        self.events = []
        self.has_extra = False
        for name in ("arm", "before_backward", "after_backward", "after_step"):
            setattr(self, name, self.careful(getattr(self, name)))

    def begin_optimizer(self, optimizer):
        """Begins anew for another optimizer: a program may train several models in turn."""
        self.optimizer = optimizer and weakref.ref(optimizer)
        self.signed = Signed(self.torch)
        self.is_safe = False  # the graph was walked and can be used twice
        self.is_clear = False  # gradients are cleared between updates
        self.no_signs = None  # why signs cannot be used, where passes still can
        self.use_passes = None  # None: not decided
        self.agreements = []
        self.ddp = None  # weak reference

    # --- failures

    def careful(self, function):
        """Runs a method and times it. Turns its exceptions into a skipped window or a refusal."""
        def run(*args):
            started = now_ns()
            try:
                return function(*args)
            except Skip as reason:
                self.skip(reason)
            except Unknown as reason:
                self.helper.refuse(self.PART, reason)
                self.stop()
            except Exception as error:
                if not is_out_of_memory(self.torch, error):
                    raise
                self.helper.refuse(self.PART, "out of memory in the extra backward")
                self.stop()
            finally:
                self.sections_ns += now_ns() - started
            return None
        return run

    def skip(self, reason):
        """Drops this window. Refuses to measure after a few dropped windows in a row."""
        self.spoil()
        self.window = None
        self.skips += 1
        if self.skips >= self.MAX_SKIPS:
            self.helper.refuse(self.PART, reason)
            self.stop()

    def spoil(self):
        """Removes all hooks. The update stays armed: its time is not that of a usual update."""
        self.kind = None
        self.forward.close()
        self.forward.clear()
        self.signed.check = None
        self.events = []
        self.close_compare()

    def stop(self):
        self.spoil()
        self.window = self.late = None
        self.armed, self.due = False, NEVER

    def close_compare(self):
        if self.compare is not None:
            self.compare.close()
            self.compare = None

    # --- which updates are sampled

    def arm(self, update):
        """The update of number due has ended: begins a window, or waits until one is affordable."""
        self.due = NEVER
        if not self.helper.rank.reports():
            return
        if not self.has_extra:
            update.extras.append(self.helper.guard("gradient_noise.late", self.read_late))
            self.has_extra = True
        if self.late is not None:
            self.due = update.own + 1
        elif self.every:
            wait = -update.own % self.every
            self.due = update.own + wait
            if not wait:
                self.begin(update)
        else:
            self.wait_or_begin(update)

    def wait_or_begin(self, update):
        usual_ns = update.clock.mean_ns
        # An update after which arm() is called is not timed, so arm() is not called too often.
        wait = self.FIRST_UPDATE
        if usual_ns:
            wait = self.budget.updates_to_wait(now_ns(), usual_ns, update.cost_ns())
        if wait:
            self.due = update.own + max(wait, self.FIRST_UPDATE)
            self.budget.charge(self.sections_ns)
            self.sections_ns = 0
        else:
            self.begin(update)

    def begin(self, update):
        """Begins a window with the full update in its middle, so that a trend cancels."""
        if not self.every and Preconditioner(update.main()).is_young():
            self.due = update.own + FEW_STEPS
            return
        half = self.norms_wanted() // 2
        self.window = Window([self.NORM] * half + [self.FULL] + [self.NORM] * half)
        self.window.passes = update.accumulation
        self.next_update(update)

    def norms_wanted(self):
        """The number of updates whose |g|^2 is taken for each full update.

        Two independent means with costs a and b for a value each are known best together, at a
        given total cost, with sqrt(a/b) values of the second for each of the first (Neyman 1934),
        if their values spread alike. |g|^2 spreads at least as far as the estimate of tr(Sigma)/B.
        """
        if self.every or not self.signed.checked or self.use_passes:
            return 0
        if not self.norm_costs:
            return 2
        full = sorted(self.full_costs)[len(self.full_costs) // 2]
        norm = sorted(self.norm_costs)[len(self.norm_costs) // 2]
        return min(self.MAX_NORMS, int((full / max(norm, 1)) ** 0.5))

    def next_update(self, update):
        optimizer = update.main()
        if self.optimizer is None or self.optimizer() is not optimizer:
            self.begin_optimizer(optimizer)
        self.kind = self.window.plan.pop(0)
        self.parameters = [p for g in optimizer.param_groups for p in g["params"]
                           if p.requires_grad]
        self.norms = Norms(self.torch, optimizer)
        self.passes = self.rows = self.batch = 0
        self.armed, self.armed_ns = True, now_ns()
        if self.kind == self.FULL:
            self.arm_full()

    def arm_full(self):
        if any(type(p).__name__ in SHARDED for p in self.parameters):
            raise Unknown("parameters are sharded")
        if is_compiled():
            raise Unknown("torch.compile")
        if not has_room(self.torch, self.parameters):
            raise Unknown("not enough free memory for the extra backward")
        if self.wants_signs() or self.ddp is None and self.world() > 1:
            self.forward.watch_outputs = not self.is_safe
            self.forward.open()

    def wants_signs(self):
        return self.world() == 1 and self.no_signs is None and not (
            self.use_passes and self.window.passes > 1)

    def wants_compare(self):
        return self.world() > 1 or (self.window.passes > 1 and self.use_passes is not False)

    def world(self):
        distributed = sys.modules.get("torch.distributed")
        if distributed is None or not distributed.is_available():
            return 1
        return distributed.get_world_size() if distributed.is_initialized() else 1

    def replicas(self):
        ddp = self.ddp and self.ddp()
        return ddp.process_group.size() if ddp is not None else 1

    # --- around the backward passes of a sampled update

    def before_backward(self, tensors, options, update):
        if self.kind is None:
            return False
        self.passes += 1
        self.see_options(options, update)
        if self.passes != self.window.passes:
            return self.kind == self.FULL  # the hooks' findings are cleared after the pass
        if self.kind == self.FULL:
            self.mark()
            self.full_pass(single(self.torch, tensors), update)
            self.mark()
        return True

    def see_options(self, options, update):
        if update.others:
            raise Unknown("several optimizers")
        if update.passes_in_step > 1:
            raise Unknown("%s evaluates the loss several times an update"
                          % type(update.main()).__name__)
        if options.get("create_graph"):
            raise Unknown("gradients of gradients")
        if options.get("inputs") is not None:
            raise Unknown("backward into chosen inputs")
        if self.window.passes > 1 and options.get("retain_graph"):
            raise Unknown("several losses on one graph")

    def full_pass(self, root, update):
        if self.parameters[0].is_cuda and self.torch.cuda.is_current_stream_capturing():
            raise Unknown("CUDA graphs")
        self.see_clearing()
        self.see_replicas()
        self.batch = update.samples.batch
        if self.wants_signs():
            self.take_signs(root)
        if self.wants_compare():
            self.compare = Compare(self.norms, self.parameters, self.window.passes,
                                   self.replicas())

    def see_clearing(self):
        """Refuses unless .grad is the sum over the passes of this update and nothing else."""
        gradients = [p.grad for p in self.parameters if p.grad is not None]
        if self.window.passes > 1 and not gradients:
            raise Unknown("gradients are cleared between passes")
        if self.window.passes == 1 and not self.is_clear:
            if any(bool(g.any()) for g in gradients):
                raise Unknown("gradients are not cleared between updates")
            self.is_clear = True

    def see_replicas(self):
        if self.world() == 1:
            return
        self.ddp = self.ddp or self.forward.ddp
        self.forward.close()
        if self.ddp is None or self.replicas() != self.world():
            raise Unknown("several processes without DistributedDataParallel")

    def take_signs(self, root):
        try:
            self.window.signed = self.unscaled(self.signed_norm(root))
        except Unknown as reason:
            # Passes of an accumulated update tell the noise without a second backward, if each was
            # one forward call and one backward.
            plain = len(self.forward.of_pass()) == 1
            if self.window.passes < 2 or self.use_passes is False or not plain:
                raise
            self.no_signs = str(reason)
        finally:
            self.forward.close()

    def signed_norm(self, root):
        if self.forward.compiled:
            raise Unknown("torch.compile")
        if self.forward.packed:
            raise Unknown("the program packs its saved tensors")
        if root is None:
            raise Unknown("backward is not of a single loss")
        calls = self.forward.of_pass()
        if not calls:
            raise Skip("no module's forward before backward")
        if not self.is_safe:
            refuse_unsafe(root, self.parameters, self.forward)
        self.rows = self.signed.rows_of(calls, self.batch)
        recompute = None if self.is_safe else Recompute(self.torch, self.forward)
        try:
            v = self.signed.gradient(root, calls, self.rows, self.parameters)
        finally:
            if recompute is not None:
                recompute.close()
        self.is_safe = True
        return self.norms.squared(self.parameters, v)

    def after_backward(self):
        if self.kind is None:
            return
        self.forward.next_pass()
        if self.passes != self.window.passes:
            return
        self.mark()
        squared = self.norms.squared(self.parameters, (p.grad for p in self.parameters))
        self.window.norms.append(self.unscaled(squared))
        if self.kind == self.FULL:
            self.signed.compare_with_grad()
            if self.compare is not None:
                self.window.compared = self.unscaled(self.compare.result())
                self.window.factor = self.compare.factor
        self.mark()

    def unscaled(self, squared):
        """Removes the square of GradScaler's present factor. Does not wait for a GPU."""
        scale = getattr(self.scaler, "_scale", None)
        if scale is None or not self.scaler.is_enabled():
            return squared
        return squared / scale.detach().to(squared.dtype).square()

    def mark(self):
        """Events around the extra work on a GPU, in pairs."""
        if not self.parameters[0].is_cuda:
            return
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        if self.events and len(self.events[-1]) == 1:
            self.events[-1] += (event,)
        else:
            self.events.append((event,))

    # --- after a sampled update

    def after_step(self, update):
        step_ns = now_ns() - self.armed_ns
        window, kind, rows = self.window, self.kind, self.batch or self.rows
        measured = self.passes == update.accumulation
        events, self.events = self.events, []
        self.charge(kind, step_ns, update.clock.mean_ns)
        self.spoil()
        self.armed = False
        self.due = update.own + min(self.every or NEVER, self.RETRY_UPDATES)
        if kind is None:
            return None
        window.events += events
        if not measured or self.passes != window.passes:
            raise Skip("the number of passes changes from update to update")
        if kind == self.FULL:
            self.see_rows(window, rows)
        if window.plan:
            self.next_update(update)
            return None
        return self.end_window(update)

    def charge(self, kind, step_ns, usual_ns):
        cost = Budget.cost(self.sections_ns + self.forward.spent_ns, step_ns, usual_ns)
        self.sections_ns = self.forward.spent_ns = 0
        self.budget.charge(cost)
        if self.window is not None:
            self.window.cost_ns += cost
        costs = self.norm_costs if kind == self.NORM else self.full_costs
        costs.append(cost)
        del costs[:-16]

    def see_rows(self, window, rows):
        if rows < 1:
            raise Unknown("the batch size is not known")
        if self.rows not in (0, rows):
            raise Skip("%d samples enter the module, the batch has %d" % (self.rows, rows))
        if window.signed is None and window.compared is None:
            raise Skip("the update was not measured")
        window.rows, window.replicas = rows, self.replicas()

    def end_window(self, update):
        window, self.window = self.window, None
        self.budget.window_done(window.cost_ns)
        window.late = Late(self.torch, window.norms + [
            x for x in (window.signed, window.compared) if x is not None])
        self.late = window
        values = self.read_late()
        self.due = update.own if self.every else update.own + 1
        if self.every and self.late is None:
            self.arm(update)
        return values

    def read_late(self):
        """The values to report, or None if a GPU has not computed them yet."""
        window = self.late
        if window is None or not window.late.ready():
            return None
        self.late = None
        numbers = window.late.read()
        self.charge_device(window)
        norms = [numbers.pop(0) for _ in window.norms]
        signed = numbers.pop(0) if window.signed is not None else None
        compared = numbers.pop(0) if window.compared is not None else None
        values = self.result(window, sum(norms) / len(norms), signed, compared)
        if values is None:
            self.skips += 1
        else:
            self.skips = 0
        return values

    def charge_device(self, window):
        """Adds the time of the GPU, which events tell later: timed sections only launch work."""
        device_ns = sum(int(1e6 * pair[0].elapsed_time(pair[1]))
                        for pair in window.events if len(pair) == 2)
        if device_ns > window.cost_ns:
            self.budget.charge(device_ns - window.cost_ns)
            self.budget.costs[-1:] = [device_ns]

    def result(self, window, norm, signed, compared):
        """GRAD_SQR and GRAD_VAR from |g|^2 and one estimate of tr(Sigma). None: not finite."""
        n, batch = window.rows, window.rows * window.passes * window.replicas
        if signed is not None:
            v = signed * window.passes ** 2
            # For odd n the signs do not cancel: E |v|^2 = tr(Sigma) / n + |G|^2 / n^2.
            left = n % 2 / n ** 2
            sqr = (norm - v * n / batch) / (1 - left * n / batch)
            var = n * (v - left * sqr)
            if compared is not None:
                self.agree(var, compared * window.factor(n))
        else:
            var = compared * window.factor(n)
            sqr = norm - var / batch
        if not (0 < var < 1e300 and abs(sqr) < 1e300):
            return None
        return {"GRAD_SQR": sqr, "GRAD_VAR": var}

    def agree(self, by_signs, by_passes):
        """True if passes and signs agree. Otherwise passes are no fair samples and are ignored."""
        if not (0 < by_signs < 1e300 and 0 < by_passes < 1e300):
            return
        self.agreements.append((by_signs, by_passes))
        if len(self.agreements) >= self.AGREEMENTS:
            signs, passes = (sum(x) for x in zip(*self.agreements))
            self.use_passes = signs / self.AGREE_RATIO < passes < signs * self.AGREE_RATIO


class Recompute:
    """Guards buffers in the first extra backward.

    Checkpointing runs forward calls within backward. If they change buffers, as BatchNorm does, the
    extra backward must not be: the buffers are put back, and signs are refused.
    """

    def __init__(self, torch, forward):
        self.seen = False
        self.saved = [(b, b.clone()) for b in forward.versions] if forward.has_state() else []
        self.handle = None
        if self.saved:
            register = torch.nn.modules.module.register_module_forward_pre_hook
            self.handle = register(self.see)

    def see(self, module, args):
        self.seen = True

    def close(self):
        if self.handle is None:
            return
        self.handle.remove()
        if self.seen:
            for buffer, value in self.saved:
                buffer.data.copy_(value)
            raise Unknown("checkpointing of modules that change their buffers")


def number(name, default):
    try:
        return float(os.environ.get(name) or default)
    except ValueError:
        return default


def single(torch, tensors):
    """The loss, if backward is called on one tensor with one element; else None."""
    if not isinstance(tensors, torch.Tensor):
        tensors = list(tensors)
        tensors = tensors[0] if len(tensors) == 1 else None
    if isinstance(tensors, torch.Tensor) and tensors.numel() == 1:
        return tensors
    return None


def is_out_of_memory(torch, error):
    kind = getattr(torch, "OutOfMemoryError", None) or torch.cuda.OutOfMemoryError
    return isinstance(error, (kind, MemoryError)) or (
        isinstance(error, RuntimeError) and "alloc" in str(error) and "memory" in str(error))
