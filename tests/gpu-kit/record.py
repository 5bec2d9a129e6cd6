"""record.py - what NVML answers here, in the words of the stand-in for it (tests/gpu/standin.h).

It asks by nvidia-ml-py, NVIDIA's own module, which shares no declaration with pollux. Names and
numbers of processes are in it, so look before you publish one.
"""

import time

import pynvml as n

NOT_SUPPORTED = 3  # what the stand-in answers where it has no line


def ask(function, *arguments):
    """Its answer and its code: one of them is None."""
    try:
        return function(*arguments), None
    except n.NVMLError as error:
        return None, error.value


def first(*questions):
    """The answer of the first that this driver has."""
    for function, *arguments in questions:
        value, code = ask(function, *arguments)
        if code not in (13, 26):  # not found; deprecated
            break
    return value, code


def mib(size):
    return "?" if size is None else f"{size / 2**20:.15g}"


def line(key, answer, text=str):
    value, code = answer
    if code is None:
        print(key, text(value))
    elif code != NOT_SUPPORTED or key in ("memory", "processes", "samples"):
        print("answer", key, code)


def describe(gpu, others):
    uuid, name = n.nvmlDeviceGetUUID(gpu), n.nvmlDeviceGetName(gpu)
    print("gpu", uuid, name)
    line("pci", ask(n.nvmlDeviceGetPciInfo, gpu), lambda p: f"{p.domain:x}:{p.bus:x}:{p.device:x}")
    memory = ask(n.nvmlDeviceGetMemoryInfo, gpu)
    line("memory", memory, lambda m: f"{mib(m.total)} {mib(m.free)}")
    line("rates", ask(n.nvmlDeviceGetUtilizationRates, gpu), lambda r: str(r.gpu))
    temperature = (n.nvmlDeviceGetTemperatureV, gpu, 0), (n.nvmlDeviceGetTemperature, gpu, 0)
    line("temperature", first(*temperature))
    line("power", ask(n.nvmlDeviceGetPowerUsage, gpu))
    line("limit", ask(n.nvmlDeviceGetEnforcedPowerLimit, gpu))
    line("energy", ask(n.nvmlDeviceGetTotalEnergyConsumption, gpu))
    slowed = n.nvmlDeviceGetCurrentClocksEventReasons, n.nvmlDeviceGetCurrentClocksThrottleReasons
    line("slowed", first(*((function, gpu) for function in slowed)))
    line("mig", ask(n.nvmlDeviceGetMigMode, gpu), lambda modes: str(modes[0]))
    line("persistence", ask(n.nvmlDeviceGetPersistenceMode, gpu))
    line("compute", ask(n.nvmlDeviceGetComputeMode, gpu))
    samples, code = ask(n.nvmlDeviceGetProcessUtilization, gpu, int((time.time() - 10) * 1e6))
    if code not in (None, 6):  # 6: no process computed
        print("answer samples", code)
    percents = {s.pid: s.smUtil for s in samples or ()}
    for key, function in (
        ("process", n.nvmlDeviceGetComputeRunningProcesses),
        ("mps", n.nvmlDeviceGetMPSComputeRunningProcesses),
    ):
        processes, code = ask(function, gpu)
        if code is not None and key == "process":
            print("answer processes", code)
        for p in processes or ():
            percent = [percents[p.pid]] if p.pid in percents else []
            print(key, p.pid, mib(p.usedGpuMemory), *percent)
    for i, other in others:
        line(f"ancestor {i}", ask(n.nvmlDeviceGetTopologyCommonAncestor, gpu, other))
        if ask(n.nvmlDeviceGetP2PStatus, gpu, other, n.NVML_P2P_CAPS_INDEX_NVLINK)[0] == 0:
            print("nvlink", i)


begun_s = time.perf_counter()
code = ask(n.nvmlInit)[1]
print(f"# initialized in {1e3 * (time.perf_counter() - begun_s):.0f} ms")
if code is not None:
    print("init", code)
else:
    print("driver", n.nvmlSystemGetDriverVersion())
    gpus = [n.nvmlDeviceGetHandleByIndex(i) for i in range(n.nvmlDeviceGetCount())]
    for i, gpu in enumerate(gpus):
        describe(gpu, [(k, other) for k, other in enumerate(gpus) if k != i])
