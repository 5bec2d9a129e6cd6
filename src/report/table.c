/* table.c - aligned columns. Cells are cleaned when they are added, so that from then on every byte
 * that is not a continuation byte is one character on the screen. */
#include <assert.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/number.h"
#include "pollux/table.h"
#include "pollux/utf8.h"

#define GAP 2
#define BELOW_LINES 4	/* of a text below a row: what is longer is clipped */

void table_init(struct table *t, const struct table_column *columns, int n_columns)
{
	*t = (struct table){ .columns = columns, .n_columns = n_columns };
	text_init(&t->text);
}

void table_release(struct table *t)
{
	text_release(&t->text);
	free(t->cells);
	free(t->styles);
	free(t->below);
	t->cells = NULL;
	t->styles = NULL;
	t->below = NULL;
	t->n_cells = t->capacity = t->n_styles = t->n_below = 0;
}

static bool is_plain(const char *s, size_t n)
{
	bool plain = true;

	for (size_t i = 0; i < n; i++)
		plain &= s[i] >= ' ' && s[i] <= '~';
	return plain;
}

/* In place: a character that could move the cursor, and a byte that is part of none, become '?'. Returns
 * what is behind the last. */
static char *clean(char *s)
{
	char *to = s;
	size_t n;

	for (; *s; s += n) {
		n = utf8_length(s);
		if (!n || utf8_is_control(s, n)) {
			*to++ = '?';
			n = n ? n : 1;
		} else {
			memmove(to, s, n);
			to += n;
		}
	}
	*to = '\0';
	return to;
}

static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* What was added to the text from start on, fit to be shown. */
static struct table_span end_span(struct table *t, size_t start)
{
	struct table_span span = { .start = start, .bytes = t->text.length - start };
	char *s = t->text.data + start;

	span.width = (int)span.bytes;
	if (!is_plain(s, span.bytes)) {
		span.bytes = (size_t)(clean(s) - s);
		span.width = width_of(s);
	}
	t->text.length = start + span.bytes;
	return span;
}

static void end_cell(struct table *t, size_t start)
{
	struct table_span span = end_span(t, start);

	if (t->n_cells == t->capacity) {
		t->capacity = t->capacity ? 2 * t->capacity : 64;
		t->cells = xreallocarray(t->cells, (size_t)t->capacity, sizeof(*t->cells));
	}
	t->cells[t->n_cells++] = span;
}

void table_text(struct table *t, const char *cell)
{
	size_t start = t->text.length;

	text_add(&t->text, cell);
	end_cell(t, start);
}

void table_cell(struct table *t, const char *format, ...)
{
	size_t start = t->text.length;
	va_list ap;

	va_start(ap, format);
	text_vaddf(&t->text, format, ap);
	va_end(ap);
	end_cell(t, start);
}

static int n_rows(const struct table *t)
{
	assert(t->n_cells % t->n_columns == 0);
	return t->n_cells / t->n_columns;
}

void table_style(struct table *t, enum table_style style)
{
	int row = (t->n_cells - 1) / t->n_columns;

	assert(t->n_cells > 0);
	if (row >= t->n_styles) {
		t->styles = xreallocarray(t->styles, (size_t)row * 2 + 1, sizeof(*t->styles));
		while (t->n_styles < row * 2 + 1)
			t->styles[t->n_styles++] = STYLE_PLAIN;
	}
	t->styles[row] = (int)style;
}

void table_below(struct table *t, const char *text)
{
	size_t start = t->text.length;

	assert(t->n_cells > 0);
	text_add(&t->text, text);
	t->below = xreallocarray(t->below, (size_t)t->n_below + 1, sizeof(*t->below));
	t->below[t->n_below].row = (t->n_cells - 1) / t->n_columns;
	t->below[t->n_below++].span = end_span(t, start);
}

/* Bytes of the first n characters. */
static size_t bytes_of(const char *s, size_t bytes, int n)
{
	size_t i = 0;

	while (i < bytes && (((unsigned char)s[i] & 0xc0) == 0x80 || n-- > 0))
		i++;
	return i;
}

static int widest(const struct table *t, int column)
{
	int width = width_of(t->columns[column].heading);

	for (int i = column; i < t->n_cells; i += t->n_columns)
		width = t->cells[i].width > width ? t->cells[i].width : width;
	return width;
}

static int narrowest(const struct table_column *column)
{
	int heading = width_of(column->heading);

	return column->min_width > heading ? column->min_width : heading;
}

/* Widths wanted, less what does not fit: the last flexible column gives way first. */
static void fit(const struct table *t, int *widths, int limit)
{
	int sum = GAP * (t->n_columns - 1);

	for (int c = 0; c < t->n_columns; c++)
		sum += widths[c] = widest(t, c);
	for (int c = t->n_columns - 1; limit > 0 && sum > limit && c >= 0; c--) {
		int least = narrowest(&t->columns[c]);
		int give = widths[c] - least < sum - limit ? widths[c] - least : sum - limit;

		if (!t->columns[c].flexible || give <= 0)
			continue;
		widths[c] -= give;
		sum -= give;
	}
}

static void add_cell(struct text *line, const char *s, const struct table_span *span, int width,
		     bool right)
{
	size_t blanks = span->width < width ? (size_t)(width - span->width) : 0;

	if (span->width > width) {
		text_add_bytes(line, s, bytes_of(s, span->bytes, width > 2 ? width - 2 : 0));
		text_add_bytes(line, "..", width > 2 ? 2 : (size_t)width);
		return;
	}
	text_add_byte(line, ' ', right ? blanks : 0);
	text_add_bytes(line, s, span->bytes);
	text_add_byte(line, ' ', right ? 0 : blanks);
}

static void end_line(struct text *line)
{
	while (line->length && line->data[line->length - 1] == ' ')
		line->data[--line->length] = '\0';
}

/* Bytes of s, of as many characters as the room, that make a line: to the last blank, where there is one. */
static size_t line_bytes(const char *s, size_t bytes, int room)
{
	size_t n = bytes_of(s, bytes, room), end = n;

	if (n == bytes)
		return n;
	while (end > 0 && s[end] != ' ')
		end--;
	return end > 0 ? end : n;
}

/* Returns what of the text is left for further lines. */
static struct table_span build_below(const struct table *t, struct table_span rest, int indent, int room, bool last,
				     struct text *line)
{
	const char *s = t->text.data + rest.start;
	size_t bytes = last ? rest.bytes : line_bytes(s, rest.bytes, room);
	struct table_span part = { .start = rest.start, .bytes = bytes };

	text_clear(line);
	text_add_byte(line, ' ', (size_t)indent);
	for (size_t i = 0; i < bytes; i++)
		part.width += ((unsigned char)s[i] & 0xc0) != 0x80;
	add_cell(line, s, &part, last && part.width > room ? room : part.width, false);
	end_line(line);
	while (bytes < rest.bytes && s[bytes] == ' ')
		bytes++;
	return (struct table_span){ .start = rest.start + bytes, .bytes = rest.bytes - bytes };
}

static void build_line(const struct table *t, const int *widths, int row, struct text *line)
{
	text_clear(line);
	for (int c = 0; c < t->n_columns; c++) {
		const struct table_column *column = &t->columns[c];

		text_add_byte(line, ' ', c ? GAP : 0);
		if (row < 0) {
			struct table_span heading = {
				.bytes = strlen(column->heading), .width = width_of(column->heading),
			};

			add_cell(line, column->heading, &heading, widths[c], column->right);
		} else {
			const struct table_span *span = &t->cells[row * t->n_columns + c];

			add_cell(line, t->text.data + span->start, span, widths[c], column->right);
		}
	}
	end_line(line);
}

static enum table_style style_of(const struct table *t, int row)
{
	if (row < 0)
		return STYLE_BOLD;
	return row < t->n_styles ? (enum table_style)t->styles[row] : STYLE_PLAIN;
}

static void print_line(FILE *out, struct text *line, enum table_style style)
{
	static const char *const codes[] = {
		[STYLE_BOLD] = "1", [STYLE_DIM] = "2", [STYLE_GREEN] = "32",
		[STYLE_YELLOW] = "33", [STYLE_RED] = "31",
	};

	if (style != STYLE_PLAIN)
		fprintf(out, "\033[%sm", codes[style]);
	fwrite(line->data, 1, line->length, out);
	fputs(style == STYLE_PLAIN ? "\n" : "\033[0m\n", out);
}

static void print_below(const struct table *t, int indent, const struct table_span *span, int width, FILE *out)
{
	int room = width > 0 ? width - indent : span->width;
	struct table_span rest = *span;
	struct text line = TEXT_INIT;

	for (int n = 1; rest.bytes && room > 0 && n <= BELOW_LINES; n++) {
		rest = build_below(t, rest, indent, room, n == BELOW_LINES, &line);
		print_line(out, &line, STYLE_PLAIN);
	}
	text_release(&line);
}

void table_print(const struct table *t, FILE *out, int width, bool color)
{
	int *widths = xcalloc((size_t)t->n_columns, sizeof(*widths));
	struct text line = TEXT_INIT;
	int below = 0;

	fit(t, widths, width);
	for (int row = -1, n = n_rows(t); row < n; row++) {
		build_line(t, widths, row, &line);
		print_line(out, &line, color ? style_of(t, row) : STYLE_PLAIN);
		if (below == t->n_below || t->below[below].row != row)
			continue;
		print_below(t, t->n_columns > 1 ? widths[0] + GAP : 0, &t->below[below++].span, width, out);
	}
	text_release(&line);
	free(widths);
}

int terminal_width(FILE *out)
{
	const char *columns = getenv("COLUMNS");
	struct winsize size;
	int64_t n;

	if (columns && number_parse_int(columns, &n) == 0 && n > 0 && n <= INT_MAX)
		return (int)n;
	if (ioctl(fileno(out), TIOCGWINSZ, &size))
		return 0;
	return size.ws_col ? size.ws_col : 80;	/* a serial line does not know its width */
}

bool terminal_color(FILE *out, const char *mode)
{
	const char *term = getenv("TERM"), *no_color = getenv("NO_COLOR");

	if (strcmp(mode, "auto") != 0)
		return strcmp(mode, "always") == 0;
	if (no_color && *no_color)
		return false;
	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}
