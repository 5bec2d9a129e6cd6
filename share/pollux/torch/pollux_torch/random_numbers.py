"""The state of the random numbers of a process: Python's, NumPy's and PyTorch's."""

import random
import sys


def state():
    """All states, as Lightning and torch.save() can store them."""
    result = {"python": random.getstate()}
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if numpy is not None:
        result["numpy"] = numpy.random.get_state()
    if torch is not None:
        result["torch"] = torch.get_rng_state()
        if torch.cuda.is_available() and torch.cuda.is_initialized():
            result["cuda"] = torch.cuda.get_rng_state_all()
    return result


def restore(states):
    random.setstate(states["python"])
    numpy, torch = sys.modules.get("numpy"), sys.modules.get("torch")
    if "numpy" in states and numpy is not None:
        numpy.random.set_state(states["numpy"])
    if "torch" in states and torch is not None:
        torch.set_rng_state(states["torch"])
    if "cuda" in states and len(states["cuda"]) == torch.cuda.device_count():
        torch.cuda.set_rng_state_all(states["cuda"])
