/* log_rows.c - see commands.h. */
#include <stdlib.h>
#include <string.h>

#include "commands.h"
#include "pollux/mem.h"

#define SEQUENCE_MOST 32	/* bytes; a longer sequence is dropped */
#define DRAWN_LEAST 3		/* characters of a bar in a row */

struct row {
	struct text text;
	bool placed;		/* written where the cursor had been moved to */
	bool begun;		/* a piece of it was given out */
};

enum state { TEXT, ESCAPE, SEQUENCE, COMMAND, COMMAND_ESCAPE };

struct rows {
	bool plain, cut, gave;
	rows_sink *sink;
	void *arg;
	struct row rows[ROWS_HELD];	/* the oldest first */
	int count, cursor;
	bool fresh;		/* the cursor is at the beginning of its row */
	bool moved;		/* it came there by other means than a newline to a new row */
	enum state state;
	char sequence[SEQUENCE_MOST];
	size_t sequence_length;
};

struct rows *rows_new(bool plain, rows_sink *sink, void *arg)
{
	struct rows *r = xcalloc(1, sizeof(*r));

	r->plain = plain;
	r->sink = sink;
	r->arg = arg;
	for (int i = 0; i < ROWS_HELD; i++)
		text_init(&r->rows[i].text);
	r->count = 1;
	r->fresh = true;
	return r;
}

void rows_free(struct rows *r)
{
	for (int i = 0; r && i < ROWS_HELD; i++)
		text_release(&r->rows[i].text);
	free(r);
}

bool rows_are_cut(const struct rows *r)
{
	return r->cut;
}

/* True if there is a part of a bar. Bars are drawn with '=', '#', and the lines, blocks and shapes
 * from U+2500 to U+25FF. */
static bool is_drawing(const struct text *t)
{
	const unsigned char *p = (const unsigned char *)t->data;
	size_t drawn = 0;

	for (size_t i = 0, n; i < t->length; i += n) {
		bool is_shape = t->length - i >= 3 && p[i] == 0xe2 &&
				p[i + 1] >= 0x94 && p[i + 1] <= 0x97;

		n = is_shape ? 3 : 1;
		drawn = is_shape || p[i] == '=' || p[i] == '#' ? drawn + 1 : 0;
		if (drawn == DRAWN_LEAST || (i > 0 && p[i] == '|' && p[i - 1] == '%'))
			return true;
	}
	return false;
}

static void give(struct rows *r, struct row *row, bool ends)
{
	bool is_nothing = row->text.length == 0 && !ends;
	bool is_bar = row->placed && (!ends || is_drawing(&row->text));

	r->gave = true;
	if (!is_nothing && (row->begun || !r->plain || !is_bar))
		r->sink(row->text.data, row->text.length, ends, r->arg);
	text_clear(&row->text);
	row->placed = row->begun = false;
}

/* Gives out the oldest rows, which all are ended. */
static void give_oldest(struct rows *r, int n)
{
	struct row given[ROWS_HELD];

	if (n <= 0 || n > ROWS_HELD)
		return;
	for (int i = 0; i < n; i++)
		give(r, &r->rows[i], true);
	memcpy(given, r->rows, (size_t)n * sizeof(*given));
	memmove(r->rows, r->rows + n, (size_t)(ROWS_HELD - n) * sizeof(*given));
	memcpy(r->rows + ROWS_HELD - n, given, (size_t)n * sizeof(*given));
	r->count -= n;
	r->cursor -= n;
}

void rows_flush(struct rows *r)
{
	give_oldest(r, r->cursor);
}

void rows_end(struct rows *r)
{
	for (int i = 0; i < r->count; i++)
		give(r, &r->rows[i], i < r->count - 1);
	r->count = 1;
	r->cursor = 0;
	r->fresh = true;
	r->moved = false;
	r->state = TEXT;
}

static void add_text(struct rows *r, const char *bytes, size_t n)
{
	struct row *row = &r->rows[r->cursor];

	if (r->fresh) {
		row->placed |= r->moved;
		text_clear(&row->text);
	}
	r->fresh = r->moved = false;
	if (row->text.length + n > ROW_MOST && !row->placed) {
		give_oldest(r, r->cursor);
		row = &r->rows[r->cursor];
		r->sink(row->text.data, row->text.length, false, r->arg);
		row->begun = true;
		text_clear(&row->text);
	}
	if (row->text.length + n <= ROW_MOST)
		text_add_bytes(&row->text, bytes, n);
}

static void move_by(struct rows *r, int n)
{
	int to = r->cursor + n;

	r->cut |= to < 0 && !r->gave;
	r->cursor = to < 0 ? 0 : to < r->count ? to : r->count - 1;
	r->moved = true;
}

/* --- escape sequences --- */

static void erase_row(struct rows *r, int row)
{
	r->rows[row].placed = true;
	text_clear(&r->rows[row].text);
}

static void begin_row(struct rows *r)
{
	r->fresh = r->moved = true;
}

/* Does what the sequence says that ends in this character. */
static void take_sequence(struct rows *r, char end)
{
	long number = strtol(r->sequence, NULL, 10);
	int n = number <= 0 ? 1 : number < ROWS_HELD ? (int)number : ROWS_HELD;

	if (end == 'A' || end == 'F')
		move_by(r, -n);
	else if (end == 'B' || end == 'E')
		move_by(r, n);
	if (end == 'E' || end == 'F' || (end == 'G' && n == 1))
		begin_row(r);
	/* erases rows, or what is behind the cursor where the cursor is at the beginning */
	if ((end == 'K' || end == 'J') && (number == 2 || r->fresh))
		erase_row(r, r->cursor);
	for (int i = r->cursor + 1; end == 'J' && i < r->count; i++)
		erase_row(r, i);
	if (end == 'm' && !r->plain) {
		char colour[SEQUENCE_MOST + 4];
		int length = snprintf(colour, sizeof(colour), "\033[%sm", r->sequence);

		add_text(r, colour, (size_t)length);
	}
}

/* Takes a character of an escape sequence: "ESC [ ... letter" is a sequence, and "ESC ] ... BEL" a
 * command to the terminal, such as its title. Any other one has two characters. */
static void take_escaped(struct rows *r, char c)
{
	bool has_room = r->sequence_length < SEQUENCE_MOST - 1, ends = c >= '@' && c <= '~';

	if (r->state == ESCAPE) {
		r->state = c == '[' ? SEQUENCE : c == ']' ? COMMAND : TEXT;
		r->sequence_length = 0;
	} else if (r->state == SEQUENCE && !ends) {
		if (has_room)
			r->sequence[r->sequence_length++] = c;
	} else if (r->state == SEQUENCE) {
		r->sequence[r->sequence_length] = '\0';
		r->state = TEXT;
		if (has_room)
			take_sequence(r, c);
	} else if (c == '\a' || (r->state == COMMAND_ESCAPE && c == '\\')) {
		r->state = TEXT;
	} else {
		r->state = c == '\033' ? COMMAND_ESCAPE : COMMAND;
	}
}

static void take_control(struct rows *r, char c)
{
	struct row *row = &r->rows[r->cursor];
	struct text *t = &row->text;

	if (c == '\n') {
		/* to the next row, which need not be there yet */
		r->moved = r->cursor + 1 < r->count;
		r->fresh = true;
		if (!r->moved && r->count == ROWS_HELD)
			give_oldest(r, 1);
		r->cursor++;
		if (!r->moved)
			r->count = r->cursor + 1;
	} else if (c == '\r') {
		begin_row(r);
	} else if (c == '\b' && !r->fresh) {
		while (t->length > 0 && ((unsigned char)t->data[t->length - 1] & 0xc0) == 0x80)
			t->length--;
		if (t->length > 0)
			t->length--;
		row->placed = true;
	} else if (c == '\033') {
		r->state = ESCAPE;
	} else if (c == '\t' || (c != '\0' && c != '\b' && !r->plain)) {
		add_text(r, &c, 1);
	}
}

static bool is_control(char c)
{
	return (unsigned char)c < ' ' || c == 0x7f;
}

void rows_feed(struct rows *r, const char *bytes, size_t n)
{
	for (size_t i = 0, length; i < n; i += length) {
		length = 1;
		if (r->state != TEXT && bytes[i] != '\n') {
			take_escaped(r, bytes[i]);
		} else if (is_control(bytes[i])) {
			r->state = TEXT;	/* a newline ends a command that has no end */
			take_control(r, bytes[i]);
		} else {
			while (i + length < n && !is_control(bytes[i + length]))
				length++;
			add_text(r, bytes + i, length);
		}
	}
}
