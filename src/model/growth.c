/* growth.c - decides by what ends a training whether its batch may grow. */
#include "pollux/growth.h"

#include <math.h>
#include <string.h>

static const char *const ends[N_TRAINING_ENDS] = {
	[END_UNKNOWN] = "", [END_STEPS] = "steps", [END_SAMPLES] = "samples",
	[END_EPOCHS] = "epochs", [END_METRIC] = "metric", [END_TIME] = "time",
};

const struct field_names training_end_names = { ends, N_TRAINING_ENDS, END_UNKNOWN };

enum training_end training_end_parse(const char *word)
{
	for (int i = 1; i < N_TRAINING_ENDS; i++)
		if (!strcmp(word, ends[i]))
			return (enum training_end)i;
	return END_UNKNOWN;
}

static const char *const families[] = {
	[OPTIMIZER_SGD] = "sgd", [OPTIMIZER_ADAM] = "adam", [OPTIMIZER_OTHER] = "other",
	[OPTIMIZER_SEARCH] = "search",
};

enum optimizer_family optimizer_family_of(const char *report)
{
	size_t length = strcspn(report, " ");

	for (int i = OPTIMIZER_SGD; i <= OPTIMIZER_SEARCH; i++)
		if (strlen(families[i]) == length && !memcmp(families[i], report, length))
			return (enum optimizer_family)i;
	return OPTIMIZER_UNKNOWN;
}

const char *optimizer_names_of(const char *report)
{
	const char *names = report + strcspn(report, " ");

	return names + strspn(names, " ");
}

/* A program that saw its own loop knows best; then counts what its user said of this job, then what
 * it printed. An epoch beyond the second begins where another ended: two passes over the data. */
enum training_end growth_end(const struct growth_facts *f)
{
	if (f->reported != END_UNKNOWN)
		return f->reported;
	if (f->declared_samples > 0)
		return END_SAMPLES;
	if (f->declared_steps > 0)
		return END_STEPS;
	if (f->total_samples > 0)
		return END_SAMPLES;
	if (f->total_epochs > 0)
		return END_EPOCHS;
	if (f->total_steps > 0)
		return END_STEPS;
	return f->epoch >= 2 ? END_EPOCHS : END_UNKNOWN;
}

enum growth_veto growth_veto(const struct growth_facts *f)
{
	if (f->optimizer == OPTIMIZER_SEARCH ||
	    (f->optimizer == OPTIMIZER_OTHER && !f->rule_is_given))
		return GROWTH_OPTIMIZER;
	if (f->passes_steps)
		return GROWTH_ALLOWED;
	if (growth_end(f) == END_UNKNOWN)
		return GROWTH_END_UNKNOWN;
	return growth_end(f) == END_STEPS ? GROWTH_COUNTS_STEPS : GROWTH_ALLOWED;
}

bool growth_keeps_replicas(const struct growth_facts *f)
{
	return !f->has_batch && !f->passes_steps && f->reported == END_STEPS;
}

double growth_steps(double total_steps, double own_batch_size, double batch_size,
		    double steps_done, double samples_done)
{
	double steps = steps_done > 0 ? steps_done : 0;
	double samples = samples_done > 0 ? samples_done : steps * own_batch_size;
	double left = total_steps * own_batch_size - samples;

	return left > 0 ? steps + ceil(left / batch_size) : steps;
}
