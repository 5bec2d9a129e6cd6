#!/usr/bin/env python3
"""Makes a workload of Alibaba's PAI trace (Weng et al., NSDI 2022): pai_task_table.csv.

    pai.py --profiles DIR pai_task_table.csv >pai.csv
    pollux simulate --profiles DIR --workload pai.csv

The file has no heading, as it is published. GPUs are asked for in hundredths for each instance of
a task: a part of a GPU counts as one. A job has the GPUs of all its tasks; it comes when its first
task starts, as the trace does not say when a job was submitted, and ends with its last one.
"""
import csv
import math

import workload

COLUMNS = ('job_name', 'task_name', 'inst_num', 'status', 'start_time', 'end_time', 'plan_cpu',
           'plan_mem', 'plan_gpu', 'gpu_type')


def number(text):
    return float(text) if text else 0.0


def jobs_of(f):
    jobs = {}
    for row in csv.reader(f):
        if len(row) != len(COLUMNS):
            raise ValueError(f'a row has {len(row)} cells, not {len(COLUMNS)}')
        name, _, instances, _, begin, end, _, _, gpu, _ = row
        if name == COLUMNS[0]:
            continue    # somebody has put the heading there
        gpus = math.ceil(number(gpu) / 100 * number(instances))
        times = jobs.setdefault(name, [[], [], 0])
        if gpus and begin:
            times[0].append(float(begin))
            times[2] += gpus
            times[1].append(float(end) if end else math.nan)
    return [workload.Job(name, min(begin), gpus,
                         math.nan if math.isnan(sum(end)) else max(end) - min(begin))
            for name, (begin, end, gpus) in jobs.items() if begin]


if __name__ == '__main__':
    workload.convert(__doc__.split('\n', maxsplit=1)[0], 'pai_task_table.csv', jobs_of)
