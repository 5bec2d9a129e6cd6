#!/usr/bin/env python3
"""preemptible.py - a training loop that pollux can stop, move and resume.

Complete but for the training, and without dependencies. It runs unchanged without pollux:
    python3 examples/preemptible.py
    pollux submit --preempt --retries 2 --batch 256 --samples 1000000 -- \\
        python3 examples/preemptible.py 1000000
"""

import json
import os
import signal
import socket
import sys
import time

SAVE_EVERY_S = 60

stop = False


def on_stop(number, frame):
    """The loop ends after the present update."""
    global stop
    stop = True


def report(**values):
    """Send one datagram to the supervisor. A lost datagram does no harm."""
    path = os.environ.get("POLLUX_REPORT_SOCKET")
    if not path:
        return  # not started by pollux
    lines = "".join(f"{key}={value}\n" for key, value in values.items())
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
        s.setblocking(False)
        try:
            s.sendto(lines.encode(), path)
        except OSError:
            pass


def save(path, state):
    """Replace the checkpoint. The file at path is complete at every moment."""
    with open(path + ".new", "w") as file:
        json.dump(state, file)  # torch.save(state, path + ".new")
    os.replace(path + ".new", path)
    report(CHECKPOINT=path, SAMPLES=state["samples"])


def main():
    signal.signal(int(os.environ.get("POLLUX_STOP_SIGNAL", signal.SIGTERM)), on_stop)
    batch = int(os.environ.get("POLLUX_BATCH", 64))
    path = os.path.join(os.environ.get("POLLUX_CHECKPOINT_DIR", "."), "state.json")
    total = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000  # samples
    state = {"step": 0, "samples": 0}
    if os.path.exists(path):
        with open(path) as file:
            state = json.load(file)  # torch.load(path)

    saved = time.monotonic()
    while state["samples"] < total and not stop:
        if time.monotonic() - saved > SAVE_EVERY_S:  # against a crash or a power cut
            save(path, state)
            saved = time.monotonic()
        start = time.monotonic_ns()
        time.sleep(0.01)  # one optimizer update of `batch` samples
        state["step"] += 1
        state["samples"] += batch
        report(STEP=state["step"], SAMPLES=state["samples"],
               STEP_NS=time.monotonic_ns() - start)
    save(path, state)
    return 75 if stop else 0  # 0 says that the training is complete


if __name__ == "__main__":
    sys.exit(main())
