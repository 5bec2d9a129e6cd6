# energy - NVML's total energy, by pollux devices, beside power from nvidia-smi, integrated.
# shows: the two agree to 5 % over half a minute of load
# needs: gpu python
# limit: 90
# takes: 50
import datetime
import importlib.util
import json
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
if not importlib.util.find_spec("torch"):
    command = [kit.TRAIN, "--data", kit.DATA, "--device", "cuda", "--samples", str(10**9)]
load = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
time.sleep(kit.quick(15, 2))  # until it computes

# Rows of the moment and the power, for as long as the energy is looked at.
query = ["nvidia-smi", "--query-gpu=timestamp,power.draw", "--format=csv,noheader,nounits"]
uuid = kit.nvidia_smi("uuid")[0][0]
with open("power.csv", "w") as file:
    reader = subprocess.Popen([*query, "-i", uuid, "-lms", str(PERIOD_MS)], stdout=file)
begun_j, begun_s = energy_j(), time.monotonic()
time.sleep(SPAN_S)
used_j, span_s = energy_j() - begun_j, time.monotonic() - begun_s
time.sleep(1)
reader.terminate()
reader.wait()
load.kill()
load.wait()

readings = []
with open("power.csv") as file:
    for line in file:
        moment, _, watt = line.partition(",")
        try:
            at = datetime.datetime.strptime(moment.strip(), "%Y/%m/%d %H:%M:%S.%f").timestamp()
            readings.append((at, float(watt)))
        except ValueError:
            print("# not a reading:", line.strip())
if not check("readings", len(readings), "of power", len(readings) > 10, "more than 10"):
    sys.exit(1)
joule = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(readings, readings[1:]))
watt = joule / (readings[-1][0] - readings[0][0])
ok("power", watt, "W, mean by nvidia-smi")
ok("energy-nvml", used_j, f"J in {span_s:.1f} s")
ok("energy-integrated", watt * span_s, "J")
off = 100 * (used_j / (watt * span_s) - 1)
goal("energy-off", off, "%", abs(off) <= 5, "5 either way")
