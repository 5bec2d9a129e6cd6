"""Runs the program of a preset under pollux, stops it in the middle, lets it go on. Prints TAP.

    run.py [--python PATH] [PRESET...]

POLLUX is the program under test, build/pollux unless the environment names another.
"""

import argparse
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
POLLUX = os.path.abspath(os.environ.get("POLLUX", os.path.join(HERE, "../../../build/pollux")))
SCALE = int(os.environ.get("TIME_SCALE", 10))

# On a busy machine torch 2.15 aborts at times at the end of one of two ranks, also without the
# helper (../check.py). Such a program is run again.
GLOO_ABORTS, GLOO_TRIES = "terminate called without an active exception", 3

# preset: package, options of submit, the command ({python} and {file} are replaced), updates in
# all, updates after which it is stopped, the most that are done twice
PRESETS = {
    "hf": ("transformers", "-b 20", "{python} {file} --num_train_epochs 5 --use_cpu True "
           "--per_device_train_batch_size 20 --save_steps 1000 --logging_steps 5 --report_to none "
           "--disable_tqdm False", 100, 30, 1),
    "keras": ("keras", "-b 20", "{python} {file}", 100, 30, 20),
    "nanogpt": ("torch", "-b 4", "{python} {file} --max_iters=100", 100, 30, 20),
    "torchrun": ("torch", "-b 8 -r 2", "{bin}/torchrun {file}", 100, 30, 0),
    "old-torchrun": ("torch", "-b 8 -r 2", "{bin}/torchrun {file}", 100, 30, 0),
    "accelerate": ("accelerate", "-b 8 -r 2", "{bin}/accelerate launch --multi_gpu "
                   "--num_machines 1 --num_processes 2 --mixed_precision no "
                   "--dynamo_backend no {file}", 100, 30, 0),
    "deepspeed": ("deepspeed", "-b 8 -r 2", "{bin}/deepspeed --num_gpus 2 {file}", 100, 30, 0),
    "lightning": ("jsonargparse", "-b 20", "{python} {file} fit --trainer.max_epochs=5 "
                  "--trainer.accelerator=cpu --trainer.logger=false", 100, 30, 1),
}


def environment(directory):
    """A store of its own in the directory, and two CPU slots."""
    return dict(os.environ, POLLUX_DIR=os.path.join(directory, "store"), POLLUX_SLOTS="2",
                POLLUX_NVML="none", OMP_NUM_THREADS="1")


class Trial:
    def __init__(self, preset, python, directory, torch="--no-torch"):
        self.package, options, command, self.total, self.stop, self.redone = PRESETS[preset]
        self.preset, self.directory = preset, directory
        self.environment = environment(directory)
        # all launchers of several processes launch one program
        own = os.path.join(HERE, preset + "_program.py")
        file = own if os.path.exists(own) else os.path.join(HERE, "torchrun_program.py")
        words = [w.format(python=python, file=file, bin=os.path.dirname(python))
                 for w in command.split()]
        self.submission = ["submit", "-q", torch, "--preset", preset] + options.split()
        self.submission += ["--"] + words

    def pollux(self, *words):
        return subprocess.run([POLLUX] + list(words), cwd=self.directory, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def query(self, sql):
        store = sqlite3.connect(os.path.join(self.directory, "store/pollux.db"), timeout=10)
        try:
            return store.execute(sql).fetchone()[0]
        finally:
            store.close()

    def wait(self, seconds, condition):
        end = time.monotonic() + seconds * SCALE
        while time.monotonic() < end:
            if condition():
                return True
            time.sleep(0.1)
        return False

    def updates(self):
        try:
            with open(os.path.join(self.directory, "updates")) as file:
                return [int(line.split()[0]) for line in file.read().split("\n")[:-1]]
        except FileNotFoundError:
            return []

    def run(self, check, last):
        """False: torch aborted, and this is not the last try."""
        made = self.pollux(*self.submission)
        job = made.stdout.strip()
        check(made.returncode == 0 and job.isdigit(), "is submitted", made.stdout)
        self.pollux("schedule")
        check(self.wait(30, lambda: len(self.updates()) >= self.stop), "trains", self.log(job))
        self.pollux("requeue", job)
        ended = "SELECT count(*) FROM runs WHERE number = 1 AND state = 'ended'"
        check(self.wait(30, lambda: self.query(ended) == 1), "is stopped", self.log(job))
        done, before = len(self.updates()), len(self.log(job))
        self.pollux("schedule")
        ends = self.pollux("wait", "--timeout", str(40 * SCALE), job)
        if not last and ends.returncode != 0 and GLOO_ABORTS in self.log(job)[before:]:
            print("# %s: torch aborted at its end: run again" % self.preset, flush=True)
            return False
        check(ends.returncode == 0, "goes on to its end", self.log(job))
        self.count(check, job, done)
        return True

    def count(self, check, job, done):
        updates = self.updates()
        twice = len(updates) - self.total
        check(done < self.total and 0 <= twice <= self.redone,
              "stopped after %d updates, %d of them done again, %d may be"
              % (done, twice, self.redone),
              self.log(job))
        check(updates and updates[-1] == self.total, "the last one is that of an undisturbed run")
        steps = self.query("SELECT steps FROM jobs WHERE id = %s" % job)
        check(steps == self.total, "its log says %s steps of %d" % (steps, self.total))

    def log(self, job):
        return self.pollux("log", job).stdout

    def end(self):
        """The store is new, so the job is the first one."""
        self.pollux("cancel", "1")
        self.pollux("wait", "--timeout", "60", "1")


def has(python, package):
    code = "import importlib.util as u, sys; sys.exit(not u.find_spec(%r))" % package
    return subprocess.run([python, "-c", code]).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("presets", nargs="*", default=sorted(PRESETS))
    options = parser.parse_args()
    n = failed = 0
    for preset in options.presets:
        def check(good, what, detail=""):
            nonlocal n, failed
            n += 1
            failed += not good
            print("%sok %d - %s: %s" % ("" if good else "not ", n, preset, what), flush=True)
            if not good:
                print("\n".join("# " + line for line in detail.splitlines()[-60:]), flush=True)
        if not has(options.python, PRESETS[preset][0]):
            n += 1
            print("ok %d - %s # SKIP %s is not installed" % (n, preset, PRESETS[preset][0]))
            continue
        for attempt in range(GLOO_TRIES):
            directory = tempfile.mkdtemp(prefix="pollux-preset.")
            trial = Trial(preset, options.python, directory)
            try:
                if trial.run(check, attempt == GLOO_TRIES - 1):
                    break
            finally:
                trial.end()
                shutil.rmtree(directory, ignore_errors=True)
    print("1..%d" % n)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
