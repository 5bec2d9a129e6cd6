#!/usr/bin/env python3
"""Makes a workload of a Helios trace (Hu et al., SC 2021): cluster_log.csv of one cluster.

    helios.py --profiles DIR Venus/cluster_log.csv >venus.csv
    pollux simulate --profiles DIR --workload venus.csv
"""
import csv

import workload


def job_of(row):
    submit = workload.seconds_of(row['submit_time'])
    return workload.Job(row['job_id'], submit, int(float(row['gpu_num'] or 0)),
                        float(row['duration'] or 0))


def main():
    o = workload.options(__doc__.split('\n', maxsplit=1)[0],
                         log={'metavar': 'cluster_log.csv'})
    try:
        with open(o.log, newline='', encoding='utf-8') as f:
            jobs = [job_of(row) for row in csv.DictReader(f)]
    except (OSError, ValueError, KeyError, TypeError) as e:
        workload.fail(f'{o.log} is no cluster_log.csv of Helios: {type(e).__name__}: {e}')
    workload.write([j for j in jobs if j.submit_s is not None], o)


if __name__ == '__main__':
    main()
