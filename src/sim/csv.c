/* csv.c - reads a file into memory and cuts it at commas and line ends. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "application.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define BYTES_MAX (1 << 30)
#define COLUMNS_MAX 64
#define FIRST_BYTES 65536

/* The position of the reader. */
struct cursor {
	char *next;		/* the next line */
	int line;
	char *cells[COLUMNS_MAX];
	int n;			/* cells of this line */
};

static int cannot_read(const char *path, struct err *err)
{
	return err_set(err, EX_NOINPUT, "cannot read '%s': %s", path, strerror(errno));
}

static int set_line_error(const char *path, int line, struct err *err, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
static int set_line_error(const char *path, int line, struct err *err, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(err, EX_DATAERR, "%s:%d: %s", path, line, text);
}

/* --- the file --- */

/* Reads to the end, or to BYTES_MAX + 1 bytes. The length of a pipe is not known beforehand. */
static int load_file(struct csv *c, size_t *length, struct err *err)
{
	int fd = file_open_input(c->path), why = 0;
	size_t room = FIRST_BYTES;
	struct stat st;
	ssize_t n = 1;

	if (fd < 0)
		return cannot_read(c->path, err);
	if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size < BYTES_MAX)
		room += (size_t)st.st_size;
	c->data = xmalloc(room + 1);
	for (*length = 0; n && !why && *length <= BYTES_MAX; *length += n > 0 ? (size_t)n : 0) {
		if (*length == room) {
			room *= 2;
			c->data = xreallocarray(c->data, room + 1, 1);
		}
		n = read(fd, c->data + *length, room - *length);
		why = n < 0 && errno != EINTR ? errno : 0;
	}
	c->data[*length] = '\0';
	close(fd);
	errno = why;
	if (why)
		return cannot_read(c->path, err);
	return *length > BYTES_MAX ? set_line_error(c->path, 1, err, "larger than 1 GiB") : 0;
}

static int count_newlines(const char *data)
{
	int n = 0;

	while ((data = strchr(data, '\n'))) {
		data++;
		n++;
	}
	return n;
}

/* --- a line --- */

/* Cuts the next line at its commas. */
static int next_line(const char *path, struct cursor *at, struct err *err)
{
	char *line = at->next, *end = line + strcspn(line, "\n"), *cell;

	at->line++;
	at->n = 0;
	at->next = *end ? end + 1 : end;
	*end = '\0';
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	if (!*line)
		return set_line_error(path, at->line, err, "a blank line");
	if (strchr(line, '"'))
		return set_line_error(path, at->line, err, "quotes are not understood");
	while ((cell = strsep(&line, ","))) {
		if (at->n == COLUMNS_MAX)
			return set_line_error(path, at->line, err, "more than %d columns",
					      COLUMNS_MAX);
		at->cells[at->n++] = cell;
	}
	return 0;
}

/* The length of the first one. */
static int first_name(const char *names)
{
	return (int)strcspn(names, "|");
}

/* True if the cell is a name of the column, which may have several: "application|model". */
static bool is_name(const char *cell, const char *names)
{
	size_t n = strlen(cell);

	while (strcspn(names, "|") != n || strncmp(names, cell, n) != 0) {
		names = strchr(names, '|');
		if (!names)
			return false;
		names++;
	}
	return true;
}

/* where[k] (result): the index, in a line, of the cell of column k. */
static int find_columns(const struct csv *c, const struct cursor *at, int *where, struct err *err)
{
	for (int k = 0; k < c->n_columns; k++) {
		where[k] = -1;
		for (int i = 0; i < at->n; i++) {
			if (!is_name(at->cells[i], c->columns[k]))
				continue;
			if (where[k] >= 0)
				return set_line_error(c->path, 1, err, "two columns '%.*s'",
						      first_name(c->columns[k]), c->columns[k]);
			where[k] = i;
		}
		if (where[k] < 0)
			return set_line_error(c->path, 1, err, "no column '%.*s' in the heading",
					      first_name(c->columns[k]), c->columns[k]);
	}
	return 0;
}

static int read_rows(struct csv *c, struct cursor *at, const int *where, struct err *err)
{
	int width = at->n;

	c->cells = xcalloc(((size_t)count_newlines(at->next) + 1) * (size_t)c->n_columns,
			   sizeof(*c->cells));
	while (at->next[strspn(at->next, "\r\n")]) {
		if (next_line(c->path, at, err))
			return -1;
		if (at->n != width)
			return set_line_error(c->path, at->line, err,
					      "%d cell%s below a heading of %d",
					      at->n, at->n == 1 ? "" : "s", width);
		for (int k = 0; k < c->n_columns; k++)
			c->cells[c->n_rows * c->n_columns + k] = at->cells[where[k]];
		c->n_rows++;
	}
	if (c->n_rows == 0)
		return set_line_error(c->path, 1, err, "no rows below the heading");
	return 0;
}

int csv_read(struct csv *c, const char *path, const char *const *columns, int n_columns,
	     struct err *err)
{
	struct cursor at = { .line = 0 };
	size_t length = 0;
	int rc;

	*c = (struct csv){ .path = xstrdup(path), .columns = columns, .n_columns = n_columns };
	rc = load_file(c, &length, err);
	if (rc == 0 && length == 0)
		rc = set_line_error(path, 1, err, "an empty file; it should begin with a heading");
	if (rc == 0 && strlen(c->data) != length)
		rc = set_line_error(path, 1 + count_newlines(c->data), err,
				    "a zero byte: this is not text");
	if (rc == 0) {
		int where[COLUMNS_MAX] = { 0 };

		at.next = c->data + (strncmp(c->data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0);
		rc = next_line(path, &at, err) || find_columns(c, &at, where, err) ||
		     read_rows(c, &at, where, err) ? -1 : 0;
	}
	if (rc)
		csv_release(c);
	return rc;
}

int csv_rows(const char *path, const char *const *columns, int n_columns, csv_row *row,
	     void *data, struct err *err)
{
	struct csv c;
	int rc = csv_read(&c, path, columns, n_columns, err);

	if (rc)
		return -1;
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = row(&c, i, data, err);
	csv_release(&c);
	return rc;
}

void csv_release(struct csv *c)
{
	free(c->path);
	free(c->data);
	free(c->cells);
	*c = (struct csv){ 0 };
}

/* --- cells --- */

const char *csv_cell(const struct csv *c, int row, int column)
{
	return c->cells[row * c->n_columns + column];
}

int csv_line(int row)
{
	return row + 2;
}

int csv_complain(const struct csv *c, int row, struct err *err, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return set_line_error(c->path, csv_line(row), err, "%s", text);
}

static int check_range(const struct csv *c, int row, int column, struct csv_range range,
		       double value, struct err *err)
{
	if (value >= range.low && value <= range.high)
		return 0;
	return csv_complain(c, row, err, "%s '%.60s' is not from %.15g to %.15g",
			    c->columns[column], csv_cell(c, row, column), range.low, range.high);
}

int csv_number(const struct csv *c, int row, int column, struct csv_range range, double *value,
	       struct err *err)
{
	if (number_parse(csv_cell(c, row, column), value))
		return csv_complain(c, row, err, "%s '%.60s' is not a number", c->columns[column],
				    csv_cell(c, row, column));
	return check_range(c, row, column, range, *value, err);
}

int csv_whole(const struct csv *c, int row, int column, struct csv_range range, int64_t *value,
	      struct err *err)
{
	if (number_parse_int(csv_cell(c, row, column), value))
		return csv_complain(c, row, err, "%s '%.60s' is not a whole number",
				    c->columns[column], csv_cell(c, row, column));
	return check_range(c, row, column, range, (double)*value, err);
}

char *csv_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash ? slash + 1 : path);
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".csv") == 0)
		name[n - 4] = '\0';
	return name;
}
