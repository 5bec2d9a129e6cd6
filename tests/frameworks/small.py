"""What tests with one small program each have in common. Prints TAP.

    NAME.py [--python PATH] [TEST...]

Without --python the stand-in for torch (tests/torch) is used, and programs that need the real one
are left out. A program prints what it saw; a test compares it and the helper's reports.
"""

import argparse
import os
import sys
import tempfile

import listen

STAND_IN = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "torch"))
BOTH, REAL, STAND_IN_ONLY = "both", "real", "stand-in"
TESTS = []

# A model of one weight: for the stand-in and for the real torch.
START = """
import copy, gc, io, os, pickle, sys, weakref
import torch
from torch.utils.data import DataLoader
is_real = hasattr(torch, "Generator")
if is_real:
    weight = torch.nn.Parameter(torch.ones(()))
    backward = lambda: (weight * 2).backward()
else:
    weight = torch.Tensor(1.0)
    backward = lambda: torch.Tensor(0.5).backward()
SGD = torch.optim.SGD

def train(optimizer, n=12, size=8):
    for batch in DataLoader(range(n * size), batch_size=size):
        backward()
        optimizer.step()
"""


class Result:
    def __init__(self, run):
        self.run = run
        self.out, self.err = run.out, run.err
        self.told = run.last("HELPER") or ""

    def __str__(self):
        return "status %d\n%s%s\n%s" % (self.run.status, self.out, self.err, self.run.reports[-4:])


def test(what, needs=BOTH):
    """Registers a function(start) that returns True, or something to show."""
    def register(function):
        TESTS.append((function.__name__, what, needs, function))
        return function

    return register


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python")
    parser.add_argument("names", nargs="*", help="parts of tests' names")
    arguments = parser.parse_args()
    is_real = arguments.python is not None
    python = arguments.python or sys.executable

    def start(program, helper="on", before=(), directory=None, whole=None, **variables):
        code = whole or START + program
        before = list(before) + ([] if is_real else [STAND_IN])
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "program.py")  # loops are read from the source
            with open(path, "w") as file:
                file.write(code)
            return Result(listen.run([python, path], helper, directory, before=before,
                                     **variables))

    n = failed = 0
    for name, what, needs, function in TESTS:
        if needs == (STAND_IN_ONLY if is_real else REAL):
            continue
        if arguments.names and not any(x in name for x in arguments.names):
            continue
        result = function(start)
        n += 1
        failed += result is not True
        print("%sok %d - %s: %s" % ("" if result is True else "not ", n, name, what), flush=True)
        if result is not True:
            shown = result if isinstance(result, (tuple, list)) else [result]
            print("\n".join("# " + line for x in shown for part in
                            (x if isinstance(x, tuple) else (x,))
                            for line in str(part).splitlines()))
    print("1..%d" % n)
    return 1 if failed else 0

