"""The final loss of the five programs of quality.py at their own batch and at adapted batches, at
equal samples:

	venv/bin/python benchmarks/quality_rules.py [PROGRAM...]	# a Python that has torch

An adapted training runs under the helper for PyTorch, and gets other batches while it runs, as
from a pass: twice the batch at a tenth of its samples and at each further tenth, as far as
min_efficiency 0.8 allows at the noise scale that the helper has reported by then, up to four fifths
of the samples. Each optimizer follows AdaScale's gain by the rule of its family. A pass goes less
far: it takes the low end of the noise scale's interval, and has each batch judged. For `two` the
helper measures no noise, so pollux leaves its batch alone; here it has that of `mlp`.

Three seeds each, two trainings at a time: about eight minutes. Nothing is judged by the exit
status.
"""

import concurrent.futures
import math
import os
import select
import socket
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
IMAGES = os.environ.get("FASHION_MNIST", "/usr/share/datasets/fashion-mnist")
OWN, LEAST_EFFICIENCY, SEEDS = 32, 0.8, (1, 2, 3)
TEXTS = [os.path.join(ROOT, "man", "pollux-%s" % page) for page in (
    "goodput.7", "submit.1", "simulate.1", "explain.1", "doctor.1", "history.1")]


def efficient(noise):
    """The largest batch whose samples are worth LEAST_EFFICIENCY of one in the program's own."""
    return (noise + OWN) / LEAST_EFFICIENCY - noise


def gain(noise, batch):
    return (noise / OWN + 1) / (noise / batch + 1)


class Training:
    def __init__(self, program, seed, adapts, scratch, noise):
        self.noise = noise  # NaN: by what the helper reports
        self.sums = [0.0, 0.0]  # of GRAD_SQR and GRAD_VAR
        self.total, self.batch, self.version = 0, OWN, 0
        self.config = os.path.join(scratch, "config")
        self.adapts = adapts
        self.command = [sys.executable, os.path.join(ROOT, "benchmarks", "quality.py"), program,
                        "--images", IMAGES, "--text", os.path.join(scratch, "text"),
                        "--seed", str(seed), "--checkpoint", scratch]
        with open(os.path.join(scratch, "text"), "w", encoding="utf-8") as text:
            for name in TEXTS:
                with open(name, encoding="utf-8") as page:
                    text.write(page.read())
        self.path = os.path.join(scratch, "report")
        self.receiver = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.receiver.bind(self.path)

    def run(self):
        kept = {k: v for k, v in os.environ.items() if not k.startswith("POLLUX_")}
        kept.update(OMP_NUM_THREADS="1", CUDA_VISIBLE_DEVICES="", POLLUX_TORCH="batch",
                    POLLUX_LOCAL_BATCH=str(OWN), POLLUX_REPORT_SOCKET=self.path,
                    POLLUX_CONFIG_FILE=self.config,
                    PYTHONPATH=os.path.join(ROOT, "share", "pollux", "torch"))
        child = subprocess.Popen(self.command, env=kept, stdout=subprocess.PIPE, text=True)
        while child.poll() is None:
            while select.select([self.receiver], [], [], 0.05)[0]:
                self.take(self.receiver.recv(16384).decode("utf-8", "replace"))
        words = child.stdout.read().split()
        self.receiver.close()
        return float(words[2]), int(words[4]), self.batch, self.phi()

    def phi(self):
        if not math.isnan(self.noise):
            return self.noise
        return self.sums[1] / self.sums[0] if self.sums[0] > 0 else math.nan

    def take(self, message):
        report = dict(line.split("=", 1) for line in message.split("\n") if "=" in line)
        n = float(report.get("GRAD_SAMPLES", 1))
        for i, key in enumerate(("GRAD_SQR", "GRAD_VAR")):
            self.sums[i] += n * float(report.get(key, 0))
        self.total = float(report.get("TOTAL_SAMPLES", self.total))
        if self.adapts and self.total and "SAMPLES" in report:
            self.grow(float(report["SAMPLES"]) / self.total)

    def grow(self, part):
        phi = self.phi()
        if math.isnan(phi) or part < 0.1 * (self.version + 1) or part > 0.8:
            return
        batch = int(min(2 * self.batch, efficient(phi)))
        self.version += 1
        self.batch = max(self.batch, batch)
        with open(self.config + ".new", "w", encoding="ascii") as file:
            file.write("VERSION=%d\nBATCH=%d\nLOCAL_BATCH=%d\nACCUM=1\nLR_SCALE=%.9g\n"
                       "LR_GAIN=%.9g\n" % (self.version, self.batch, self.batch,
                                           gain(phi, self.batch), gain(phi, self.batch)))
        os.replace(self.config + ".new", self.config)


def train(case):
    program, seed, adapts, noise = case
    with tempfile.TemporaryDirectory(prefix="pollux-quality-") as scratch:
        return Training(program, seed, adapts, scratch, noise).run()


def main():
    programs = sys.argv[1:] or ["cnn", "gpt", "mlp", "rms", "two"]
    noise = math.nan
    print("%-8s %8s %8s %8s %8s %8s %8s %8s" % (
        "program", "own", "spread", "adapted", "spread", "worse by", "batch to", "noise"))
    for program in programs:
        cases = [(program, seed, adapts, noise if program == "two" else math.nan)
                 for adapts in (False, True) for seed in SEEDS]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            results = list(pool.map(train, cases))
        own, adapted = results[:len(SEEDS)], results[len(SEEDS):]
        if len({r[1] for r in results}) != 1:
            raise SystemExit("%s: not the same samples: %s" % (program, results))
        losses = [[r[0] for r in some] for some in (own, adapted)]
        means = [statistics.mean(x) for x in losses]
        known = [r[3] for r in adapted if not math.isnan(r[3])]
        phi = statistics.mean(known) if known else math.nan
        if program == "mlp":
            noise = phi
        print("%-8s %8.4f %8.4f %8.4f %8.4f %+8.4f %8d %8.0f" % (
            program, means[0], max(losses[0]) - min(losses[0]), means[1],
            max(losses[1]) - min(losses[1]), means[1] - means[0],
            max(r[2] for r in adapted), phi), flush=True)


main()
