"""Listens at a report socket while a command runs, and keeps the reports.

run() starts a program with the environment that pollux gives to a job, the helper included or not.
"""

import os
import select
import socket
import subprocess
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", ".."))
HELPER = os.path.join(ROOT, "share", "pollux", "torch")


class Run:
    """What a program printed, how it ended, and the reports it sent: dictionaries in order."""

    def __init__(self, status, out, err, reports, seconds):
        self.status, self.out, self.err, self.reports = status, out, err, reports
        self.seconds = seconds

    def last(self, key):
        """The latest value of a key as text, None if it was never sent."""
        return next((r[key] for r in reversed(self.reports) if key in r), None)

    def all(self, key):
        return [r[key] for r in self.reports if key in r]


def parse(message):
    lines = message.decode("utf-8", "surrogateescape").split("\n")
    return dict(line.split("=", 1) for line in lines if "=" in line)


def run(command, helper="on", directory=None, timeout=600, before=(), **variables):
    """Runs a command. helper: value of POLLUX_TORCH, or None. before: directories put first in
    PYTHONPATH after the helper's."""
    with tempfile.TemporaryDirectory(prefix="pollux-frameworks-") as scratch:
        path = os.path.join(scratch, "report")
        receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        receiver.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1 << 20)
        receiver.bind(path)
        environment = environment_of(helper, before, path, variables)
        return run_and_listen(command, environment, directory or scratch, receiver, timeout)


def environment_of(helper, before, path, variables):
    kept = {k: v for k, v in os.environ.items() if not k.startswith("POLLUX_")}
    directories = ([HELPER] if helper else []) + list(before)
    kept.update(OMP_NUM_THREADS="1", POLLUX_REPORT_SOCKET=path, PYTHONWARNINGS="default",
                HF_HUB_OFFLINE="1", CUDA_VISIBLE_DEVICES="")
    kept["PYTHONPATH"] = os.pathsep.join(directories)
    if helper:
        kept["POLLUX_TORCH"] = helper
    kept.update({k: str(v) for k, v in variables.items()})
    return kept


def run_and_listen(command, environment, directory, receiver, timeout):
    reports = []
    start = time.monotonic()
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        process = subprocess.Popen(command, env=environment, cwd=directory, stdout=out, stderr=err,
                                   stdin=subprocess.DEVNULL)
        while True:
            ended = process.poll() is not None
            while select.select([receiver], [], [], 0 if ended else 0.05)[0]:
                reports.append(parse(receiver.recv(16384)))
            if ended:
                break
            if time.monotonic() - start > timeout:
                process.kill()
        seconds = time.monotonic() - start
        receiver.close()
        texts = []
        for file in (out, err):
            file.seek(0)
            texts.append(file.read().decode("utf-8", "replace"))
    return Run(process.returncode, texts[0], texts[1], reports, seconds)
