# facts - the machine, its driver, how long they take to answer; NVML's answers, replayed.
# shows: seconds of nvidia-smi and pollux; the stand-in, given NVML's answers, says what NVML says
# needs: gpu python
# limit: 120
# takes: 25
import json
import os
import subprocess
import sys
import time

import kit
from kit import check, ok, skip


def timed(name, command):
    """Its output is the log's; it may hang."""
    print("$", command, flush=True)
    begun_s = time.monotonic()
    try:
        subprocess.run(command, shell=True, stdin=subprocess.DEVNULL, timeout=20)
    except subprocess.TimeoutExpired:
        kit.fail(name, 20, "s and no answer")
        return
    if name:
        ok(name, time.monotonic() - begun_s, "s")


timed("", "date; uname -a; id; nproc; readlink /proc/self/ns/pid; stat -fc %T /sys/fs/cgroup")
timed("", "grep ^Mem /proc/meminfo; ls -l /dev/nvidia*; cat /proc/driver/nvidia/version")
timed("", "ldconfig -p | grep -E 'libcuda\\.|nvidia-ml|cublas|cudart|nvrtc'; which -a python3 nvcc")
timed("nvidia-smi-q", "nvidia-smi -q")
timed("nvidia-smi-L", "nvidia-smi -L")
timed("devices", f"{kit.POLLUX} devices")
timed("devices-again", f"{kit.POLLUX} devices")
timed("doctor", f"{kit.POLLUX} doctor")

# --- what NVML answers, by NVIDIA's own module, then by the stand-in in its place ---

recording = os.path.join(kit.OUT, "recording")
with open(recording, "w") as file:
    recorder = [sys.executable, os.path.join(kit.KIT, "record.py")]
    code = subprocess.run(recorder, stdout=file, timeout=30).returncode
if code:
    skip("recording", "nvidia-ml-py is not here, or lacks something: the log says what")
    sys.exit()
with open(recording) as file:
    ok("recording", len(file.readlines()), "lines")


def said(**environment):
    """What does not change from one moment to the next."""
    environment = {**os.environ, **environment}
    done = subprocess.run(
        [kit.POLLUX, "devices", "--json"], capture_output=True, text=True, env=environment
    )
    document = json.loads(done.stdout)
    fields = "id name kind memory_bytes power_limit_w usable".split()
    gpus = [{f: d[f] for f in fields} for d in document["devices"] if d["id"].startswith("gpu:")]
    return gpus, document["links"], document["gpu_driver"]


library = os.path.join(os.environ["GPU_KIT_BUILD"], "gpu", "nvml_new.so")
there, replayed = said(), said(POLLUX_NVML=library, NVML_STANDIN=recording)
check("replayed", len(replayed[0]), str(replayed), replayed == there, there)
