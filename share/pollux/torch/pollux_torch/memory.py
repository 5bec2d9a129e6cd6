"""Peaks of the allocator of GPUs, and allocations that failed."""

import atexit
import re
import sys
import time

LOOK_EVERY_S = 5
CPU_MESSAGE = "DefaultCPUAllocator: "
UNITS = {"bytes": 1, "B": 1, "KiB": 2**10, "MiB": 2**20, "GiB": 2**30, "TiB": 2**40}


class Memory:
    def __init__(self, helper, torch, steps):
        self.helper = helper
        self.torch = torch
        self.steps = steps
        self.due = 0.0
        self.failures = 0  # failed allocations on GPUs that were reported
        steps.extras.append(helper.guard("memory.peak", self.peak))
        atexit.register(helper.guard("memory.exit", self.at_exit))

    def peak(self):
        """Adds the peak on GPUs to a report now and then. Does not wait for a GPU."""
        cuda = self.torch.cuda
        now = time.monotonic()
        if now < self.due or not cuda.is_initialized():
            return None
        self.due = now + LOOK_EVERY_S
        peaks, failures = [0], 0
        for device in range(cuda.device_count()):
            peaks.append(cuda.max_memory_reserved(device))
            failures += cuda.memory_stats(device).get("num_ooms", 0)
        if failures > self.failures:  # and the program went on
            self.failures = failures
            self.out_of_memory(0)
        return {"PEAK_BYTES": max(peaks) or None}

    def at_exit(self):
        """Looks at the error that ended the program, which is in sys.last_value at this time."""
        error = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        seen = set()
        while error is not None and id(error) not in seen:
            seen.add(id(error))
            if self.is_out_of_memory(error):
                return self.out_of_memory(bytes_in(str(error)))
            error = error.__cause__ or error.__context__
        return None

    def is_out_of_memory(self, error):
        on_gpu = getattr(self.torch.cuda, "OutOfMemoryError", None)
        if on_gpu is not None and isinstance(error, on_gpu):
            return True
        text = str(error)
        return isinstance(error, RuntimeError) and CPU_MESSAGE in text and "memory" in text

    def out_of_memory(self, wanted):
        values = {"OUT_OF_MEMORY": wanted}
        cuda = self.torch.cuda
        if cuda.is_initialized():
            device = cuda.current_device()
            values["PEAK_BYTES"] = cuda.max_memory_reserved(device)
            values["LIMIT_BYTES"] = cuda.get_device_properties(device).total_memory
        self.helper.reporter.send(values)


def bytes_in(message):
    """The size in 'Tried to allocate 2.50 GiB' or 'you tried to allocate 4000 bytes'; else 0."""
    found = re.search(r"[Tt]ried to allocate ([0-9.]+) ?([KMGT]iB|bytes|B)", message)
    return int(float(found.group(1)) * UNITS[found.group(2)]) if found else 0
