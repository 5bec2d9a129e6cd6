/* log_end.c - the end of a log, for a screen. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "top_parts.h"

/* The rows of which the last ones are wanted. */
struct tail {
	struct strings *rows;
	struct text row;
};

/* Of escape sequences rows have only colours, which a screen has in its own way. */
static void add_without_colors(struct text *t, const char *s, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t end = i + 1;

		if (s[i] == '\033' && end < n && s[end] == '[') {
			while (end < n && s[end] != 'm')
				end++;
			i = end;
		} else if (s[i] == '\t') {
			text_add_byte(t, ' ', 8 - t->length % 8);
		} else if (s[i]) {
			text_add_bytes(t, &s[i], 1);
		}
	}
}

static void take_row(const char *s, size_t n, bool ends, void *arg)
{
	struct tail *tail = arg;

	add_without_colors(&tail->row, s, n);
	if (!ends)
		return;
	strings_add(tail->rows, tail->row.data);
	text_clear(&tail->row);
}

static void drop_first(struct strings *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(list->items[i]);
	memmove(list->items, list->items + n, (list->count - n + 1) * sizeof(*list->items));
	list->count -= n;
}

void log_end(const char *path, long long bytes, size_t rows, struct strings *out)
{
	int fd = file_open(path, O_RDONLY, 0);
	struct tail tail = { out, TEXT_INIT };
	autofree char *block = xmalloc((size_t)bytes);
	struct stat st = { .st_size = 0 };
	struct rows *r = rows_new(false, take_row, &tail);
	off_t from;
	ssize_t n;

	strings_release(out);
	if (fd >= 0)
		fstat(fd, &st);
	from = st.st_size > bytes ? st.st_size - bytes : 0;
	n = fd >= 0 ? pread(fd, block, (size_t)bytes, from) : 0;
	if (n > 0)
		rows_feed(r, block, (size_t)n);
	rows_end(r);
	if (tail.row.length)
		strings_add(out, tail.row.data);
	if (out->count > rows)
		drop_first(out, out->count - rows);
	else if (from > 0 && out->count > 1)
		drop_first(out, 1);	/* cut in its middle */
	rows_free(r);
	text_release(&tail.row);
	if (fd >= 0)
		close(fd);
}
