/* plan_ties.h - the plans of a workload learn from each other: what was hardly measured under a
 * plan is expected by the plan that was measured most.
 *
 *	plan_ties_make(items, n);	// struct knowledge of each plan of a workload on a kind
 *	items[i].k->tie.ratio ... */
#ifndef POLLUX_PLAN_TIES_H
#define POLLUX_PLAN_TIES_H

#include "pollux/knowledge.h"

struct plan_tie_item {
	const char *plan;		/* name */
	struct knowledge *k;
};

/* Sets k->tie of each item but the one with most observations. Then all residuals are computed
 * again, with those of the other plans. Knowledge that has no model is left alone. */
void plan_ties_make(const struct plan_tie_item *items, int n);

#endif
