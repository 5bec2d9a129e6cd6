"""hold.py MIB - somebody else's process: takes that much memory of the GPU, says "held", and stays.

It asks CUDA's runtime itself, so PyTorch need not be there. Where something stands in for the GPU,
it says so there (GPU_KIT_STANDIN_HELD, a directory).
"""

import ctypes
import os
import sys
import time

mib = int(sys.argv[1])
standin = os.environ.get("GPU_KIT_STANDIN_HELD")
if standin:
    with open(os.path.join(standin, str(os.getpid())), "w") as file:
        file.write(f"{mib + 450}\n")
else:
    import cudart

    cuda = cudart.Runtime()
    memory = cuda.malloc(mib * 2**20)
    cuda.call("cudaMemset", ctypes.c_void_p(memory), 1, ctypes.c_size_t(mib * 2**20))
    cuda.call("cudaDeviceSynchronize")
print("held", flush=True)
time.sleep(600)
