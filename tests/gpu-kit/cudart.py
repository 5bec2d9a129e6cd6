"""cudart.py - CUDA's runtime by ctypes: a witness that shares no code with pollux."""

import ctypes
import glob
import os
import sys


def find():
    """The library, where the linker, the toolkit or a wheel of PyTorch's has it."""
    names = [f"libcudart.so.{v}" for v in ("13", "12", "14", "11.0")]
    places = [""] + [
        os.path.join(d, "lib64", "")
        for d in (os.environ.get("CUDA_HOME", ""), "/usr/local/cuda")
        if d
    ]
    for name in names:
        for place in places:
            try:
                return ctypes.CDLL(place + name)
            except OSError:
                pass
    for path in sys.path:
        for file in glob.glob(os.path.join(path, "nvidia", "*", "lib", "libcudart.so.*")):
            return ctypes.CDLL(file)
    raise OSError("no libcudart: neither where the linker looks nor in a toolkit")


DEVICE_TO_DEVICE, HOST_TO_DEVICE, DEVICE_TO_HOST = 3, 1, 2


class Runtime:
    def __init__(self):
        self.library = find()
        self.call("cudaSetDevice", 0)

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: error {code}")

    def malloc(self, n_bytes, function="cudaMalloc"):
        at = ctypes.c_void_p()
        self.call(function, ctypes.byref(at), ctypes.c_size_t(n_bytes))
        return at.value

    def handle(self, function, *arguments):
        made = ctypes.c_void_p()
        self.call(function, ctypes.byref(made), *arguments)
        return made

    def copies_s(self, to, source, n_bytes, kind, n):
        """Seconds that each of n copies takes, one after the other in a stream."""
        stream = self.handle("cudaStreamCreateWithFlags", 1)
        begun, ended = self.handle("cudaEventCreate"), self.handle("cudaEventCreate")
        time_ms = ctypes.c_float()
        best = float("inf")
        for _ in range(4):  # the first warms up
            self.call("cudaEventRecord", begun, stream)
            for _ in range(n):
                self.call(
                    "cudaMemcpyAsync",
                    ctypes.c_void_p(to),
                    ctypes.c_void_p(source),
                    ctypes.c_size_t(n_bytes),
                    kind,
                    stream,
                )
            self.call("cudaEventRecord", ended, stream)
            self.call("cudaEventSynchronize", ended)
            self.call("cudaEventElapsedTime", ctypes.byref(time_ms), begun, ended)
            best = min(best, time_ms.value / 1e3 / n)
        return best
