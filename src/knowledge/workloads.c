/* workloads.c - loads the knowledge of many workloads, and fits models to new observations. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/execution_plan.h"
#include "pollux/mem.h"
#include "pollux/knowledge.h"

struct workload *workloads_find(const struct workload_list *list, const char *name,
				const char *kind)
{
	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].name, name) && !strcmp(list->items[i].kind, kind))
			return &list->items[i];
	return NULL;
}

struct workload *workloads_measured(const struct workload_list *list, const char *name,
				    const char *kind)
{
	struct workload *found = NULL;

	for (int i = 0; i < list->count; i++) {
		struct workload *w = &list->items[i];

		if (!w->measured || strcmp(w->name, name) != 0)
			continue;
		if (kind && !strcmp(w->kind, kind))
			return w;
		if (!found)
			found = w;
	}
	return found;
}

static struct workload *append_workload(struct workload_list *list, const char *name,
					const char *kind, const struct knowledge *k)
{
	struct workload *w;

	list->items = xreallocarray(list->items, (size_t)list->count + 1, sizeof(*list->items));
	w = &list->items[list->count++];
	*w = (struct workload){ .name = xstrdup(name), .k = *k };
	if (list->min_efficiency > 0)
		w->k.min_efficiency = list->min_efficiency;
	snprintf(w->kind, sizeof(w->kind), "%s", kind);
	return w;
}

/* Loads all knowledge of a workload with observations. fit: its model is fitted again if the
 * observations have changed. */
static int load_measured(struct store *s, const char *kind, const struct workload_stamp *stamp,
			 bool fit, struct workload_list *list, struct err *err)
{
	struct workload *w = workloads_find(list, stamp->workload, kind);
	struct knowledge k;

	if (w && w->measured)
		return 0;
	if (knowledge_load(s, stamp->workload, kind, &k, err))
		return -1;
	if (w) {
		knowledge_release(&w->k);
		w->k = k;
		if (list->min_efficiency > 0)
			w->k.min_efficiency = list->min_efficiency;
	} else {
		w = append_workload(list, stamp->workload, kind, &k);
	}
	w->measured = true;
	w->fitted = strcmp(k.model.observations_key, stamp->observations_key) != 0;
	if (!fit) {
		list->needs_fit |= w->fitted;
		w->fitted = false;
	}
	if (!w->fitted)
		return 0;
	return knowledge_learn(s, w->name, kind, stamp->observations_key, &w->k, err);
}

static int load_all_measured(struct store *s, const char *kind, const struct strings *names,
			     bool fit, struct workload_list *list, struct err *err)
{
	struct workload_stamp_list stamps;
	bool plans = false;
	int rc;

	for (size_t i = 0; i < names->count; i++)
		plans |= strstr(names->items[i], PLAN_SEPARATOR) != NULL;
	rc = store_workload_stamps(s, kind, plans, list->only, &stamps, err);
	for (int i = 0; rc == 0 && i < stamps.count; i++)
		rc = load_measured(s, kind, &stamps.items[i], fit, list, err);
	workload_stamp_list_release(&stamps);
	return rc;
}

/* Loads the sizes that are known not to work, for workloads without observations, or for a policy
 * without models. */
static int load_others(struct store *s, const char *kind, const struct strings *names,
		       struct workload_list *list, struct err *err)
{
	for (size_t i = 0; i < names->count; i++) {
		struct knowledge k = knowledge_of_nothing();
		const char *name = names->items[i];
		bool has_runs;

		if (workloads_find(list, name, kind))
			continue;
		if (store_workload_has_runs(s, name, &has_runs, err))
			return -1;
		if (!has_runs)
			continue;
		if (knowledge_load_sizes(s, name, kind, &k, err))
			return -1;
		if (k.memory.n_ran_out > 0 || k.failed.n_failed > 0)
			append_workload(list, name, kind, &k);
		else
			knowledge_release(&k);
	}
	return 0;
}

int workloads_learn(struct store *s, const char *kind, const struct strings *names, bool models,
		    struct workload_list *list, struct err *err)
{
	if (models && load_all_measured(s, kind, names, true, list, err))
		return -1;
	return load_others(s, kind, names, list, err);
}

int workloads_refresh(struct store *s, const char *kind, const struct strings *names, bool models,
		      struct workload_list *list, struct err *err)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < list->count; i++) {
		struct workload *w = &list->items[i];

		if (!strcmp(w->kind, kind))
			rc = knowledge_load_sizes(s, w->name, kind, &w->k, err);
	}
	if (rc || (models && load_all_measured(s, kind, names, false, list, err)))
		return -1;
	return load_others(s, kind, names, list, err);
}

/* --- plans of a workload --- */

/* A plan of a workload, for what it tells of the others. */
struct plan_tie_item {
	const char *plan;		/* name */
	struct knowledge *k;
};

/* The bytes of a name before its plan; 0: it has none. */
static size_t base_length(const char *name)
{
	const char *separator = strstr(name, PLAN_SEPARATOR);

	return separator ? (size_t)(separator - name) : 0;
}

/* True if the workload was measured on the kind under a plan of the same workload as name. */
static bool is_sibling(const struct workload *w, const char *name, const char *kind)
{
	size_t length = base_length(name);

	return w->measured && length > 0 && length == base_length(w->name) &&
	       !strcmp(w->kind, kind) && strncmp(w->name, name, length) == 0;
}

static bool is_measured(const struct plan_tie_item *item)
{
	return item->k->modelled && item->k->seen.count > 0;
}

static struct plan_times times_of(const struct plan_tie_item *item)
{
	return (struct plan_times){
		.name = item->plan, .seen = item->k->seen.items, .n_seen = item->k->seen.count,
		.fit = &item->k->model.fit, .residuals = &item->k->residuals,
	};
}

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

/* The plans of a workload learn from each other: what was hardly measured under a plan is expected
 * by the reference, the plan with most observations, the first of several. The errors of the models
 * of all plans tell of each other. Knowledge that has no model is left alone. */
static void make_ties(const struct plan_tie_item *items, int n)
{
	const struct plan_tie_item *reference = NULL;

	for (int i = 0; i < n; i++)
		if (is_measured(&items[i]) &&
		    (!reference || items[i].k->seen.count > reference->k->seen.count))
			reference = &items[i];
	for (int i = 0; reference && i < n; i++) {
		struct plan_times to = times_of(&items[i]), from = times_of(reference);
		struct plan_tie *t = &items[i].k->tie;

		if (&items[i] == reference || !is_measured(&items[i]))
			continue;
		t->ratio = plan_ratio(&to, &from);
		snprintf(t->reference, sizeof(t->reference), "%s", reference->plan);
		t->params = plan_borrow(&to, &from, t->ratio.value, &t->pass, &t->sync);
	}
	for (int i = 0; reference && n > 1 && i < n; i++)
		if (is_measured(&items[i]))
			set_residuals(items, n, i);
}

/* Ties the plans of the workload of item i, if no earlier item has this workload. */
static void tie_siblings(struct workload_list *list, int i, char (*plans)[CONFIGURATION_PLAN_SIZE],
			 struct plan_tie_item *items)
{
	const struct workload *first = &list->items[i];
	int n = 0;

	for (int k = 0; k < list->count; k++) {
		struct workload *w = &list->items[k];
		const char *plan = w->name + base_length(w->name) + 1;

		if (!is_sibling(w, first->name, first->kind))
			continue;
		if (k < i)
			return;
		snprintf(plans[n], sizeof(plans[n]), "%.32s", plan);
		plans[n][strcspn(plans[n], "#")] = '\0';
		items[n] = (struct plan_tie_item){ plans[n], &w->k };
		n++;
	}
	make_ties(items, n);
}

void workloads_tie_plans(struct workload_list *list)
{
	char (*plans)[CONFIGURATION_PLAN_SIZE] = xcalloc((size_t)list->count + 1, sizeof(*plans));
	autofree struct plan_tie_item *items = xcalloc((size_t)list->count + 1, sizeof(*items));

	for (int i = 0; i < list->count; i++)
		if (list->items[i].measured && base_length(list->items[i].name) > 0)
			tie_siblings(list, i, plans, items);
	free(plans);
}

int workloads_other_plans(const struct workload_list *list, const struct workload *w,
			  const char *kind, struct kind_times *times)
{
	int n = 0;

	for (int i = 0; i < list->count && n < EXECUTION_PLANS_MAX; i++) {
		const struct workload *other = &list->items[i], *there;

		if (other == w || !is_sibling(other, w->name, w->kind))
			continue;
		there = workloads_find(list, other->name, kind);
		if (there && there->measured)
			times[n++] = (struct kind_times){ &there->k.seen, &other->k.seen };
	}
	return n;
}

bool workloads_any_plan(const struct workload_list *list, const char *name, const char *kind)
{
	for (int i = 0; i < list->count; i++)
		if (is_sibling(&list->items[i], name, kind))
			return true;
	return false;
}

void workload_list_release(struct workload_list *list)
{
	for (int i = 0; i < list->count; i++) {
		free(list->items[i].name);
		knowledge_release(&list->items[i].k);
	}
	free(list->items);
	*list = (struct workload_list){ 0 };
}
