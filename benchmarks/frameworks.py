#!/usr/bin/env python3
"""What pollux sees of programs of real frameworks, from their logs alone or by the helper for
PyTorch: a table for RESULTS.md.

    benchmarks/frameworks.py [--python PATH] [--helper] [PROGRAM...]

Each program of tests/frameworks/presets runs under its preset and is stopped and launched again
twice. It notes each of its updates by a hook of its own; that is the truth. With --helper, the
programs of tests/frameworks/resume as well, by --torch=resume alone: hf-resume, and so on.
"""

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path.insert(0, os.path.join(ROOT, "tests/frameworks/presets"))
sys.path.insert(0, os.path.join(ROOT, "tests/frameworks"))
import check  # noqa: E402
import resume  # noqa: E402
import run  # noqa: E402

PACKAGES = {"hf": ["transformers"], "keras": ["keras"], "lightning": ["lightning"],
            "nanogpt": ["torch"], "torchrun": ["torch"]}
STOPS = (30, 70)	# updates after which a program is stopped
RESUME = "-resume"	# ends the names of the programs of tests/frameworks/resume


def version(python, package):
    code = "from importlib.metadata import version as v; print(v(%r))" % package
    return subprocess.run([python, "-c", code], stdout=subprocess.PIPE, text=True).stdout.strip()


def times_of(directory):
    """Numbers of updates, and the seconds from each to the next."""
    with open(os.path.join(directory, "updates")) as file:
        rows = [line.split() for line in file.read().split("\n")[:-1]]
    numbers = [int(row[0]) for row in rows]
    spans = [float(b[1]) - float(a[1]) for a, b in zip(rows, rows[1:])
             if int(b[0]) == int(a[0]) + 1]
    return numbers, spans


def trial_of(name, python, directory, has_helper):
    if name.endswith(RESUME):
        return resume.Trial(name[:-len(RESUME)], python, directory)
    return run.Trial(name, python, directory, "--torch" if has_helper else "--no-torch")


def package_of(name):
    """The package without which the program does not run."""
    if name.endswith(RESUME):
        return resume.PROGRAMS[name[:-len(RESUME)]][0]
    return run.PRESETS[name][0]


def samples_of(trial, job, updates):
    """What the program consumed: as it says itself, else whole batches."""
    said = check.seen(trial.log(job))[1]
    return said or updates * int(trial.submission[trial.submission.index("-b") + 1])


def measure(name, python, has_helper):
    directory = tempfile.mkdtemp(prefix="pollux-frameworks.")
    trial = trial_of(name, python, directory, has_helper)
    preset = name.replace(RESUME, "")
    job = trial.pollux(*trial.submission).stdout.strip()
    trial.pollux("schedule")
    stops = trial.stops if name.endswith(RESUME) else STOPS
    for number, stop in enumerate(stops, 1):
        trial.wait(60, lambda: trial.updates() and trial.updates()[-1] >= stop)
        trial.wait(3, lambda: trial.pollux("requeue", job).returncode == 0)
        ended = "SELECT count(*) FROM runs WHERE number = %d AND state = 'ended'" % number
        trial.wait(60, lambda: trial.query(ended) == 1)
        trial.pollux("schedule")
    trial.pollux("wait", "--timeout", str(60 * run.SCALE), job)
    numbers, spans = times_of(directory)
    steps = trial.query("SELECT steps FROM jobs WHERE id = %s" % job)
    last = " FROM runs WHERE number = %d" % (len(stops) + 1)
    step_s = trial.query("SELECT step_time_s" + last)
    source = trial.query("SELECT coalesce(nullif(framework, ''), step_source)" + last)
    samples = trial.query("SELECT samples FROM jobs WHERE id = %s" % job)
    true_samples = samples_of(trial, job, numbers[-1])
    trial.end()
    packages = ", ".join("%s %s" % (p, version(python, p)) for p in PACKAGES[preset])
    truth_s = statistics.median(spans[-20:])
    error = "%+.0f %%" % (100 * (step_s / truth_s - 1)) if step_s else "not timed"
    return "| %s (%s) | %s | %s | %d of %d | %d of %d | %d | 0 |" % (
        name, packages, source, error, steps or 0, numbers[-1], samples or 0, true_samples,
        len(numbers) - numbers[-1])


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--helper", action="store_true", help="submit with --torch")
    parser.add_argument("programs", nargs="*")
    options = parser.parse_args()
    programs = options.programs or sorted(PACKAGES) + [
        n + RESUME for n in resume.PROGRAMS if options.helper]
    programs = [n for n in programs if run.has(options.python, package_of(n))]
    print("| program | recognised as | error of the step time | steps after two resumes, of those "
          "done | samples | done again | lines changed |\n|---|---|---|---|---|---|---|",
          flush=True)
    with ThreadPoolExecutor(2) as pool:
        for row in pool.map(lambda p: measure(p, options.python, options.helper), programs):
            print(row, flush=True)


main()
