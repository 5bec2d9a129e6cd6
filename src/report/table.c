/* table.c - aligned columns: the cells. A cell is cleaned when it is added, so that every byte
 * that is not a continuation byte is one character on the screen. table_layout.c computes how wide
 * the columns are, and prints the lines. */
#include <assert.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/report.h"
#include "pollux/text.h"

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
	*t = (struct table){ .text = TEXT_INIT };
}

/* --- cells --- */

static bool is_plain(const char *s, size_t n)
{
	for (; n > 0 && (unsigned char)(*s - ' ') <= '~' - ' '; n--)
		s++;
	return n == 0;
}

/* Clean s in place: a character that could move the cursor and a byte that is part of no character
 * become '?'. Returns the end of s. */
static char *clean_text(char *s)
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

/* Clean what was added to the text from start on, and make it a cell. */
static void end_cell(struct table *t, size_t start)
{
	struct table_slice span = { .start = start, .bytes = t->text.length - start };
	char *s = t->text.data + start;

	span.width = (int)span.bytes;
	if (!is_plain(s, span.bytes)) {
		span.bytes = (size_t)(clean_text(s) - s);
		span.width = utf8_width(s, span.bytes);
	}
	t->text.length = start + span.bytes;
	t->cells = xgrow(t->cells, t->n_cells, sizeof(*t->cells));
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

void table_dashes(struct table *t, int n)
{
	while (n-- > 0)
		table_text(t, "-");
}

void table_positive(struct table *t, int64_t n)
{
	if (n > 0)
		table_cell(t, "%lld", (long long)n);
	else
		table_text(t, "-");
}

void table_duration(struct table *t, double seconds)
{
	table_text(t, format_duration(seconds).s);
}

void table_span(struct table *t, double seconds)
{
	table_text(t, format_span(seconds).s);
}

void table_count(struct table *t, double n)
{
	table_text(t, format_count(n).s);
}

void table_number(struct table *t, double x)
{
	table_text(t, format_number(x).s);
}

/* What is known of the row of the last cell: its style, and TABLE_ONE_LINE. */
static int *last_row(struct table *t)
{
	int row = (t->n_cells - 1) / t->n_columns;

	assert(t->n_cells > 0);
	if (row >= t->n_styles) {
		t->styles = xreallocarray(t->styles, (size_t)row * 2 + 1, sizeof(*t->styles));
		while (t->n_styles < row * 2 + 1)
			t->styles[t->n_styles++] = STYLE_PLAIN;
	}
	return &t->styles[row];
}

void table_style(struct table *t, enum table_style style)
{
	*last_row(t) = (*last_row(t) & TABLE_ONE_LINE) | (int)style;
}

void table_one_line(struct table *t)
{
	*last_row(t) |= TABLE_ONE_LINE;
}
