/* log_lines.c - finds the ends of lines, and removes terminal sequences. */
#include <ctype.h>
#include <math.h>
#include <string.h>
#include <strings.h>

#include "steps_state.h"

#define ESC '\033'
#define BEL '\a'

void log_lines_init(struct log_lines *l)
{
	l->length = 0;
	l->clipped = false;
	l->escape = ESCAPE_NONE;
	l->arrival_s = (double)NAN;
	l->n_lines = l->n_clipped = 0;
}

static void give_line(struct log_lines *l, const char *line, size_t n, bool clipped,
		      log_line_sink *sink, void *arg)
{
	l->n_clipped += clipped;
	if (n == 0)
		return;
	l->n_lines++;
	sink(line, n, l->arrival_s, arg);
}

static void end_line(struct log_lines *l, log_line_sink *sink, void *arg)
{
	give_line(l, l->line, l->length, l->clipped, sink, arg);
	l->length = 0;
	l->clipped = false;
	l->escape = ESCAPE_NONE;	/* an escape that never ends hides only its line */
}

/* The state after another byte of an escape sequence; ESCAPE_NONE: the sequence ends with this
 * byte. */
static enum escape after(enum escape escape, unsigned char c)
{
	switch (escape) {
	case ESCAPE_BEGUN:
		if (c >= 0x20 && c <= 0x2f)
			return ESCAPE_BEGUN;
		return c == '[' ? ESCAPE_CSI : c == ']' ? ESCAPE_OSC : ESCAPE_NONE;
	case ESCAPE_CSI:
		return c >= 0x40 && c <= 0x7e ? ESCAPE_NONE : ESCAPE_CSI;
	case ESCAPE_OSC:
		return c == BEL ? ESCAPE_NONE : ESCAPE_OSC;
	case ESCAPE_NONE:
		break;
	}
	return ESCAPE_NONE;
}

static bool is_special(char c)
{
	static const bool special[256] = {
		['\n'] = true, ['\r'] = true, ['\b'] = true, [ESC] = true
	};

	return special[(unsigned char)c];
}

/* The number of bytes before the next special one. The rest of a clipped line is passed over by
 * memchr. */
static size_t plain_bytes(const struct log_lines *l, const char *p, size_t n)
{
	size_t i = 0;

	if (l->clipped) {
		const char *newline = memchr(p, '\n', n);

		n = newline ? (size_t)(newline - p) : n;
		newline = memchr(p, '\r', n);
		return newline ? (size_t)(newline - p) : n;
	}
	while (i < n && !is_special(p[i]))
		i++;
	return i;
}

/* Takes bytes of one sort. Returns their number. */
static size_t take_bytes(struct log_lines *l, const char *p, size_t n, double arrival_s,
			 log_line_sink *sink, void *arg)
{
	size_t plain, room = sizeof(l->line) - l->length;

	if (l->escape != ESCAPE_NONE && !is_special(*p)) {
		l->escape = after(l->escape, (unsigned char)*p);
		return 1;
	}
	plain = plain_bytes(l, p, n);
	if (plain > 0) {
		size_t kept = plain < room ? plain : room;

		l->arrival_s = arrival_s;
		l->clipped |= kept < plain;
		memcpy(l->line + l->length, p, kept);
		l->length += kept;
		return plain;
	}
	if (*p == '\n' || *p == '\r')
		end_line(l, sink, arg);
	else if (*p == ESC)
		l->escape = ESCAPE_BEGUN;
	return 1;
}

void log_lines_feed(struct log_lines *l, const char *bytes, size_t n, double arrival_s,
		    log_line_sink *sink, void *arg)
{
	const char *p = bytes, *end = bytes + n, *newline;
	bool plain = !memchr(bytes, ESC, n) && !memchr(bytes, '\r', n) && !memchr(bytes, '\b', n);

	while (p < end) {
		/* without terminal sequences, lines are passed on in place */
		while (plain && l->length == 0 && !l->clipped && l->escape == ESCAPE_NONE &&
		       (newline = memchr(p, '\n', (size_t)(end - p)))) {
			size_t length = (size_t)(newline - p);
			bool clipped = length > STEPS_LINE_MAX;

			l->arrival_s = arrival_s;
			give_line(l, p, clipped ? STEPS_LINE_MAX : length, clipped, sink, arg);
			p = newline + 1;
		}
		if (p < end)
			p += take_bytes(l, p, (size_t)(end - p), arrival_s, sink, arg);
	}
}

void log_lines_end(struct log_lines *l, log_line_sink *sink, void *arg)
{
	end_line(l, sink, arg);
}

static size_t skip(const char *line, size_t n, size_t at, int (*is)(int c))
{
	while (at < n && is((unsigned char)line[at]))
		at++;
	return at;
}

static size_t expect(const char *line, size_t n, size_t at, char c)
{
	return at && at < n && line[at] == c ? at + 1 : 0;
}

/* The end of "rank0" or "1,0"; 0: the line begins with neither. */
static size_t skip_id(const char *line, size_t n)
{
	size_t name = skip(line, n, 1, isalpha), end = skip(line, n, name, isdigit);

	if (end == name || name > 1)
		return end == name ? 0 : end;
	name = expect(line, n, end, ',');
	end = name ? skip(line, n, name, isdigit) : 0;
	return end > name ? end : 0;
}

size_t rank_prefix(const char *line, size_t n, size_t *id)
{
	size_t end;

	*id = n > 0 && line[0] == '[' ? skip_id(line, n) : 0;
	end = expect(line, n, *id, ']');
	if (end && end < n && line[end] == '<')		/* "<stdout>", which only mpirun prints */
		end = expect(line, n, skip(line, n, end + 1, isalpha), '>');
	end = expect(line, n, end, ':');
	while (end && end < n && line[end] == ' ')
		end++;
	return end;
}

/* Words, with a blank on both sides of each. */
static const struct {
	const char *words;
	bool whole;		/* false: words that begin so count, too */
	bool in_lines;
	enum other_work work;
} others[] = {
	{ " val vali test testing dev ", true, true, OTHER_PAUSE },
	{ " valid eval infer predict sanity benchmark calibrat ", false, true, OTHER_PAUSE },
	{ " saving scoring sampling decoding tests ", true, false, OTHER_PAUSE },
	{ " loading caching scanning ", true, true, OTHER_ASIDE },
	{ " download tokeniz preprocess extract ", false, true, OTHER_ASIDE },
	{ " map mapping generating casting creating grouping packing applying adding truncating "
	  "converting running materializing computing collecting encoding reading writing "
	  "building shards processing ", true, false, OTHER_ASIDE },
	{ " filter fetch upload embedding ", false, false, OTHER_ASIDE },
};

enum other_work other_work_of(const char *text, size_t n, bool in_line)
{
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t length;

		for (const char *w = others[i].words + 1; *w; w += length + 1) {
			length = strcspn(w, " ");
			if ((others[i].in_lines || !in_line) &&
			    (others[i].whole ? n == length : n >= length) &&
			    !strncasecmp(text, w, length))
				return others[i].work;
		}
	}
	return OTHER_NONE;
}
