#!/usr/bin/env python3
"""Makes a workload of the Philly trace (Jeon et al., ATC 2019): cluster_job_log, a JSON list.

    philly.py --profiles DIR cluster_job_log >philly.csv
    pollux simulate --profiles DIR --workload philly.csv

A job's duration is that of all its attempts; its GPUs are those of the last one.
"""
import json
import math

import workload


def job_of(entry):
    duration_s = 0
    gpus = 0
    for attempt in entry['attempts']:
        span_s = workload.seconds_of(attempt.get('end_time')) - \
            workload.seconds_of(attempt.get('start_time'))
        if math.isnan(span_s):
            continue
        duration_s += span_s
        gpus = sum(len(machine['gpus']) for machine in attempt['detail'])
    return workload.Job(entry['jobid'], workload.seconds_of(entry['submitted_time']), gpus,
                        duration_s)


def jobs_of(f):
    entries = json.load(f)
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise ValueError('it is no list of jobs')
    return map(job_of, entries)


if __name__ == '__main__':
    workload.convert(__doc__.split('\n', maxsplit=1)[0], 'cluster_job_log', jobs_of)
