#!/usr/bin/env python3
"""What the helper for PyTorch costs: overhead.py [--python PATH] [--updates N] [--pairs N].

Runs programs without and with the helper, in turns, so that a change of the machine's load meets
both: program.py, a small training, for its processor time with the default budget; and bare.py, for
the time of an update that is not sampled, with the noise scale off.
"""

import argparse
import os
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "frameworks"))
import listen  # noqa: E402

# 97.5 % points of Student's t for 1, 2, ... degrees of freedom.
T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)


def interval(values):
    """(mean, half of the 95 % interval)."""
    if len(values) < 2:
        return values[0], float("nan")
    t = T[min(len(values) - 2, len(T) - 1)]
    return statistics.mean(values), t * statistics.stdev(values) / len(values) ** 0.5


def run(python, program, updates, helper, **variables):
    """(the number that the program prints last, reports)."""
    command = [python, os.path.join(HERE, program), str(updates)]
    result = listen.run(command, helper, timeout=3600, **variables)
    if result.status:
        sys.exit(result.err)
    return float(result.out.split()[-1]), result.reports


def in_turns(i, first, second):
    """The results of both, in an order that changes with i."""
    return (first(), second()) if i % 2 == 0 else tuple(reversed((second(), first())))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--updates", type=int, default=20000)
    parser.add_argument("--pairs", type=int, default=5)
    o = parser.parse_args()
    share, step = [], []
    for i in range(o.pairs):
        (without, _), (with_helper, reports) = in_turns(
            i, lambda: run(o.python, "program.py", o.updates, None),
            lambda: run(o.python, "program.py", o.updates, "on"))
        share.append(100 * (with_helper / without - 1))
        (bare, _), (hooked, _) = in_turns(
            i, lambda: run(o.python, "bare.py", 20000, None),
            lambda: run(o.python, "bare.py", 20000, "on", POLLUX_TORCH_FAULT="gradient_noise"))
        step.append(hooked - bare)
        print("pair %d: %.2f s without, %.2f s with (%+.2f %%), %d samples of the noise; bare "
              "update %.1f us without, %.1f us with"
              % (i + 1, without, with_helper, share[-1], sum("GRAD_VAR" in r for r in reports),
                 bare, hooked), flush=True)
    print("an update that is not sampled: %+.2f us (95 %%: +- %.2f)" % interval(step))
    print("processor time over %d updates: %+.2f %% (95 %%: +- %.2f)"
          % ((o.updates,) + interval(share)))


if __name__ == "__main__":
    main()
