"""record.py - what NVML answers here, in the words of the stand-in for it (tests/gpu/standin.h).

It asks by nvidia-ml-py, NVIDIA's own module, which shares no declaration with pollux. Names and
numbers of processes are in it, so look before you publish one.
"""

import time

import pynvml as n

NOT_SUPPORTED = 3  # what the stand-in answers where it has no line
NO_SAMPLE, NOT_FOUND, DEPRECATED = 6, 13, 26


def ask(name, *arguments):
    """Its answer and its code: one of them is None."""
    function = getattr(n, "nvml" + name, None)
    try:
        return (None, NOT_FOUND) if function is None else (function(*arguments), None)
    except n.NVMLError as error:
        return None, error.value


def first(names, *arguments):
    """The answer of the first that this driver has."""
    for name in names.split():
        value, code = ask(name, *arguments)
        if code not in (NOT_FOUND, DEPRECATED):
            break
    return value, code


def mib(size):
    return "?" if size is None else f"{size / 2**20:.15g}"


def line(key, answer, text=str):
    value, code = answer
    if code is None:
        print(key, text(value))
    elif code not in (NOT_SUPPORTED, NOT_FOUND) or key == "memory":
        print("answer", key, code)


def describe(gpu, others):
    print("gpu", ask("DeviceGetUUID", gpu)[0], ask("DeviceGetName", gpu)[0])
    line("pci", ask("DeviceGetPciInfo", gpu), lambda p: f"{p.domain:x}:{p.bus:x}:{p.device:x}")
    memory = ask("DeviceGetMemoryInfo", gpu)
    line("memory", memory, lambda m: f"{mib(m.total)} {mib(m.free)}")
    line("rates", ask("DeviceGetUtilizationRates", gpu), lambda r: str(r.gpu))
    line("temperature", first("DeviceGetTemperatureV DeviceGetTemperature", gpu, 0))
    line("power", ask("DeviceGetPowerUsage", gpu))
    line("limit", ask("DeviceGetEnforcedPowerLimit", gpu))
    line("energy", ask("DeviceGetTotalEnergyConsumption", gpu))
    reasons = "DeviceGetCurrentClocksEventReasons DeviceGetCurrentClocksThrottleReasons"
    line("slowed", first(reasons, gpu))
    line("mig", ask("DeviceGetMigMode", gpu), lambda modes: str(modes[0]))
    line("persistence", ask("DeviceGetPersistenceMode", gpu))
    line("compute", ask("DeviceGetComputeMode", gpu))
    line("display", ask("DeviceGetDisplayMode", gpu))
    line("drawn", ask("DeviceGetDisplayActive", gpu))
    samples, code = ask("DeviceGetProcessUtilization", gpu, int((time.time() - 10) * 1e6))
    if code not in (None, NO_SAMPLE):
        print("answer samples", code)
    percents = {s.pid: s.smUtil for s in samples or ()}
    for key, name in (("process", "Compute"), ("mps", "MPSCompute")):
        processes, code = ask(f"DeviceGet{name}RunningProcesses", gpu)
        if code is not None and key == "process":
            print("answer processes", code)
        for p in processes or ():
            percent = [percents[p.pid]] if p.pid in percents else []
            print(key, p.pid, mib(p.usedGpuMemory), *percent)
    for i, other in others:
        line(f"ancestor {i}", ask("DeviceGetTopologyCommonAncestor", gpu, other))
        if ask("DeviceGetP2PStatus", gpu, other, n.NVML_P2P_CAPS_INDEX_NVLINK)[0] == 0:
            print("nvlink", i)


begun_s = time.perf_counter()
code = ask("Init")[1]
print(f"# initialized in {1e3 * (time.perf_counter() - begun_s):.0f} ms")
if code is not None:
    print("init", code)
else:
    print("driver", ask("SystemGetDriverVersion")[0])
    gpus = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount())]
    for i, gpu in enumerate(gpus):
        describe(gpu, [(k, other) for k, other in enumerate(gpus) if k != i])
