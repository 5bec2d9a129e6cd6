/* last_words.c - see last_words.h. */
#include "last_words.h"

#include <stdlib.h>
#include <string.h>

#include "log_tail.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define TAIL_BYTES 8192

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return ends_line(c) || c == ' ' || c == '\t' || c == '\0';
}

/* What PyTorch adds to each of CUDA's errors. */
static const char *const added[] = {
	"CUDA kernel errors might be asynchronously reported",
	"For debugging consider passing CUDA_LAUNCH_BLOCKING",
	"Compile with `TORCH_USE_CUDA_DSA`",
	"Device-side assertion tracking was not enabled",
	"Search for `cuda",
	"GPU device may be out of range",
};

/* True if the line, perhaps after a launcher's "[rank0]: ", says nothing of its own. */
static bool is_added(const char *line, size_t n)
{
	for (size_t i = 0; i < sizeof(added) / sizeof(added[0]); i++) {
		const char *at = memmem(line, n, added[i], strlen(added[i]));

		if (at && (at == line || (*line == '[' && at[-1] == ' ')))
			return true;
	}
	return false;
}

/* Moves *begin and *end to the last line that is not blank before *end; *begin == *end: none. */
static void find_line(const char *buffer, size_t *begin, size_t *end)
{
	while (*end > 0 && is_blank(buffer[*end - 1]))
		--*end;
	for (*begin = *end; *begin > 0 && !ends_line(buffer[*begin - 1]);)
		--*begin;
	while (*begin < *end && is_blank(buffer[*begin]))
		++*begin;
}

char *last_words(const char *path, int64_t offset)
{
	char *buffer = xcalloc(TAIL_BYTES + 4, 1);	/* + 4: utf8_length looks ahead */
	size_t end = log_tail(path, offset, buffer, TAIL_BYTES), begin;
	char *line = NULL;

	find_line(buffer, &begin, &end);
	while (end > begin && is_added(buffer + begin, end - begin)) {
		end = begin;
		find_line(buffer, &begin, &end);
	}
	end = begin + utf8_clip(buffer + begin, end - begin < LAST_WORDS_SIZE
						? end - begin : LAST_WORDS_SIZE - 1);
	if (end > begin)
		line = xasprintf("%.*s", (int)(end - begin), buffer + begin);
	free(buffer);
	return line;
}
