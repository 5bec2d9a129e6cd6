# energy - NVML's total energy, by pollux devices, beside power from nvidia-smi, integrated.
# shows: the two agree to 5 % over half a minute of load
# needs: gpu python
# limit: 90
# takes: 50
import json
import os
import subprocess
import sys
import time

import kit
from kit import check, goal, ok, skip

SPAN_S = kit.quick(30, 5)
PERIOD_MS = 50


def energy_j():
    devices = json.loads(kit.pollux("devices", "--json"))["devices"]
    return [d["energy_j"] for d in devices if d["id"].startswith("gpu:")][0]


if energy_j() is None:
    skip("energy", "this GPU tells no energy")
    sys.exit(0)

# Load: the GPT where PyTorch is there, else the C trainer.
command = kit.gpt("--batch", 64, "--samples", 10**9)
try:
    import torch  # noqa: F401
except ImportError:
    command = [kit.TRAIN, "--data", kit.DATA, "--device", "cuda", "--samples", str(10**9)]
load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(kit.quick(12, 2))  # until it computes
uuid = kit.nvidia_smi("uuid")[0][0]
reader = subprocess.Popen(
    [
        "nvidia-smi",
        "--query-gpu=power.draw",
        "--format=csv,noheader,nounits",
        "-i",
        uuid,
        "-lms",
        str(PERIOD_MS),
    ],
    stdout=subprocess.PIPE,
)
os.set_blocking(reader.stdout.fileno(), False)
begun_j, begun_s = energy_j(), time.monotonic()
joule, watts, rest = 0.0, [], b""
last_s = begun_s
while time.monotonic() - begun_s < SPAN_S:
    time.sleep(0.02)
    rest += reader.stdout.read() or b""
    *lines, rest = rest.split(b"\n")
    for line in lines:
        watt = kit.number(line)
        if watt is None:
            continue
        now_s = time.monotonic()
        joule += watt * (now_s - last_s)
        last_s = now_s
        watts.append(watt)
used_j, span_s = energy_j() - begun_j, time.monotonic() - begun_s
reader.kill()
load.kill()
load.wait()
if not check("readings", len(watts), "of power", len(watts) > 10, "more than 10"):
    sys.exit(1)
joule *= span_s / (last_s - begun_s)  # the end that no reading covers
ok("power", sum(watts) / len(watts), "W by nvidia-smi")
ok("energy-nvml", used_j, f"J in {span_s:.1f} s")
ok("energy-integrated", joule, "J")
off = 100 * (used_j / joule - 1)
goal("energy-off", off, "%", abs(off) <= 5, "5 either way")
