/* test_log_diagnosis.c - the last words of a log. */
#include <unistd.h>

#include "engine/local/run_log.h"
#include "tap.h"

static char path[] = "/tmp/test_log_diagnosis.XXXXXX";
static int fd;

/* A log of these words with so many bytes after them. */
static const char *diagnosis(const char *words, int64_t after, int64_t offset)
{
	const struct log_error *error;

	if (ftruncate(fd, 0) || pwrite(fd, words, strlen(words), 0) < 0 ||
	    ftruncate(fd, (off_t)strlen(words) + after))
		printf("# cannot write\n");
	error = diagnose_log(path, offset);
	if (error && error->out_of_memory != (strstr(error->meaning, "out of memory") != NULL))
		return "the meaning and the flag do not agree";
	return error ? error->meaning : "none";
}

static void test_forms(void)
{
	static const char *const errors[] = {
		"numpy.core._exceptions._ArrayMemoryError: Unable to allocate 8 TiB\n",
		"[rank0]: MemoryError\r\n",
		"terminate called after throwing an instance of 'std::bad_alloc'\n"
		"  what():  std::bad_alloc\n",
		"OSError: [Errno 12] Cannot allocate memory: '/dev/shm/x'\n",
		"./train: fork: Cannot allocate memory\n",
		"fatal: out of memory.",
		"Out of memory\n",
		"RESOURCE_EXHAUSTED: Out of memory while trying to allocate 10 bytes\n",
		"RuntimeError: [enforce fail] . "
		"DefaultCPUAllocator: can't allocate memory: you tried\n",
		"XlaRuntimeError: RESOURCE_EXHAUSTED: Failed to allocate request for 2.00GiB "
		"(2147483648B) on device ordinal 0\n",
		"my.allocator.OutOfMemoryError: pool\n",
	}, *const on_gpu[] = {
		"RuntimeError: CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling\n",
		"RuntimeError: cuDNN error: CUDNN_STATUS_ALLOC_FAILED\n",
		"ncclUnhandledCudaError: Call failed.\nCuda failure 2 'out of memory'\n",
		"cupy.cuda.memory.OutOfMemoryError: Out of memory allocating 8,000,512 bytes\n",
		"allocating 20480.00 MiB on device 0: cudaMalloc failed: out of memory\n",
		"CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
	}, *const others[] = {
		"2026-11-28 10:00:00.0: I tensorflow/cuda.cc:753] CUDA_ERROR_OUT_OF_MEMORY: oh\n",
		"W0000 00:00:1764324000.1 71 gpu.cc:3] CUDA_ERROR_OUT_OF_MEMORY: out of memory\n",
		"RuntimeError: CUDA error: device-side assert triggered\n",
		"    except MemoryError:\n        raise SystemExit(1)\n",
		"this may run out of memory on small machines\n",
		"out of memory: going on with half the batch\n",
		"WARNING: cache: out of memory\n",
		"handles std::bad_alloc by itself\n",
		"grpc status RESOURCE_EXHAUSTED: quota\n",
		"if you see 'Cannot allocate memory', use fewer workers\n",
	};

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		is_str(diagnosis(errors[i], 0, 0), "out of memory",
		       "words of an error in memory are found");
	for (size_t i = 0; i < sizeof(on_gpu) / sizeof(on_gpu[0]); i++)
		is_str(diagnosis(on_gpu[i], 0, 0), "GPU out of memory",
		       "words of libraries about memory of a GPU are found");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		is_str(diagnosis(others[i], 0, 0), "none",
		       "words about memory in another sense are not found");
}

static void test_cuda(void)
{
	static const char *const starts[] = {
		"RuntimeError: No CUDA GPUs are available\n",
		"RuntimeError: CUDA unknown error - this may be due to an incorrectly set up "
		"environment, e.g. changing env variable CUDA_VISIBLE_DEVICES\n",
		"UserWarning: CUDA initialization: CUDA unknown error - this may be due to an "
		"incorrectly set up environment\nAssertionError: no GPU\n",
		"RuntimeError: Unexpected error from cudaGetDeviceCount(). Did you run some cuda "
		"functions. Error 802: system not yet initialized\n",
		"torch.AcceleratorError: CUDA error: CUDA-capable device(s) is/are busy or "
		"unavailable\nCompile with `TORCH_USE_CUDA_DSA`\n",
		"RuntimeError: CUDA error: all CUDA-capable devices are busy or unavailable\n",
		"2026-11-28 10:00:00.000: E external/xla/cuda_driver.cc:265] failed call to "
		"cuInit: CUDA_ERROR_UNKNOWN: unknown error\n",
		"numba.cuda.cudadrv.error.CudaSupportError: Error at driver init: [100] Call to "
		"cuInit results in CUDA_ERROR_NO_DEVICE\n",
		"cupy_backends.CUDARuntimeError: cudaErrorNoDevice: no CUDA-capable device is "
		"detected\n",
		"RuntimeError: Unable to initialize backend 'cuda': FAILED_PRECONDITION: "
		"No visible GPU devices.\n",
		"ggml_cuda_init: failed to initialize CUDA: unknown error\n",
		"NCCL WARN Cuda failure 3 'initialization error'\n",
		"RuntimeError: CUDA error: uncorrectable ECC error encountered\n",
	}, *const others[] = {
		"RuntimeError: The NVIDIA driver on your system is too old (found 11040)\n",
		"RuntimeError: CUDA error: no kernel image is available for execution\n",
		"RuntimeError: CUDA error: invalid device ordinal\n",
		"RuntimeError: CUDA error: device-side assert triggered\n",
		"RuntimeError: Cannot re-initialize CUDA in forked subprocess. To use CUDA with\n",
		"AssertionError: Torch not compiled with CUDA enabled\n",
		"RuntimeError: Found no NVIDIA driver on your system.\n",
		"CUDA driver version is insufficient for CUDA runtime version\n",
		"I0000 00:00:1764324000.1 71 cuda.cc:3] failed call to cuInit: UNKNOWN\n",
	};

	for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
		is_str(diagnosis(starts[i], 0, 0), "CUDA does not start",
		       "words of CUDA that does not start are found");
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		is_str(diagnosis(others[i], 0, 0), "none",
		       "words that another GPU would not mend are not found");
}

static const char *const ports[] = {
	"DistNetworkError: port: 29500, code: -98, name: EADDRINUSE, message: is in use\n",
	"RuntimeError: failed to bind to [::]:29500 (errno: 98 - Address already in use).\n",
	"OSError: [Errno 98] Address already in use\n",
	"zmq.error.ZMQError: Address already in use (addr='tcp://*:5555')\n",
	"listen tcp :8080: bind: address already in use\n",
	"ConnectionError: Tried to launch distributed communication on port `29500`, but another\n",
};

int main(void)
{
	fd = mkstemp(path);
	if (fd < 0)
		return 1;
	is_str(diagnosis("all is well", 0, 0), "none", "a log of good words has no error");
	is_str(diagnosis("CUDA out of memory. Tried", 60000, 0), "GPU out of memory",
	       "sure words far from the end are found");
	is_str(diagnosis("CUDA out of memory. Tried", 66000, 0), "none",
	       "sure words too far from the end are not found");
	is_str(diagnosis("x\nMemoryError\n", 4000, 0), "out of memory",
	       "other words at the end are found");
	is_str(diagnosis("caught MemoryError, went on\n", 9000, 0), "none",
	       "other words with much after them are not found");
	is_str(diagnosis("MemoryError\n", 100, 50), "none", "words of another run are not found");
	is_str(diagnosis("MemoryError\n", 0, 5000), "out of memory",
	       "words in a log that was begun anew are found");
	test_forms();
	test_cuda();
	is_str(diagnosis("[rank1]:[E1128 ProcessGroupNCCL.cpp:607] [Rank 1] Watchdog caught "
			 "collective operation timeout: WorkNCCL(SeqNum=42)\nAborted\n", 0, 0),
	       "NCCL: a collective operation timed out",
	       "a collective operation that timed out is found");
	is_str(diagnosis("ValueError: Free memory on device (3.1/23.64 GiB) on startup is less "
			 "than desired GPU memory utilization (0.9, 21.28 GiB).\n", 0, 0),
	       "too little GPU memory was free", "memory of a GPU that vLLM found full is found");
	for (size_t i = 0; i < sizeof(ports) / sizeof(ports[0]); i++)
		is_str(diagnosis(ports[i], 0, 0),
		       "its port was in use; {port} in its command is a port of its own",
		       "a port that is in use is found");
	is_str(diagnosis("Port 6006 is already in use, trying 6007\nKeyError: 1\n", 0, 0), "none",
	       "a port in use for which another was found is no error");
	is_str(diagnosis("[Errno 28] No space left on device\n", 0, 0), "disk full",
	       "a full disk is found");
	is_str(diagnose_log("/nowhere/1.log", 0) ? "some" : "none", "none",
	       "a log that is not there has no error");
	close(fd);
	unlink(path);
	return done();
}
