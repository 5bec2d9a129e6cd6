/* log_lines.c - finds the ends of lines, and removes terminal sequences. */
#include <math.h>
#include <string.h>

#include "log_lines.h"

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

static void keep_bytes(struct log_lines *l, const char *bytes, size_t n, double arrival_s)
{
	size_t room = sizeof(l->line) - l->length;

	l->arrival_s = arrival_s;
	if (n > room) {
		n = room;
		l->clipped = true;
	}
	memcpy(l->line + l->length, bytes, n);
	l->length += n;
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
	size_t plain;

	if (l->escape != ESCAPE_NONE && !is_special(*p)) {
		l->escape = after(l->escape, (unsigned char)*p);
		return 1;
	}
	plain = plain_bytes(l, p, n);
	if (plain > 0) {
		keep_bytes(l, p, plain, arrival_s);
		return plain;
	}
	if (*p == '\n' || *p == '\r')
		end_line(l, sink, arg);
	else if (*p == ESC)
		l->escape = ESCAPE_BEGUN;
	return 1;
}

/* Takes bytes without terminal sequences: lines are passed on in place. Returns the beginning of
 * the last line, which has not ended. */
static const char *take_plain(struct log_lines *l, const char *p, const char *end, double arrival_s,
			      log_line_sink *sink, void *arg)
{
	const char *newline;

	l->arrival_s = arrival_s;
	while ((newline = memchr(p, '\n', (size_t)(end - p)))) {
		size_t n = (size_t)(newline - p);
		bool clipped = n > STEPS_LINE_MAX;

		give_line(l, p, clipped ? STEPS_LINE_MAX : n, clipped, sink, arg);
		p = newline + 1;
	}
	return p;
}

static bool is_plain(const char *bytes, size_t n)
{
	return !memchr(bytes, ESC, n) && !memchr(bytes, '\r', n) && !memchr(bytes, '\b', n);
}

void log_lines_feed(struct log_lines *l, const char *bytes, size_t n, double arrival_s,
		    log_line_sink *sink, void *arg)
{
	const char *p = bytes, *end = bytes + n;
	bool plain = is_plain(bytes, n);

	while (p < end) {
		if (plain && l->length == 0 && !l->clipped && l->escape == ESCAPE_NONE)
			p = take_plain(l, p, end, arrival_s, sink, arg);
		if (p < end)
			p += take_bytes(l, p, (size_t)(end - p), arrival_s, sink, arg);
	}
}

void log_lines_end(struct log_lines *l, log_line_sink *sink, void *arg)
{
	end_line(l, sink, arg);
}
