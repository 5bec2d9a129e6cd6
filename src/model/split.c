/* split.c - see split.h. */
#include "pollux/split.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

static const char *value_of_parameter(const struct split_entry *e, const char *name)
{
	const char *value = strings_variable(&e->parameters, name);

	return value ? value : "";
}

static bool has_same(const struct split_entry *a, const struct split_entry *b, const char *name)
{
	return !strcmp(value_of_parameter(a, name), value_of_parameter(b, name));
}

static bool is_comparable(const struct split_entry *a, const struct split_entry *b)
{
	const struct observation *x = &a->measured, *y = &b->measured;

	return x->n_windows >= SPLIT_WINDOWS && isfinite(x->step_time_sd_s) &&
	       y->n_windows >= SPLIT_WINDOWS && isfinite(y->step_time_sd_s) &&
	       configuration_equal(&x->configuration, &y->configuration);
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

/* True if the parameter explains all sure disagreements: those that cannot come from a disturbance
 * of one run. *at: an entry of the first of them. */
static bool explains(const struct split_entry *entries, int n, const char *name,
		     const struct split_entry **at)
{
	const struct split_entry *found = NULL;

	for (int i = 0; i < n; i++)
		for (int k = 0; k < i; k++) {
			const struct split_entry *a = &entries[k], *b = &entries[i];
			double x = a->measured.step_time_s, y = b->measured.step_time_s;

			if (!is_comparable(a, b) || pool_agree(&a->measured, &b->measured))
				continue;
			if (has_same(a, b, name))
				return false;
			if (!found && (fmax(x, y) >= SPLIT_ALONE * fmin(x, y) ||
				       (is_repeated(entries, n, a, name) &&
					is_repeated(entries, n, b, name))))
				found = a;
		}
	*at = found;
	return found != NULL;
}

#define SPLIT_BY "split by "

bool split_find(const struct split_entry *entries, int n, struct split *split)
{
	const struct split_entry *at = NULL, *first_at = NULL;
	const char *separator = ": ";
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
	if (n_explain != 1) {
		split_release(split);
		return false;
	}
	text_addf(&split->text, SPLIT_BY "%s", split->parameter);
	for (int i = 0; i < n; i++) {
		double sum = 0;
		int count = 0, first = n;

		for (int k = 0; k < n; k++) {
			if (!is_comparable(&entries[k], first_at) ||
			    !has_same(&entries[k], &entries[i], split->parameter))
				continue;
			sum += entries[k].measured.step_time_s;
			first = count++ ? first : k;
		}
		if (first != i)
			continue;
		text_addf(&split->text, "%s%.3g ms at %s", separator, sum / count * 1e3,
			  value_of_parameter(&entries[i], split->parameter));
		separator = ", ";
	}
	return true;
}

void split_release(struct split *split)
{
	free(split->parameter);
	text_release(&split->text);
	*split = (struct split){ .text = TEXT_INIT };
}

char *split_workload(const char *text, const char *workload, const struct strings *parameters)
{
	const char *by = text_starts_with(text, SPLIT_BY) ? text + strlen(SPLIT_BY) : "", *value;
	autofree char *name = xstrdup(by);

	name[strcspn(name, ":")] = '\0';
	value = *name ? strings_variable(parameters, name) : NULL;
	return value ? xasprintf("%s [%s=%s]", workload, name, value) : xstrdup(workload);
}
