/* workloads.h - what is known of each workload that has jobs waiting or running, on each kind of
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
	char *name;
	char kind[sizeof(((struct device *)0)->kind)];
	bool measured;			/* else only k.memory and k.failed are known */
	bool fitted;			/* k.model was fitted anew, for store_model_set */
	struct knowledge k;
};

struct workload_list {
	struct workload *items;
	int count;
};

/* Appends what is known on one kind of device. models: loads every workload that has
 * observations, and fits its model again where they have changed. Of the other workloads among
 * `names` it loads the sizes that are known not to work, if there are any. */
int workloads_learn(struct store *s, const char *kind, const struct strings *names, bool models,
		    struct workload_list *list, struct err *err);
/* The same without a fit, on a list that was learnt before: the sizes that do not work are read
 * anew, workloads that are not in the list are added with the models that are stored. */
int workloads_refresh(struct store *s, const char *kind, const struct strings *names, bool models,
		      struct workload_list *list, struct err *err);
void workload_list_release(struct workload_list *list);

/* The workload on this kind of device; NULL: nothing is known. */
struct workload *workloads_find(const struct workload_list *list, const char *name,
				const char *kind);
/* Where the workload was measured: on this kind, else on the first kind that it was measured
 * on, which is better than nothing for a job that waits (kind NULL). NULL: nowhere. */
struct workload *workloads_measured(const struct workload_list *list, const char *name,
				    const char *kind);

#endif
