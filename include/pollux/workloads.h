/* workloads.h - the knowledge of each workload with waiting or running jobs, on each kind of
 * device.
 *
 *	struct workload_list list = { 0 };
 *	if (workloads_learn(&store, kind, &names, true, &list, err)) ...	// for each kind
 *	struct knowledge *k = workloads_of_job(&list, "resnet", kind);
 *	workload_list_release(&list);
 *
 * Nothing here writes. A model that was fitted anew is marked, so that the caller can store it. */
#ifndef POLLUX_WORKLOADS_H
#define POLLUX_WORKLOADS_H

#include "pollux/knowledge.h"

struct workload {
	char *name;			/* owned */
	char kind[sizeof(((struct device *)0)->kind)];
	bool measured;			/* false: only k.memory and k.failed are known */
	bool fitted;			/* k.model was fitted anew, for store_model_set */
	struct knowledge k;
};

struct workload_list {
	struct workload *items;	/* owned */
	int count;
	double min_efficiency;		/* for knowledge.h; 0: the default */
	/* The one workload to load, with its plans; NULL: those of queued and running jobs. */
	const char *only;
	bool needs_fit;			/* workloads_refresh added one not fitted to its times */
};

/* Appends the knowledge on one kind of device. models: loads every workload with observations, and
 * fits its model again if they have changed. For the other workloads in `names` it loads the sizes
 * that are known not to work, if there are any. */
int workloads_learn(struct store *s, const char *kind, const struct strings *names, bool models,
		    struct workload_list *list, struct err *err);
/* Updates a list without a fit. Reads the sizes that do not work again, and adds further workloads
 * with their stored models. Sets list->needs_fit if one of these has no model, or one that does not
 * rest on all that was measured. */
int workloads_refresh(struct store *s, const char *kind, const struct strings *names, bool models,
		      struct workload_list *list, struct err *err);
/* Once the list is complete: the plans of each workload learn from each other. */
void workloads_tie_plans(struct workload_list *list);
/* The step times of other plans of w's workload that were measured on w's kind and on this one, in
 * times, which has room for EXECUTION_PLANS_MAX. Returns their number; 0: w is under no plan. */
int workloads_other_plans(const struct workload_list *list, const struct workload *w,
			  const char *kind, struct kind_times *times);
/* True if the workload was measured on the kind under some plan; name: under any. */
bool workloads_any_plan(const struct workload_list *list, const char *name, const char *kind);
void workload_list_release(struct workload_list *list);

/* The workload on this kind of device; NULL: nothing is known. */
struct workload *workloads_find(const struct workload_list *list, const char *name,
				const char *kind);
/* The workload on this kind of device if it was measured there, or else on the first kind on which
 * it was measured, as the best guess for a waiting job (kind NULL). NULL: it was not measured. */
struct workload *workloads_measured(const struct workload_list *list, const char *name,
				    const char *kind);

/* ---- plans of a workload ---- */

/* The plans of a workload learn from each other: what was hardly measured under a plan is expected
 * by the plan that was measured most.
 *
 *	plan_ties_make(items, n);	// struct knowledge of each plan of a workload on a kind
 *	items[i].k->tie.ratio ... */

struct plan_tie_item {
	const char *plan;		/* name */
	struct knowledge *k;
};

/* Sets k->tie of each item but the one with most observations. Then all residuals are computed
 * again, with those of the other plans. Knowledge that has no model is left alone. */
void plan_ties_make(const struct plan_tie_item *items, int n);

#endif
