# faults - kills at random: of supervisors, passes and jobs that compute on the GPU.
# shows: after 100 kills each job has exactly its samples; nothing is left on the card
# needs: gpu python data
# limit: 440
# takes: 280
import os
import re
import signal
import subprocess
import time

import kit
from kit import RANDOM, check, ok

KILLS = kit.quick(100, 12)
os.environ["POLLUX_SLICE"] = "3s"
before, before_mib = kit.processes_on_gpu(), kit.used_mib()
samples = kit.quick(60_000, 20_000)
command = [
    kit.TRAIN,
    "--data",
    kit.DATA,
    "--device",
    "cuda",
    "--subset",
    "6000",
    "--hidden",
    "64",
    "--samples",
    str(samples),
    "--checkpoint-every",
    "0.2",
    "--log-every",
    "1",
]


# A job that crashed waits for 10 s, then for twice as long after each further time.
MOST_CRASHES = 2


def sturdy():
    """Jobs that have not ended, and were not killed so often that they wait for long."""
    return [
        j for j in kit.jobs().values() if j["state"] in kit.OPEN and j["failures"] < MOST_CRASHES
    ]


def more_jobs():
    """Three such jobs wait or run at any time."""
    for _ in range(3 - len(sturdy())):
        kit.submit("-b", 96, "--retries", 1000, "--samples", samples, "--", *command)


def leaders():
    """Processes of running jobs."""
    return [j["run"]["leader_pid"] for j in sturdy() if j["run"] and j["run"]["leader_pid"]]


def pids(pattern):
    """Processes of this store whose command line has the pattern."""
    found = []
    mark = f"POLLUX_DIR={os.environ['POLLUX_DIR']}".encode()
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/cmdline", "rb") as file:
                line = file.read()
            with open(f"/proc/{name}/environ", "rb") as file:
                environment = file.read().split(b"\0")
        except OSError:
            continue
        if pattern in line and mark in environment and int(name) != os.getpid():
            found.append(int(name))
    return found


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
        return True
    except ProcessLookupError:
        return False


end_s = kit.quick(150, 60)  # what the jobs need to come to their ends
killed = {"supervisor": 0, "pass": 0, "job": 0}
begun_s = time.monotonic()
while sum(killed.values()) < KILLS and kit.seconds_left() > end_s:
    more_jobs()
    if RANDOM.random() < 0.25:  # a pass, somewhere in its work
        a_pass = subprocess.Popen(
            [kit.POLLUX, "schedule"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(RANDOM.uniform(0, 0.03))
        if a_pass.poll() is None:
            a_pass.kill()
            killed["pass"] += 1
        a_pass.wait()
        continue
    kit.pollux_quietly("schedule")
    time.sleep(RANDOM.uniform(0, kit.quick(1.2, 0.5)))
    what = RANDOM.choice(["supervisor", "job"])
    there = pids(b"\0supervise\0") if what == "supervisor" else leaders()
    if there and kill(RANDOM.choice(there)):
        killed[what] += 1
for what, n in killed.items():
    ok(f"killed-{what}", n, "times")
check("kills", sum(killed.values()), "in all", sum(killed.values()) >= KILLS, KILLS)
ok("kills-took", time.monotonic() - begun_s, "s")

# --- then left alone, all of it comes to its end ---

finished = kit.watch_until_over(max(20, kit.seconds_left() - 45))
all_jobs = kit.jobs()
states = sorted(j["state"] for j in all_jobs.values())
check(
    "all-done",
    states.count("done"),
    f"of {len(states)} jobs",
    finished and set(states) == {"done"},
    f"all; states are {sorted(set(states))}",
)
wrong = []
for n in all_jobs:
    text = kit.log(n)
    ended = re.findall(r"^done samples (\d+)", text, re.M)
    if not ended or set(ended) != {str(samples)}:
        wrong.append(f"job {n}: {ended}")
check("samples-exact", len(wrong), "; ".join(wrong), not wrong, "none wrong")
ok("redone", sum(j["lost_samples"] or 0 for j in all_jobs.values()), "samples, as pollux counts")

# --- nothing is left ---

check(
    "no-process",
    len(pids(b"")),
    "processes of the store",
    kit.wait_for(lambda: not pids(b""), 15),
    "none",
)
check(
    "no-process-on-GPU",
    len(kit.processes_on_gpu()),
    "processes",
    kit.free_of_ours(before, 15),
    f"{len(before)}, as before",
)
back = kit.wait_for(lambda: kit.used_mib() <= before_mib + 64, 15)
check("no-memory-on-GPU", kit.used_mib() - before_mib, "MiB more than before", back, "64 at most")
