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

void table_init(struct table *t, const struct table_column *columns, int n_columns)
{
	*t = (struct table){ .columns = columns, .n_columns = n_columns };
	strings_init(&t->cells);
}

void table_release(struct table *t)
{
	strings_release(&t->cells);
	free(t->styles);
	t->styles = NULL;
	t->n_styles = 0;
}

/* In place: a character that could move the cursor, and a byte that is part of none, become '?'. */
static void clean(char *s)
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
}

void table_cell(struct table *t, const char *format, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, format);
	n = vasprintf(&s, format, ap);
	va_end(ap);
	if (n < 0)
		s = xstrdup("");
	clean(s);
	strings_add(&t->cells, s);
	free(s);
}

static int n_rows(const struct table *t)
{
	assert(t->cells.count % (size_t)t->n_columns == 0);
	return (int)(t->cells.count / (size_t)t->n_columns);
}

void table_style(struct table *t, enum table_style style)
{
	int row = (int)((t->cells.count - 1) / (size_t)t->n_columns);

	assert(t->cells.count > 0);
	if (row >= t->n_styles) {
		t->styles = xreallocarray(t->styles, (size_t)row * 2 + 1, sizeof(*t->styles));
		while (t->n_styles < row * 2 + 1)
			t->styles[t->n_styles++] = STYLE_PLAIN;
	}
	t->styles[row] = (int)style;
}

static int width_of(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Bytes of the first n characters. */
static size_t bytes_of(const char *s, int n)
{
	const char *p = s;

	while (*p && (((unsigned char)*p & 0xc0) == 0x80 || n-- > 0))
		p++;
	return (size_t)(p - s);
}

static const char *cell(const struct table *t, int row, int column)
{
	if (row < 0)
		return t->columns[column].heading;
	return t->cells.items[row * t->n_columns + column];
}

static int widest(const struct table *t, int column)
{
	int width = 0;

	for (int row = -1, n = n_rows(t); row < n; row++) {
		int w = width_of(cell(t, row, column));

		width = w > width ? w : width;
	}
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

static void add_blanks(struct text *line, int n)
{
	while (n-- > 0)
		text_add(line, " ");
}

static void add_cell(struct text *line, const char *s, int width, bool right)
{
	int w = width_of(s);

	if (w > width) {
		text_add_bytes(line, s, bytes_of(s, width > 2 ? width - 2 : 0));
		text_add_bytes(line, "..", width > 2 ? 2 : (size_t)width);
		return;
	}
	if (right)
		add_blanks(line, width - w);
	text_add(line, s);
	if (!right)
		add_blanks(line, width - w);
}

static void build_line(const struct table *t, const int *widths, int row, struct text *line)
{
	text_clear(line);
	for (int c = 0; c < t->n_columns; c++) {
		add_blanks(line, c ? GAP : 0);
		add_cell(line, cell(t, row, c), widths[c], t->columns[c].right);
	}
	while (line->length && line->data[line->length - 1] == ' ')
		line->data[--line->length] = '\0';
}

static enum table_style style_of(const struct table *t, int row)
{
	if (row < 0)
		return STYLE_BOLD;
	return row < t->n_styles ? (enum table_style)t->styles[row] : STYLE_PLAIN;
}

static void print_line(FILE *out, const char *line, enum table_style style)
{
	static const char *const codes[] = {
		[STYLE_BOLD] = "1", [STYLE_DIM] = "2", [STYLE_GREEN] = "32",
		[STYLE_YELLOW] = "33", [STYLE_RED] = "31",
	};

	if (style == STYLE_PLAIN)
		fprintf(out, "%s\n", line);
	else
		fprintf(out, "\033[%sm%s\033[0m\n", codes[style], line);
}

void table_print(const struct table *t, FILE *out, int width, bool color)
{
	int *widths = xcalloc((size_t)t->n_columns, sizeof(*widths));
	struct text line = TEXT_INIT;

	fit(t, widths, width);
	for (int row = -1, n = n_rows(t); row < n; row++) {
		build_line(t, widths, row, &line);
		print_line(out, line.data, color ? style_of(t, row) : STYLE_PLAIN);
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
