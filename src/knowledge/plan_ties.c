/* plan_ties.c - see pollux/plan_ties.h. */
#include "pollux/plan_ties.h"

#include <stdio.h>

#include "pollux/execution_plan.h"

static struct plan_times times_of(const struct plan_tie_item *item)
{
	return (struct plan_times){
		.name = item->plan, .seen = item->k->seen.items, .n_seen = item->k->seen.count,
		.fit = &item->k->model.fit, .residuals = &item->k->residuals,
	};
}

static bool is_measured(const struct plan_tie_item *item)
{
	return item->k->modelled && item->k->seen.count > 0;
}

/* The plan with most observations, the first of several; NULL: none has any. */
static const struct plan_tie_item *find_reference(const struct plan_tie_item *items, int n)
{
	const struct plan_tie_item *most = NULL;

	for (int i = 0; i < n; i++)
		if (is_measured(&items[i]) &&
		    (!most || items[i].k->seen.count > most->k->seen.count))
			most = &items[i];
	return most;
}

static void tie(const struct plan_tie_item *item, const struct plan_tie_item *reference)
{
	struct plan_times to = times_of(item), from = times_of(reference);
	struct plan_tie *t = &item->k->tie;

	t->ratio = plan_ratio(&to, &from);
	snprintf(t->reference, sizeof(t->reference), "%s", reference->plan);
	t->params = plan_borrow(&to, &from, t->ratio.value, &t->pass, &t->sync);
}

/* The errors of the models of all plans tell of each other. */
static void set_residuals(const struct plan_tie_item *items, int n, int own)
{
	struct residuals_source others[EXECUTION_PLANS_MAX];
	int n_others = 0;

	for (int i = 0; i < n && n_others < EXECUTION_PLANS_MAX; i++)
		if (i != own && is_measured(&items[i]))
			others[n_others++] = (struct residuals_source){
				items[i].k->seen.items, items[i].k->seen.count,
				knowledge_params(items[i].k)
			};
	knowledge_set_residuals(items[own].k, knowledge_params(items[own].k), others, n_others);
}

void plan_ties_make(const struct plan_tie_item *items, int n)
{
	const struct plan_tie_item *reference = find_reference(items, n);

	for (int i = 0; reference && i < n; i++)
		if (&items[i] != reference && is_measured(&items[i]))
			tie(&items[i], reference);
	for (int i = 0; reference && n > 1 && i < n; i++)
		if (is_measured(&items[i]))
			set_residuals(items, n, i);
}
