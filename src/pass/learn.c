/* learn.c - refit the workloads that have new observations, and read what is known of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pass_state.h"
#include "pollux/mem.h"

/* The devices of a pass are taken to be of one kind: of the first that can be used. */
static const char *kind_of_devices(const struct pass_state *p)
{
	for (int d = 0; d < p->devices.count; d++)
		if (p->devices.items[d].usable)
			return p->devices.items[d].kind;
	return NULL;
}

static int refit(struct pass_state *p, const char *kind, const struct workload_stamp *stamp,
		 struct knowledge *k, struct err *err)
{
	if (!strcmp(k->model.observations_key, stamp->observations_key))
		return 0;
	if (knowledge_learn(&p->store, stamp->workload, kind, stamp->observations_key, k, err))
		return -1;
	return p->mode == PASS_ACT
		? store_model_set(&p->store, stamp->workload, kind, &k->model, err) : 0;
}

static int learn_workload(struct pass_state *p, const char *kind, const struct workload_stamp *stamp,
			  struct err *err)
{
	struct workload_knowledge *known = &p->knowledge[p->n_knowledge];

	if (knowledge_load(&p->store, stamp->workload, kind, &known->k, err))
		return -1;
	known->workload = xstrdup(stamp->workload);
	p->n_knowledge++;
	return refit(p, kind, stamp, &known->k, err);
}

const struct knowledge *pass_knowledge_of(const struct pass_state *p, const char *workload)
{
	for (int i = 0; i < p->n_knowledge; i++)
		if (!strcmp(p->knowledge[i].workload, workload))
			return &p->knowledge[i].k;
	return NULL;
}

void pass_forget(struct pass_state *p)
{
	for (int i = 0; i < p->n_knowledge; i++) {
		free(p->knowledge[i].workload);
		knowledge_release(&p->knowledge[i].k);
	}
	free(p->knowledge);
}

int pass_learn(struct pass_state *p, struct err *err)
{
	const char *kind = kind_of_devices(p);
	struct workload_stamp_list list;
	int rc = 0;

	if (!p->policy->models_goodput || !kind)
		return 0;
	if (store_workload_stamps(&p->store, kind, &list, err))
		return -1;
	p->knowledge = xcalloc((size_t)list.count, sizeof(*p->knowledge));
	for (int i = 0; rc == 0 && i < list.count; i++)
		rc = learn_workload(p, kind, &list.items[i], err);
	workload_stamp_list_release(&list);
	return rc;
}
