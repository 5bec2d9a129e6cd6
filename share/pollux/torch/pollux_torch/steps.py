"""Counts updates and times them, at the hooks that torch offers for all optimizers.

Steps calls the other parts before and after each backward pass, and after each update of the main
optimizer, which is the optimizer with the most parameters. A step that GradScaler skips calls no
optimizer, so it is not an update.

Most updates are only counted: the hooks do nothing that can wait, as code that runs once in an
update is slow: the update has driven it out of the processor's caches. tick() follows after an
update or a few, attend() about ten times a second, and when another part asks for it.
"""

import atexit
import functools
import importlib
import time
import weakref

from . import hooked
from .clock import Clock
from .passes import Passes
from .samples import BY_PASS

REPORT_EVERY_NS = 100_000_000
# Updates of this process in which loops are looked at.
LOOKS = (1, 4, 30, 150, 600, 2400, 9600, 38400, 153600)
ALONE_STEPS = 8  # after this many updates a smaller optimizer was an earlier phase
PHASE_STEPS = 25  # updates by which another optimizer takes over from one that has stopped
CLOSURE_STEPS = 4  # updates after which a program without closures is believed to use none
TICK_NS = 2_000_000  # updates that are shorter are timed several at a time
MAX_STRIDE = 16
UPDATE_NS = 4000  # what the hooks of an update cost: benchmarks/torch/overhead.py

UNSEEN_PASSES = 300  # without an update, after which none is expected

now_ns = time.perf_counter_ns


class Steps:
    # Attributes of a class with so many are slow without this.
    __slots__ = ("helper", "reporter", "torch", "samples", "noise", "arm_noise", "before_noise",
        "after_noise", "finish_noise", "spoil_noise", "main", "parameters", "others", "count",
        "consumed", "own", "own_consumed", "own_taken", "passes", "total_passes", "replicas",
        "accumulation", "in_step", "passes_in_step", "loss", "clock", "sent_ns",
        "report_ns", "extras", "after_update", "look", "on_pass", "config_version",
        "looks", "is_plain_pass", "is_plain_step", "is_nested", "wants_loss", "attention",
        "next_ns", "stride", "ticked", "tick_at", "is_lazy", "unsettled", "settled", "is_alone",
        "base", "handles", "pre_handle", "pre_hook", "register_pre_hook", "pass_hook",
        "see_optimizer")

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
        self.spoil_noise = helper.guard("gradient_noise.spoil", noise.spoil)
        self.main = nobody  # weak reference to the main optimizer
        self.parameters = 0
        self.others = {}  # id of another optimizer -> its updates since the main one's last
        self.base = self.reporter.stage.steps  # updates of earlier stages: stages.py
        self.count = self.base  # updates since the first launch of the job
        self.consumed = self.reporter.stage.samples  # samples since the first launch of the job
        self.own = 0  # updates in this process
        self.own_consumed = self.own_taken = 0  # samples in this process: of all replicas; its own
        self.passes = 0  # backward passes since the last update
        self.total_passes = 0  # in this process, up to the last update
        self.replicas = 1  # processes that share an update
        self.accumulation = 1  # passes of the last update
        self.in_step = False  # an optimizer is in its step, where a closure may run passes
        self.passes_in_step = 0
        self.loss = None
        self.clock = Clock()
        self.sent_ns = 0
        self.report_ns = 0  # spent on reports
        self.extras = []  # functions that return more for a report, a dictionary or None
        self.after_update = []  # functions without arguments
        self.looks = LOOKS
        self.look = None  # function without arguments, called in the updates of LOOKS
        self.on_pass = []  # functions without arguments, when the batch of a pass is known
        self.config_version = None
        self.is_plain_pass = False  # the passes of the next update are only counted
        self.is_plain_step = False  # steps of the main optimizer: no closure, no step within it
        self.is_nested = False  # the main optimizer's step may call the hooks more than once
        self.wants_loss = True  # in the next update
        self.attention = 0  # attend() is called after this update
        self.next_ns = 0  # and at this time
        self.stride = 1  # updates between two looks at the clock
        self.ticked = self.tick_at = 0  # the updates of the last one and of the next one
        self.is_lazy = False  # passes are only counted until settle() takes their samples
        self.unsettled = 0  # passes since then
        self.settled = 0  # the update after which settle() was called last
        self.is_alone = True  # no other optimizer was seen
        self.see_optimizer = helper.guard(
            "optimizers.see", lambda *args: helper.optimizers.see(*args))
        self.handles = []
        self.pre_handle = None
        self.install(helper, torch)

    def install(self, helper, torch):
        optimizer = importlib.import_module("torch.optim.optimizer")
        samples = self.samples
        samples.on_shared = lambda: helper.refuse(
            "gradient noise", "several backward passes on one batch")
        samples.on_evaluation = self.is_disturbed
        samples.on_stream = self.epoch_begins
        samples.on_change = self.be_eager
        self.pre_hook = helper.guard_step("steps.pre", self.before_step)
        self.register_pre_hook = optimizer.register_optimizer_step_pre_hook
        self.watch_closures()
        post_hook = self.make_post_hook()
        self.handles.append(optimizer.register_optimizer_step_post_hook(post_hook))
        self.handles.append(hooked.Listed(helper.after_step, post_hook))
        self.watch_new_optimizers(optimizer.Optimizer)
        self.pass_hook = Passes(helper, torch, self)
        helper.on_refusal["gradient noise"] = self.stop_noise
        helper.on_refusal["steps"] = self.stop
        self.wrap_scaler(torch)
        atexit.register(helper.guard("steps.exit", self.at_exit))

    def stop(self):
        """The part is off: takes its hooks away."""
        self.samples.input.close()
        self.stop_noise()
        self.pass_hook.close()
        for handle in self.handles + [self.pre_handle]:
            if handle is not None:
                handle.remove()
        self.handles, self.pre_handle = [], None

    def stop_noise(self):
        self.noise.stop()
        self.pass_hook.wrap(False)

    def is_disturbed(self):
        """Until the next update something else runs as well: its time says nothing."""
        self.clock.is_clean = False

    def cost_ns(self):
        """Processor time that the helper has cost this process, without the noise.

        A report wakes the supervisor, which may run first where processors are few: that is no
        time of this process, and would leave nothing for the noise.
        """
        return self.helper.start_ns + self.report_ns + UPDATE_NS * self.own

    # --- backward passes

    def begin_pass(self, tensors):
        self.passes += 1
        if self.is_plain_pass:
            self.samples.take()
        else:
            self.look_at_pass(tensors)

    def look_at_pass(self, tensors):
        if self.in_step:
            self.in_step = bool(hooked.steps_under_way())  # a step that failed is over
            self.passes_in_step = self.passes_in_step + 1 if self.in_step else 0
        if self.passes_in_step < 2:  # a closure may evaluate one batch several times
            self.samples.take()
            for function in self.on_pass:
                function()
        if self.passes >= UNSEEN_PASSES and not self.own and not self.in_step:
            self.helper.refuse_updates(self.passes)
        if self.passes == 1 and self.look is not None and self.own + 1 in self.looks:
            self.look()
        if self.wants_loss and self.loss is None:
            self.keep_loss(tensors)
        if self.noise.armed:
            self.pass_hook.sampled(tensors)

    def sample_pass(self, tensors, options):
        return self.before_noise(tensors, options, self)

    def end_pass(self, has_failed):
        """After a pass whose noise was sampled."""
        if has_failed:
            self.loss = None
            self.spoil_noise()
        else:
            self.after_noise()

    def watch_passes(self, function):
        """function() is called before each pass, when its batch is known."""
        self.on_pass.append(function)
        self.is_plain_pass = False
        self.be_eager()

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
        if self.wants_loss:
            self.keep_loss(outputs)

    def keep_loss(self, loss):
        """The value without its graph, which would hold the activations."""
        if isinstance(loss, (list, tuple)) and len(loss) == 1:
            loss = loss[0]
        self.loss = loss.detach() if hasattr(loss, "detach") else None

    def skipped(self, optimizer):
        if self.main is nobody or self.main() is optimizer:
            self.passes = 0
            self.clock.is_clean = False

    # --- updates

    def watch_closures(self):
        """The hook before a step is needed where a closure runs the passes. Others soon lose it."""
        self.is_plain_step = self.is_plain_pass = False
        self.be_eager()
        if self.pre_handle is None:
            self.pre_handle = self.register_pre_hook(self.pre_hook)

    def watch_new_optimizers(self, kind):
        """The first instance of a class puts hooks around its step: see hooked.py."""
        real = getattr(kind, "_patch_step_function", None)
        if real is None:
            return

        @functools.wraps(real)
        def _patch_step_function(optimizer):
            real(optimizer)
            self.is_plain_step = False
            self.is_nested = True  # until is_update() has looked

        kind._patch_step_function = _patch_step_function

    def before_step(self, optimizer):
        self.in_step = True
        self.passes_in_step = 0

    def make_post_hook(self):
        """Every update runs this hook."""
        samples, slow = self.samples, self.helper.or_fault("steps.post", self.is_update)

        def post_hook(optimizer, args, kwargs):
            try:
                if not self.is_plain_step or self.main() is not optimizer or len(args) > 1 \
                        or kwargs:
                    if not slow(optimizer, args, kwargs):
                        return
                self.count += 1
                self.own += 1
                if not self.is_lazy:
                    self.close_update(samples)
                if self.own >= self.tick_at:
                    self.tick()
            except Exception as error:
                self.helper.fault_in("steps", error)

        return post_hook

    def close_update(self, samples):
        """Counts the passes of an update and their samples. The next ones may be counted later."""
        passes, self.passes = self.passes, 0
        if self.is_plain_pass and samples.way is BY_PASS:
            self.consumed += samples.taken * self.replicas
            samples.taken = 0
            self.is_lazy = passes > 0 and self.is_alone and self.noise.scaler is None
            self.settled = self.own
        else:
            self.consume(samples.update(passes))
        if passes:
            self.accumulation = passes
            self.total_passes += passes

    def settle(self):
        """After an update: takes the samples of the passes since the last call."""
        samples, passes, updates = self.samples, self.unsettled, self.own - self.settled
        self.unsettled, self.settled = 0, self.own
        samples.take_several(passes)
        self.is_lazy = self.is_lazy and samples.way is BY_PASS
        self.consumed += samples.taken * self.replicas
        samples.taken = 0
        self.total_passes += passes
        if updates and passes and passes % updates == 0:
            self.accumulation = passes // updates

    def be_eager(self):
        """Ends that. The passes of the update that is under way are those beyond the usual ones."""
        if not self.is_lazy:
            return
        self.is_lazy = False
        usual = (self.own - self.settled) * self.accumulation
        passes = max(0, self.unsettled - usual)
        self.unsettled -= passes
        self.settle()
        self.samples.take_several(passes)
        self.passes = passes

    def position(self):
        """(updates, samples) since the first launch of the job."""
        self.be_eager()
        return self.count, self.consumed

    def tick(self):
        """Looks at the clock: after each update, or after a few where they are short."""
        now = now_ns()
        if self.is_lazy:
            self.settle()
        self.clock.tick(now, self.own, self.own - self.ticked)
        self.ticked = self.own
        if now >= self.next_ns or self.own >= self.attention or self.after_update:
            self.attend(now)
        self.tick_at = min(self.own + self.stride, max(self.attention, self.own + 1))

    def is_update(self, optimizer, args, kwargs):
        """True if a step that has ended is an update of the main optimizer."""
        self.be_eager()
        if self.is_nested:
            self.is_nested = hooked.is_nested(type(optimizer))
            if self.is_nested and hooked.steps_under_way().count(id(optimizer)) > 1:
                return False
        self.in_step = False
        if self.main() is not optimizer and not self.becomes_main(optimizer):
            self.is_alone = False
            self.attention = self.tick_at = 0
            return False
        self.passes_in_step = 0
        has_closure = any(x is not None for x in (*args[1:], *kwargs.values()))
        if has_closure:
            self.watch_closures()
        elif self.own >= CLOSURE_STEPS:
            if self.pre_handle is not None:
                self.pre_handle.remove()
                self.pre_handle = None
                self.attention = self.tick_at = 0
            self.is_plain_step = not self.is_nested
        return True

    def epoch_begins(self):
        self.replicas = self.samples.replicas()

    def consume(self, consumed):
        """Counts the samples of an update; looks, in the first ones, who shares them."""
        if not consumed:
            return
        if self.own <= PHASE_STEPS:
            self.epoch_begins()
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
        former = self.main()
        if self.main is not nobody and size <= self.parameters:
            key = id(optimizer)
            if key not in self.others:
                self.see_optimizer(optimizer, False)
            self.others[key] = self.others.get(key, 0) + 1
            if former is not None and self.others[key] < PHASE_STEPS:
                return False
            self.count += self.others[key] - 1
            self.own += self.others[key] - 1
            self.tick_at = 0
        elif former is not None and self.own < ALONE_STEPS:
            self.count -= self.own  # these were updates of the smaller optimizer
            self.consumed -= self.own_consumed
            self.samples.taken += self.own_taken  # their batches belong to this update
            self.own = self.own_consumed = self.own_taken = self.ticked = self.tick_at = 0
        self.main = weakref.ref(optimizer)
        self.others.clear()
        self.see_optimizer(optimizer, True)
        if size != self.parameters:
            self.parameters = size
            if self.helper.rank.reports():
                self.reporter.send({"PARAMETERS": size})
        return True

    def resume(self, count, consumed, taken, base):
        """The program continues from a checkpoint that was taken at this position, in a stage that
        began at base. False: it only begins with what an earlier stage saved."""
        self.be_eager()
        self.samples.taken = taken
        if count <= self.base:
            return False
        self.count, self.consumed, self.base = count, consumed, base
        return True

    # --- what is not done in each update

    def attend(self, now):
        """After some updates: other parts, the noise, a report."""
        self.samples.look_at_unused()
        for function in self.after_update:
            function()
        statistics = None
        if self.noise.armed:
            statistics = self.finish_noise(self)
            self.clock.restart()
        elif self.own >= self.noise.due:
            self.arm_noise(self)
            self.clock.is_clean = False
        if statistics or now - self.sent_ns > REPORT_EVERY_NS:
            self.sent_ns = now
            self.report(statistics)
        self.loss = None
        if self.others:
            self.others.clear()
        self.pass_hook.wrap(self.noise.armed)
        self.plan(now)

    def plan(self, now):
        """Says which update is attended to next, and what is to be seen in it."""
        mean_ns, due_ns = self.clock.mean_ns, self.sent_ns + REPORT_EVERY_NS
        self.next_ns = due_ns - 2 * mean_ns
        # Statistics of gradients are reported at once: with the loss of their update.
        self.wants_loss = not mean_ns or now >= self.next_ns or bool(self.noise.armed)
        looks = [n for n in self.looks if n > self.own]
        is_look = looks[:1] == [self.own + 1]
        self.is_plain_pass = not (self.wants_loss or is_look or self.noise.armed or self.on_pass
                                  or self.pre_handle is not None or self.own < PHASE_STEPS)
        if not self.is_plain_pass or self.samples.way is not BY_PASS:
            self.be_eager()
        self.attention = min(self.noise.due, *(n - 1 for n in looks)) if looks else self.noise.due
        self.stride = 1
        if self.wants_loss or is_look or self.noise.armed:
            self.attention = self.own + 1
        elif mean_ns and self.own > PHASE_STEPS:
            self.stride = max(1, min(MAX_STRIDE, int(TICK_NS / mean_ns)))

    # --- reports

    def report(self, statistics=None, send=None):
        began_ns = time.thread_time_ns()
        mean_ns = self.clock.take()
        if not self.helper.rank.reports():
            return
        values = {"STEP": self.count, "SAMPLES": self.consumed or None,
                  "STEP_NS": mean_ns, "CONFIG": self.config_version,
                  "LOSS": self.loss_value(bool(statistics))}
        for extra in self.extras:
            values.update(extra() or {})
        values.update(statistics or {})
        (send or self.reporter.send)(values)
        self.report_ns += time.thread_time_ns() - began_ns

    def loss_value(self, may_wait):
        """The loss of the last update. A loss on a GPU is read only where waiting is allowed."""
        loss = self.loss
        if isinstance(loss, (list, tuple)) and len(loss) == 1:
            loss = loss[0]
        if not isinstance(loss, self.torch.Tensor) or loss.numel() != 1:
            return None
        return float(loss.detach()) if may_wait or loss.device.type == "cpu" else None

    def at_exit(self):
        """The last report. Nothing of torch is held while the interpreter takes itself apart."""
        try:
            self.be_eager()
            if self.passes and not self.own:
                self.helper.refuse_updates(self.passes)
            if self.own:
                self.sent_ns = now_ns()
                self.report(send=self.reporter.send_last)
        finally:
            self.loss = None
            self.extras, self.after_update, self.on_pass = [], [], []
            self.stop()


def nobody():
    """The main optimizer as long as there is none."""
    return None
