"""gpt.py - a small GPT on made-up data: the PyTorch job of the GPU kit.

It does what README asks of a program: it reports its steps, saves when told to stop, leaves with
status 75, and resumes. Without pollux it runs the same. Sample i is the same tokens whatever the
batch size and however often the program was stopped.

    gpt.py --samples N [--batch N] [--accum N]   train
    gpt.py --measure 8,24,100                    print the step time of each batch size
    gpt.py --bisect 8:4096                       print the largest batch size that fits
"""

import argparse
import json
import os
import signal
import socket
import statistics
import sys
import time


def arguments():
    p = argparse.ArgumentParser()
    p.add_argument("--device", default=os.environ.get("GPU_KIT_DEVICE", "cuda"))
    p.add_argument("--layers", type=int, default=8)
    p.add_argument("--width", type=int, default=512)
    p.add_argument("--context", type=int, default=256)
    p.add_argument("--vocabulary", type=int, default=4096)
    p.add_argument("--batch", type=int, default=8, help="samples in a pass")
    p.add_argument("--accum", type=int, default=1, help="passes in an update")
    p.add_argument("--samples", type=int, default=0)
    p.add_argument("--seed", type=int, default=1)
    p.add_argument("--memory-mib", type=int, default=0, help="what of the GPU's memory it may take")
    p.add_argument("--most", type=int, default=0, help="without a GPU: the largest batch that fits")
    p.add_argument(
        "--pause-ms", type=float, default=0, help="without a GPU: what a step takes longer"
    )
    p.add_argument(
        "--warm-up", type=int, default=10, help="steps that 'done' leaves out of its mean"
    )
    p.add_argument("--measure", default="")
    p.add_argument("--bisect", default="")
    return p.parse_args()


OPTIONS = arguments()
stopping = False


def stop(number, frame):
    global stopping
    stopping = True


signal.signal(int(os.environ.get("POLLUX_STOP_SIGNAL", signal.SIGTERM)), stop)
print(f"launched at {time.time():.3f}", flush=True)

import torch  # noqa: E402  (slow: a stop meanwhile is not lost)

from gpt_model import Gpt, made_up  # noqa: E402

ON_GPU = OPTIONS.device == "cuda"
DEVICE = torch.device(OPTIONS.device)
if not ON_GPU:
    torch.set_num_threads(1)


class Training:
    def __init__(self, o):
        if ON_GPU and o.memory_mib:
            total = torch.cuda.get_device_properties(0).total_memory
            torch.cuda.set_per_process_memory_fraction(min(1.0, o.memory_mib * 2**20 / total))
        torch.manual_seed(o.seed)
        self.o, self.model = o, Gpt(o).to(DEVICE)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4, fused=ON_GPU or None)
        self.samples = self.steps = 0

    def parameters(self):
        return sum(p.numel() for p in self.model.parameters())

    def update(self, batch, accum):
        """One optimizer update; its time in nanoseconds, and the loss."""
        begun_ns = time.monotonic_ns()
        if self.o.most and batch > self.o.most:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate what is not there.")
        for _ in range(accum):
            data = made_up(self.samples, batch, self.o, DEVICE)
            with torch.autocast(self.o.device, dtype=torch.bfloat16, enabled=ON_GPU):
                loss = self.model(data[:, :-1], data[:, 1:])
            (loss / accum).backward()
            self.samples += batch
        self.optimizer.step()
        self.optimizer.zero_grad(set_to_none=True)
        self.steps += 1
        value = loss.item()  # waits for the GPU
        if self.o.pause_ms:
            time.sleep(1e-3 * self.o.pause_ms)
        return time.monotonic_ns() - begun_ns, value


def report(**values):
    path = os.environ.get("POLLUX_REPORT_SOCKET")
    if path:
        lines = "".join(f"{key}={value}\n" for key, value in values.items())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as s:
            s.setblocking(False)
            try:
                s.sendto(lines.encode(), path)
            except OSError:
                pass


def train(o):
    t = Training(o)
    directory = os.environ.get("POLLUX_CHECKPOINT_DIR", "")
    path = os.path.join(directory, "gpt.pt")
    if directory and os.path.exists(path):
        state = torch.load(path, map_location=DEVICE)
        t.model.load_state_dict(state["model"])
        t.optimizer.load_state_dict(state["optimizer"])
        t.samples, t.steps = state["samples"], state["steps"]
        print(f"resumed samples {t.samples}", flush=True)

    def save():
        os.makedirs(directory, exist_ok=True)
        torch.save(
            {
                "model": t.model.state_dict(),
                "optimizer": t.optimizer.state_dict(),
                "samples": t.samples,
                "steps": t.steps,
            },
            path + ".new",
        )
        os.replace(path + ".new", path)
        report(CHECKPOINT=path, SAMPLES=t.samples)
        print(f"saved samples {t.samples} at {time.time():.3f}", flush=True)

    n, computed_ns, counted = 0, 0, []
    loss = float("nan")
    while t.samples < o.samples and not stopping:
        span_ns, loss = t.update(o.batch, o.accum)
        n += 1
        computed_ns += span_ns
        if n == 1:
            print(f"first step at {time.time():.3f}", flush=True)
        if n > o.warm_up:
            counted.append(span_ns)
        report(STEP=t.steps, SAMPLES=t.samples, STEP_NS=span_ns, LOSS=f"{loss:.4f}")
    if directory:
        save()
    peak = torch.cuda.max_memory_allocated() if ON_GPU else 0
    mean_s = 1e-9 * statistics.fmean(counted) if counted else 0
    print(
        f"{'stopped' if stopping else 'done'} samples {t.samples} steps {t.steps} loss {loss:.4f} "
        f"step {mean_s:.9f} s computed {1e-9 * computed_ns:.3f} s peak {peak} bytes",
        flush=True,
    )
    return 75 if stopping and t.samples < o.samples else 0


def settle():
    if ON_GPU:
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def measure(o):
    t = Training(o)
    for batch in map(int, o.measure.split(",")):
        settle()
        for _ in range(5):
            t.update(batch, 1)
        begun, spans = time.monotonic(), []
        while len(spans) < 20 or (time.monotonic() - begun < 2 and len(spans) < 300):
            spans.append(t.update(batch, 1)[0])
        print(
            json.dumps(
                {
                    "batch": batch,
                    "step_s": 1e-9 * statistics.median(spans),
                    "sd_s": 1e-9 * statistics.stdev(spans),
                    "n": len(spans),
                    "peak_bytes": torch.cuda.max_memory_allocated() if ON_GPU else None,
                }
            ),
            flush=True,
        )


def bisect(o):
    t = Training(o)
    low, high = map(int, o.bisect.split(":"))  # low fits, high does not
    peak = 0
    while high - low > 1:
        middle = (low + high) // 2
        settle()
        try:
            for _ in range(3):
                t.update(middle, 1)
            low, peak = middle, torch.cuda.max_memory_allocated() if ON_GPU else 0
            print(f"# {middle} fits: {peak} bytes", flush=True)
        except torch.OutOfMemoryError as error:
            high = middle
            t.optimizer.zero_grad(set_to_none=True)
            print(f"# {middle} does not: {str(error).splitlines()[0]}", flush=True)
    print(json.dumps({"fits": low, "too_large": high, "peak_bytes": peak}), flush=True)


if OPTIONS.measure:
    measure(OPTIONS)
elif OPTIONS.bisect:
    bisect(OPTIONS)
else:
    print(f"{Training(OPTIONS).parameters()} parameters", flush=True)
    sys.exit(train(OPTIONS))
