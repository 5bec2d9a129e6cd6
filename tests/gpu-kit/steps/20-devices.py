# devices - pollux devices --json against nvidia-smi and nvidia-ml-py; a foreign process on the GPU.
# shows: what pollux says of the GPUs is what nvidia-smi and NVML's own Python module say
# needs: gpu python
# limit: 90
# takes: 20
import getpass
import json
import os
import pwd
import subprocess
import sys

import kit
from kit import check, fail, ok, skip, wait_for


def devices():
    return json.loads(kit.pollux("devices", "--json"))


def gpus(document):
    return {
        d["id"].removeprefix("gpu:"): d for d in document["devices"] if d["id"].startswith("gpu:")
    }


# --- what there is ---

document = devices()
print(json.dumps(document, indent=1))
ours = gpus(document)
rows = kit.nvidia_smi(
    "uuid,name,memory.total,power.draw,power.limit,temperature.gpu,mig.mode.current,"
    "driver_version"
)
check(
    "uuid",
    len(ours),
    "GPUs",
    sorted(ours) == sorted(row[0] for row in rows),
    [row[0] for row in rows],
)
ok("driver", rows[0][7].replace(" ", "-"))
if rows[0][7] not in (document["gpu_driver"] or ""):
    fail("driver-of-pollux", "-", document["gpu_driver"])


def near(name, unit, mine, theirs, tolerance):
    theirs = kit.number(theirs)
    if theirs is None:
        check(
            name, mine is None and "null" or mine, unit, mine is None, "null: nvidia-smi has none"
        )
    elif mine is None:
        fail(name, "null", f"{unit} (wanted: {theirs})")
    else:
        check(name, mine, unit, abs(mine - theirs) <= tolerance, f"{theirs} within {tolerance:g}")


for uuid, name, memory, power, limit, temperature, mig, _ in rows:
    d = ours.get(uuid)
    if not d:
        continue
    check("kind", d["kind"].replace(" ", "-"), "", name in d["kind"], name)
    near("memory", "MiB", d["memory_bytes"] / kit.MIB, memory, 1)
    # Idle, and asked for at two moments.
    near("power", "W", d["power_w"], power, 0.3 * (kit.number(power) or 0) + 10)
    near("power-limit", "W", d["power_limit_w"], limit, 1)
    near("temperature", "C", d["temperature_c"], temperature, 5)
    on = mig == "Enabled"
    check("mig", mig.replace("[N/A]", "none"), "", not on or not d["usable"], "not usable with MIG")
    check(
        "usable",
        str(d["usable"]),
        str(d["reason"] or ""),
        d["usable"] or on or d["processes"],
        "usable",
    )

if len(rows) > 1:
    matrix = subprocess.run(["nvidia-smi", "topo", "-m"], capture_output=True, text=True).stdout
    print(matrix)
    theirs = (
        sum(
            line.split()[1 : 1 + len(rows)].count(field)
            for line in matrix.splitlines()
            if line.startswith("GPU")
            for field in set(line.split())
            if field.startswith("NV")
        )
        // 2
    )
    mine = sum(link["link"] == "nvlink" for link in document["links"])
    check("links", mine, "NVLinks between GPUs", mine == theirs, theirs)
else:
    check("links", len(document["links"]), "links", not document["links"], "none: there is one GPU")

# --- NVML by its own Python module ---

try:
    import pynvml
except ImportError:
    pynvml = None
    skip("nvidia-ml-py", "no module pynvml")
if pynvml:
    pynvml.nvmlInit()
    for i in range(pynvml.nvmlDeviceGetCount()):
        h = pynvml.nvmlDeviceGetHandleByIndex(i)
        uuid = pynvml.nvmlDeviceGetUUID(h)
        uuid = uuid.decode() if isinstance(uuid, bytes) else uuid
        d = gpus(devices()).get(uuid)
        if not check("nvml-uuid", uuid, "", d is not None, "a GPU of pollux"):
            continue
        total = pynvml.nvmlDeviceGetMemoryInfo(h).total
        check("nvml-memory", d["memory_bytes"], "bytes", d["memory_bytes"] == total, total)
        theirs = sorted(p.pid for p in pynvml.nvmlDeviceGetComputeRunningProcesses(h))
        mine = sorted(p["pid"] for p in d["processes"])
        check("nvml-processes", len(mine), "processes", mine == theirs, theirs)
        try:
            energy = pynvml.nvmlDeviceGetTotalEnergyConsumption(h) / 1e3
            check(
                "nvml-energy",
                d["energy_j"],
                "J",
                abs(d["energy_j"] - energy) < 5000,
                f"{energy} within 5 kJ",
            )
        except pynvml.NVMLError as error:
            check("nvml-energy", str(d["energy_j"]), "", d["energy_j"] is None, f"null: {error}")

# --- somebody else's process ---

HELD_MIB = 2048
holder = subprocess.Popen(
    [sys.executable, os.path.join(kit.KIT, "hold.py"), str(HELD_MIB)],
    stdout=subprocess.PIPE,
    text=True,
)
said = holder.stdout.readline().strip()
if said != "held":
    skip("foreign", "hold.py: " + (said or f"status {holder.wait()}"))
    holder.kill()
    sys.exit(0)


def foreign():
    return [p for d in gpus(devices()).values() for p in d["processes"] if p["pid"] == holder.pid]


seen = wait_for(foreign, 15)
if check("foreign-pid", holder.pid, "pid", seen, "listed by pollux devices"):
    p = seen[0]
    try:
        me = pwd.getpwuid(os.stat(f"/proc/{holder.pid}").st_uid).pw_name
    except KeyError:
        me = getpass.getuser()
    # In a PID namespace of its own a process does not know whom the driver's numbers mean.
    if os.readlink("/proc/self/ns/pid") == "pid:[4026531836]":
        check("foreign-owner", str(p["owner"]), "", p["owner"] == me, me)
    else:
        check("foreign-owner", str(p["owner"]), "", not p["owner"], "None in a PID namespace")
    theirs = kit.processes_on_gpu().get(holder.pid)
    if theirs is None or p["memory_bytes"] is None:
        skip("foreign-memory", f"nvidia-smi says {theirs}, pollux {p['memory_bytes']}")
    else:
        check(
            "foreign-memory",
            p["memory_bytes"] / kit.MIB,
            "MiB",
            abs(p["memory_bytes"] / kit.MIB - theirs) <= 1,
            f"{theirs} as nvidia-smi has it",
        )
        check(
            "foreign-holds",
            p["memory_bytes"] / kit.MIB,
            "MiB",
            p["memory_bytes"] >= HELD_MIB * kit.MIB,
            f"at least {HELD_MIB}",
        )
    check("foreign-blocks", str(p["blocks"]), "", p["blocks"] is True, "True")

# It is respected: the only GPU is not given out, and the waiting job names it.
if len(rows) == 1 and seen:
    number = kit.submit("--", "true")
    kit.pollux("schedule")
    j = kit.job(number)
    check("foreign-respected", j["state"], "", j["state"] == "queued", "queued")
    check(
        "foreign-named",
        "pid" if f"pid {holder.pid}" in (j["reason"] or "") else "none",
        j["reason"],
        f"pid {holder.pid}" in (j["reason"] or ""),
        "the process in the reason",
    )
    holder.kill()
    holder.wait()

    def done():
        kit.pollux_quietly("schedule")
        return kit.job(number)["state"] == "done"

    wait_for(done, 30, 0.5)
    check("foreign-gone", kit.job(number)["state"], "", kit.job(number)["state"] == "done", "done")
else:
    holder.kill()
