"""kit.py - what the steps in Python have in common: lines, jobs of pollux, what nvidia-smi says.

run.sh gives them STEP, OUT, KIT, ROOT, POLLUX, TRAIN and STEP_SECONDS, and a directory of their own
to start in. The store of a step lies there; its jobs are cancelled when the step ends.
"""

import atexit
import json
import os
import random
import signal
import statistics
import subprocess
import sys
import time

STEP, OUT, KIT = os.environ["STEP"], os.environ["OUT"], os.environ["KIT"]
POLLUX, TRAIN = os.environ["POLLUX"], os.environ["TRAIN"]
DATA = os.environ["FASHION_MNIST"]
STANDIN = os.environ.get("GPU_KIT_STANDIN", "")
ON_GPU = os.environ["GPU_KIT_DEVICE"] == "cuda"
QUICK = bool(os.environ.get("GPU_KIT_QUICK"))
BEGUN_S = time.monotonic()
MIB = 2**20

os.environ["POLLUX_DIR"] = os.path.join(os.getcwd(), "store")
os.environ["POLLUX_SUBMIT_PASS"] = "no"  # a step says itself when passes come


def quick(in_full, small):
    return small if QUICK else in_full


SHORT = float(os.environ["STEP_SECONDS"]) < 150


def short(in_full, less):
    """What is done where a machine is there for minutes."""
    return less if SHORT else in_full


def seconds_left():
    return float(os.environ["STEP_SECONDS"]) - (time.monotonic() - BEGUN_S)


# --- lines ---


def say(result, name, value="-", unit=""):
    if isinstance(value, float):
        value = f"{value:.6g}"
    line = f"{STEP} {result} {name} {value} {unit}".rstrip()
    print(line, flush=True)
    with open(os.path.join(OUT, "lines"), "a") as file:
        file.write(line + "\n")


def ok(name, value="-", unit=""):
    say("ok", name, value, unit)


def fail(name, value="-", unit=""):
    say("fail", name, value, unit)


def skip(name, why):
    say("skip", name, "-", why)


def check(name, value, unit, good, wanted):
    """A line that is ok where `good`; else it says what was wanted."""
    say("ok" if good else "fail", name, value, unit if good else f"{unit} (wanted: {wanted})")
    return good


def goal(name, value, unit, good, wanted):
    """As check, for a figure of the card: on a stand-in it is written down and not judged."""
    if STANDIN:
        say("ok", name, value, f"{unit} (stand-in: not judged)")
        return True
    return check(name, value, unit, good, wanted)


# --- pollux ---


def pollux(*arguments, good=(0,)):
    """Its standard output; an exit status that is not among `good` ends the step."""
    done = subprocess.run([POLLUX, *map(str, arguments)], capture_output=True, text=True)
    print("$ pollux", *arguments, f"-> {done.returncode}", done.stderr.strip(), flush=True)
    if done.returncode not in good:
        fail("pollux-" + str(arguments[0]), done.returncode, "status: " + done.stderr.strip())
        sys.exit(1)
    return done.stdout


def submit(*arguments):
    return int(pollux("submit", "--quiet", *arguments))


def jobs():
    return {
        job["id"]: job for job in json.loads(pollux_quietly("status", "--all", "--json"))["jobs"]
    }


def pollux_quietly(*arguments):
    return subprocess.run([POLLUX, *map(str, arguments)], capture_output=True, text=True).stdout


def job(number):
    return json.loads(pollux_quietly("status", str(number), "--json"))["jobs"][0]


def log(number):
    return pollux_quietly("log", str(number))


def wait_for(what, seconds, pause_s=0.1):
    """What `what` returns once it is true; None after so many seconds."""
    end_s = time.monotonic() + seconds
    while time.monotonic() < end_s:
        value = what()
        if value:
            return value
        time.sleep(pause_s)
    return None


OPEN = ("queued", "starting", "running", "suspended", "stopping", "held")


def all_over():
    return not any(j["state"] in OPEN for j in jobs().values())


def watch_until_over(seconds, every_s=0.5):
    """Runs passes, as cron would, until all jobs have ended."""

    def over():
        pollux_quietly("schedule")
        return all_over()

    return wait_for(over, seconds, every_s)


@atexit.register
def end_jobs():
    if not os.path.exists(os.environ["POLLUX_DIR"]):
        return
    for number, j in jobs().items():
        if j["state"] in OPEN:
            pollux_quietly("cancel", number)
    wait_for(all_over, 15)


def leave(number, frame):
    sys.exit(1)


signal.signal(signal.SIGTERM, leave)
signal.signal(signal.SIGINT, leave)


# --- the GPT ---


def gpt(*options, small=()):
    """The command of gpt.py; without a GPU a tiny network, with the options `small`."""
    return program("gpt.py", options, small)


def plain(*options, small=()):
    """The command of plain.py, which knows nothing of pollux, in the same way."""
    return program("plain.py", options, small)


def program(name, options, small):
    tiny = ["--layers", "1", "--width", "64", "--context", "16", "--vocabulary", "64"]
    command = [sys.executable, os.path.join(KIT, name)]
    return [
        str(x) for x in (*command, *([] if ON_GPU else tiny), *options, *([] if ON_GPU else small))
    ]


def run(command, seconds=300):
    done = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    print("$", *command, f"-> {done.returncode}", done.stdout, done.stderr, sep="\n", flush=True)
    return done


# --- the GPU, by others than pollux ---


def nvidia_smi(query, of="gpu"):
    """Rows of fields, as nvidia-smi prints them without units."""
    done = subprocess.run(
        ["nvidia-smi", f"--query-{of}={query}", "--format=csv,noheader,nounits"],
        capture_output=True,
        text=True,
    )
    return [
        [field.strip() for field in line.split(",")]
        for line in done.stdout.splitlines()
        if line.strip()
    ]


def used_mib():
    return sum(float(row[0]) for row in nvidia_smi("memory.used"))


def number(text):
    try:
        return float(text)
    except (TypeError, ValueError):
        return None


def processes_on_gpu():
    """MiB by process number."""
    rows = nvidia_smi("pid,used_memory", "compute-apps")
    return {int(row[0]): number(row[1]) for row in rows if row[0].isdigit()}


def free_of_ours(before, seconds):
    """True once no process is on the GPU that was not there before."""
    return wait_for(lambda: not set(processes_on_gpu()) - set(before), seconds)


# --- numbers ---

# Student's t, two-sided, 95 %, by degrees of freedom.
T95 = [float(t) for t in "0 12.706 4.303 3.182 2.776 2.571 2.447 2.365 2.306 2.262 2.228".split()]


def mean_and_half_width(values):
    """Mean, and half of its 95 % confidence interval."""
    n = len(values)
    t = T95[min(n, len(T95)) - 1]  # of more values the interval is a little wide
    return statistics.fmean(values), t * statistics.stdev(values) / n**0.5


RANDOM = random.Random(12)
