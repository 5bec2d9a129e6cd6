/* last_words.c - see last_words.h. */
#include "last_words.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/utf8.h"

#define TAIL_BYTES 8192

static size_t read_tail(const char *path, int64_t offset, char *buffer)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	ssize_t n = -1;

	if (fd < 0)
		return 0;
	if (fstat(fd, &st) == 0) {
		if (offset > st.st_size)	/* it was begun anew meanwhile */
			offset = 0;
		if (st.st_size - TAIL_BYTES > offset)
			offset = st.st_size - TAIL_BYTES;
		n = pread(fd, buffer, TAIL_BYTES, offset);
	}
	close(fd);
	return n > 0 ? (size_t)n : 0;
}

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return ends_line(c) || c == ' ' || c == '\t' || c == '\0';
}

/* What of n bytes is whole characters, and no more than there is to be room for. */
static size_t clip(const char *line, size_t n)
{
	size_t kept = 0, length;

	while (kept < n && (length = utf8_length(line + kept)) > 0 && kept + length <= n &&
	       kept + length < LAST_WORDS_SIZE)
		kept += length;
	return kept;
}

char *last_words(const char *path, int64_t offset)
{
	char *buffer = xcalloc(TAIL_BYTES + 4, 1);	/* utf8_length looks ahead */
	size_t end = read_tail(path, offset, buffer), begin;
	char *line = NULL;

	while (end > 0 && is_blank(buffer[end - 1]))
		end--;
	for (begin = end; begin > 0 && !ends_line(buffer[begin - 1]);)
		begin--;
	while (begin < end && is_blank(buffer[begin]))
		begin++;
	end = begin + clip(buffer + begin, end - begin);
	if (end > begin)
		line = xasprintf("%.*s", (int)(end - begin), buffer + begin);
	free(buffer);
	return line;
}
