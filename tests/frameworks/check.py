"""Runs unmodified programs with and without the helper and compares them. Prints TAP.

    check.py [--python PATH] [NAME...]

For each program: what it prints and its parameters are the same, nothing of ours is on stderr, and
the helper's counts are those that the program counted itself and those of the truth recorder.
Beyond: an error injected into each hook changes nothing but HELPER, positions after resumes.
"""

import argparse
import os
import re
import shutil
import sys
import tempfile

import listen

HERE = os.path.dirname(os.path.abspath(__file__))
PROGRAMS = os.path.join(HERE, "programs")
TRUTH = os.path.join(HERE, "truth")
# On a busy machine torch 2.15 aborts at times at the end of one of two ranks, also without the
# helper: a thread of gloo is still there. Such a program is run again.
GLOO_ABORTS, GLOO_TRIES = "terminate called without an active exception", 3


class Tests:
    def __init__(self):
        self.n = self.failed = 0

    def check(self, good, what, detail=""):
        self.n += 1
        self.failed += not good
        print("%sok %d - %s" % ("" if good else "not ", self.n, what))
        if not good and detail:
            print("\n".join("# " + line for line in str(detail).splitlines()[-25:]))
        sys.stdout.flush()

    def skip(self, what, why):
        self.n += 1
        print("ok %d - %s # SKIP %s" % (self.n, what, why))

    def end(self):
        print("1..%d" % self.n)
        return 1 if self.failed else 0


class Program:
    """A program, the packages it needs, and what the helper is to report of it."""

    def __init__(self, name, arguments=(), package="torch", total=True, samples=True, torchrun=0,
                 same_output=True, file=None, updates=True, refused=None, ends=False):
        self.name, self.arguments, self.package = name, list(arguments), package
        self.file = file or name + ".py"
        self.total, self.samples, self.updates = total, samples, updates
        self.torchrun, self.same_output = torchrun, same_output
        self.refused = refused  # what HELPER says where the helper does not count
        self.ends = ends  # its framework tells that the training is over

    def command(self, python, directory):
        program = [os.path.join(PROGRAMS, self.file)]
        arguments = [a.replace("{dir}", directory) for a in self.arguments]
        launcher = [python]
        if self.torchrun:
            launcher += ["-m", "torch.distributed.run", "--nproc-per-node", str(self.torchrun),
                         "--standalone"]
        return launcher + program + arguments


def case(name, **options):
    return Program("case " + name, [name], file="cases.py", **options)


PROGRAMS_OF_TORCH = [
    Program("mlp"),
    Program("cnn_batchnorm"),
    Program("gpt"),
    Program("nanogpt", ["{dir}", "45"]),
    Program("ddp", torchrun=2, same_output=False),
    case("plain", total=False),
    case("dropout_workers_bf16", total=False),
    case("own_hooks_partial_batch", total=False),
    case("lstm", total=False),
    case("lstm_inside", total=False),
    case("checkpointing", total=False),
    case("checkpointing_reentrant", total=False),
    case("scaler_inf_accumulation", total=False),
    case("lbfgs"),
    case("vae", total=False),
    case("gan", total=False),
    case("term_beside_the_output", total=False),
    case("no_module", total=False),
    case("compiled", total=False),
    case("compiled_without_loader"),
    case("sliced_by_hand", total=False),
    case("iterable_dataset", total=False),
    case("two_phases", total=False, updates="sum"),
    case("several_losses", total=False),
    case("saved_module", total=False),
]
FRAMEWORKS = [
    Program("hf_trainer", ["{dir}"], "transformers", same_output=False, ends=True),
    Program("accelerate_loop", package="accelerate"),
    Program("lightning_fit, Rich", ["{dir}", "rich"], "lightning", file="lightning_fit.py",
            same_output=False, ends=True),
    Program("lightning_fit, tqdm", ["{dir}", "tqdm"], "lightning", file="lightning_fit.py",
            same_output=False, ends=True),
    Program("keras_torch", package="keras", same_output=False, ends=True),
    Program("jax_loop", package="optax", refused="no steps: updates of JAX are compiled"),
]


def seen(text):
    """(updates, samples) that the program counted."""
    found = re.search(r"^seen (\d+) updates (\d+) samples", text, re.M)
    return (int(found.group(1)), int(found.group(2))) if found else (None, None)


def digest(text):
    found = re.search(r"^digest .*", text, re.M)
    return found.group(0) if found else None


def number(run, key):
    value = run.last(key)
    return None if value is None else float(value)


class Suite:
    def __init__(self, python):
        self.python = python
        self.tests = Tests()
        self.scratch = tempfile.mkdtemp(prefix="pollux-frameworks-")
        self.has = {}

    def available(self, package):
        if package not in self.has:
            run = listen.run([self.python, "-c", "import " + package], helper=None,
                             KERAS_BACKEND="torch")
            self.has[package] = run.status == 0
        return self.has[package]

    def run(self, program, helper="on", directory=None, arguments=(), **variables):
        """directory: one that is kept between runs; else an empty one."""
        made = None
        if directory is None:
            made = directory = tempfile.mkdtemp(dir=self.scratch)
        command = program.command(self.python, directory) + list(arguments)
        truth = os.path.join(directory, "truth")
        variables.setdefault("POLLUX_CHECKPOINT_DIR", os.path.join(directory, "positions"))
        for _ in range(GLOO_TRIES):
            run = listen.run(command, helper, directory, before=[TRUTH], TRUTH=truth, **variables)
            if not program.torchrun or GLOO_ABORTS not in run.err:
                break
        run.truth = open(truth).read().split() if os.path.exists(truth) else None
        if made:
            shutil.rmtree(made, ignore_errors=True)
        return run

    # --- identity and counts

    def compare(self, program):
        if not self.available(program.package):
            return self.tests.skip(program.name, program.package + " is not installed")
        without = self.run(program, helper=None)
        with_helper = self.run(program)
        self.same(program, without, with_helper)
        if program.refused:
            self.tests.check(program.refused in (with_helper.last("HELPER") or ""),
                             program.name + ": HELPER says why it is not counted",
                             with_helper.reports)
        else:
            self.counts(program, without, with_helper)
        return with_helper

    def same(self, program, without, run, how=""):
        check = self.tests.check
        name = program.name + how
        good = without.status == run.status == 0 and digest(run.out)
        check(good and digest(without.out) == digest(run.out),
              name + ": the parameters are the same to the last bit", without.err + run.err)
        is_clean = "pollux" not in run.err.replace(HERE, "")
        if program.same_output:
            is_clean = is_clean and (without.out, without.err) == (run.out, run.err)
        check(is_clean, name + ": what it prints is the same", run.err)

    def counts(self, program, without, run):
        check = self.tests.check
        updates, samples = seen(run.out)
        reported = number(run, "STEP")
        if program.updates:
            check(reported == updates, "%s: %s updates" % (program.name, updates),
                  "reported %s, HELPER %s" % (reported, run.last("HELPER")))
        if run.truth and program.updates is True:
            check(int(run.truth[1]) == reported, "%s: so says the recorder" % program.name,
                  "%s, reported %s" % (run.truth, reported))
        if program.samples:
            check(number(run, "SAMPLES") == samples, "%s: %s samples" % (program.name, samples),
                  "reported %s" % run.last("SAMPLES"))
        if program.ends:
            check(run.last("ENDED") == "1", program.name + ": its end is told, as a whole one",
                  run.reports[-3:])
        if program.total and program.updates:
            total = number(run, "TOTAL_STEPS")
            check(total is not None and abs(total - updates) <= 1,
                  "%s: the total is known" % program.name, "TOTAL_STEPS %s" % total)

    # --- faults

    def faults(self):
        """An error in each hook of each part changes nothing but HELPER."""
        program = Program("everything", ["{dir}/saved"])
        without = self.run(program, helper=None)
        for hook in hooks():
            helper = "on,batch" if hook.startswith("batch") else "on"
            # A scale that is never applied: the part is off before the first update.
            scale = 2 if hook == "learning_rate.pre" else 1
            self.fault(program, without, hook, helper, POLLUX_LR_SCALE=scale,
                       POLLUX_LOCAL_BATCH=32, POLLUX_TORCH_EVERY=1)

    def other_faults(self):
        """The same for hooks that the program of faults() does not come to."""
        name = "fails_and_saves"
        without = self.run(Program(name, ["{dir}", "1"]), helper=None)
        program = Program(name, ["{dir}", "2"])
        for hook in FAILS_AND_SAVES:
            self.fault(program, without, hook, POLLUX_TORCH_EVERY=1)
        for program, hooks_of_program in RESUMED:
            if self.available(program.package):
                without = self.run(program, helper=None)
                for hook in hooks_of_program:
                    self.fault(program, without, hook, helper="on,resume")

    def fault(self, program, without, hook, helper="on", **variables):
        run = self.run(program, helper, POLLUX_TORCH_FAULT=hook, **variables)
        self.same(program, without, run, ", error in " + hook)
        told = run.last("HELPER") or ""
        self.tests.check("injected" in told, "%s: HELPER says so" % hook, "HELPER %s" % told)

    # --- options

    def batches(self):
        """Option batch: another size at the DataLoader, at launch and while the program runs."""
        check = self.tests.check
        mlp, cnn = Program("mlp"), Program("cnn_batchnorm")
        run = self.run(mlp, "on,batch", POLLUX_LOCAL_BATCH=64)
        check((number(run, "STEP"), number(run, "SAMPLES")) == (60, 3600),
              "batch: 64 samples an update, the epochs are whole", run.reports[-2:])
        run = self.run(cnn, "on,batch", POLLUX_LOCAL_BATCH=64)
        check("the program's loop counts iterations" in (run.last("HELPER") or ""),
              "batch: refused for a loop that counts iterations", run.last("HELPER"))
        check(number(run, "STEP") == 60 and number(run, "SAMPLES") <= 60 * 32 + 8 * 32,
              "batch: the program's own size came back", run.reports[-1:])
        path = os.path.join(self.scratch, "config")
        with open(path, "w") as file:
            file.write("VERSION=1\nBATCH=60\nLOCAL_BATCH=60\nACCUM=1\nLR_SCALE=1.5\n")
        run = self.run(mlp, "on,batch", POLLUX_LOCAL_BATCH=32, POLLUX_CONFIG_FILE=path)
        check((run.last("CONFIG"), run.last("SAMPLES")) == ("1", "3600") and
              60 < number(run, "STEP") < 80, "batch: changed while it runs", run.reports[-2:])
        check("lr [0.0005" in run.out, "batch: schedulers do not see the scaled rate", run.out)

    # --- resumes

    def resumes(self):
        """Twice stopped and resumed: the counts go on exactly."""
        self.resume_nanogpt()
        if self.available("transformers"):
            self.resume(Program("hf_trainer", ["{dir}/out"], same_output=False), 26, 400)
        if self.available("lightning"):
            program = Program("lightning_fit", ["{dir}/out", "none"], file="lightning_fit.py")
            self.resume(program, 64, 2000)

    def resume_nanogpt(self):
        directory = tempfile.mkdtemp(dir=self.scratch)
        check = self.tests.check
        name = "nanogpt"
        for stop, start in ((45, 0), (70, 40), (95, 60)):
            program = Program(name, ["{dir}/out", str(stop)])
            run = self.run(program, directory=directory, arguments=["resume"] if start else [])
            if start:
                resumed = next((r for r in run.reports if "RESUMED" in r), {})
                check(resumed.get("STEP") == str(start),
                      "%s: RESUMED at %d" % (name, start), run.reports[:3])
            check(number(run, "STEP") == stop + 1 and number(run, "SAMPLES") == (stop + 1) * 12,
                  "%s: %d updates after the resume" % (name, stop + 1), run.reports[-1:])
            at = stop // 20 * 20
            check(run.last("CHECKPOINT") == os.path.join(directory, "out", "ckpt.pt"),
                  "%s: CHECKPOINT under its final name" % name, run.last("CHECKPOINT"))
            check([r["STEP"] for r in run.reports if "CHECKPOINT" in r][-1:] == [str(at)],
                  "%s: CHECKPOINT at %d" % (name, at), run.reports[-3:])

    def resume(self, program, updates, samples):
        directory = tempfile.mkdtemp(dir=self.scratch)
        first = self.run(program, directory=directory)
        saved = next((r for r in reversed(first.reports) if "CHECKPOINT" in r), {})
        run = self.run(program, directory=directory, arguments=["resume"])
        resumed = next((r for r in run.reports if "RESUMED" in r), {})
        self.tests.check(resumed and resumed.get("STEP") == saved.get("STEP"),
                         program.name + ": RESUMED where it was saved", [saved, run.reports[:4]])
        self.tests.check((number(run, "STEP"), number(run, "SAMPLES")) == (updates, samples),
                         program.name + ": counts go on", run.reports[-2:])


# Hooks that a backward pass that fails, and torch.distributed.checkpoint, come to.
FAILS_AND_SAVES = ["gradient_noise.spoil", "checkpoints.distributed", "checkpoints.written",
                   "checkpoints.loading"]
# Hooks of the option resume that a program comes to that is not stopped.
RESUMED = [
    (Program("hf_trainer", ["{dir}"], "transformers", same_output=False),
     ["resume.trainer", "resume.train"]),
    (Program("lightning_fit", ["{dir}", "none"], "lightning", same_output=False),
     ["resume.fit", "resume.start", "resume.iterator", "resume.repeat"]),
    (Program("keras_torch", package="keras", same_output=False),
     ["resume.keras", "resume.load", "resume.backup"]),
]

# Hooks of other frameworks, which the program of the fault tests does not come to; and those that
# run only after a learning rate was scaled or a batch size changed. saves.py has those on weights.
NOT_REACHED = re.compile(r"keras|xgboost|lightgbm|plain|resume\."
                         r"|.*\.(transformers|lightning)(_end)?$"
                         r"|learning_rate.(post|state)|batch\.pass|gradient_noise.spoil"
                         r"|checkpoints\.(distributed|written|loading|weights|begin)")


def hooks():
    """The names of all hooks of torch, from the source: guard("part.hook", ...) or or_fault()."""
    names = []
    package = os.path.join(listen.HELPER, "pollux_torch")
    for file in sorted(os.listdir(package)):
        if file.endswith(".py"):
            text = open(os.path.join(package, file)).read()
            names += re.findall(r'(?:guard|guard_step|or_fault)\("([a-z_]+\.[a-z_]+)"', text)
    return [name for name in dict.fromkeys(names) if not NOT_REACHED.match(name)]


def run_suite(kind, run, names):
    """Runs the parts of a suite that the command line names. Returns the exit status.

    run(suite, is_wanted) runs them; names says, in words, what the names are.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("names", nargs="*", help=names)
    arguments = parser.parse_args()
    suite = kind(arguments.python)
    try:
        run(suite, lambda name: not arguments.names or any(w in name for w in arguments.names))
    finally:
        shutil.rmtree(suite.scratch, ignore_errors=True)
    return suite.tests.end()


def run_parts(suite, is_wanted):
    for program in PROGRAMS_OF_TORCH + FRAMEWORKS:
        if is_wanted(program.name):
            suite.compare(program)
    for name, part in (("batches", suite.batches), ("resumes", suite.resumes),
                       ("faults", suite.faults), ("other faults", suite.other_faults)):
        if is_wanted(name):
            part()


if __name__ == "__main__":
    sys.exit(run_suite(Suite, run_parts, "parts of: programs' names, batches, resumes, faults, "
                                         "other faults; default: all"))
