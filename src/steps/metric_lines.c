/* metric_lines.c - see steps.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "patterns.h"
#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/text.h"
#include "steps_state.h"

struct metric_line {
	char name[METRIC_NAME_SIZE];
	struct line_regex *regex;	/* owned */
};

struct metric_lines {
	struct metric_line items[METRIC_LINES_MAX];
	int n;
	struct line_matcher *matcher;	/* owned */
	struct log_lines lines;
	double (*cpu_s)(void);
	/* processor time left for expressions; NaN: never refilled */
	double cpu_left_s, refilled_s;
	bool passed_over;		/* lines were skipped, because no time was left */
	metric_sink *sink;		/* of the present call */
	void *arg;
};

bool metric_is_name(const char *name, size_t length)
{
	if (length == 0 || length >= METRIC_NAME_SIZE)
		return false;
	for (size_t i = 0; i < length; i++)
		if (!isalnum((unsigned char)name[i]) && !strchr("._-/:@%+", name[i]))
			return false;
	return true;
}

static int add_expression(struct metric_lines *m, const char *entry, struct err *err)
{
	const char *equals = strchr(entry, '=');
	struct metric_line *line = &m->items[m->n];

	if (!equals || !metric_is_name(entry, (size_t)(equals - entry)))
		return err_set(err, EX_USAGE, "'%.80s' is not NAME=REGEX", entry);
	if (m->n == METRIC_LINES_MAX)
		return err_set(err, EX_USAGE, "more than %d expressions", METRIC_LINES_MAX);
	line->regex = line_regex_new(equals + 1, false, err);
	if (!line->regex)
		return -1;
	m->n++;
	memcpy(line->name, entry, (size_t)(equals - entry));
	if (line_regex_groups(line->regex) < 1)
		return err_set(err, EX_USAGE, "'%.80s' has no group for the number: put its digits"
			       " in parentheses", equals + 1);
	return 0;
}

struct metric_lines *metric_lines_new(const struct strings *list, struct err *err)
{
	struct metric_lines *m = xcalloc(1, sizeof(*m));

	log_lines_init(&m->lines);
	m->matcher = line_matcher_new();
	m->cpu_left_s = STEPS_REGEX_CPU_BURST_S;
	m->refilled_s = (double)NAN;
	for (size_t i = 0; i < list->count; i++)
		if (add_expression(m, list->items[i], err)) {
			metric_lines_free(m);
			return NULL;
		}
	return m;
}

void metric_lines_free(struct metric_lines *m)
{
	if (!m)
		return;
	for (int i = 0; i < m->n; i++)
		line_regex_free(m->items[i].regex);
	line_matcher_free(m->matcher);
	free(m);
}

void metric_lines_set_cpu_clock(struct metric_lines *m, double (*cpu_s)(void))
{
	m->cpu_s = cpu_s;
}

bool metric_lines_look_again(struct metric_lines *m)
{
	m->cpu_s = NULL;
	return m->passed_over;
}

static void take_line(const char *line, size_t n, double arrival_s, void *arg)
{
	struct metric_lines *m = arg;
	struct span groups[LINE_REGEX_GROUPS], *value = &groups[1];
	char digits[128];
	double begin_s, number;

	if (arrival_s > m->refilled_s)
		m->cpu_left_s = fmin(m->cpu_left_s +
				     (arrival_s - m->refilled_s) * STEPS_REGEX_CPU_SHARE,
				     STEPS_REGEX_CPU_BURST_S);
	m->refilled_s = arrival_s;
	if (m->cpu_s && m->cpu_left_s <= 0) {
		m->passed_over = true;
		return;
	}
	begin_s = m->cpu_s ? m->cpu_s() : 0;
	for (int i = 0; i < m->n; i++) {
		if (!line_regex_match(m->items[i].regex, m->matcher, line, n, groups) ||
		    !value->text || value->n == 0 || value->n >= sizeof(digits))
			continue;
		memcpy(digits, value->text, value->n);
		digits[value->n] = '\0';
		if (value_parse(digits, &number))
			m->sink(m->items[i].name, number, m->arg);
	}
	if (m->cpu_s)
		m->cpu_left_s -= fmax(m->cpu_s() - begin_s, 0);
}

void metric_lines_feed(struct metric_lines *m, const char *bytes, size_t n, double arrival_s,
		       metric_sink *sink, void *arg)
{
	m->sink = sink;
	m->arg = arg;
	log_lines_feed(&m->lines, bytes, n, arrival_s, take_line, m);
}

void metric_lines_end(struct metric_lines *m, metric_sink *sink, void *arg)
{
	m->sink = sink;
	m->arg = arg;
	log_lines_end(&m->lines, take_line, m);
}
