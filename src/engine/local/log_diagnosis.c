/* log_diagnosis.c - recognise known errors in the last lines of a log. */
#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "run_log.h"

#define TAIL_BYTES 65536
#define LAST_BYTES 8192

enum form {
	SURE,			/* counts anywhere */
	LAST,			/* counts near the end */
	/* near the end, as an exception's name that begins a line, or as the end of that name */
	LAST_NAME,
	LAST_MESSAGE,		/* near the end, as a message that ends a line */
};

#define GPU_MEMORY { "GPU out of memory", true, false }
#define MEMORY { "out of memory", true, false }
#define PORT_TAKEN \
	{ "its port was in use; {port} in its command is a port of its own", false, false }
/* What others hold is no fault of the run's size. */
#define GPU_FULL { "too little GPU memory was free", false, false }
/* The GPU, or the driver, does not work for CUDA. Not in here: a program for another driver or
 * another GPU, or one that names a GPU that it has not. */
#define NO_CUDA { CUDA_DOES_NOT_START, false, true }

static const struct {
	const char *words;
	struct log_error error;
	enum form form;
} known[] = {
	{ "torch.OutOfMemoryError", GPU_MEMORY, SURE },
	{ "torch.cuda.OutOfMemoryError", GPU_MEMORY, SURE },
	{ "CUDA out of memory", GPU_MEMORY, SURE },
	{ "CUDA error: out of memory", GPU_MEMORY, SURE },
	{ "CUDA_ERROR_OUT_OF_MEMORY", GPU_MEMORY, SURE },
	{ "cudaErrorMemoryAllocation", GPU_MEMORY, SURE },
	{ "MPS backend out of memory", GPU_MEMORY, SURE },
	{ "HIP out of memory", GPU_MEMORY, SURE },
	{ "CUBLAS_STATUS_ALLOC_FAILED", GPU_MEMORY, LAST },
	{ "CUDNN_STATUS_ALLOC_FAILED", GPU_MEMORY, LAST },
	{ "Cuda failure 2 'out of memory'", GPU_MEMORY, LAST },
	{ "cudaMalloc failed: out of memory", GPU_MEMORY, LAST },
	{ "cupy.cuda.memory.OutOfMemoryError", GPU_MEMORY, LAST },
	{ "is less than desired GPU memory utilization", GPU_FULL, LAST },
	{ "RESOURCE_EXHAUSTED: Failed to allocate request for", MEMORY, LAST },
	{ "RESOURCE_EXHAUSTED: Out of memory", MEMORY, LAST },
	{ "OOM when allocating tensor", MEMORY, LAST },
	{ "DefaultCPUAllocator: can't allocate memory", MEMORY, LAST },
	{ "DefaultCPUAllocator: not enough memory", MEMORY, LAST },
	{ "throwing an instance of 'std::bad_alloc'", MEMORY, LAST },
	{ "uncaught exception of type std::bad_alloc", MEMORY, LAST },
	{ "MemoryError", MEMORY, LAST_NAME },
	{ "OutOfMemoryError", MEMORY, LAST_NAME },
	{ "std::bad_alloc", MEMORY, LAST_MESSAGE },
	{ "Cannot allocate memory", MEMORY, LAST_MESSAGE },
	{ "out of memory", MEMORY, LAST_MESSAGE },
	{ "Out of memory", MEMORY, LAST_MESSAGE },
	{ "No space left on device", { "disk full", false, false }, LAST },
	{ "name: EADDRINUSE", PORT_TAKEN, LAST },
	{ "(errno: 98 - Address already in use)", PORT_TAKEN, LAST },
	{ "Error: Address already in use", PORT_TAKEN, LAST },
	{ "Address already in use", PORT_TAKEN, LAST_MESSAGE },
	{ "address already in use", PORT_TAKEN, LAST_MESSAGE },
	{ "Tried to launch distributed communication on port", PORT_TAKEN, LAST },
	{ "Watchdog caught collective operation timeout",
	  { "NCCL: a collective operation timed out", false, false }, LAST },
	{ "CUDA unknown error - this may be due to an incorrectly", NO_CUDA, LAST },
	{ "Unexpected error from cudaGetDeviceCount()", NO_CUDA, LAST },
	{ "CUDA driver initialization failed", NO_CUDA, LAST },
	{ "No CUDA GPUs are available", NO_CUDA, LAST },
	{ "no CUDA-capable device is detected", NO_CUDA, LAST },
	{ "CUDA-capable device(s) is/are busy or unavailable", NO_CUDA, LAST },
	{ "all CUDA-capable devices are busy or unavailable", NO_CUDA, LAST },
	{ "CUDA error: initialization error", NO_CUDA, LAST },
	{ "CUDA error: unknown error", NO_CUDA, LAST },
	{ "CUDA error: system not yet initialized", NO_CUDA, LAST },
	{ "uncorrectable ECC error encountered", NO_CUDA, LAST },
	{ "'initialization error'", NO_CUDA, LAST },
	{ "cudaErrorInitializationError", NO_CUDA, LAST },
	{ "cudaErrorNoDevice", NO_CUDA, LAST },
	{ "cudaErrorDevicesUnavailable", NO_CUDA, LAST },
	{ "cudaErrorSystemNotReady", NO_CUDA, LAST },
	{ "cudaErrorECCUncorrectable", NO_CUDA, LAST },
	{ "cudaErrorUnknown", NO_CUDA, LAST },
	{ "CUDA_ERROR_NOT_INITIALIZED", NO_CUDA, LAST },
	{ "CUDA_ERROR_NO_DEVICE", NO_CUDA, LAST },
	{ "CUDA_ERROR_DEVICE_UNAVAILABLE", NO_CUDA, LAST },
	{ "CUDA_ERROR_SYSTEM_NOT_READY", NO_CUDA, LAST },
	{ "CUDA_ERROR_ECC_UNCORRECTABLE", NO_CUDA, LAST },
	{ "CUDA_ERROR_UNKNOWN", NO_CUDA, LAST },
	{ "call to cuInit", NO_CUDA, LAST },
	{ "failed to initialize CUDA", NO_CUDA, LAST },
	{ "No visible GPU devices", NO_CUDA, LAST },
	{ "no supported devices found for platform CUDA", NO_CUDA, LAST },
	{ "CUBLAS_STATUS_NOT_INITIALIZED",
	  { "cuBLAS does not start: often too little GPU memory is free", false, false }, LAST },
	{ "CUDNN_STATUS_NOT_INITIALIZED",
	  { "cuDNN does not start: often too little GPU memory is free", false, false }, LAST },
};

/* A match in the log: the words from at to end, the line and the log around them. */
struct place {
	const char *begin, *at, *end, *limit;
};

/* Moves back from a character over blanks. */
static const char *skip_blanks(const char *begin, const char *p)
{
	while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
		p--;
	return p;
}

static bool ends_line(const struct place *w, const char *p)
{
	return p == w->limit || *p == '\n' || *p == '\r';
}

static bool is_exception(const struct place *w)
{
	const char *p = w->at;

	while (p > w->begin && (isalnum((unsigned char)p[-1]) || p[-1] == '_' || p[-1] == '.'))
		p--;
	/* only blanks or a launcher's "[rank0]:" stand before the name in its line */
	p = skip_blanks(w->begin, p);
	if (p > w->begin && p[-1] == ':')
		p--;
	return (p == w->begin || p[-1] == ']') && (ends_line(w, w->end) || *w->end == ':');
}

static bool is_message(const struct place *w)
{
	const char *before = skip_blanks(w->begin, w->at), *after = w->end;
	char line[256];
	size_t n;

	if (before > w->begin && before[-1] != ':' && before[-1] != ']')
		return false;
	if (before > w->begin && before[-1] == ']' && after < w->limit && *after == ':')
		return true;		/* "[Errno 12] Cannot allocate memory: 'file'"  */
	while (after < w->limit && *after && strchr(".!)'\"", *after))
		after++;
	n = (size_t)(w->at - w->begin) < sizeof(line) ? (size_t)(w->at - w->begin)
						      : sizeof(line) - 1;
	memcpy(line, w->at - n, n);
	line[n] = '\0';
	return ends_line(w, after) && !strcasestr(line, "warn");
}

/* True if the line begins as remarks and warnings of Google's libraries do, "I0000 00:00:1.2 7" or
 * "2026-11-28 10:00:00.0: W tensorflow/": the program went on. */
static bool is_remark(const struct place *w)
{
	const char *p = w->begin;
	size_t n;

	if ((*p == 'I' || *p == 'W') && isdigit((unsigned char)p[1]))
		return true;
	n = strspn(p, "0123456789-:. ");
	return n > 0 && p[n - 1] == ' ' && (p[n] == 'I' || p[n] == 'W') && p[n + 1] == ' ';
}

static bool has_words(const char *bytes, size_t n, int i)
{
	size_t skipped = known[i].form != SURE && n > LAST_BYTES ? n - LAST_BYTES : 0;
	struct place w = { .end = bytes + skipped, .limit = bytes + n };

	while ((w.at = memmem(w.end, (size_t)(w.limit - w.end), known[i].words,
			      strlen(known[i].words)))) {
		const char *newline = memrchr(bytes, '\n', (size_t)(w.at - bytes));

		w.begin = newline ? newline + 1 : bytes;
		w.end = w.at + strlen(known[i].words);
		if (is_remark(&w))
			continue;
		if (known[i].form == LAST_NAME ? is_exception(&w)
					       : known[i].form != LAST_MESSAGE || is_message(&w))
			return true;
	}
	return false;
}

const struct log_error *diagnose_log(const char *path, int64_t offset)
{
	char *buffer = xmalloc(TAIL_BYTES);
	size_t n = log_tail(path, offset, buffer, TAIL_BYTES);
	const struct log_error *found = NULL;

	for (int i = 0; n > 0 && !found && i < (int)(sizeof(known) / sizeof(known[0])); i++)
		if (has_words(buffer, n, i))
			found = &known[i].error;
	free(buffer);
	return found;
}
