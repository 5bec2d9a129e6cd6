/* diagnose.c - look for known last words. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "diagnose.h"
#include "pollux/mem.h"

#define TAIL_BYTES 65536
/* Words that programs also say of what they got over are last words only if little comes after them. */
#define LAST_BYTES 8192

static const struct {
	const char *words, *meaning;
	bool last;
} known[] = {
	{ "torch.OutOfMemoryError", "GPU out of memory", false },
	{ "torch.cuda.OutOfMemoryError", "GPU out of memory", false },
	{ "CUDA out of memory", "GPU out of memory", false },
	{ "CUDA_ERROR_OUT_OF_MEMORY", "GPU out of memory", false },
	{ "cudaErrorMemoryAllocation", "GPU out of memory", false },
	{ "HIP out of memory", "GPU out of memory", false },
	{ "RESOURCE_EXHAUSTED", "out of memory", true },
	{ "MemoryError", "out of memory", true },
	{ "std::bad_alloc", "out of memory", true },
	{ "Cannot allocate memory", "out of memory", true },
	{ "can't allocate memory", "out of memory", true },
	{ "out of memory", "out of memory", true },
	{ "Out of memory", "out of memory", true },
	{ "No space left on device", "disk full", true },
};

static ssize_t read_tail(const char *path, int64_t offset, char *buffer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return -1;
	if (fstat(fd, &st) == 0) {
		if (offset > st.st_size)	/* it was begun anew meanwhile */
			offset = 0;
		if (st.st_size - TAIL_BYTES > offset)
			offset = st.st_size - TAIL_BYTES;
		n = pread(fd, buffer, TAIL_BYTES, offset);
	}
	close(fd);
	return n;
}

static bool has_words(const char *bytes, size_t n, int i)
{
	size_t skipped = known[i].last && n > LAST_BYTES ? n - LAST_BYTES : 0;

	return memmem(bytes + skipped, n - skipped, known[i].words, strlen(known[i].words)) != NULL;
}

const char *diagnose_log(const char *path, int64_t offset)
{
	char *buffer = xmalloc(TAIL_BYTES);
	ssize_t n = read_tail(path, offset, buffer);
	const char *meaning = NULL;

	for (int i = 0; n > 0 && !meaning && i < (int)(sizeof(known) / sizeof(known[0])); i++)
		if (has_words(buffer, (size_t)n, i))
			meaning = known[i].meaning;
	free(buffer);
	return meaning;
}
