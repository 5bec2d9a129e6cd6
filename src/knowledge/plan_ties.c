/* plan_ties.c - see pollux/plan_ties.h. */
#include "pollux/plan_ties.h"

#include <stdio.h>

static struct plan_times times_of(const struct plan_tie_item *item)
{
	return (struct plan_times){
		.name = item->plan, .seen = item->k->seen, .n_seen = item->k->n_seen,
		.fit = &item->k->model.fit, .residuals = &item->k->residuals,
	};
}

/* The plan with most observations, the first of several; NULL: none has any. */
static const struct plan_tie_item *find_reference(const struct plan_tie_item *items, int n)
{
	const struct plan_tie_item *most = NULL;

	for (int i = 0; i < n; i++)
		if (items[i].k->modelled && items[i].k->n_seen > 0 &&
		    (!most || items[i].k->n_seen > most->k->n_seen))
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
	if (t->pass || t->sync)
		knowledge_set_residuals(item->k, &t->params);
}

void plan_ties_make(const struct plan_tie_item *items, int n)
{
	const struct plan_tie_item *reference = find_reference(items, n);

	for (int i = 0; reference && i < n; i++)
		if (&items[i] != reference && items[i].k->modelled && items[i].k->n_seen > 0)
			tie(&items[i], reference);
}
