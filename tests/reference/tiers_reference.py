#!/usr/bin/env python3
"""tiers_reference.py - fixed-size jobs with leases on machines and racks, under the policies of
Dally (arXiv 2401.16492): an independent second program, to compare 'pollux simulate --racks' with.

    tiers_reference.py TIERS WORKLOAD RACKS NODES GPUS POLICY [TIMERS]

Prints name,start,finish,segments of each job, then a line of means. POLICY is dally, tiresias-net,
gandiva-net, srtf-net or las-net; TIMERS is auto, inf or A,B in leases."""
import csv
import math
import sys

LEASE = 3600.0
HOURS = 24
INSENSITIVE = {"ResNet50", "ResNet18", "BERT"}
MACHINE, RACK, NETWORK = 0, 1, 2


def total(values):
    """sum() of newer Pythons rounds otherwise."""
    result = 0.0
    for v in values:
        result += v
    return result


class Job:
    def __init__(self, row, number, parts):
        self.number, self.name = number, row["name"]
        self.arrival = float(row["submitted_s"])
        self.gpus = int(row["gpus"])
        self.iterations = float(row["iterations"])
        self.ti = float(row["time_per_iteration_s"])
        self.model = row.get("application") or row["model"]
        self.parts = parts[self.model]
        self.work = self.iterations * self.ti / self.gpus   # seconds without communication
        self.left = self.work
        self.on = 0.0           # seconds on devices
        self.comm = 0.0
        self.since = self.arrival
        self.segments = 0
        self.start = self.finish = None
        self.held = None


class History:
    def __init__(self):
        self.entries = {}

    def append(self, gpus, now, leases):
        self.entries.setdefault(gpus, []).append((now, leases))

    def statistic(self, gpus, now):
        young = [w for t, w in self.entries.get(gpus, []) if now - t < LEASE * HOURS]
        if not young:
            return 1
        mean = total(young) / len(young)
        return mean + 2 * math.sqrt(total([(w - mean) ** 2 for w in young]) / len(young))


class Cluster:
    def __init__(self, racks, nodes, gpus):
        self.per_rack, self.gpus = nodes // racks, gpus
        self.racks = racks
        self.free = [gpus] * nodes

    def rack(self, r):
        return range(r * self.per_rack, (r + 1) * self.per_rack)

    def on_machine(self, n):
        fits = [(f, m) for m, f in enumerate(self.free) if f >= n]
        return {min(fits)[1]: n} if fits else None

    def emptiest(self, machines, n):
        held = {}
        for m in sorted(machines, key=lambda m: (-self.free[m], m)):
            take = min(n, self.free[m])
            if take:
                held[m] = take
                n -= take
        return held if n == 0 else None

    def on_rack(self, n):
        totals = [(sum(self.free[m] for m in self.rack(r)), r) for r in range(self.racks)]
        fits = [x for x in totals if x[0] >= n]
        return self.emptiest(self.rack(min(fits)[1]), n) if fits else None

    def anywhere(self, n):
        return self.emptiest(range(len(self.free)), n)

    def tier(self, held):
        if len(held) == 1:
            return MACHINE
        return RACK if len({m // self.per_rack for m in held}) == 1 else NETWORK


class Run:
    def __init__(self, cluster, jobs, policy, timers):
        self.c, self.jobs, self.policy, self.timers = cluster, jobs, policy, timers
        self.machine_history, self.rack_history = History(), History()
        self.alarms = set()

    def tune(self, job, now):
        if self.timers == "inf":
            return math.inf, math.inf
        if self.timers != "auto":
            return self.timers
        rack = math.ceil(self.machine_history.statistic(job.gpus, now))
        net = math.ceil(self.rack_history.statistic(job.gpus, now))
        return min(math.ceil(0.8 * HOURS), max(6, rack)), min(HOURS, max(12, net))

    def key(self, job):
        if self.policy == "dally":
            # equal but for rounding is equal
            s = (job.work - job.left) / job.work / (job.on / job.work) if job.segments else 0
            return round(s, 9), job.since, job.number
        if self.policy == "gandiva-net":
            return job.since, job.number
        if self.policy == "srtf-net":
            return job.left, job.since, job.number
        return round(job.on * job.gpus, 3), job.since, job.number

    def offer(self, job, now):
        n, w, c = job.gpus, now - job.since, self.c
        if n > sum(c.free):
            return None
        held = c.on_machine(n)
        if self.policy == "gandiva-net":
            return held or c.on_rack(n) or c.anywhere(n)
        if self.policy == "tiresias-net":
            if held:
                return held
            if job.model in INSENSITIVE or n > c.gpus:
                return c.on_rack(n) or c.anywhere(n)
            return None
        if held:
            if now >= job.since + LEASE:
                self.machine_history.append(n, now, w / LEASE)
            return held
        t_rack, t_net = self.tune(job, now)
        if now >= job.since + LEASE * t_rack or n > c.gpus:
            held = c.on_rack(n)
            if held:
                if now >= job.since + LEASE:
                    self.rack_history.append(n, now, w / LEASE)
                return held
        if now >= job.since + LEASE * t_net or n > c.gpus * c.per_rack:
            return c.anywhere(n)
        for t in (t_rack, t_net):
            if job.since + LEASE * t > now and t < math.inf:
                self.alarms.add(job.since + LEASE * t)
        return None

    def place(self, job, held, now):
        for m, n in held.items():
            self.c.free[m] -= n
        part = job.parts[self.c.tier(held)] if job.gpus > 1 else 1.0
        extra = 1.0 if job.segments else 0.0
        needs = job.left / part
        length = min(LEASE, needs)
        job.held, job.part, job.begun = held, part, now
        job.segment, job.ends = length, now + length + extra
        job.last = needs <= LEASE
        job.segments += 1
        if job.start is None:
            job.start = now

    def end(self, job, now):
        for m, n in job.held.items():
            self.c.free[m] += n
        job.on += now - job.begun
        job.comm += job.segment * (1 - job.part)
        job.left = 0 if job.last else job.left - job.segment * job.part
        job.held, job.since = None, now
        if job.last:
            job.finish = now

    def run(self):
        coming = sorted(self.jobs, key=lambda j: (j.arrival, j.number))
        waiting, running, now = [], [], 0.0
        while coming or waiting or running:
            times = [j.ends for j in running] + [j.arrival for j in coming[:1]]
            if waiting:
                times += [LEASE / 4 * (math.floor(now / (LEASE / 4)) + 1)] + list(self.alarms)
            now = min(times)
            for j in [j for j in running if j.ends <= now]:
                self.end(j, now)
                running.remove(j)
                if j.finish is None:
                    waiting.append(j)
            while coming and coming[0].arrival <= now:
                waiting.append(coming.pop(0))
            self.alarms = set()
            for j in sorted(waiting, key=self.key):
                held = self.offer(j, now)
                if held:
                    self.place(j, held, now)
                    waiting.remove(j)
                    running.append(j)


def main():
    tiers, workload, racks, nodes, gpus, policy = sys.argv[1:7]
    timers = sys.argv[7] if len(sys.argv) > 7 else "auto"
    if timers not in ("auto", "inf"):
        timers = tuple(float(t) for t in timers.split(","))
    with open(tiers) as f:
        parts = {r.get("application") or r["model"]:
                 [float(r[c]) for c in ("machine", "rack", "network")] for r in csv.DictReader(f)}
    with open(workload) as f:
        jobs = [Job(r, i, parts) for i, r in enumerate(csv.DictReader(f))]
    Run(Cluster(int(racks), int(nodes), int(gpus)), jobs, policy, timers).run()
    if "-q" not in sys.argv:
        for j in jobs:
            print("%s,%.3f,%.3f,%d" % (j.name, j.start, j.finish, j.segments))
    jct = sorted(j.finish - j.arrival for j in jobs)
    rank = 0.99 * (len(jct) - 1)
    low = int(rank)
    p99 = jct[low] + (rank - low) * (jct[min(low + 1, len(jct) - 1)] - jct[low])
    print("mean %.2f p99 %.1f makespan %.1f communication %.3f h" % (
        sum(jct) / len(jct) / 3600, p99 / 3600, max(j.finish for j in jobs) / 3600,
        sum(j.comm for j in jobs) / len(jobs) / 3600))


if __name__ == "__main__":
    main()
