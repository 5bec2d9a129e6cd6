/* last_words.c - see last_words.h. */
#include "last_words.h"

#include <stdlib.h>
#include <string.h>

#include "log_tail.h"
#include "pollux/mem.h"
#include "pollux/utf8.h"

#define TAIL_BYTES 8192

static bool ends_line(char c)
{
	return c == '\n' || c == '\r';
}

static bool is_blank(char c)
{
	return ends_line(c) || c == ' ' || c == '\t' || c == '\0';
}

char *last_words(const char *path, int64_t offset)
{
	char *buffer = xcalloc(TAIL_BYTES + 4, 1);	/* + 4: utf8_length looks ahead */
	size_t end = log_tail(path, offset, buffer, TAIL_BYTES), begin;
	char *line = NULL;

	while (end > 0 && is_blank(buffer[end - 1]))
		end--;
	for (begin = end; begin > 0 && !ends_line(buffer[begin - 1]);)
		begin--;
	while (begin < end && is_blank(buffer[begin]))
		begin++;
	end = begin + utf8_clip(buffer + begin, end - begin < LAST_WORDS_SIZE
						? end - begin : LAST_WORDS_SIZE - 1);
	if (end > begin)
		line = xasprintf("%.*s", (int)(end - begin), buffer + begin);
	free(buffer);
	return line;
}
