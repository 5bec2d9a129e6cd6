/* sweep_csv.c - rows of parameters from a file: CSV with a header, as RFC 4180 has it. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "pollux/file.h"
#include "request.h"

#define FILE_MAX_BYTES (64u << 20)

struct reader {
	const char *path;		/* for errors */
	const char *p, *end;
	int line, row_line;		/* where the reader is, and where its row began */
	struct err *err;
};

static int set_row_error(const struct reader *r, const char *what)
{
	return err_set(r->err, EX_DATAERR, "%s:%d: %s", r->path, r->row_line, what);
}

static bool at_line_end(const struct reader *r)
{
	return r->p == r->end || *r->p == '\n' ||
	       (*r->p == '\r' && r->p + 1 < r->end && r->p[1] == '\n');
}

static void skip_line_end(struct reader *r)
{
	r->p += r->p < r->end && *r->p == '\r';
	r->p += r->p < r->end && *r->p == '\n';
	r->line++;
}

/* Reads a field. One in quotes may have commas, newlines and doubled quotes. */
static int read_field(struct reader *r, struct text *field)
{
	if (r->p == r->end || *r->p != '"') {
		for (; !at_line_end(r) && *r->p != ','; r->p++) {
			if (*r->p == '"')
				return set_row_error(r, "a quote within a field that does not "
						     "begin with it");
			text_add_bytes(field, r->p, 1);
		}
		return 0;
	}
	for (r->p++; r->p < r->end; r->p++) {
		if (*r->p == '"' && (r->p + 1 == r->end || r->p[1] != '"')) {
			r->p++;
			return at_line_end(r) || *r->p == ',' ? 0
				: set_row_error(r, "text behind a quoted field");
		}
		r->p += *r->p == '"';
		r->line += *r->p == '\n';
		text_add_bytes(field, r->p, 1);
	}
	return set_row_error(r, "a quoted field does not end");
}

/* Appends the fields of a row. Lines with nothing in them are skipped. 1: a row was read; 0: the
 * file has ended; -1. */
static int read_row(struct reader *r, struct strings *fields)
{
	struct text field = TEXT_INIT;
	int rc = 0;

	while (r->p < r->end && at_line_end(r))
		skip_line_end(r);
	r->row_line = r->line;
	if (r->p == r->end)
		return 0;
	for (;;) {
		text_clear(&field);
		rc = read_field(r, &field);
		if (rc)
			break;
		strings_add(fields, field.data);
		if (at_line_end(r))
			break;
		r->p++;			/* the comma; what follows may be an empty last field */
	}
	text_release(&field);
	if (rc == 0)
		skip_line_end(r);
	return rc ? -1 : 1;
}

static int read_rows(struct reader *r, struct axis *axis)
{
	int rc = read_row(r, &axis->names);

	if (rc < 0)
		return -1;
	for (size_t i = 0; i < axis->names.count; i++)
		if (!axis_name_is_valid(axis->names.items[i]))
			return err_set(r->err, EX_DATAERR, "%s:%d: '%.60s' in the header is no "
				       "name of a parameter (letters, digits and '_')", r->path,
				       r->row_line, axis->names.items[i]);
	if (rc == 0)
		return set_row_error(r, "no header");
	for (size_t before = 0; (rc = read_row(r, &axis->values)) > 0;
	     before = axis->values.count) {
		size_t has = axis->values.count - before;

		if (has != axis->names.count)
			return err_set(r->err, EX_DATAERR, "%s:%d: %zu field%s, but the header has "
				       "%zu", r->path, r->row_line, has, plural((long long)has),
				       axis->names.count);
		if (++axis->n > SWEEP_RUNS_MAX)
			return set_row_error(r, "more than 100,000 rows");
	}
	if (rc == 0 && axis->n == 0)
		return set_row_error(r, "no rows after the header");
	return rc;
}

int axis_from_file(struct axis *axis, const char *path, struct err *err)
{
	static const char mark[] = "\xef\xbb\xbf";	/* some programs begin UTF-8 with it */
	bool is_input = !strcmp(path, "-");
	FILE *file = is_input ? stdin : file_open_input_stream(path);
	struct reader r = { .path = is_input ? "standard input" : path, .line = 1, .row_line = 1,
			    .err = err };
	struct text content = TEXT_INIT;
	char piece[16384];
	int rc;

	axis->how = path;
	if (!file)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", path, strerror(errno));
	for (size_t n; content.length <= FILE_MAX_BYTES &&
	     (n = fread(piece, 1, sizeof(piece), file)) > 0;)
		text_add_bytes(&content, piece, n);
	r.p = content.data + (text_starts_with(content.data, mark) ? strlen(mark) : 0);
	r.end = content.data + content.length;
	if (content.length > FILE_MAX_BYTES)
		rc = err_set(err, EX_DATAERR, "'%s' has more than 64 MiB", r.path);
	else if (ferror(file))
		rc = err_set(err, EX_NOINPUT, "cannot read '%s': %s", r.path, strerror(errno));
	else if (memchr(content.data, '\0', content.length))
		rc = err_set(err, EX_DATAERR, "'%s' has NUL bytes: it is no text", r.path);
	else
		rc = read_rows(&r, axis);
	if (!is_input)
		fclose(file);
	text_release(&content);
	return rc;
}
