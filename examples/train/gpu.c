/* gpu.c - CUDA's calls, and what is said when one fails. */
#include "gpu.h"

#ifdef TRAIN_CUDA
#include "kernels.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum { BLOCK = 256 };                    /* threads */

static const char *const kernel_names[] = {
#define KERNEL_NAME(name) #name,
	GPU_KERNELS(KERNEL_NAME)
};

/* CUDA's driver has addresses as integers. */
_Static_assert(sizeof(CUdeviceptr) == sizeof(void *), "an address of a GPU fits a pointer");

static CUdeviceptr address(const void *memory)
{
	return (CUdeviceptr)(uintptr_t)memory;
}

static void *pointer(CUdeviceptr address_of_it)
{
	void *memory;

	memcpy(&memory, &address_of_it, sizeof(memory));
	return memory;
}

static const char *text_of(CUresult status)
{
	const char *text = NULL;

	cuda.cuGetErrorString(status, &text);
	return text ? text : "unknown error";
}

static void note(struct gpu *gpu, CUresult status, const char *what)
{
	if (status != CUDA_SUCCESS)
		failure_set(gpu->failure, EX_OSERR, "cannot %s GPU %d: %s", what, gpu->number,
			    text_of(status));
}

static void note_blas(struct gpu *gpu, cublasStatus_t status)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		failure_set(gpu->failure, EX_OSERR, "cannot multiply on GPU %d: %s", gpu->number,
			    cuda.cublasGetStatusString(status));
}

/* While it is being opened: the GPU, or its memory, is not to be had. */
static void must(const struct gpu *gpu, CUresult status, const char *what)
{
	if (status != CUDA_SUCCESS)
		die(EX_UNAVAILABLE, "cannot %s GPU %d: %s", what, gpu->number, text_of(status));
}

static int capability_of(const struct gpu *gpu)
{
	int major = 0, minor = 0;

	must(gpu, cuda.cuDeviceGetAttribute(&major,
			CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, gpu->device), "look at");
	must(gpu, cuda.cuDeviceGetAttribute(&minor,
			CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, gpu->device), "look at");
	return 10 * major + minor;
}

/* Compiled once for all GPUs of a kind, which takes a few tenths of a second. */
static const char *code_for(int capability)
{
	static int compiled_for;
	static char *code;
	const char *why;
	size_t bytes;

	if (compiled_for == capability)
		return code;
	free(code);
	code = kernels_compile(capability, &bytes, &why);
	if (!code)
		die(EX_UNAVAILABLE, "%s", why);
	compiled_for = capability;
	return code;
}

static void open_blas(struct gpu *gpu, bool tf32)
{
	cublasStatus_t status = cuda.cublasCreate(&gpu->blas);

	if (status == CUBLAS_STATUS_SUCCESS)
		status = cuda.cublasSetStream(gpu->blas, gpu->stream);
	if (status == CUBLAS_STATUS_SUCCESS)
		status = cuda.cublasSetMathMode(gpu->blas, tf32 ? CUBLAS_TF32_TENSOR_OP_MATH :
						CUBLAS_DEFAULT_MATH);
	if (status != CUBLAS_STATUS_SUCCESS)
		die(EX_UNAVAILABLE, "cannot start cuBLAS on GPU %d: %s", gpu->number,
		    cuda.cublasGetStatusString(status));
}

void gpu_open(struct gpu *gpu, int number, bool tf32, struct failure *failure)
{
	*gpu = (struct gpu){ .number = number, .failure = failure };
	must(gpu, cuda.cuDeviceGet(&gpu->device, number), "find");
	must(gpu, cuda.cuDevicePrimaryCtxRetain(&gpu->context, gpu->device), "open");
	must(gpu, cuda.cuCtxSetCurrent(gpu->context), "use");
	must(gpu, cuda.cuStreamCreate(&gpu->stream, CU_STREAM_NON_BLOCKING), "open a stream on");
	must(gpu, cuda.cuModuleLoadData(&gpu->module, code_for(capability_of(gpu))),
	     "load the kernels on");
	for (int k = 0; k < N_KERNELS; k++)
		must(gpu, cuda.cuModuleGetFunction(&gpu->kernels[k], gpu->module, kernel_names[k]),
		     "find a kernel on");
	open_blas(gpu, tf32);
}

void gpu_close(struct gpu *gpu)
{
	gpu_use(gpu);
	cuda.cublasDestroy(gpu->blas);
	cuda.cuModuleUnload(gpu->module);
	cuda.cuStreamDestroy(gpu->stream);
	cuda.cuDevicePrimaryCtxRelease(gpu->device);
}

/* Without it, the driver takes copies through the host's memory. */
void gpu_connect(struct gpu *gpu, const struct gpu *other)
{
	int possible = 0;
	CUresult status = cuda.cuDeviceCanAccessPeer(&possible, gpu->device, other->device);

	gpu_use(gpu);
	if (status == CUDA_SUCCESS && possible)
		cuda.cuCtxEnablePeerAccess(other->context, 0);
}

void gpu_use(const struct gpu *gpu)
{
	cuda.cuCtxSetCurrent(gpu->context);
}

void gpu_wait(struct gpu *gpu)
{
	note(gpu, cuda.cuStreamSynchronize(gpu->stream), "compute on");
}

void *gpu_allocate(struct gpu *gpu, size_t n, size_t size)
{
	CUdeviceptr memory;
	size_t bytes = n * size;
	CUresult status = cuda.cuMemAlloc(&memory, bytes ? bytes : 1);

	if (status != CUDA_SUCCESS)
		die(EX_UNAVAILABLE, "cannot allocate %zu MiB on GPU %d: %s", bytes >> 20,
		    gpu->number, text_of(status));
	gpu_clear(gpu, pointer(memory), bytes);
	return pointer(memory);
}

void gpu_free(struct gpu *gpu, void *memory)
{
	if (memory)
		note(gpu, cuda.cuMemFree(address(memory)), "free memory of");
}

void gpu_clear(struct gpu *gpu, void *memory, size_t bytes)
{
	if (bytes)
		note(gpu, cuda.cuMemsetD8Async(address(memory), 0, bytes, gpu->stream), "clear");
}

void gpu_upload(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
	note(gpu, cuda.cuMemcpyHtoDAsync(address(to), from, bytes, gpu->stream), "copy to");
}

void gpu_download(struct gpu *gpu, void *to, const void *from, size_t bytes)
{
	note(gpu, cuda.cuMemcpyDtoHAsync(to, address(from), bytes, gpu->stream), "copy from");
}

void gpu_copy(struct gpu *gpu, void *to, const struct gpu *other, const void *from,
	      size_t bytes)
{
	note(gpu, cuda.cuMemcpyPeerAsync(address(to), gpu->context, address(from),
					 other->context, bytes, gpu->stream),
	     "copy between GPUs to");
}

void gpu_launch(struct gpu *gpu, enum kernel kernel, size_t n_threads, void **arguments)
{
	unsigned blocks = (unsigned)((n_threads + BLOCK - 1) / BLOCK);

	note(gpu, cuda.cuLaunchKernel(gpu->kernels[kernel], blocks, 1, 1, BLOCK, 1, 1, 0,
				      gpu->stream, arguments, NULL), "start a kernel on");
}

void gpu_multiply(struct gpu *gpu, const struct product *p)
{
	const float one = 1, zero = 0;

	note_blas(gpu, cuda.cublasSgemm(gpu->blas, p->a_op, p->b_op, p->m, p->n, p->k, &one, p->a,
					p->a_rows, p->b, p->b_rows, &zero, p->c, p->m));
}

void gpu_multiply_vector(struct gpu *gpu, const float *a, int m, int n, const float *x,
			 float *y)
{
	const float one = 1, zero = 0;

	note_blas(gpu, cuda.cublasSgemv(gpu->blas, CUBLAS_OP_N, m, n, &one, a, m, x, 1, &zero, y,
					1));
}

#else
typedef int no_gpu;                      /* ISO C has no empty files */
#endif
