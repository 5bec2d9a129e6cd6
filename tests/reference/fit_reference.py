#!/usr/bin/env python3
"""fit_reference.py DIRECTORY - what scipy's L-BFGS-B makes of the published profiles.

Needs numpy and scipy. Reads ../shared/data/pollux-osdi21 (or $POLLUX_DATA) and writes two files to
DIRECTORY, which tests/unit/test_fit.c and benchmarks/ compare with src/model:

    fit_subsets.csv   application,kind,seed,points,objective: the least value of the objective that
                      the published optimizer finds on a random subset of placements.csv
    fit_two_nodes.csv application,placement and seven parameters: fitted on all placements of one
                      node and on that one of two nodes

--time N fits N subsets without writing anything, and prints the median time of one fit in ms.

The published optimizer is scipy.optimize.minimize(method="L-BFGS-B") with its default options,
exact gradients, one start, and the published start, bounds and ties (Qiao et al., OSDI 2021,
section 3.2, and the artifact's fit of it); the objective is that of pollux-goodput(7).
"""
import csv
import math
import os
import statistics
import sys
import time

import numpy as np
from scipy.optimize import minimize

DATA = os.environ.get("POLLUX_DATA") or os.path.join(
    os.path.dirname(os.path.abspath(__file__)), "../../../shared/data/pollux-osdi21")
APPLICATIONS = ("bert", "cifar10", "deepspeech2", "imagenet", "ncf", "yolov3")
SUBSETS = 500
TINY = 1e-8


def splitmix64(state):
    """Endless 64-bit numbers; the unit test draws the same ones."""
    while True:
        state = (state + 0x9E3779B97F4A7C15) % 2**64
        z = state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        yield z ^ (z >> 31)


def read(application):
    """Rows: placement, nodes, replicas, m, step time, time of a pass without synchronisation."""
    with open(os.path.join(DATA, "profiles", application, "placements.csv")) as f:
        return [(r["placement"], len(r["placement"]), sum(map(int, r["placement"])),
                 int(r["local_bsz"]), float(r["step_time"]),
                 float(r["step_time"]) - float(r["sync_time"])) for r in csv.DictReader(f)]


def of_kind(rows, kind):
    """any: all placements; node: one node; pair: at most two replicas."""
    if kind == "node":
        return [r for r in rows if r[1] == 1]
    if kind == "pair":
        return [r for r in rows if r[2] <= 2]
    return rows


def subset(rows, seed, points):
    """Different rows: the first ones of a shuffle (Fisher and Yates)."""
    rows, random = list(rows), splitmix64(seed)
    for i in range(points):
        j = i + next(random) % (len(rows) - i)
        rows[i], rows[j] = rows[j], rows[i]
    return rows[:points]


class Problem:
    def __init__(self, rows):
        _, self.nodes, self.replicas, self.m, step, grad = map(np.array, zip(*rows))
        self.extra = np.maximum(self.replicas - 2, 0)
        self.local = (self.nodes == 1) & (self.replicas > 1)
        self.node = self.nodes > 1
        self.ln_step, self.ln_grad, self.grad = np.log(step), np.log(grad), grad

    def value(self, x):
        """The objective and its gradient."""
        ag, bg, al, bl, an, bn, gamma = x
        t_grad = ag + bg * self.m
        t_sync = self.local * (al + bl * self.extra) + self.node * (an + bn * self.extra)
        high = np.maximum(t_grad, t_sync)
        pg, ps = (t_grad / high) ** gamma, (t_sync / high) ** gamma
        total = pg + ps
        t_update = high * total ** (1 / gamma)
        # d ln T_update by T_grad, T_sync and gamma
        by_grad = pg / total / t_grad
        by_sync = np.where(t_sync > 0, ps / total / np.where(t_sync > 0, t_sync, 1), 0)
        ln = lambda t: np.log(np.where(t > 0, t / high, 1))
        by_gamma = (pg * ln(t_grad) + ps * ln(t_sync)) / total / gamma - np.log(total) / gamma**2
        e1, e2 = np.log(t_grad) - self.ln_grad, np.log(t_update) - self.ln_step
        r1, r2 = math.sqrt(np.mean(e1**2)), math.sqrt(np.mean(e2**2))
        j1 = e1 / (len(e1) * r1) if r1 else e1
        j2 = e2 / (len(e2) * r2) if r2 else e2
        g = np.array([
            np.sum(j1 / t_grad) + np.sum(j2 * by_grad),
            np.sum(j1 * self.m / t_grad) + np.sum(j2 * by_grad * self.m),
            np.sum(j2 * by_sync * self.local), np.sum(j2 * by_sync * self.local * self.extra),
            np.sum(j2 * by_sync * self.node), np.sum(j2 * by_sync * self.node * self.extra),
            np.sum(j2 * by_gamma)])
        f = r1 + r2 + 1e-3 * (gamma - 1) ** 2 + 1e-2 * ((bn / an) ** 2 + (bl / al) ** 2)
        g[6] += 2e-3 * (gamma - 1)
        for a, b in ((2, 3), (4, 5)):
            g[b] += 2e-2 * x[b] / x[a] ** 2
            g[a] -= 2e-2 * x[b] ** 2 / x[a] ** 3
        return f, g

    def start(self):
        x = np.array([1e-1, 1e-2] * 3 + [1 + 1e-3])
        low, high = np.array([TINY] * 6 + [1.0]), np.array([np.inf] * 6 + [10.0])

        def tie(i, value):
            x[i] = low[i] = high[i] = value

        if len(set(self.m)) == 1:
            tie(0, self.grad.mean() / 2)
        if not self.node.any():
            tie(4, TINY), tie(5, TINY)
        if not self.local.any():
            tie(2, TINY), tie(3, TINY)
        if not (self.replicas > 2).any():
            tie(3, TINY), tie(5, TINY)
        return x, list(zip(low, high))

    def fit(self):
        x, bounds = self.start()
        return minimize(self.value, x, jac=True, method="L-BFGS-B", bounds=bounds)


def cases(rows):
    for i in range(SUBSETS):
        application = APPLICATIONS[i % 6]
        kind = ("any", "any", "any", "node", "pair")[i % 5]
        points = 4 + next(splitmix64(1000 + i)) % 27
        chosen = of_kind(rows[application], kind)
        yield application, kind, i, min(points, len(chosen)), chosen


def write_subsets(rows, directory):
    with open(os.path.join(directory, "fit_subsets.csv"), "w") as f:
        f.write("application,kind,seed,points,objective\n")
        for application, kind, seed, points, chosen in cases(rows):
            fit = Problem(subset(chosen, seed, points)).fit()
            f.write(f"{application},{kind},{seed},{points},{fit.fun:.12g}\n")


def write_two_nodes(rows, directory):
    with open(os.path.join(directory, "fit_two_nodes.csv"), "w") as f:
        f.write("application,placement,alpha_grad,beta_grad,alpha_sync_local,beta_sync_local,"
                "alpha_sync_node,beta_sync_node,gamma\n")
        for application in APPLICATIONS:
            for pair in sorted({r[0] for r in rows[application] if r[1] == 2}):
                seen = [r for r in rows[application] if r[1] == 1 or r[0] == pair]
                x = Problem(seen).fit().x
                f.write(",".join([application, pair] + [f"{v:.9g}" for v in x]) + "\n")


def print_time(rows, count):
    times = []
    for _, _, seed, points, chosen in list(cases(rows))[:count]:
        problem = Problem(subset(chosen, seed, points))
        begin = time.perf_counter()
        problem.fit()
        times.append(time.perf_counter() - begin)
    print(f"{statistics.median(times) * 1e3:.3f}")


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "--time":
        return print_time({a: read(a) for a in APPLICATIONS}, int(sys.argv[2]))
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    np.seterr(all="ignore")
    rows = {a: read(a) for a in APPLICATIONS}
    write_subsets(rows, sys.argv[1])
    write_two_nodes(rows, sys.argv[1])


if __name__ == "__main__":
    main()
