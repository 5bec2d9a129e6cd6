/* halving.c - see halving.h. */
#include "pollux/halving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/text.h"

#define DEFAULT_ETA 3.0
#define DEFAULT_RUNGS 3
#define ETA_MAX 100.0

/* --- the option --- */

static int add_rung(struct halving *h, double samples, double total_samples, struct err *err)
{
	double last = h->n_rungs ? h->rungs[h->n_rungs - 1] : 0;

	if (h->n_rungs == HALVING_RUNGS_MAX)
		return err_set(err, EX_USAGE, "more than %d rungs", HALVING_RUNGS_MAX);
	if (!(samples > last))
		return err_set(err, EX_USAGE, "rung %.15g is not above %.15g", samples, last);
	/* False where the end is not known. */
	if (samples >= total_samples)
		return err_set(err, EX_USAGE, "rung %.15g is not below the end, %.15g samples",
			       samples, total_samples);
	h->rungs[h->n_rungs++] = samples;
	return 0;
}

static int parse_rungs(const char *list, double total_samples, struct halving *h, struct err *err)
{
	autofree char *copy = xstrdup(list);
	char *rest = copy, *word;
	double samples = NAN;
	int rc = 0;

	while (rc == 0 && (word = strsep(&rest, "/")))
		rc = number_parse(word, &samples) || samples < 1 || samples > 1e18
			? err_set(err, EX_USAGE, "'%s' is no number of samples", word)
			: add_rung(h, floor(samples), total_samples, err);
	return rc;
}

/* Adds at most this many rungs below the end, each eta times as far as the rung before. */
static int rungs_from(double first, int most, double total_samples, struct halving *h,
		      struct err *err)
{
	if (isnan(total_samples))
		return err_set(err, EX_USAGE, "where its end is not declared (--samples, --epochs)"
			       ", it needs rungs=A/B/C");
	first = floor(fmax(first, 1));
	if (first >= total_samples)
		return add_rung(h, first, total_samples, err);
	while (first < total_samples && h->n_rungs < most) {
		h->rungs[h->n_rungs++] = first;
		first = ceil(first * h->eta);
	}
	return 0;
}

/* The words of the option. The rungs are made when all words are read. */
struct halving_words {
	const char *rungs;		/* NULL: not given */
	double first;			/* NaN: not given */
};

static int parse_word(const char *word, struct halving *h, struct halving_words *words,
		      struct err *err)
{
	if (text_starts_with(word, "eta="))
		return number_parse(word + 4, &h->eta) || !(h->eta > 1) || h->eta > ETA_MAX
			? err_set(err, EX_USAGE, "eta is a number above 1, at most %g", ETA_MAX)
			: 0;
	if (text_starts_with(word, "first="))
		return number_parse(word + 6, &words->first) || !(words->first >= 1)
			? err_set(err, EX_USAGE, "'%s' is no number of samples", word + 6) : 0;
	if (!text_starts_with(word, "rungs="))
		return err_set(err, EX_USAGE, "'%s' is none of eta=X, rungs=A/B/C, first=N", word);
	words->rungs = word + 6;
	return 0;
}

static int parse_metric(char *word, struct halving *h, struct err *err)
{
	char *colon = strrchr(word, ':');

	h->says_way = colon && (!strcmp(colon, ":min") || !strcmp(colon, ":max"));
	if (colon && !h->says_way)
		return err_set(err, EX_USAGE, "behind '%.*s:' comes min or max, not '%.60s'",
			       (int)(colon - word), word, colon + 1);
	if (h->says_way) {
		h->low_is_best = !strcmp(colon, ":min");
		*colon = '\0';
	}
	if (!*word || strlen(word) >= sizeof(h->metric))
		return err_set(err, EX_USAGE, "it needs the name of a metric first");
	memcpy(h->metric, word, strlen(word) + 1);
	return 0;
}

static int make_rungs(const struct halving_words *words, double total_samples, struct halving *h,
		      struct err *err)
{
	if (words->rungs && isfinite(words->first))
		return err_set(err, EX_USAGE, "give one of rungs= and first=");
	if (words->rungs)
		return parse_rungs(words->rungs, total_samples, h, err);
	if (isfinite(words->first))
		return rungs_from(words->first, HALVING_RUNGS_MAX, total_samples, h, err);
	/* The first rung is rounded down. Otherwise a fourth rung would lie a few samples below the
	 * end. */
	return rungs_from(total_samples / pow(h->eta, DEFAULT_RUNGS), DEFAULT_RUNGS, total_samples,
			  h, err);
}

int halving_parse(const char *text, double total_samples, struct halving *h, struct err *err)
{
	autofree char *copy = xstrdup(text);
	char *rest = copy, *word = strsep(&rest, ",");
	struct halving_words words = { NULL, NAN };
	int rc;

	*h = (struct halving){ .eta = DEFAULT_ETA };
	rc = parse_metric(word, h, err);
	while (rc == 0 && (word = strsep(&rest, ",")))
		rc = parse_word(word, h, &words, err);
	if (rc == 0)
		rc = make_rungs(&words, total_samples, h, err);
	return rc;
}

void halving_format(const struct halving *h, struct text *out)
{
	text_addf(out, "%s:%s,eta=%.15g,rungs=", h->metric, h->low_is_best ? "min" : "max", h->eta);
	for (int i = 0; i < h->n_rungs; i++)
		text_addf(out, "%s%.0f", i ? "/" : "", h->rungs[i]);
}

/* --- the decision --- */

/* A run at a rung. */
struct entry {
	struct halving_run *run;
	double value;
	bool low_is_best;
};

static int by_value(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	int order = value_compare(x->value, y->value, x->low_is_best);

	return order ? order : (x->run->id > y->run->id) - (x->run->id < y->run->id);
}

/* Ranks the runs that are paused at the rung. Returns the best of them that has not diverged; NULL:
 * there is none. */
static struct halving_run *rank_rung(const struct halving *h, struct entry *entries, int count,
				     int rung, int *turns)
{
	int most = (int)floor(count / h->eta + 1e-9);
	struct halving_run *best = NULL;

	if (count > 0)
		qsort(entries, (size_t)count, sizeof(*entries), by_value);
	for (int i = 0; i < count; i++) {
		struct halving_run *run = entries[i].run;

		if (run->state != HALVING_PAUSED || run->rung != rung)
			continue;
		run->rank = i + 1;
		run->of = count;
		if (!isfinite(entries[i].value))
			continue;
		best = best ? best : run;
		run->goes_on = run->rank <= most;
		run->turn = run->goes_on ? ++*turns : 0;
	}
	return best;
}

/* True if a complete run was at least as good as the paused one at the rung of the paused one. A
 * run that ran to its end without a value there, or that diverged later, beats nobody. */
static bool is_beaten(const struct halving *h, const struct halving_run *paused,
		      const struct halving_run *runs, int n)
{
	int at = paused->rung - 1;

	for (int i = 0; i < n; i++)
		if (runs[i].state == HALVING_DONE && runs[i].rung > at && !runs[i].diverged &&
		    isfinite(runs[i].values[runs[i].rung - 1]) &&
		    value_compare(runs[i].values[at], paused->values[at], h->low_is_best) <= 0)
			return true;
	return false;
}

bool halving_decide(const struct halving *h, struct halving_run *runs, int n)
{
	autofree struct entry *entries = xcalloc((size_t)n + 1, sizeof(*entries));
	struct halving_run *best = NULL;
	int turns = 0;
	bool going = false;

	for (int i = 0; i < n; i++) {
		runs[i].rank = runs[i].of = runs[i].turn = 0;
		runs[i].goes_on = false;
		going |= runs[i].state == HALVING_GOING;
	}
	for (int rung = h->n_rungs; rung > 0; rung--) {
		struct halving_run *first;
		int count = 0;

		for (int i = 0; i < n; i++)
			if (runs[i].rung >= rung)
				entries[count++] = (struct entry){
					&runs[i], runs[i].values[rung - 1], h->low_is_best,
				};
		first = rank_rung(h, entries, count, rung, &turns);
		best = best ? best : first;
	}
	if (turns > 0 || going)
		return false;
	if (!best || is_beaten(h, best, runs, n))
		return true;
	best->goes_on = true;
	best->turn = 1;
	return false;
}
