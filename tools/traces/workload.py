"""What philly.py, helios.py and pai.py share, options and refusals included: jobs of a published
trace become a workload of 'pollux simulate', with a column duration_s.

A trace says when a job came, how many GPUs it had and for how long, but not what it trained. So
each job is given an application by its GPU time, as Pollux does (Qiao et al., OSDI 2021, section
5.1): under 1 GPU hour, under 10, under 100, and above. What more GPUs or a larger batch are worth
to it is then measured of that application; how long it lasts at its owner's size is the trace's.
"""
import argparse
import csv
import datetime
import math
import os
import random
import re
import sys

CLASSES_S = (3600, 36000, 360000)  # of GPU time; the last class has no end
SHORTEST_S = 1  # the least duration_s that 'pollux simulate' takes
# What comes of reading a file that is not of the expected form, beside OSError.
WRONG_FILE = (ValueError, KeyError, TypeError, AttributeError, OverflowError, RecursionError,
              csv.Error)


class Job:
    """A job of a trace: times in seconds, on any one clock; NaN where the trace does not tell."""

    def __init__(self, name, submit_s, gpus, duration_s):
        self.name, self.submit_s, self.gpus, self.duration_s = str(name), submit_s, gpus, duration_s

    def usable(self):
        return math.isfinite(self.submit_s) and self.gpus > 0 and \
            math.isfinite(self.duration_s) and self.duration_s > 0


def fail(text):
    sys.exit(f'{os.path.basename(sys.argv[0])}: {text}')


def reason(e):
    if isinstance(e, OSError):
        return e.strerror
    return f'there is no {e}' if isinstance(e, KeyError) else str(e)


def seconds_of(date):
    """Of '2017-10-03 08:22:10', UTC; NaN where a trace has no time."""
    try:
        time = datetime.datetime.fromisoformat(date)
    except (TypeError, ValueError):
        return math.nan
    return time.replace(tzinfo=datetime.timezone.utc).timestamp()


class Application:
    """Sizes that the profiles have measured."""

    def __init__(self, directory, name):
        self.name = name
        path = os.path.join(directory, name)
        try:
            batches = [int(m[1]) for m in map(re.compile(r'validation-(\d+)\.csv$').match,
                                              os.listdir(path)) if m]
            with open(os.path.join(path, 'placements.csv'), newline='', encoding='utf-8') as f:
                alone = [int(float(row['local_bsz'])) for row in csv.DictReader(f)
                         if row['placement'] == '1']
        except (OSError, *WRONG_FILE) as e:
            fail(f'{path} is no profile of an application: {reason(e)}')
        if not batches or not alone:
            fail(f'{path} has no validation-BATCH.csv, or nothing that was measured on one GPU')
        self.batches = min(batches), max(batches)
        self.local = sorted(alone)[len(alone) // 2]

    def batch_size(self, gpus):
        return max(self.batches[0], min(self.batches[1], gpus * self.local))


def whole(text):
    """A whole number above 0."""
    if int(text) < 1:
        raise ValueError
    return int(text)


def hours(text):
    if not float(text) >= 0:
        raise ValueError
    return float(text)


def options(what, log):
    parser = argparse.ArgumentParser(description=what)
    parser.add_argument('--profiles', required=True, metavar='DIR',
                        help="the profiles that 'pollux simulate' reads")
    parser.add_argument('--applications', default='cifar10,deepspeech2,yolov3,imagenet',
                        metavar='A,B,C,D', help='of jobs under 1, 10, 100 GPU hours, and above')
    parser.add_argument('--from', dest='begin_h', type=hours, default=0, metavar='HOURS',
                        help='leave out what came earlier, from the first job on')
    parser.add_argument('--hours', type=hours, default=math.inf, help='of the trace')
    parser.add_argument('--max-gpus', type=whole, default=64, metavar='N',
                        help='leave out jobs of more GPUs')
    parser.add_argument('--jobs', type=whole, metavar='N', help='draw so many of them')
    parser.add_argument('--seed', type=int, default=0)
    parser.add_argument('log', metavar=log)
    return parser.parse_args()


def convert(what, log, jobs_of):
    """Runs a script: what, its description; log, the name of the trace's file; jobs_of(file), the
    jobs of that file."""
    o = options(what, log)
    try:
        with open(o.log, newline='', encoding='utf-8') as f:
            jobs = list(jobs_of(f))
    except OSError as e:
        fail(f'cannot read {o.log}: {reason(e)}')
    except WRONG_FILE as e:
        fail(f'{o.log} is no {log}: {reason(e)}')
    try:
        # Not sys.stdout, which Python would flush once more, and fail with words of its own.
        with open(1, 'w', newline='', encoding='utf-8', closefd=False) as f:
            write(jobs, o, f)
    except OSError as e:
        fail(f'cannot write the workload: {reason(e)}')


def write(jobs, o, f):
    """Writes the workload; on standard error, what became of the jobs of the trace."""
    applications = [Application(o.profiles, name) for name in o.applications.split(',')]
    usable = [j for j in jobs if j.usable()]
    if not usable:
        fail('the trace has no job that had GPUs and ended')
    first_s = min(j.submit_s for j in usable) + o.begin_h * 3600
    chosen = [j for j in usable if j.gpus <= o.max_gpus and
              0 <= j.submit_s - first_s < o.hours * 3600]
    if not chosen:
        fail('--from, --hours and --max-gpus leave no job of the trace')
    if o.jobs is not None and o.jobs < len(chosen):
        chosen = random.Random(o.seed).sample(chosen, o.jobs)
    chosen.sort(key=lambda j: (j.submit_s, j.name))
    rows = csv.writer(f, lineterminator='\n')
    rows.writerow(['name', 'time', 'application', 'num_replicas', 'batch_size', 'duration_s'])
    for i, j in enumerate(chosen):
        size = sum(j.gpus * j.duration_s >= limit for limit in CLASSES_S)
        a = applications[min(size, len(applications) - 1)]
        rows.writerow([f'{a.name}-{i}', f'{j.submit_s - first_s:.0f}', a.name, j.gpus,
                       a.batch_size(j.gpus), f'{max(SHORTEST_S, j.duration_s):.0f}'])
    f.flush()
    print(f'{len(jobs)} jobs in the trace, {len(usable)} had GPUs and ended, {len(chosen)} '
          'written', file=sys.stderr)
