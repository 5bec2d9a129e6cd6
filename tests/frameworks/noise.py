"""The noise scale by the helper: every update sampled, and nothing of the program changes. TAP.

    noise.py [--python PATH] [NAME...]

For each program, with POLLUX_TORCH_EVERY=1 and without the helper: the same output to the last bit,
parameters, buffers and random numbers. Then: it is measured, or refused for the reason given here.
The programs of `truth` know tr(Sigma) and |G|^2 of their data: the reports agree with both.
"""

import os
import re
import sys

import check
import listen

MEASURED = ""  # else a regular expression of the reason


def case(name, torchrun=0):
    return check.Program("noise case " + name, [name], file="noise_cases.py", torchrun=torchrun,
                         same_output=not torchrun)


PROGRAMS = [
    (check.Program("mlp"), MEASURED),
    (check.Program("cnn_batchnorm"), MEASURED),
    (check.Program("gpt"), MEASURED),
    (check.Program("nanogpt", ["{dir}", "45"]), MEASURED),
    (check.Program("ddp", torchrun=2, same_output=False), MEASURED),
    (check.case("plain"), MEASURED),
    (check.case("dropout_workers_bf16"), MEASURED),
    (check.case("own_hooks_partial_batch"), "hooks on its parameters"),
    (check.case("lstm"), MEASURED),
    (check.case("checkpointing"), MEASURED),
    (check.case("checkpointing_reentrant"), "reentrant checkpointing"),
    (check.case("scaler_inf_accumulation"), MEASURED),
    (check.case("lbfgs"), "LBFGS"),
    (check.case("vae"), MEASURED),
    # Each of its batches has two passes, which is seen before the second optimizer.
    (check.case("gan"), "several optimizers|several backward passes on one batch"),
    (check.case("term_beside_the_output"), "bypass the module's output"),
    (check.case("no_module"), "no module's forward"),
    (check.case("compiled"), "torch.compile"),
    (check.case("iterable_dataset"), MEASURED),
    (check.Program("hf_trainer", ["{dir}"], "transformers", same_output=False), MEASURED),
    (check.Program("accelerate_loop", package="accelerate"), MEASURED),
    (check.Program("lightning_fit", ["{dir}", "none"], "lightning", same_output=False), MEASURED),
    (case("batchnorm_dropout"), MEASURED),
    (case("optimizers"), MEASURED),
    (case("passes"), MEASURED),
    (case("passes_of_one"), MEASURED),
    (case("batch_of_one"), "batch of 1"),
    (case("evaluation"), MEASURED),
    (case("trained_in_eval_mode"), MEASURED),
    (case("bfloat16"), MEASURED),
    (case("default_double"), MEASURED),
    (case("cleared_to_zero"), MEASURED),
    (case("flat_tokens"), MEASURED),
    (case("siamese"), MEASURED),
    (case("checkpointed_batchnorm"), "checkpointing of modules that change their buffers"),
    (case("own_function"), "Once may not be safe to run twice"),
    (case("packed"), "packs its saved tensors"),
    (case("module_backward_hook"), "backward hooks on modules"),
    (case("kept_gradient"), "hooks on the gradients of inner tensors"),
    (case("gradient_penalty"), "bypass|gradients of gradients"),
    (case("loss_only"), "no batch dimension"),
    (case("never_cleared"), "not cleared between updates"),
    (case("sparse_gradients"), "sparse gradients"),
    (case("two_optimizers"), "several optimizers"),
    (case("two_losses"), "several losses"),
    (case("sharpness_aware"), "cleared between passes"),
    (case("out_of_memory"), "out of memory"),
    (case("truth"), MEASURED),
    (case("truth_odd"), MEASURED),
    (case("truth_passes"), MEASURED),
    (case("truth_time_first"), MEASURED),
    (case("truth_scaled"), MEASURED),
    (case("truth", torchrun=2), MEASURED),
    (case("truth_passes", torchrun=2), MEASURED),
]


def mean_and_error(values):
    n = len(values)
    mean = sum(values) / n
    return mean, (sum((v - mean) ** 2 for v in values) / (n - 1) / n) ** 0.5


class Suite(check.Suite):
    def try_program(self, program, wanted):
        if not self.available(program.package):
            return self.tests.skip(program.name, program.package + " is not installed")
        without = self.run(program, helper=None)
        run = self.run(program, POLLUX_TORCH_EVERY=1)
        how = ", replicas" if program.torchrun else ""
        self.same(program, without, run, how)
        told, reports = run.last("HELPER") or "", run.all("GRAD_VAR")
        name = program.name + how
        if wanted:
            self.tests.check(re.search(wanted, told) and not reports,
                             "%s: refused for its reason" % name, "HELPER %s" % told)
            updates, _ = check.seen(run.out)
            if updates is not None:
                self.tests.check(int(run.last("STEP") or 0) == updates,
                                 "%s: updates are reported after that" % name, run.reports[-1:])
        else:
            self.tests.check(len(reports) >= 5 and "noise" not in told,
                             "%s: measured" % name, "%d reports, %s" % (len(reports), told))
        if "truth" in program.name and len(reports) > 20:
            self.true_values(name, run)

    def true_values(self, name, run):
        truth = [float(v) for v in re.search(r"^truth (\S+) (\S+)", run.out, re.M).groups()]
        for key, true in zip(("GRAD_VAR", "GRAD_SQR"), truth):
            mean, error = mean_and_error([float(v) for v in run.all(key)])
            self.tests.check(abs(mean - true) < 4 * error, "%s: %s is right" % (name, key),
                             "%g +- %g, true %g" % (mean, error, true))

    def budget(self):
        """On a clock of its own: 1 % is kept and used, and a long idle time buys few windows."""
        sys.path.insert(0, os.path.join(listen.HELPER, "pollux_torch"))
        import noise_budget

        noise_budget.process_age_ns = lambda: 0
        budget = noise_budget.Budget(0.01, 0)
        now, windows, wait, step, window = 0, [], 0, 1_000_000, 1_500_000
        for update in range(40000):
            idle = 3600 * 10**9 if update == 30000 else 0
            now += step + idle
            wait -= 1
            if wait <= 0:
                wait = budget.updates_to_wait(now, step)
                if wait == 0:
                    now += window
                    budget.charge(window)
                    budget.window_done(window)
                    windows.append(update)
        before = [u for u in windows if u < 30000]
        share = len(before) * window / (30000 * step + len(before) * window)
        self.tests.check(0.0095 < share <= 0.01, "budget: 1 % of the time is spent", share)
        burst = [u for u in windows if 30000 <= u < 30100]
        self.tests.check(len(burst) <= noise_budget.Budget.SAVED_WINDOWS + 2,
                         "budget: an idle hour is not spent at once", len(burst))
        cases = ((100, 1000, 950), (100, 1200, 1000), (100, 9000, 1))
        costs = [budget.cost(*case) for case in cases]
        self.tests.check(costs == [100, 200, 300], "budget: what is not seen is counted", costs)

    def faults(self):
        program = case("batchnorm_dropout")
        without = self.run(program, helper=None)
        for hook in [h for h in check.hooks() if h.startswith("gradient_noise.")]:
            self.fault(program, without, hook, POLLUX_TORCH_EVERY=1)


def run_parts(suite, is_wanted):
    for program, reason in PROGRAMS:
        if is_wanted(program.name):
            suite.try_program(program, reason)
    if is_wanted("budget"):
        suite.budget()
    if is_wanted("faults"):
        suite.faults()


if __name__ == "__main__":
    sys.exit(check.run_suite(Suite, run_parts, "parts of programs' names, budget, faults"))
