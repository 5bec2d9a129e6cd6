/* gpu_job.c - a job that computes on a GPU by CUDA's driver, or by the stand-in for it, and saves
 * nothing: gpu_job MIB STEPS MS. It takes so many MiB, and in each step changes all of them and
 * rests for so many ms. SIGTERM ends it after a step ("stopped"). At the end it compares all with
 * what the processor computes: "right" and status 0, or "wrong" and 1. Its words are those of
 * src/device/nvidia/work_nvidia.c. */
#include <dlfcn.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define FACTOR 1664525u
#define ADDEND 1013904223u
#define THREADS 256

static const char kernel[] =
	".version 6.3\n.target sm_50\n.address_size 64\n"
	".visible .entry pollux_mix(.param .u64 words, .param .u32 count, .param .u32 rounds)\n"
	"{\n.reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [words];\nld.param.u32 %r1, [count];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.u32 %r6, %r3, %r4, %r5;\nsetp.ge.u32 %p1, %r6, %r1;\n@%p1 bra DONE;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.u32 %rd3, %r6, 4;\nadd.u64 %rd4, %rd2, %rd3;\n"
	"ld.global.u32 %r7, [%rd4];\nmad.lo.u32 %r7, %r7, 1664525, 1013904223;\n"
	"st.global.u32 [%rd4], %r7;\nDONE:\nret;\n}\n";

static uint32_t *words;
static volatile sig_atomic_t told;

static void hear(int signal_number)
{
	(void)signal_number;
	told = 1;
}

static struct {
	int (*init)(unsigned flags);
	int (*device)(int *device, int ordinal);
	int (*retain)(void **context, int device);
	int (*set_current)(void *context);
	int (*load)(void **module, const void *text);
	int (*function)(void **function, void *module, const char *name);
	int (*allocate)(uint64_t *at, size_t bytes);
	int (*to_device)(uint64_t to, const void *from, size_t bytes);
	int (*to_host)(void *to, uint64_t from, size_t bytes);
	int (*launch)(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
		      unsigned by, unsigned bz, unsigned shared_bytes, void *stream,
		      void **arguments, void **extra);
	int (*synchronize)(void);
} cuda;

static const struct { size_t offset; const char *name; } symbols[] = {
#define S(member) offsetof(__typeof__(cuda), member)
	{ S(init), "cuInit" }, { S(device), "cuDeviceGet" },
	{ S(retain), "cuDevicePrimaryCtxRetain" }, { S(set_current), "cuCtxSetCurrent" },
	{ S(load), "cuModuleLoadData" }, { S(function), "cuModuleGetFunction" },
	{ S(allocate), "cuMemAlloc_v2" }, { S(to_device), "cuMemcpyHtoD_v2" },
	{ S(to_host), "cuMemcpyDtoH_v2" }, { S(launch), "cuLaunchKernel" },
	{ S(synchronize), "cuCtxSynchronize" },
#undef S
};

static void must(int code, const char *name)
{
	if (code == 0)
		return;
	fprintf(stderr, "gpu_job: %s: error %d\n", name, code);
	exit(2);
}

static void open_cuda(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library) {
		fprintf(stderr, "gpu_job: %s\n", dlerror());
		exit(2);
	}
	for (size_t i = 0; i < sizeof(symbols) / sizeof(symbols[0]); i++) {
		void *address = dlsym(library, symbols[i].name);

		must(!address, symbols[i].name);
		memcpy((char *)&cuda + symbols[i].offset, &address, sizeof(address));
	}
}

static void *start(void)
{
	void *context, *module, *function;
	int device;

	open_cuda();
	must(cuda.init(0), "init");
	must(cuda.device(&device, 0), "device");
	must(cuda.retain(&context, device), "context");
	must(cuda.set_current(context), "context");
	must(cuda.load(&module, kernel), "module");
	must(cuda.function(&function, module, "pollux_mix"), "function");
	return function;
}

static void step(void *function, uint64_t at, uint32_t count)
{
	uint32_t rounds = 1;
	void *arguments[] = { &at, &count, &rounds };

	must(cuda.launch(function, (count + THREADS - 1) / THREADS, 1, 1, THREADS, 1, 1, 0, NULL,
			 arguments, NULL), "launch");
	must(cuda.synchronize(), "kernel");
}

static int is_right(uint32_t count, long steps)
{
	uint32_t factor = 1, addend = 0;

	for (long i = 0; i < steps; i++) {
		factor *= FACTOR;
		addend = addend * FACTOR + ADDEND;
	}
	for (uint32_t i = 0; i < count; i++)
		if (words[i] != i * factor + addend)
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	long mib = argc == 4 ? strtol(argv[1], NULL, 10) : 0;
	long steps = mib > 0 ? strtol(argv[2], NULL, 10) : 0;
	uint32_t count = (uint32_t)mib << 18;
	struct timespec rest;
	void *function;
	uint64_t at;
	long ms;

	words = malloc((size_t)count * 4 + 1);
	if (mib <= 0 || !words)
		return 64;
	ms = strtol(argv[3], NULL, 10);
	rest = (struct timespec){ ms / 1000, ms % 1000 * 1000000 };
	for (uint32_t i = 0; i < count; i++)
		words[i] = i;
	function = start();
	must(cuda.allocate(&at, (size_t)count * 4), "allocate");
	must(cuda.to_device(at, words, (size_t)count * 4), "copy");
	signal(SIGTERM, hear);
	for (long i = 1; i <= steps; i++) {
		if (told) {
			printf("stopped\n");
			steps = i - 1;
			break;
		}
		step(function, at, count);
		printf("step %ld/%ld\n", i, steps);
		fflush(stdout);
		nanosleep(&rest, NULL);
	}
	must(cuda.to_host(words, at, (size_t)count * 4), "copy");
	printf("%s\n", is_right(count, steps) ? "right" : "wrong");
	return !is_right(count, steps);
}
