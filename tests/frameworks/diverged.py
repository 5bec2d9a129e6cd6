"""Real trainings whose loss becomes NaN: what --halving, --stop-nan, results and status make of it.

diverged.py --python VENV/bin/python: PyTorch programs with a learning rate that is far too high.
Skipped where there is no torch."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
POLLUX = os.environ.get("POLLUX", os.path.join(ROOT, "build", "pollux"))
TOO_HIGH = "1e9"
# 200 steps of 8 samples. It saves when it is told to stop, and goes on from there.
PROGRAM = """
import os, signal, sys, time, torch
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
path = os.path.join(os.environ["POLLUX_CHECKPOINT_DIR"], "state.pt")
x = torch.randn(64, 10)
loader = DataLoader(TensorDataset(x, x.sum(1, keepdim=True)), batch_size=8)
model = torch.nn.Linear(10, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=float(sys.argv[1]))
step, told = 0, []
signal.signal(signal.SIGTERM, lambda *_: told.append(1))
if os.path.exists(path):
    state = torch.load(path)
    model.load_state_dict(state["model"])
    step = state["step"]
while step < 200:
    for x, y in loader:
        loss = torch.nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        step += 1
        time.sleep(0.02)
        if step % 5 == 0:
            print(f"step {step} loss {loss.item():.4f}", flush=True)
        if told:
            torch.save({"model": model.state_dict(), "step": step}, path)
            sys.exit(0)
"""


class Store:
    """A store of its own, with the program in it."""

    def __init__(self, python):
        self.top = tempfile.mkdtemp(prefix="pollux-diverged-")
        self.python = python
        self.program = os.path.join(self.top, "train.py")
        self.env = dict(os.environ, POLLUX_DIR=os.path.join(self.top, "store"), POLLUX_SLOTS="2",
                        POLLUX_NVML="none", POLLUX_SHARED_DIR="no", COLUMNS="80",
                        OMP_NUM_THREADS="1")
        with open(self.program, "w", encoding="utf-8") as file:
            file.write(PROGRAM)

    def pollux(self, *words):
        return subprocess.run([POLLUX, *words], env=self.env, capture_output=True, text=True,
                              timeout=400, check=False).stdout

    def submit(self, *words):
        """Waits for the jobs too. Returns them, as JSON has them."""
        ids = self.pollux("submit", "-q", *words).split()
        self.pollux("wait", "--timeout", "300s", *ids)
        jobs = json.loads(self.pollux("status", "--json", "--all"))["jobs"]
        return [job for job in jobs if str(job["id"]) in ids]

    def remove(self):
        self.pollux("cancel", "--yes", "--state", "active")
        self.pollux("wait", "--timeout", "60s", "--state", "active")
        shutil.rmtree(self.top, ignore_errors=True)


def check(is_right, what, got):
    print("%sok - %s%s" % ("" if is_right else "not ", what, "" if is_right else ": %s" % got))
    return not is_right


def check_halving(store):
    jobs = store.submit("--preempt", "--batch", "8", "--metric", r"val_loss=loss (\S+)",
                        "--halving", "val_loss:min,rungs=400/1200",
                        "--param", "lr=0.01," + TOO_HIGH + ",0.001", "--",
                        store.python, store.program, "{lr}")
    by_rate = {job["name"].rsplit("lr=", 1)[-1]: job for job in jobs}
    best, diverged = by_rate.get("0.01", {}), by_rate.get(TOO_HIGH, {})
    results = store.pollux("results", "--metric", "val_loss:min")
    last = results.splitlines()[-1] if results else ""
    failed = check(best.get("state") == "done", "halving: the best run goes to its end", best)
    failed += check(0 < diverged.get("samples", 0) < 1200, "the one that diverged passes no rung",
                    diverged.get("samples"))
    failed += check("val_loss nan" in diverged.get("reason", ""), "and its reason has the loss",
                    diverged.get("reason"))
    failed += check(TOO_HIGH in last and "nan" in last, "results has it last, as nan", results)
    return failed


def check_stop(store):
    job = (store.submit("--stop-nan", "3", "--retries", "2", "--", store.python, store.program,
                        TOO_HIGH) or [{}])[0]
    failed = check(job.get("state") == "failed" and "was not finite in 3" in job.get("reason", ""),
                   "--stop-nan ends a training that diverged", job.get("reason"))
    failed += check(job.get("runs") == 1, "once, whatever --retries says", job.get("runs"))
    status = store.pollux("status", str(job.get("id")))
    failed += check("diverged" in status and "loss nan" in status, "status has loss and reason",
                    status)
    job = (store.submit("--stop-nan", "3", "--", store.python, store.program, "0.01") or [{}])[0]
    return failed + check(job.get("state") == "done", "and leaves another one alone",
                          job.get("reason"))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--python", required=True)
    parser.add_argument("names", nargs="*")
    o = parser.parse_args()
    if o.names and "torch" not in o.names:
        return
    if subprocess.run([o.python, "-c", "import torch"], capture_output=True,
                      check=False).returncode:
        print("# SKIPPED: no torch")
        return
    store = Store(o.python)
    try:
        failed = check_halving(store) + check_stop(store)
    finally:
        store.remove()
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
