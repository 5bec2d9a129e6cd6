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

	if (end == name)
		return 0;
	if (name > 1)
		return end;
	name = expect(line, n, end, ',');
	end = name ? skip(line, n, name, isdigit) : 0;
	return end > name ? end : 0;
}

/* The end of "<stdout>", which only mpirun prints. */
static size_t skip_stream(const char *line, size_t n, size_t at)
{
	if (at && at < n && line[at] == '<')
		return expect(line, n, skip(line, n, at + 1, isalpha), '>');
	return at;
}

size_t rank_prefix(const char *line, size_t n, size_t *id)
{
	size_t end;

	*id = n > 0 && line[0] == '[' ? skip_id(line, n) : 0;
	end = expect(line, n, skip_stream(line, n, expect(line, n, *id, ']')), ':');
	while (end && end < n && line[end] == ' ')
		end++;
	return end;
}

struct word {
	const char *text;
	bool whole;		/* false: words that begin so count, too */
	bool in_lines;
	enum other_work work;
};

static const struct word words[] = {
	{ "val", true, true, OTHER_PAUSE },
	{ "valid", false, true, OTHER_PAUSE },
	{ "vali", true, true, OTHER_PAUSE },
	{ "eval", false, true, OTHER_PAUSE },
	{ "test", true, true, OTHER_PAUSE },
	{ "testing", true, true, OTHER_PAUSE },
	{ "dev", true, true, OTHER_PAUSE },
	{ "infer", false, true, OTHER_PAUSE },
	{ "predict", false, true, OTHER_PAUSE },
	{ "sanity", false, true, OTHER_PAUSE },
	{ "benchmark", false, true, OTHER_PAUSE },
	{ "calibrat", false, true, OTHER_PAUSE },
	{ "saving", true, false, OTHER_PAUSE },
	{ "scoring", true, false, OTHER_PAUSE },
	{ "sampling", true, false, OTHER_PAUSE },
	{ "decoding", true, false, OTHER_PAUSE },
	{ "tests", true, false, OTHER_PAUSE },
	{ "download", false, true, OTHER_ASIDE },
	{ "loading", true, true, OTHER_ASIDE },
	{ "tokeniz", false, true, OTHER_ASIDE },
	{ "preprocess", false, true, OTHER_ASIDE },
	{ "extract", false, true, OTHER_ASIDE },
	{ "caching", true, true, OTHER_ASIDE },
	{ "scanning", true, true, OTHER_ASIDE },
	{ "map", true, false, OTHER_ASIDE },
	{ "mapping", true, false, OTHER_ASIDE },
	{ "generating", true, false, OTHER_ASIDE },
	{ "filter", false, false, OTHER_ASIDE },
	{ "casting", true, false, OTHER_ASIDE },
	{ "creating", true, false, OTHER_ASIDE },
	{ "fetch", false, false, OTHER_ASIDE },
	{ "upload", false, false, OTHER_ASIDE },
	{ "grouping", true, false, OTHER_ASIDE },
	{ "packing", true, false, OTHER_ASIDE },
	{ "applying", true, false, OTHER_ASIDE },
	{ "adding", true, false, OTHER_ASIDE },
	{ "truncating", true, false, OTHER_ASIDE },
	{ "converting", true, false, OTHER_ASIDE },
	{ "running", true, false, OTHER_ASIDE },
	{ "materializing", true, false, OTHER_ASIDE },
	{ "computing", true, false, OTHER_ASIDE },
	{ "collecting", true, false, OTHER_ASIDE },
	{ "embedding", false, false, OTHER_ASIDE },
	{ "encoding", true, false, OTHER_ASIDE },
	{ "reading", true, false, OTHER_ASIDE },
	{ "writing", true, false, OTHER_ASIDE },
	{ "building", true, false, OTHER_ASIDE },
	{ "shards", true, false, OTHER_ASIDE },
	{ "processing", true, false, OTHER_ASIDE },
};

static enum other_work find_word(const char *text, size_t n, bool in_line)
{
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		const struct word *w = &words[i];
		size_t length = strlen(w->text);

		if ((w->in_lines || !in_line) && n >= length && (!w->whole || n == length) &&
		    !strncasecmp(text, w->text, length))
			return w->work;
	}
	return OTHER_NONE;
}

enum other_work other_work_of_bar(const char *text, size_t n)
{
	return find_word(text, n, false);
}

enum other_work other_work_of_line(const char *text, size_t n)
{
	return find_word(text, n, true);
}
