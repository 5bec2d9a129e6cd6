"""Real launchers around a real PyTorch program with data loaders: a stop saves it, once.

stops.py --python VENV/bin/python [NAME...]: each launcher that is there starts the program below
under pollux; then the job is held. What is not there is skipped, and named."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
POLLUX = os.environ.get("POLLUX", os.path.join(ROOT, "build", "pollux"))
# These signal the data loaders of the program themselves: the helper has them outlive that.
SIGNALS_LOADERS = ("python -m torch.distributed.run", "torchrun", "timeout", "deepspeed",
                   "parallel")
PROGRAM = """
import os, signal, sys, time
import torch
from torch.utils.data import DataLoader, TensorDataset

told = []
loaders = int(os.environ["LOADERS"])
directory = os.environ["EVENTS"]
rank, ranks = int(os.environ.get("RANK", os.environ.get("OMPI_COMM_WORLD_RANK", "0"))), \\
    int(os.environ.get("WORLD_SIZE", "1"))

def note(*words):
    with open(os.path.join(directory, "events"), "a") as file:
        file.write(" ".join(map(str, words)) + "\\n")

def hear(*_):
    told.append(1)
    if len(told) > 1:
        note(rank, "quit")
        os._exit(4)

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, hear)
    if ranks > 1:
        torch.distributed.init_process_group("gloo")
    model = torch.nn.Linear(8, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    data = TensorDataset(torch.randn(40000, 8), torch.randn(40000, 1))
    n = 0
    for x, y in DataLoader(data, batch_size=4, num_workers=loaders,
                           persistent_workers=loaders > 0):
        optimizer.zero_grad()
        torch.nn.functional.mse_loss(model(x), y).backward()
        optimizer.step()
        n += 1
        time.sleep(0.05)
        print("step", n, flush=True)
        stop = torch.tensor(len(told))
        if ranks > 1:
            torch.distributed.all_reduce(stop)
        if n == 5:
            note(rank, "works")
        if stop.item():
            # what a save of a sharded model does: it needs the loaders' state, and each rank
            for _ in range(20):
                print("saving", flush=True)
                time.sleep(0.1)
            if ranks > 1:
                torch.distributed.barrier()
            torch.save({"model": model.state_dict(), "n": n}, f"{directory}/{rank}.pt")
            note(rank, "told" if told else "not told")
            note(rank, "saved")
            sys.exit(1)
"""


def launchers(python):
    """name: (ranks, command that starts the words after it)"""
    directory = os.path.dirname(python)

    def there(name):
        path = os.path.join(directory, name)
        return path if os.path.exists(path) else shutil.which(name)

    shell = "exec 2>&1; '%s' train.py" % python
    found = {
        "python": (1, [python, "train.py"]),
        "sh -c 'a | tee'": (1, ["sh", "-c", shell.replace("exec ", "") + " | tee log"]),
        "sh -c 'a; b'": (1, ["sh", "-c", "'%s' train.py; echo over" % python]),
        "python -m torch.distributed.run": (2, [
            python, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2",
            "train.py"]),
        "make": (1, ["make", "-f", "Make", "all"]),
        "timeout": (1, ["timeout", "1h", python, "train.py"]),
    }
    named = {
        "torchrun": (2, ["--standalone", "--nproc-per-node=2", "train.py"]),
        "accelerate": (1, ["launch", "--cpu", "--num_processes=1", "--num_machines=1",
                           "--mixed_precision=no", "--dynamo_backend=no", "train.py"]),
        "uv": (1, ["run", "--no-project", "--python", python, "train.py"]),
        "xvfb-run": (1, ["-a", python, "train.py"]),
        "mpirun": (1, ["--allow-run-as-root", "--oversubscribe", "-n", "1", python, "train.py"]),
        "unbuffer": (1, [python, "train.py"]),
        "script": (1, ["-qec", "'%s' train.py" % python, "typescript"]),
        "conda": (1, ["run", "--no-capture-output", "-n", "base", python, "train.py"]),
        "dumb-init": (1, ["-c", python, "train.py"]),
        "tini": (1, ["-s", "--", python, "train.py"]),
        "supervisord": (1, ["-n", "-c", "supervisord.conf"]),
        "parallel": (1, ["--termseq", "TERM,40000,KILL,25", python, ":::", "train.py"]),
    }
    for name, (ranks, words) in named.items():
        if there(name):
            found[name] = ranks, [there(name), *words]
        else:
            print(f"# skipped: {name} is not there")
    if there("srun") and not subprocess.run(
            ["timeout", "5", "scontrol", "ping"], capture_output=True).returncode:
        found["srun"] = 1, [there("srun"), "-n1", python, "train.py"]
    else:
        print("# skipped: srun has no Slurm")
    if there("deepspeed"):
        found["deepspeed"] = 2, [there("deepspeed"), "--num_gpus=2", "train.py"]
    return found


def pollux(*words, check=True):
    return subprocess.run([POLLUX, *words], check=check, text=True,
                          stdout=subprocess.PIPE).stdout.strip()


def state(job):
    return json.loads(pollux("status", "--json", job))["jobs"][0]["state"]


def wait_until(condition, seconds):
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.3)
    return True


def events_in(directory):
    try:
        with open(os.path.join(directory, "events")) as file:
            return sorted(line.strip() for line in file)
    except FileNotFoundError:
        return []


def stop(name, ranks, command, directory):
    with open(os.path.join(directory, "train.py"), "w") as file:
        file.write(PROGRAM)
    with open(os.path.join(directory, "Make"), "w") as file:
        file.write("all:\n\ttrue && '%s' train.py\n" % os.environ["PYTHON"])
    with open(os.path.join(directory, "supervisord.conf"), "w") as file:
        file.write("[supervisord]\nlogfile=/dev/null\npidfile=supervisord.pid\n"
                   "[program:train]\nautorestart=true\nstopwaitsecs=50\nredirect_stderr=true\n"
                   "stdout_logfile=/dev/fd/1\nstdout_logfile_maxbytes=0\n"
                   "command='%s' train.py\n" % os.environ["PYTHON"])
    # a job gets no variable of Slurm's that is not asked for
    slurm = ["-e", "SLURM_CONF=" + os.environ["SLURM_CONF"]] if "SLURM_CONF" in os.environ else []
    job = subprocess.run(
        [POLLUX, "submit", "-q", "--preempt", "--suspend", "never",
         "--torch" if name in SIGNALS_LOADERS else "--no-torch",
         "-e", "EVENTS=" + directory, "-e", "DS_ACCELERATOR=cpu",
         "-e", "LOADERS=2", *slurm, "--", *command],
        check=True, text=True, stdout=subprocess.PIPE, cwd=directory).stdout.strip()
    pollux("schedule")
    works = [f"{rank} works" for rank in range(ranks)]
    if not wait_until(lambda: set(works) <= set(events_in(directory)), 120):
        return pollux("log", "-n", "30", job) + "\nit does not work"
    begin = time.monotonic()
    pollux("hold", "--force", job)
    if not wait_until(lambda: state(job) == "held", 100):
        return "it does not stop"
    took = time.monotonic() - begin
    got = [e for e in events_in(directory) if not e.endswith(("works", "told"))]
    if got != [f"{rank} saved" for rank in range(ranks)]:
        return f"{events_in(directory)}\n" + pollux("log", "-n", "20", job)
    print(f"# {name}: {took:.1f} s")
    return ""


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("names", nargs="*")
    args = parser.parse_args()
    os.environ["PYTHON"] = args.python
    n = failed = 0
    for name, (ranks, command) in launchers(args.python).items():
        if args.names and name not in args.names:
            continue
        with tempfile.TemporaryDirectory() as directory:
            os.environ.update(POLLUX_DIR=os.path.join(directory, "store"), POLLUX_SLOTS="1",
                              POLLUX_SUBMIT_PASS="no", POLLUX_NVML="none")
            why = stop(name, ranks, command, directory)
            pollux("cancel", "--yes", "1", check=False)
            pollux("wait", "--timeout", "90s", "1", check=False)
        n += 1
        failed += bool(why)
        print(f"{'not ok' if why else 'ok'} {n} - {name}: a stop saves, once", flush=True)
        for line in why.splitlines():
            print("#", line)
    print(f"1..{n}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
