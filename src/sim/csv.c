/* csv.c - reads a file into memory, cuts it at commas and line ends, and checks the cells. */
#include <dirent.h>
#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "application.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define BYTES_MAX (1 << 30)
#define COLUMNS_MAX 64

/* The position of the reader. */
struct cursor {
	char *next;		/* the next line */
	int row;		/* of this line */
	char *cells[COLUMNS_MAX];
	int n;			/* cells of this line */
};

static int cannot_read(const char *path, struct err *err)
{
	return err_set(err, EX_NOINPUT, "cannot read '%s': %s", path, strerror(errno));
}

int csv_complain(const struct csv *c, int row, struct err *err, const char *format, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, format);
	vsnprintf(text, sizeof(text), format, ap);
	va_end(ap);
	return err_set(err, EX_DATAERR, "%s:%d: %s", c->path, csv_line(row), text);
}

/* --- the file --- */

static int count_newlines(const char *data)
{
	int n = 0;

	while ((data = strchr(data, '\n'))) {
		data++;
		n++;
	}
	return n;
}

static int load_file(struct csv *c, struct err *err)
{
	FILE *f = file_open_input_stream(c->path);
	char bytes[65536];
	size_t n = 1;
	int why;

	if (!f)
		return cannot_read(c->path, err);
	while (n > 0 && c->data.length <= BYTES_MAX) {
		n = fread(bytes, 1, sizeof(bytes), f);
		text_add_bytes(&c->data, bytes, n);
	}
	why = ferror(f) ? errno : 0;
	fclose(f);
	errno = why;
	if (why)
		return cannot_read(c->path, err);
	if (c->data.length > BYTES_MAX)
		return csv_complain(c, CSV_HEADING, err, "larger than 1 GiB");
	if (c->data.length == 0)
		return csv_complain(c, CSV_HEADING, err,
				    "an empty file; it should begin with a heading");
	if (strncmp(c->data.data, "\xff\xfe", 2) == 0 || strncmp(c->data.data, "\xfe\xff", 2) == 0)
		return csv_complain(c, CSV_HEADING, err,
				    "the file is in UTF-16; save it as UTF-8");
	if (strlen(c->data.data) != c->data.length)
		return csv_complain(c, CSV_HEADING + count_newlines(c->data.data), err,
				    "a zero byte: this is not text");
	return 0;
}

/* --- a line --- */

/* Cuts the next line at its commas. */
static int next_line(const struct csv *c, struct cursor *at, struct err *err)
{
	char *line = at->next, *end = line + strcspn(line, "\n"), *cell;

	at->row++;
	at->n = 0;
	at->next = *end ? end + 1 : end;
	*end = '\0';
	if (end > line && end[-1] == '\r')
		end[-1] = '\0';
	if (!*line)
		return csv_complain(c, at->row, err, "a blank line");
	if (strchr(line, '"'))
		return csv_complain(c, at->row, err, "quotes are not understood");
	if (strchr(line, '\r'))
		return csv_complain(c, at->row, err,
				    "a CR within a line; lines must end in LF or CR LF");
	while ((cell = strsep(&line, ","))) {
		if (at->n == COLUMNS_MAX)
			return csv_complain(c, at->row, err, "more than %d columns",
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

/* --- files that are nearly right --- */

/* The separators of columns that are no commas, and their names. */
static const struct {
	const char *text, *name;
} separators[] = {
	{ ";", "';'" }, { "\t", "tabs" }, { "|", "'|'" }, { " ", "blanks" },
};
#define N_SEPARATORS ((int)(sizeof(separators) / sizeof(separators[0])))

/* True if the cell begins or ends with a blank. */
static bool has_blank(const char *cell)
{
	size_t n = strlen(cell);

	return n > 0 && (strchr(" \t", cell[0]) || strchr(" \t", cell[n - 1]));
}

/* True if a part of the text, cut at the separator, is a name of the column but for the blanks
 * around it. */
static bool has_name(const char *text, const char *separator, const char *names)
{
	autofree char *copy = xstrdup(text);
	char *rest = copy, *part;
	bool found = false;

	while (!found && (part = strsep(&rest, separator))) {
		part += strspn(part, " \t");
		for (size_t n = strlen(part); n > 0 && strchr(" \t", part[n - 1]); n--)
			part[n - 1] = '\0';
		found = is_name(part, names);
	}
	return found;
}

static int complain_of_separator(const struct csv *c, int row, int k, struct err *err)
{
	return csv_complain(c, row, err, "columns are separated by %s; separate them by commas",
			    separators[k].name);
}

/* The heading has no such column. Refuses a cell that is its name but for blanks or capitals. */
static int check_spelling(const struct csv *c, const struct cursor *at, const char *names,
			  struct err *err)
{
	for (int i = 0; i < at->n; i++) {
		const char *cell = at->cells[i];

		if (has_name(cell, "", names))
			return csv_complain(c, CSV_HEADING, err,
					    "a blank beside the column '%.*s'; write no blanks "
					    "around commas", first_name(names), names);
		if (strncasecmp(cell, names, strlen(cell)) == 0 &&
		    (int)strlen(cell) == first_name(names))
			return csv_complain(c, CSV_HEADING, err,
					    "write the column '%.60s' as '%.*s'", cell,
					    first_name(names), names);
	}
	return 0;
}

/* The heading has no such column, which is needed: says why, where that can be seen. */
static int complain_of_column(const struct csv *c, const struct cursor *at, const char *names,
			      struct err *err)
{
	for (int i = 0; i < at->n; i++)
		for (int k = 0; k < N_SEPARATORS; k++)
			if (has_name(at->cells[i], separators[k].text, names))
				return complain_of_separator(c, CSV_HEADING, k, err);
	return csv_complain(c, CSV_HEADING, err, "no column '%.*s' in the heading",
			    first_name(names), names);
}

/* The row has another number of cells than the heading. */
static int complain_of_width(const struct csv *c, const struct cursor *at, int width,
			     struct err *err)
{
	for (int k = 0; at->n == 1 && k < N_SEPARATORS; k++) {
		int n = 1;

		for (const char *s = at->cells[0]; *s; s++)
			n += *s == *separators[k].text;
		if (n == width)
			return complain_of_separator(c, at->row, k, err);
	}
	return csv_complain(c, at->row, err, "%d cell%s below a heading of %d", at->n,
			    plural(at->n), width);
}

/* --- all lines --- */

/* where[k] (result): the index, in a line, of the cell of column k. */
static int find_columns(const struct csv *c, const struct cursor *at, int *where, struct err *err)
{
	for (int k = 0; k < c->n_columns; k++) {
		const char *names = c->columns[k].names;

		where[k] = -1;
		for (int i = 0; i < at->n; i++) {
			if (!is_name(at->cells[i], names))
				continue;
			if (where[k] >= 0)
				return csv_complain(c, CSV_HEADING, err, "two columns '%.*s'",
						      first_name(names), names);
			where[k] = i;
		}
		if (where[k] < 0 && check_spelling(c, at, names, err))
			return -1;
		if (where[k] < 0 && c->columns[k].kind != CSV_OPTIONAL)
			return complain_of_column(c, at, names, err);
	}
	return 0;
}

static int read_rows(struct csv *c, struct cursor *at, const int *where, struct err *err)
{
	size_t n = ((size_t)count_newlines(at->next) + 1) * (size_t)c->n_columns;
	int width = at->n;

	c->cells = xcalloc(n, sizeof(*c->cells));
	while (at->next[strspn(at->next, "\r\n")]) {
		if (next_line(c, at, err))
			return -1;
		if (at->n != width)
			return complain_of_width(c, at, width, err);
		for (int k = 0; k < c->n_columns; k++)
			c->cells[c->n_rows * c->n_columns + k].text =
				where[k] < 0 ? "" : at->cells[where[k]];
		c->n_rows++;
	}
	if (c->n_rows == 0)
		return csv_complain(c, CSV_HEADING, err, "no rows below the heading");
	return 0;
}

/* --- cells --- */

int csv_check(const struct csv *c, int row, int column, double low, double high, struct err *err)
{
	double value = csv_value(c, row, column);

	if (value >= low && value <= high)
		return 0;
	return csv_complain(c, row, err, "%s '%.60s' is not from %.15g to %.15g",
			    c->columns[column].names, csv_text(c, row, column), low, high);
}

/* Sets the value of a cell that is a number. */
static int check_cell(struct csv *c, int row, int column, struct err *err)
{
	const struct csv_column *is = &c->columns[column];
	struct csv_cell *cell = &c->cells[row * c->n_columns + column];
	bool whole = is->kind == CSV_WHOLE;
	int64_t n = 0;

	if (is->kind == CSV_OPTIONAL && !*cell->text)
		cell->value = (double)NAN;
	if (has_blank(cell->text))
		return csv_complain(c, row, err, "a blank beside the %.*s '%.60s'; write no blanks "
				    "around commas", first_name(is->names), is->names, cell->text);
	if (is->kind == CSV_TEXT || isnan(cell->value))
		return 0;
	if (whole ? number_parse_int(cell->text, &n) : number_parse(cell->text, &cell->value))
		return csv_complain(c, row, err, "%s '%.60s' is not a %snumber", is->names,
				    cell->text, whole ? "whole " : "");
	if (whole)
		cell->value = (double)n;
	return csv_check(c, row, column, is->low, is->high, err);
}

int csv_read(struct csv *c, const char *path, const struct csv_column *columns, int n_columns,
	     struct err *err)
{
	struct cursor at = { .row = CSV_HEADING - 1 };
	int rc;

	*c = (struct csv){ .path = xstrdup(path), .columns = columns, .n_columns = n_columns };
	text_init(&c->data);
	rc = load_file(c, err);
	if (rc == 0) {
		int where[COLUMNS_MAX] = { 0 };

		at.next = c->data.data;
		at.next += strncmp(at.next, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
		rc = next_line(c, &at, err) || find_columns(c, &at, where, err) ||
		     read_rows(c, &at, where, err) ? -1 : 0;
	}
	for (int i = 0; rc == 0 && i < c->n_rows * n_columns; i++)
		rc = check_cell(c, i / n_columns, i % n_columns, err);
	if (rc)
		csv_release(c);
	return rc;
}

void csv_release(struct csv *c)
{
	free(c->path);
	text_release(&c->data);
	free(c->cells);
	c->path = NULL;
	c->cells = NULL;
	c->n_rows = 0;
}

/* --- directories --- */

int directory_names(struct strings *names, const char *directory, name_order *order,
		    struct err *err)
{
	struct dirent **entries;
	int n = scandir(directory, &entries, NULL, order);

	if (n < 0)
		return cannot_read(directory, err);
	for (int i = 0; i < n; i++) {
		strings_add(names, entries[i]->d_name);
		free(entries[i]);
	}
	free(entries);
	return 0;
}
