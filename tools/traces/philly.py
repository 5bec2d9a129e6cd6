#!/usr/bin/env python3
"""Makes a workload of the Philly trace (Jeon et al., ATC 2019): cluster_job_log, a JSON list.

    philly.py --profiles DIR cluster_job_log >philly.csv
    pollux simulate --profiles DIR --workload philly.csv

A job's duration is that of all its attempts; its GPUs are those of the last one.
"""
import json

import workload


def job_of(entry):
    spans = []
    gpus = 0
    for attempt in entry['attempts']:
        begin = workload.seconds_of(attempt.get('start_time'))
        end = workload.seconds_of(attempt.get('end_time'))
        if begin is None or end is None:
            continue
        spans.append(end - begin)
        gpus = sum(len(machine['gpus']) for machine in attempt['detail'])
    return workload.Job(entry['jobid'], workload.seconds_of(entry['submitted_time']), gpus,
                        sum(spans))


def main():
    o = workload.options(__doc__.split('\n', maxsplit=1)[0],
                         log={'metavar': 'cluster_job_log'})
    try:
        with open(o.log, encoding='utf-8') as f:
            jobs = [job_of(entry) for entry in json.load(f)]
    except (OSError, ValueError, KeyError, TypeError) as e:
        workload.fail(f'{o.log} is no cluster_job_log: {type(e).__name__}: {e}')
    workload.write([j for j in jobs if j.submit_s is not None], o)


if __name__ == '__main__':
    main()
