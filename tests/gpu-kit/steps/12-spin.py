# spin - does a GPU become free when the process that uses it is stopped?
# shows: SIGSTOP frees it of queued kernels, not of one that waits for the host, as NCCL's do
# needs: gpu python
# limit: 90
# takes: 30
import ctypes
import os
import signal
import subprocess
import sys
import time

import kit
from kit import check, goal, ok, skip

WORDS, THREADS = kit.quick(1 << 26, 1 << 20), 256
HEAD = ".version 6.3\n.target sm_50\n.address_size 64\n.visible .entry "
# Each thread changes one word.
MIX = HEAD + """pollux_mix(.param .u64 words, .param .u32 count, .param .u32 rounds)
{ .reg .pred %p<2>; .reg .b32 %r<9>; .reg .b64 %rd<5>;
ld.param.u64 %rd1, [words]; ld.param.u32 %r1, [count];
mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;
mad.lo.u32 %r6, %r3, %r4, %r5; setp.ge.u32 %p1, %r6, %r1; @%p1 bra DONE;
cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r6, 4; add.u64 %rd4, %rd2, %rd3;
ld.global.u32 %r7, [%rd4]; mad.lo.u32 %r7, %r7, 1664525, 1013904223; st.global.u32 [%rd4], %r7;
DONE: ret; }"""
# Each thread waits until the host changes a word of its memory.
WAIT = HEAD + """pollux_wait(.param .u64 flag)
{ .reg .pred %p<2>; .reg .b32 %r<2>; .reg .b64 %rd<3>;
ld.param.u64 %rd1, [flag]; cvta.to.global.u64 %rd2, %rd1;
AGAIN: ld.volatile.global.u32 %r1, [%rd2]; setp.eq.u32 %p1, %r1, 0; @%p1 bra AGAIN;
ret; }"""


class Cuda:
    """CUDA's driver by ctypes, with a context on the first GPU."""

    def __init__(self):
        self.library = ctypes.CDLL("libcuda.so.1")
        self.call("cuInit", 0)
        device = ctypes.c_int()
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuCtxSetCurrent", self.made("cuDevicePrimaryCtxRetain", device))

    def call(self, name, *arguments):
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            raise RuntimeError(f"{name}: error {code}")

    def made(self, name, *arguments):
        made = ctypes.c_void_p()
        self.call(name, ctypes.byref(made), *arguments)
        return made

    def kernel(self, text, name):
        module = self.made("cuModuleLoadData", text.encode())
        return self.made("cuModuleGetFunction", module, name.encode())

    def launch(self, kernel, blocks, threads, *arguments):
        places = (ctypes.c_void_p * len(arguments))(*map(ctypes.addressof, arguments))
        self.call("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, None, places, None)

    def mixer(self):
        kernel = self.kernel(MIX, "pollux_mix")
        words = self.made("cuMemAlloc_v2", ctypes.c_size_t(4 * WORDS))
        arguments = words, ctypes.c_uint32(WORDS), ctypes.c_uint32(1)
        return lambda: self.launch(kernel, WORDS // THREADS, THREADS, *arguments)

    def wait(self):
        self.call("cuCtxSynchronize")


def child(kind):
    cuda = Cuda()
    if kind == "waits":
        flag = cuda.made("cuMemHostAlloc", ctypes.c_size_t(4), 3)  # portable, mapped
        ctypes.memset(flag, 0, 4)
        at = cuda.made("cuMemHostGetDevicePointer_v2", flag, 0)
        cuda.launch(cuda.kernel(WAIT, "pollux_wait"), 132, 128, at)
        print("ready", flush=True)
        time.sleep(600)
    mix = cuda.mixer()
    print("ready", flush=True)
    while True:
        for _ in range(50):  # queued, not waited for
            mix()
        cuda.wait()


if len(sys.argv) > 1:
    child(sys.argv[1])

before = kit.processes_on_gpu()
cuda = Cuda()
mix = cuda.mixer()


def mine_ms():
    cuda.wait()
    begun_s = time.monotonic()
    for _ in range(20):
        mix()
    cuda.wait()
    return 1e3 * (time.monotonic() - begun_s) / 20


def busy():
    return kit.number(kit.nvidia_smi("utilization.gpu")[0][0])


mine_ms()
alone_ms = mine_ms()
ok("alone", alone_ms, "ms, a kernel of this process")
ours = {*before, os.getpid()}
for kind, name in (("queues", "queue"), ("waits", "wait")):
    other = subprocess.Popen([sys.executable, __file__, kind], stdout=subprocess.PIPE, text=True)
    if other.stdout.readline() != "ready\n":
        skip(name, f"a process that {kind} does not start: status {other.wait()}")
        continue
    time.sleep(1)
    ok(f"{name}-runs", mine_ms(), f"ms beside it; the GPU is {busy()} % busy")
    os.kill(other.pid, signal.SIGSTOP)
    readings = []
    for _ in range(kit.quick(6, 2)):
        time.sleep(0.5)
        readings.append((busy(), mine_ms()))
        print("# stopped:", readings[-1], flush=True)
    percent, ms = readings[-1]
    text = f"ms beside it, stopped; the GPU is {percent} % busy"
    if name == "queue":
        goal("queue-stopped", ms, text, ms < 1.3 * alone_ms, "as fast as alone")
    else:
        ok("wait-stopped", ms, text)
    other.kill()
    other.wait()
    begun_s = time.monotonic()
    gone = kit.free_of_ours(ours, 15)
    check(f"{name}-gone", time.monotonic() - begun_s, "s after SIGKILL", gone, "no longer listed")
