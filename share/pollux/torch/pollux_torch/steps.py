"""Counts updates and times them, at the hooks that torch offers for all optimizers.

Steps calls the other parts before and after each backward pass, and after each update of the main
optimizer, which is the optimizer with the most parameters. A step that GradScaler skips calls no
optimizer, so it is not an update.
"""

import atexit
import functools
import importlib
import time
import weakref

REPORT_EVERY_NS = 100_000_000
SETTLE_STEPS = 2  # the first updates are slow and are not timed
OUTLIER = 8  # updates this many times as long as the mean do not count in the mean
LOOKS = frozenset((1, 4, 30, 150))  # updates of this process in which loops are looked at
ALONE_STEPS = 8  # after this many updates a smaller optimizer was an earlier phase
PHASE_STEPS = 25  # updates by which another optimizer takes over from one that has stopped
BACKWARD_OPTIONS = ("grad_tensors", "retain_graph", "create_graph", "grad_variables", "inputs")


class Steps:
    def __init__(self, helper, torch, samples, noise):
        self.helper = helper
        self.reporter = helper.reporter
        self.torch = torch
        self.samples = samples
        self.noise = noise
        self.arm_noise = helper.guard("gradient_noise.arm", noise.arm)
        self.before_noise = helper.guard("gradient_noise.before", noise.before_backward)
        self.after_noise = helper.guard("gradient_noise.after", noise.after_backward)
        self.finish_noise = helper.guard("gradient_noise.finish", noise.after_step)
        self.main = None  # weak reference to the main optimizer
        self.parameters = 0
        self.others = {}  # id of another optimizer -> its updates since the main one's last
        self.count = 0  # updates since the first launch of the job
        self.consumed = 0  # samples since the first launch of the job
        self.own = 0  # updates in this process
        self.own_consumed = self.own_taken = 0  # samples in this process: of all replicas; its own
        self.passes = 0  # backward passes since the last update
        self.total_passes = 0  # in this process
        self.replicas = 1  # processes that share an update
        self.epoch = 0
        self.accumulation = 1  # passes of the last update
        self.in_backward = False
        self.in_step = False  # an optimizer is in its step, where a closure may run passes
        self.passes_in_step = 0
        self.loss = None
        self.clock = Clock()
        self.sent_ns = 0
        self.extras = []  # functions that return more for a report, a dictionary or None
        self.after_update = []  # functions without arguments
        self.look = None  # function without arguments, called in the updates of LOOKS
        self.on_pass = []  # functions without arguments, when the batch of a pass is known
        self.config_version = None
        self.install(helper, torch)

    def install(self, helper, torch):
        optimizer = importlib.import_module("torch.optim.optimizer")
        guard = helper.guard_step
        samples = self.samples
        samples.on_shared = lambda: helper.refuse(
            "gradient noise", "several backward passes on one batch")
        optimizer.register_optimizer_step_pre_hook(guard("steps.pre", self.before_step))
        optimizer.register_optimizer_step_post_hook(guard("steps.post", self.after_step))
        self.spoil_noise = helper.guard("gradient_noise.spoil", self.noise.spoil)
        self.wrap_backward(torch)
        self.wrap_scaler(torch)
        atexit.register(helper.guard("steps.exit", self.at_exit))

    # --- backward passes

    def wrap_backward(self, torch):
        real = torch.autograd.backward
        before = self.helper.or_fault("steps.backward", self.before_backward)
        refusals = self.helper.refusals

        @functools.wraps(real)
        def backward(tensors, *args, **kwargs):
            if self.in_backward:  # of a checkpointed part, within the backward of the whole
                return real(tensors, *args, **kwargs)
            armed = False
            if not refusals or "steps" not in refusals:
                try:
                    armed = before(tensors, args, kwargs)
                except Exception as error:
                    self.helper.fault_in("steps", error)
            self.in_backward = True
            try:
                result = real(tensors, *args, **kwargs)
            except BaseException:  # out of memory, say: nothing of the graph is held
                self.loss = None
                if armed:
                    self.spoil_noise()
                raise
            finally:
                self.in_backward = False
            if armed:
                self.after_noise()
            return result

        # Dynamo runs the function as it is.
        backward._torchdynamo_disable = True
        torch.autograd.backward = backward

    def before_backward(self, tensors, args, kwargs):
        """Counts the pass. Returns True if the noise is sampled in it."""
        self.passes += 1
        self.total_passes += 1
        if self.in_step:
            self.passes_in_step += 1
        if self.passes_in_step < 2:  # a closure may evaluate one batch several times
            self.samples.take()
            for function in self.on_pass:
                function()
        if self.own + 1 in LOOKS and self.passes == 1 and self.look is not None:
            self.look()
        if self.loss is None:
            self.keep_loss(tensors)
        if self.noise.armed:
            options = dict(zip(BACKWARD_OPTIONS, args), **kwargs)
            return self.before_noise(tensors, options, self)
        return False

    def wrap_scaler(self, torch):
        """Wraps GradScaler: sees the unscaled loss, and drops the passes of a skipped update."""
        scaler = getattr(getattr(torch, "amp", None), "GradScaler", None)
        if scaler is None:
            scaler = torch.cuda.amp.GradScaler
        real_scale, real_step = scaler.scale, scaler.step
        scaled = self.helper.guard("steps.scale", self.scaled)
        skipped = self.helper.guard("steps.skip", self.skipped)

        @functools.wraps(real_scale)
        def scale(grad_scaler, outputs):
            scaled(grad_scaler, outputs)
            return real_scale(grad_scaler, outputs)

        @functools.wraps(real_step)
        def step(grad_scaler, optimizer, *args, **kwargs):
            before = self.own
            result = real_step(grad_scaler, optimizer, *args, **kwargs)
            if self.own == before:
                skipped(optimizer)
            return result

        scaler.scale, scaler.step = scale, step

    def scaled(self, grad_scaler, outputs):
        self.noise.scaler = grad_scaler
        self.keep_loss(outputs)

    def keep_loss(self, loss):
        """The value without its graph, which would hold the activations."""
        if isinstance(loss, (list, tuple)) and len(loss) == 1:
            loss = loss[0]
        self.loss = loss.detach() if hasattr(loss, "detach") else None

    def skipped(self, optimizer):
        if self.main is None or self.main() is optimizer:
            self.passes = 0
            self.clock.is_clean = False

    # --- updates

    def before_step(self, optimizer):
        self.in_step = True
        self.passes_in_step = 0

    def after_step(self, optimizer):
        """Runs at every update; work that is not always needed is behind a test."""
        self.in_step = False
        if self.main is None or self.main() is not optimizer:
            if not self.becomes_main(optimizer):
                return
        now = time.perf_counter_ns()
        samples, clock = self.samples, self.clock
        consumed = samples.update(self.passes)
        self.count += 1
        self.own += 1
        if consumed:
            if self.own <= PHASE_STEPS or samples.epochs != self.epoch:
                self.consume(consumed)
            else:
                self.consumed += consumed * self.replicas
        if self.passes:
            self.accumulation = self.passes
            self.passes = self.passes_in_step = 0
        if samples.is_evaluating:
            samples.is_evaluating = clock.is_clean = False
        if clock.is_clean and self.own > SETTLE_STEPS:
            clock.add(now - clock.last_ns)
        clock.last_ns = now
        clock.is_clean = True
        for function in self.after_update:
            function()
        statistics = None
        if self.noise.armed:
            statistics = self.finish_noise(self)
            clock.restart()
        elif self.own >= self.noise.due:
            self.arm_noise(self)
            clock.is_clean = False
        if statistics or now - self.sent_ns > REPORT_EVERY_NS:
            self.sent_ns = now
            self.report(statistics)
        self.loss = None
        if self.others:
            self.others.clear()

    def consume(self, consumed):
        """Counts the samples of an update. Early and in a new epoch, counts who shares it."""
        samples = self.samples
        self.epoch, self.replicas = samples.epochs, samples.replicas()
        self.consumed += consumed * self.replicas
        self.own_consumed += consumed * self.replicas
        self.own_taken += consumed

    def becomes_main(self, optimizer):
        """True if this optimizer is the main one from now on.

        The second optimizer of a GAN does not become main: it has fewer parameters, or as many and
        came second. The optimizer of the next phase of a training does: the former optimizer is
        gone, or no longer steps.
        """
        size = sum(p.numel() for group in optimizer.param_groups for p in group["params"])
        former = self.main and self.main()
        if self.main is not None and size <= self.parameters:
            key = id(optimizer)
            self.others[key] = self.others.get(key, 0) + 1
            if former is not None and self.others[key] < PHASE_STEPS:
                return False
            self.count += self.others[key] - 1
            self.own += self.others[key] - 1
        elif former is not None and self.own < ALONE_STEPS:
            self.count -= self.own  # these were updates of the smaller optimizer
            self.consumed -= self.own_consumed
            self.samples.taken += self.own_taken  # their batches belong to this update
            self.own = self.own_consumed = self.own_taken = 0
        self.main = weakref.ref(optimizer)
        self.others.clear()
        if size != self.parameters:
            self.parameters = size
            if self.helper.rank.reports():
                self.reporter.send({"PARAMETERS": size})
        return True

    def resume(self, count, consumed):
        """The program continues from a checkpoint that was taken at this position."""
        self.count, self.consumed = count, consumed
        self.samples.taken = 0

    # --- reports

    def report(self, statistics=None):
        if not self.helper.rank.reports():
            return
        values = {"STEP": self.count, "SAMPLES": self.consumed or None,
                  "STEP_NS": self.clock.take(), "CONFIG": self.config_version,
                  "LOSS": self.loss_value(bool(statistics))}
        for extra in self.extras:
            values.update(extra() or {})
        values.update(statistics or {})
        self.reporter.send(values)

    def loss_value(self, may_wait):
        """The loss of the last update. A loss on a GPU is read only where waiting is allowed."""
        loss = self.loss
        if isinstance(loss, (list, tuple)) and len(loss) == 1:
            loss = loss[0]
        if not isinstance(loss, self.torch.Tensor) or loss.numel() != 1:
            return None
        return float(loss.detach()) if may_wait or loss.device.type == "cpu" else None

    def at_exit(self):
        if self.own:
            self.report()


class Clock:
    """Mean time of the updates since the last report, without those that were disturbed."""

    def __init__(self):
        self.last_ns = 0
        self.is_clean = True
        self.sum_ns = self.n = 0
        self.mean_ns = 0.0
        self.outliers = 0

    def tick(self, now_ns, own_steps):
        """Called after an update."""
        if self.is_clean and own_steps > SETTLE_STEPS:
            self.add(now_ns - self.last_ns)
        self.last_ns = now_ns
        self.is_clean = True

    def add(self, step_ns):
        if self.mean_ns and step_ns > OUTLIER * self.mean_ns and self.outliers < 3:
            self.outliers += 1
            return
        self.outliers = 0
        self.sum_ns += step_ns
        self.n += 1
        self.mean_ns += 0.05 * (step_ns - self.mean_ns) if self.mean_ns else step_ns

    def restart(self):
        """Begins anew: work of the helper ran since the last update."""
        self.last_ns = time.perf_counter_ns()

    def take(self):
        if not self.n:
            return None
        mean, self.sum_ns, self.n = self.sum_ns // self.n, 0, 0
        return mean
