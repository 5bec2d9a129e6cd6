# suspend - GPU memory goes to the host's and back, by cuCheckpointProcess.
# shows: seconds per GiB both ways, memory that is free meanwhile, a program that comes back right
# needs: gpu python
# limit: 180
# takes: 25
import json
import subprocess

import kit
from kit import check, fail, goal, ok, skip

GIB = 2**30
# gpusched, a process manager, on an H100 PCIe: 1,442 MB out in 0.609 s, back in 0.427 s
PEER_OUT, PEER_BACK = 1442e6 / 0.609, 1442e6 / 0.427

# --- the self-test: pollux's own program is frozen, stopped, continued, thawed ---

before = kit.processes_on_gpu()
done = subprocess.run(
    [kit.POLLUX, "devices", "--self-test", "--json"], capture_output=True, text=True
)
print(done.stdout, done.stderr, f"-> {done.returncode}", sep="\n", flush=True)
tested = json.loads(done.stdout)["devices"] if done.stdout else []
check("self-test", done.returncode, "status", done.returncode == 0, "0")
if not tested:
    fail("tested", 0, "GPUs: " + done.stderr.strip())
for device in tested:
    name = device["name"].replace(":", "")
    passed = device["passed"]
    if not check(f"{name}-passed", str(passed), device["reason"] or "", passed, "True"):
        continue
    released = device["released_bytes"]
    goal(
        f"{name}-released",
        round(released / 2**20),
        "MiB",
        released >= 0.9 * device["bytes"],
        f"{device['bytes'] >> 20}",
    )
    ok(f"{name}-driver-start", device["start_s"], "s")
    ok(f"{name}-lock", device["lock_s"], "s")
    ok(f"{name}-out", (device["lock_s"] + device["save_s"]) * GIB / released, "s/GiB")
    ok(f"{name}-back", (device["restore_s"] + device["unlock_s"]) * GIB / released, "s/GiB")
    goal(
        f"{name}-out-rate",
        device["freeze_bytes_per_s"] / 1e9,
        "GB/s",
        device["freeze_bytes_per_s"] > PEER_OUT,
        f"above {PEER_OUT / 1e9:.2f}, gpusched on an H100",
    )
    goal(
        f"{name}-back-rate",
        device["thaw_bytes_per_s"] / 1e9,
        "GB/s",
        device["thaw_bytes_per_s"] > PEER_BACK,
        f"above {PEER_BACK / 1e9:.2f}, gpusched on an H100",
    )

# Nothing of it stays: by nvidia-smi, which knows nothing of pollux.
gone = kit.free_of_ours(before, 20)
check("left-on-the-GPU", "nothing" if gone else "something", "", gone, "nothing")

# --- jobs ---
skip("jobs", "pollux freezes no jobs yet")
