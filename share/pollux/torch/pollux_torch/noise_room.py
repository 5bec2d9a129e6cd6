"""Room for a second set of gradients, looked up before it is needed."""

CPU_SMALL = 64 << 20  # bytes; fewer are not worth a look
SPARE = 1.25  # the extra backward also needs memory of its own


def has_room(torch, parameters):
    """True if copies of all gradients fit beside the peak of the program so far."""
    need = {}
    for p in parameters:
        need[p.device] = need.get(p.device, 0) + p.numel() * p.element_size()
    return all(device_has_room(torch, device, SPARE * n) for device, n in need.items())


def device_has_room(torch, device, need):
    if device.type == "cuda":
        free, _ = torch.cuda.mem_get_info(device)
        unused = torch.cuda.memory_reserved(device) - torch.cuda.max_memory_allocated(device)
        return need <= free + max(0, unused)
    if device.type == "cpu" and need > CPU_SMALL:
        return 2 * need <= available_bytes()
    return True


def available_bytes():
    """Memory that Linux can hand out without swapping; endless if it does not say."""
    try:
        with open("/proc/meminfo", "rb") as file:
            for line in file:
                if line.startswith(b"MemAvailable:"):
                    return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    return 1 << 62
