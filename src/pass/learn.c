/* learn.c - refit the workloads that have new observations, and read what is known of each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pass_state.h"
#include "pollux/mem.h"

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
	known->kind = kind;
	p->n_knowledge++;
	return refit(p, kind, stamp, &known->k, err);
}

/* Of a job that waits it is not known where it will run: what is known of it on the first kind will do. */
struct knowledge *pass_knowledge_of(const struct pass_state *p, const struct candidate *c)
{
	struct knowledge *found = NULL;

	for (int i = 0; i < p->n_knowledge; i++) {
		struct workload_knowledge *known = &p->knowledge[i];

		if (strcmp(known->workload, c->job->declared.workload) != 0)
			continue;
		if (c->run && !strcmp(known->kind, c->run->devices[0].kind))
			return &known->k;
		if (!found)
			found = &known->k;
	}
	return found;
}

void pass_forget(struct pass_state *p)
{
	for (int i = 0; i < p->n_knowledge; i++) {
		free(p->knowledge[i].workload);
		knowledge_release(&p->knowledge[i].k);
	}
	free(p->knowledge);
}

static int learn_kind(struct pass_state *p, const char *kind, struct err *err)
{
	struct workload_stamp_list list;
	int rc = store_workload_stamps(&p->store, kind, &list, err);

	if (rc == 0 && list.count > 0)
		p->knowledge = xreallocarray(p->knowledge, (size_t)p->n_knowledge + (size_t)list.count,
					     sizeof(*p->knowledge));
	for (int i = 0; rc == 0 && i < list.count; i++)
		rc = learn_workload(p, kind, &list.items[i], err);
	workload_stamp_list_release(&list);
	return rc;
}

static bool is_new_kind(const struct pass_state *p, int d)
{
	for (int e = 0; e < d; e++)
		if (!strcmp(p->devices.items[e].kind, p->devices.items[d].kind))
			return false;
	return true;
}

int pass_learn(struct pass_state *p, struct err *err)
{
	for (int d = 0; p->policy->models_goodput && d < p->devices.count; d++)
		if (is_new_kind(p, d) && learn_kind(p, p->devices.items[d].kind, err))
			return -1;
	return 0;
}
