/* split.c - see split.h. */
#include "pollux/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

static const char *value_of_parameter(const struct split_entry *e, const char *name)
{
	size_t length = strlen(name);

	for (size_t i = 0; i < e->parameters.count; i++)
		if (!strncmp(e->parameters.items[i], name, length) &&
		    e->parameters.items[i][length] == '=')
			return e->parameters.items[i] + length + 1;
	return "";
}

static bool has_same(const struct split_entry *a, const struct split_entry *b, const char *name)
{
	return !strcmp(value_of_parameter(a, name), value_of_parameter(b, name));
}

static bool entry_counts(const struct split_entry *e)
{
	return e->measured.n_windows >= SPLIT_WINDOWS &&
	       isfinite(e->measured.step_time_sd_s);
}

static bool is_comparable(const struct split_entry *a, const struct split_entry *b)
{
	return entry_counts(a) && entry_counts(b) &&
	       configuration_equal(&a->measured.configuration, &b->measured.configuration);
}

static bool disagrees(const struct split_entry *a, const struct split_entry *b)
{
	return !pool_agree(&a->measured, &b->measured);
}

/* True if another job has the same value, measured in the same configuration. */
static bool is_repeated(const struct split_entry *entries, int n, const struct split_entry *e,
			const char *name)
{
	for (int i = 0; i < n; i++)
		if (entries[i].measured.job_id != e->measured.job_id &&
		    is_comparable(&entries[i], e) && has_same(&entries[i], e, name))
			return true;
	return false;
}

/* True if the disagreement of two entries cannot come from a disturbance of one run. */
static bool is_sure(const struct split_entry *entries, int n, const struct split_entry *a,
		    const struct split_entry *b, const char *name)
{
	double x = a->measured.step_time_s, y = b->measured.step_time_s;

	return (is_repeated(entries, n, a, name) && is_repeated(entries, n, b, name)) ||
	       fmax(x, y) >= SPLIT_ALONE * fmin(x, y);
}

/* True if the parameter explains all sure disagreements. *at: an entry of the first of them. */
static bool explains(const struct split_entry *entries, int n, const char *name,
		     const struct split_entry **at)
{
	const struct split_entry *found = NULL;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++) {
			const struct split_entry *a = &entries[k], *b = &entries[i];

			if (!is_comparable(a, b) || !disagrees(a, b))
				continue;
			if (has_same(a, b, name))
				return false;
			if (!found && is_sure(entries, n, a, b, name))
				found = a;
		}
	*at = found;
	return found != NULL;
}

static bool is_first_of_value(const struct split_entry *entries, int i, const char *name,
			      const struct split_entry *at)
{
	for (int k = 0; k < i; k++)
		if (is_comparable(&entries[k], at) && has_same(&entries[k], &entries[i], name))
			return false;
	return is_comparable(&entries[i], at);
}

static double mean_at(const struct split_entry *entries, int n, const struct split_entry *like,
		      const char *name)
{
	double sum = 0;
	int count = 0;

	for (int i = 0; i < n; i++)
		if (is_comparable(&entries[i], like) && has_same(&entries[i], like, name)) {
			sum += entries[i].measured.step_time_s;
			count++;
		}
	return sum / count;
}

static void describe_split(const struct split_entry *entries, int n, const struct split_entry *at,
			   struct split *split)
{
	const char *separator = ": ";

	text_addf(&split->text, "split by %s", split->parameter);
	for (int i = 0; i < n; i++) {
		if (!is_first_of_value(entries, i, split->parameter, at))
			continue;
		text_addf(&split->text, "%s%.3g ms at %s", separator,
			  mean_at(entries, n, &entries[i], split->parameter) * 1e3,
			  value_of_parameter(&entries[i], split->parameter));
		separator = ", ";
	}
}

bool split_find(const struct split_entry *entries, int n, struct split *split)
{
	const struct split_entry *at = NULL, *first_at = NULL;
	int n_explain = 0;

	*split = (struct split){ .text = TEXT_INIT };
	for (size_t p = 0; n > 0 && p < entries[0].parameters.count; p++) {
		const char *text = entries[0].parameters.items[p];
		char *name = xasprintf("%.*s", (int)strcspn(text, "="), text);

		if (strcmp(name, "index") != 0 && explains(entries, n, name, &at) &&
		    n_explain++ == 0) {
			split->parameter = name;
			first_at = at;
			continue;
		}
		free(name);
	}
	if (n_explain == 1)
		describe_split(entries, n, first_at, split);
	else
		split_release(split);
	return n_explain == 1;
}

void split_release(struct split *split)
{
	free(split->parameter);
	text_release(&split->text);
	*split = (struct split){ .text = TEXT_INIT };
}
