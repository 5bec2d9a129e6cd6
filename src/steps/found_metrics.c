/* found_metrics.c - see steps.h. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "metric_names.h"
#include "patterns.h"
#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/text.h"
#include "steps_state.h"

#define PAIRS_MAX 16		/* of a line */
#define CANDIDATES_MAX 32	/* names of which one value was seen */
#define CANDIDATES_UNCOMMON_MAX 24	/* beyond these, usual names alone */
#define VALUE_SIZE 40

/* A name with a value, in a line at this counter. */
struct found {
	char name[METRIC_NAME_SIZE];
	double value, counter;
	bool is_common;
	bool is_unclear;	/* the line has another value of this name */
};

struct found_metrics {
	struct log_lines lines;
	struct needles needles;		/* of lines that are looked at */
	struct found counts[FOUND_METRICS_MAX];
	int n_counts, n_uncommon;
	struct found candidates[CANDIDATES_MAX];
	int n_candidates;
	char rank[RANK_MAX];		/* whose lines count; of no length: none was named yet */
	size_t rank_length;
	double bytes_left, refilled_s;
	metric_sink *sink;		/* of the present call */
	void *arg;
};

struct found_metrics *found_metrics_new(void)
{
	static const char *const words[] = {
		"loss", "acc", "val", "f1", "auc", "auroc", "ppl", "perplexity", "bleu", "iou",
		"dice", "mae", "mse", "wer", "cer", "nll", "psnr", "ssim", "reward",
	};
	struct found_metrics *m = xcalloc(1, sizeof(*m));

	log_lines_init(&m->lines);
	needles_init(&m->needles);
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		needles_add(&m->needles, words[i], 1);
	needles_link(&m->needles);
	m->bytes_left = FOUND_BURST_BYTES;
	m->refilled_s = (double)NAN;
	return m;
}

void found_metrics_free(struct found_metrics *m)
{
	free(m);
}

/* --- which names and values count --- */

static void give(struct found_metrics *m, const struct found *f)
{
	m->sink(f->name, f->value, m->arg);
}

/* A name counts when it has another value, or stands beside another counter: what a program prints
 * of its settings does not change. */
static void see_candidate(struct found_metrics *m, const struct found *f)
{
	struct found *c = m->candidates;

	while (c < m->candidates + m->n_candidates && strcmp(c->name, f->name) != 0)
		c++;
	if (c == m->candidates + m->n_candidates) {
		if (m->n_candidates < (f->is_common ? CANDIDATES_MAX : CANDIDATES_UNCOMMON_MAX))
			m->candidates[m->n_candidates++] = *f;
		return;
	}
	if (m->n_counts == FOUND_METRICS_MAX ||
	    (!f->is_common && m->n_uncommon == FOUND_UNCOMMON_MAX) ||
	    (value_compare(c->value, f->value, true) == 0 && c->counter >= f->counter &&
	     c->counter <= f->counter))
		return;
	m->counts[m->n_counts++] = *f;
	m->n_uncommon += !f->is_common;
	give(m, c);
	give(m, f);
}

static void see(struct found_metrics *m, const struct found *f)
{
	for (int i = 0; i < m->n_counts; i++)
		if (!strcmp(m->counts[i].name, f->name)) {
			give(m, f);
			return;
		}
	see_candidate(m, f);
}

/* --- a line --- */

/* A line, and what its words up to this place say. */
struct scan {
	const char *line;
	size_t n, at;
	const char *section;		/* "train", "val": of the numbers behind it; "": none */
	bool of_other;			/* the section is no training */
	bool is_bar;
	bool follows_word;		/* right behind a word that may belong to the name */
	struct found pairs[PAIRS_MAX];
	int n_pairs;
};

static char at(const struct scan *s, size_t i)
{
	return (char)(i < s->n ? s->line[i] : '\0');
}

static bool is_name_byte(char c)
{
	return isalnum((unsigned char)c) || (c && strchr("_./@+-", c));
}

static size_t skip_blanks(const struct scan *s, size_t i)
{
	while (at(s, i) == ' ' || at(s, i) == '\t')
		i++;
	return i;
}

/* Reads the value that '=' or ':' gives to the name that ends here. Returns the place behind the
 * value; 0: there is none, or more than a number stands there. */
static size_t read_value(const struct scan *s, size_t end, double *value)
{
	static const char ends[] = " \t,;|)]}'\"";
	size_t i = end, begin;
	char text[VALUE_SIZE];
	size_t n;

	i += at(s, i) == '\'' || at(s, i) == '"';
	i = skip_blanks(s, i);
	if (at(s, i) != '=' && at(s, i) != ':')
		return 0;
	i = skip_blanks(s, i + 1);
	i += at(s, i) == '\'' || at(s, i) == '"';
	for (begin = i; i < s->n && !strchr(ends, s->line[i]);)
		i++;
	n = i - begin;
	if (n == 0 || n + 2 > sizeof(text))
		return 0;
	memcpy(text, s->line + begin, n);
	n -= text[n - 1] == '%';
	text[n] = '\0';
	if (strpbrk(text, "xX:"))
		return 0;
	strcpy(text + n, ",");		/* of "tensor(0.5, device=...)" the argument is left */
	if (!value_parse(text, value))
		return 0;
	/* "98 / 100", "0.5 -> 0.4" */
	begin = skip_blanks(s, i);
	return at(s, begin) == '/' || (at(s, begin) == '-' && at(s, begin + 1) == '>') ? 0 : i;
}

/* Adds the value of a name of n bytes; *stop: what follows is doubtful. */
static void add_pair(struct scan *s, const char *name, size_t n, double value)
{
	struct found f = { .value = value };
	struct metric_name of;

	if (!metric_name_read(name, n, s->section, &of, f.name))
		return;
	if (s->is_bar && s->of_other && !of.has_section)
		return;		/* the evaluation goes on */
	f.is_common = of.is_common;
	for (int i = 0; i < s->n_pairs; i++)
		if (!strcmp(s->pairs[i].name, f.name)) {
			s->pairs[i].is_unclear |= value_compare(s->pairs[i].value, value, true)
						  != 0;
			return;
		}
	if (s->n_pairs < PAIRS_MAX)
		s->pairs[s->n_pairs++] = f;
}

/* Reads a word, or a name and its value. False: the rest of the line is not of now, as behind
 * "best". */
static bool read_word(struct scan *s)
{
	size_t begin = s->at, end = begin, behind;
	const char *section;
	bool follows = s->follows_word;
	double value = 0;

	while (is_name_byte(at(s, end)))
		end++;
	while (end > begin && strchr("./-+", s->line[end - 1]))
		end--;
	s->at = end;
	s->follows_word = false;
	if (metric_word_stops(s->line + begin, end - begin))
		return false;
	section = metric_section(s->line + begin, end - begin);
	behind = section ? 0 : read_value(s, end, &value);
	if (section) {
		s->section = section;
		s->of_other = strcmp(section, "train") != 0;
	} else if (behind) {
		if (!follows)
			add_pair(s, s->line + begin, end - begin, value);
		s->at = behind;
	} else {
		/* "KL loss: 0.1": another loss than "loss" */
		s->follows_word = at(s, end) == ' ' && !metric_word_is_mean(s->line + begin,
									 end - begin);
	}
	return true;
}

static void scan_line(struct scan *s)
{
	bool goes_on = true;

	while (goes_on && s->at < s->n) {
		char c = s->line[s->at], before = (char)(s->at > 0 ? s->line[s->at - 1] : ' ');

		if ((isalpha((unsigned char)c) || c == '_') && !is_name_byte(before)) {
			goes_on = read_word(s);
			continue;
		}
		s->follows_word &= c == ' ';
		s->at++;
	}
}

/* The number behind these words of a dictionary, which may be a decimal one; NaN: none. */
static double dictionary_counter(const char *line, size_t n)
{
	static const char *const words[] = { "'epoch': ", "\"epoch\": ", "'step': ", "\"step\": " };
	double counter = (double)NAN;

	for (size_t i = 0; n > 0 && *line == '{' && i < sizeof(words) / sizeof(words[0]); i++) {
		const char *found = memmem(line, n, words[i], strlen(words[i]));
		char text[VALUE_SIZE];
		size_t left, length = 0;

		if (!found)
			continue;
		found += strlen(words[i]);
		left = (size_t)(line + n - found);
		if (left > 0 && (*found == '\'' || *found == '"')) {
			found++;
			left--;
		}
		while (length < left && length + 1 < sizeof(text) &&
		       (isdigit((unsigned char)found[length]) || found[length] == '.'))
			length++;
		memcpy(text, found, length);
		text[length] = '\0';
		if (number_parse(text, &counter) == 0)
			break;
	}
	return counter;
}

/* True for a line that tells where the training is. *counter: by which it differs from others;
 * *is_bar: it is a progress bar, which is drawn again and again. */
static bool has_counter(const struct found_metrics *m, const char *line, size_t n,
			double *counter, bool *is_bar)
{
	size_t digits = 0, blanks = 0;
	struct counters c;

	*is_bar = memmem(line, n, "%|", 2) != NULL;
	*counter = dictionary_counter(line, n);
	if (!isnan(*counter))
		return true;
	/* Keras: "85/85 - 5s - 53ms/step - loss: 0.7", which names no counter */
	while (blanks < n && line[blanks] == ' ')
		blanks++;
	while (blanks + digits < n && isdigit((unsigned char)line[blanks + digits]))
		digits++;
	if (digits > 0 && blanks + digits < n && line[blanks + digits] == '/' &&
	    memmem(line, n, "s/step", 6)) {
		*counter = (double)m->lines.n_lines;
		return true;
	}
	if (!counters_find(line, n, &c) || c.is_other || (isnan(c.epoch.n) && isnan(c.step.n)))
		return false;
	*counter = (isnan(c.step.n) ? 0 : c.step.n) + 1e9 * (isnan(c.epoch.n) ? 0 : c.epoch.n);
	return true;
}

/* Lines of the first rank that has a metric count, as for steps. */
static bool is_of_another_rank(struct found_metrics *m, const char *line, size_t id)
{
	return id && m->rank_length &&
	       (id != m->rank_length || memcmp(line, m->rank, id) != 0);
}

static void take_line(const char *line, size_t n, double arrival_s, void *arg)
{
	struct found_metrics *m = arg;
	size_t id, prefix = rank_prefix(line, n, &id);
	struct scan s = { .line = line + prefix, .n = n - prefix, .section = "" };
	double counter;

	id = prefix ? id : 0;
	if (!needles_find(&m->needles, s.line, s.n) || is_of_another_rank(m, line, id))
		return;
	if (arrival_s > m->refilled_s)
		m->bytes_left = fmin(m->bytes_left + (arrival_s - m->refilled_s) *
				     FOUND_BYTES_PER_S, FOUND_BURST_BYTES);
	m->refilled_s = arrival_s;
	if (!isnan(arrival_s) && m->bytes_left <= 0)
		return;
	m->bytes_left -= (double)n;
	if (!has_counter(m, s.line, s.n, &counter, &s.is_bar))
		return;
	scan_line(&s);
	if (s.n_pairs > 0 && id && !m->rank_length && id <= RANK_MAX) {
		memcpy(m->rank, line, id);
		m->rank_length = id;
	}
	for (int i = 0; i < s.n_pairs; i++) {
		s.pairs[i].counter = counter;
		if (!s.pairs[i].is_unclear)
			see(m, &s.pairs[i]);
	}
}

void found_metrics_feed(struct found_metrics *m, const char *bytes, size_t n, double arrival_s,
			metric_sink *sink, void *arg)
{
	m->sink = sink;
	m->arg = arg;
	log_lines_feed(&m->lines, bytes, n, arrival_s, take_line, m);
}

void found_metrics_end(struct found_metrics *m, metric_sink *sink, void *arg)
{
	m->sink = sink;
	m->arg = arg;
	log_lines_end(&m->lines, take_line, m);
}
