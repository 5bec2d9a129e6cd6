#!/usr/bin/env python3
"""What the helper for PyTorch costs: overhead.py [OPTION...] [PART...]

Runs programs without and with the helper, in turns, so that a change of the machine's load meets
both. Parts, all by default:

    step     bare.py: the time of an update that is not sampled, with the noise scale off
    start    program.py without updates: processor time of start and imports
    whole    program.py, a small training: processor time of the process, with the default budget
    mlp, cnn, gpt, trainer
             whole.py: processor time of the updates after the first hundred, with the default
             budget, and without the helper beside it; each has one of the first two cores, by
             turns, so that what disturbs meets both alike; not among the default parts
"""

import argparse
import os
import statistics
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tests", "frameworks"))
import listen  # noqa: E402

# 97.5 % points of Student's t for 1, 2, ... degrees of freedom.
T = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13)


def interval(values):
    """(mean, half of the 95 % interval)."""
    if len(values) < 2:
        return values[0], float("nan")
    t = T[len(values) - 2] if len(values) - 2 < len(T) else 2.02
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


def pair(i, python, part, updates):
    """(without, with the helper) of one part, in the unit of the program."""
    program, variables = "program.py", {}
    if part == "step":
        program, variables = "bare.py", {"POLLUX_TORCH_FAULT": "gradient_noise"}
    n = {"step": 5000, "start": 0, "whole": updates}[part]
    (without, _), (with_helper, reports) = in_turns(
        i, lambda: run(python, program, n, None),
        lambda: run(python, program, n, "on", **variables))
    samples = sum("GRAD_VAR" in r for r in reports)
    print("%s, pair %d: %.3f without, %.3f with%s" % (
        part, i + 1, without, with_helper, ", %d samples of the noise" % samples
        if part == "whole" else ""), flush=True)
    return without, with_helper


def beside(i, python, kind, updates):
    """(without, with the helper) of one kind of whole.py, both at the same time on two cores."""
    cores = {None: str(i % 2), "on": str((i + 1) % 2)}
    results = {}

    def one(helper):
        command = ["taskset", "-c", cores[helper], python,
                   os.path.join(HERE, "whole.py"), kind, str(updates)]
        results[helper] = listen.run(command, helper, timeout=3600)

    threads = [threading.Thread(target=one, args=(helper,)) for helper in (None, "on")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if any(r.status for r in results.values()):
        sys.exit(results[None].err + results["on"].err)
    values = tuple(float(results[helper].out.split()[-1]) for helper in (None, "on"))
    print("%s, pair %d: %.3f without, %.3f with, %d samples of the noise" % (
        (kind, i + 1) + values + (sum("GRAD_VAR" in r for r in results["on"].reports),)),
        flush=True)
    return values


WHOLE = {"mlp": 2000, "cnn": 4000, "gpt": 1500, "trainer": 2000}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", default=sys.executable)
    parser.add_argument("--updates", type=int, default=20000)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("parts", nargs="*", default=["step", "start", "whole"])
    o = parser.parse_args()
    for part in o.parts:
        updates = WHOLE.get(part, o.updates)
        of_pair = beside if part in WHOLE else pair
        pairs = [of_pair(i, o.python, part, updates) for i in range(o.pairs)]
        by = [b - a for a, b in pairs]
        if part == "step":
            print("an update that is not sampled: %+.2f us (95 %%: +- %.2f)" % interval(by))
        elif part == "start":
            print("start: %+.1f ms (95 %%: +- %.1f)" % interval([1000 * x for x in by]))
        else:
            print(part + ": processor time over %d updates: %+.2f %% (95 %%: +- %.2f)" % (
                (updates,) + interval([100 * (b / a - 1) for a, b in pairs])))


if __name__ == "__main__":
    main()
