/* diagnose.c - look for known last words. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnose.h"
#include "pollux/mem.h"

#define TAIL_BYTES 65536

static const struct {
	const char *words, *meaning;
} known[] = {
	{ "torch.OutOfMemoryError", "GPU out of memory" },
	{ "torch.cuda.OutOfMemoryError", "GPU out of memory" },
	{ "CUDA out of memory", "GPU out of memory" },
	{ "CUDA_ERROR_OUT_OF_MEMORY", "GPU out of memory" },
	{ "cudaErrorMemoryAllocation", "GPU out of memory" },
	{ "HIP out of memory", "GPU out of memory" },
	{ "RESOURCE_EXHAUSTED", "out of memory" },
	{ "MemoryError", "out of memory" },
	{ "std::bad_alloc", "out of memory" },
	{ "Cannot allocate memory", "out of memory" },
	{ "can't allocate memory", "out of memory" },
	{ "out of memory", "out of memory" },
	{ "Out of memory", "out of memory" },
	{ "No space left on device", "disk full" },
};

static ssize_t read_tail(const char *path, int64_t offset, char *buffer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0) {
		if (st.st_size - TAIL_BYTES > offset)
			offset = st.st_size - TAIL_BYTES;
		n = pread(fd, buffer, TAIL_BYTES, offset);
	}
	close(fd);
	return n;
}

const char *diagnose_log(const char *path, int64_t offset)
{
	char *buffer = xmalloc(TAIL_BYTES);
	ssize_t n = read_tail(path, offset, buffer);
	const char *meaning = NULL;

	for (size_t i = 0; n > 0 && !meaning && i < sizeof(known) / sizeof(known[0]); i++)
		if (memmem(buffer, (size_t)n, known[i].words, strlen(known[i].words)))
			meaning = known[i].meaning;
	free(buffer);
	return meaning;
}
