#!/usr/bin/env python3
"""What pollux sees of programs of real frameworks, from their logs alone: a table for RESULTS.md.

    benchmarks/frameworks.py [--python PATH] [PRESET...]

Each program of tests/frameworks/presets runs under its preset and is stopped and launched again
twice. It notes each of its updates by a hook of its own; that is the truth.
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
import run  # noqa: E402

PACKAGES = {"hf": ["transformers"], "keras": ["keras"], "lightning": ["lightning"],
            "nanogpt": ["torch"], "torchrun": ["torch"]}
STOPS = (30, 70)	# updates after which a program is stopped


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


def measure(preset, python):
    directory = tempfile.mkdtemp(prefix="pollux-frameworks.")
    trial = run.Trial(preset, python, directory)
    job = trial.pollux(*trial.submission).stdout.strip()
    trial.pollux("schedule")
    for number, stop in enumerate(STOPS, 1):
        trial.wait(60, lambda: trial.updates() and trial.updates()[-1] >= stop)
        trial.pollux("requeue", job)
        ended = "SELECT count(*) FROM runs WHERE number = %d AND state = 'ended'" % number
        trial.wait(60, lambda: trial.query(ended) == 1)
        trial.pollux("schedule")
    trial.pollux("wait", "--timeout", str(60 * run.SCALE), job)
    numbers, spans = times_of(directory)
    steps = trial.query("SELECT steps FROM jobs WHERE id = %s" % job)
    step_s = trial.query("SELECT step_time_s FROM runs WHERE number = %d" % (len(STOPS) + 1))
    source = trial.query("SELECT step_source FROM runs WHERE number = %d" % (len(STOPS) + 1))
    trial.end()
    packages = ", ".join("%s %s" % (p, version(python, p)) for p in PACKAGES[preset])
    truth_s = statistics.median(spans[-20:])
    error = "%+.0f %%" % (100 * (step_s / truth_s - 1)) if step_s else "not timed"
    return "| %s (%s) | `%s` | %s | %d of %d | %d | 0 |" % (
        preset, packages, source, error, steps or 0, numbers[-1], len(numbers) - trial.total)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("presets", nargs="*", default=sorted(PACKAGES))
    options = parser.parse_args()
    print("| program | recognised as | error of the step time | steps after two resumes, of those "
          "done | done again | lines changed |\n|---|---|---|---|---|---|", flush=True)
    with ThreadPoolExecutor(2) as pool:
        for row in pool.map(lambda p: measure(p, options.python), options.presets):
            print(row, flush=True)


main()
