"""Option resume with the real packages: unmodified programs, stopped twice under pollux. TAP.

    resume.py [--python PATH] [NAME...]

Each program of resume/ runs undisturbed without pollux, and by `pollux submit --torch=resume`,
where it is stopped and launched again twice. The parameters at the end are the same to the last
bit, and the counts are those of the program's own hook.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import check as checks

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "presets"))
import run  # noqa: E402

# name: package, samples of an update, updates after which it is stopped, the most that are done
# twice by each stop
PROGRAMS = {
    "hf": ("transformers", 16, (10, 45), 0),
    "lightning": ("lightning", 32, (20, 55), 0),
    "keras": ("keras", 32, (20, 55), 15),
}


class Trial(run.Trial):
    """A program under pollux; the base class looks at its store, its log and its updates."""

    def __init__(self, name, python, directory):
        _, batch, self.stops, self.redone = PROGRAMS[name]
        self.directory = directory
        self.environment = run.environment(directory)
        self.file = os.path.join(HERE, "resume", name + "_program.py")
        self.python = python
        self.submission = ["submit", "-q", "--torch=resume", "-b", str(batch), "--", python,
                           self.file]

    def undisturbed(self):
        """What the program prints without pollux."""
        directory = os.path.join(self.directory, "undisturbed")
        os.mkdir(directory)
        return subprocess.run([self.python, self.file], cwd=directory, env=self.environment,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def run(self, check):
        whole = self.undisturbed()
        self.total, samples = checks.seen(whole.stdout)
        check(self.total is not None, "runs without pollux", whole.stdout + whole.stderr)
        job = self.pollux(*self.submission).stdout.strip()
        self.pollux("schedule")
        for number, stop in enumerate(self.stops, 1):
            self.stop(check, job, number, stop)
            self.pollux("schedule")
        ends = self.pollux("wait", "--timeout", str(60 * run.SCALE), job)
        check(ends.returncode == 0, "goes on to its end", self.log(job))
        self.compare(check, job, whole.stdout, samples)

    def stop(self, check, job, number, at):
        good = self.wait(60, lambda: self.updates() and self.updates()[-1] >= at)
        check(good, "trains %d updates" % at, self.log(job))
        # What was reported is known within two seconds; before, too much would be lost.
        self.wait(3, lambda: self.pollux("requeue", job).returncode == 0)
        ended = "SELECT count(*) FROM runs WHERE number = %d AND state = 'ended'" % number
        check(self.wait(60, lambda: self.query(ended) == 1), "is stopped", self.log(job))

    def compare(self, check, job, whole, samples):
        log, updates = self.log(job), self.updates()
        check(checks.digest(log) and log.count("digest ") == 1 and
              checks.digest(log) == checks.digest(whole),
              "the parameters are those of an undisturbed run, to the last bit",
              "%s\n%s" % (checks.digest(whole), log))
        twice = len(updates) - self.total
        check(updates[-1] == self.total and 0 <= twice <= self.redone * len(self.stops),
              "%d updates, %d of them done again" % (self.total, twice), str(updates))
        values = [self.query("SELECT %s FROM jobs WHERE id = %s" % (column, job))
                  for column in ("steps", "samples", "runs")]
        runs = len(self.stops) + 1
        check(values == [self.total, samples, runs],
              "%d updates, %d samples, %d runs are counted" % (self.total, samples, runs),
              "%s %s" % (values, self.query("SELECT helper FROM runs ORDER BY id DESC LIMIT 1")))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("names", nargs="*", default=[])
    options = parser.parse_args()
    tests = checks.Tests()
    for name in [n for n in PROGRAMS if not options.names or n in options.names]:
        if not run.has(options.python, PROGRAMS[name][0]):
            tests.skip(name, PROGRAMS[name][0] + " is not installed")
            continue
        directory = tempfile.mkdtemp(prefix="pollux-resume.")
        trial = Trial(name, options.python, directory)
        try:
            trial.run(lambda good, what, detail="": tests.check(good, name + ": " + what, detail))
        finally:
            trial.end()
            shutil.rmtree(directory, ignore_errors=True)
    return tests.end()


if __name__ == "__main__":
    sys.exit(main())
