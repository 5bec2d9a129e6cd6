#!/usr/bin/env python3
"""Makes a workload of a Helios trace (Hu et al., SC 2021): cluster_log.csv of one cluster.

    helios.py --profiles DIR Venus/cluster_log.csv >venus.csv
    pollux simulate --profiles DIR --workload venus.csv
"""
import csv

import workload


def jobs_of(f):
    rows = csv.DictReader(f)
    for row in rows:
        if None in row or None in row.values():
            raise ValueError(f'line {rows.line_num} has not as many cells as the heading')
        yield workload.Job(row['job_id'], workload.seconds_of(row['submit_time']),
                           int(float(row['gpu_num'] or 0)), float(row['duration'] or 0))


if __name__ == '__main__':
    workload.convert(__doc__.split('\n', maxsplit=1)[0], 'cluster_log.csv', jobs_of)
