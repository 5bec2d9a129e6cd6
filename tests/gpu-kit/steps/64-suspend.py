# suspend - GPU memory goes to the host's and back, by cuCheckpointProcess.
# shows: seconds per GiB both ways, memory that is free meanwhile, a program that comes back right
# needs: gpu python
# limit: 300
# takes: 60
import json
import os
import re
import shutil
import subprocess
import tempfile

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

# By another user: what is found is written down, as freezing may be root's alone.
NOBODY = 65534
if os.geteuid():
    skip("of-a-user", "this is not root, which may become another user")
else:
    home = tempfile.mkdtemp()
    programs = [p for p in (kit.POLLUX, os.path.dirname(kit.POLLUX) + "/lib") if os.path.exists(p)]
    subprocess.run(["cp", "-r", *programs, home], check=True)
    subprocess.run(["chown", "-R", str(NOBODY), home], check=True)
    environment = {**os.environ, "HOME": home, "POLLUX_DIR": home + "/store"}
    user = subprocess.run(
        [home + "/pollux", "devices", "--self-test"],
        **dict(user=NOBODY, group=NOBODY, extra_groups=[], cwd=home, env=environment),
        **dict(capture_output=True, text=True),
    )
    print(user.stdout, user.stderr, sep="\n", flush=True)
    ok("of-a-user", user.returncode, "status: " + " ".join((user.stdout + user.stderr).split()))
    shutil.rmtree(home)

# Nothing of it stays: by nvidia-smi, which knows nothing of pollux.
gone = kit.free_of_ours(before, 20)
check("left-on-the-GPU", "nothing" if gone else "something", "", gone, "nothing")

# --- jobs that save nothing take turns ---

why = subprocess.run([kit.sys.executable, "-c", "import torch"], capture_output=True).returncode
if done.returncode or why:
    skip("jobs", "the self-test did not pass" if done.returncode else "no PyTorch")
    kit.sys.exit()
SLICE_S = kit.quick(10, 2)
os.environ.update(POLLUX_POLICY="las", POLLUX_SLICE=f"{SLICE_S}s")
os.environ.pop("POLLUX_SLOTS", None)
SAMPLES = kit.quick(kit.short(16000, 6000), 1200)
numbers = [
    kit.submit(
        *("--suspend", "always", "--no-torch", "--"),
        *kit.plain("--samples", SAMPLES, "--batch", 8, small=["--pause-ms", "20"]),
    )
    for _ in range(2)
]
if not kit.watch_until_over(kit.quick(120, 120), 0.5):
    fail("jobs", "-", "they did not end in time")
losses = []
for number in numbers:
    j = json.loads(kit.pollux_quietly("status", str(number), "--json"))["jobs"][0]
    text = kit.log(number)
    print(text)
    told = [e["text"] for e in j["details"]["events"] if e["kind"] in ("freeze", "suspended")]
    print("\n".join(told), flush=True)
    check(f"job{number}", j["state"], "", j["state"] == "done", "done")
    check(f"job{number}-runs", len(j["details"]["runs"]), "", len(j["details"]["runs"]) == 1, 1)
    ok(f"job{number}-turns", sum("kept" in t for t in told))
    moves = sum("went to" in t for t in told)
    goal(f"job{number}-moves", moves, "", moves > 0, "one at least")
    losses += re.findall(r"^done samples \d+ loss (\S+)", text, re.M)
# Alike from the same seed: what came back is what left.
alike = len(losses) == 2 and abs(float(losses[0]) - float(losses[1])) < 0.02 * float(losses[0])
check("jobs-losses", "-".join(losses), "", alike, "alike")
