/* plan_list.c - see explain.h. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/workloads.h"
#include "pollux/proc.h"

/* --- reading --- */

static void set_table(struct plan_known *k, const struct execution_plan *plan, int n_devices)
{
	k->table = goodput_table_of(&k->model, n_devices);
	for (int r = 1; r <= n_devices; r++) {
		struct configuration *c = &k->table->best[r].configuration;

		if (!job_model_fits(&k->model, c))
			k->table->goodput[r] = (double)NAN;
		snprintf(c->plan, sizeof(c->plan), "%s", plan->name);
	}
}

static int read_plan(struct store *store, const struct job *job, const char *kind,
		     struct plan_list *list, int i, struct err *err)
{
	const struct execution_plan *plan = &list->declared.items[i];
	char *name = execution_plan_workload(job->declared.workload, plan->name, plan->hash);
	struct plan_known *k = &list->items[i];
	int rc = knowledge_load(store, name, kind, &k->knowledge, err) ||
		 knowledge_learn(store, name, kind, "", &k->knowledge, err) ||
		 store_plan_sizes(store, name, kind, &k->sizes, err) ? -1 : 0;

	free(name);
	return rc;
}

static void weigh_plans(const struct job *job, const struct plan_devices *on,
			struct plan_list *list)
{
	int64_t host_bytes = proc_memory_bytes("MemTotal:");
	struct plan_tie_item items[EXECUTION_PLANS_MAX];

	for (int i = 0; i < list->declared.count; i++)
		items[i] = (struct plan_tie_item){ list->declared.items[i].name,
						   &list->items[i].knowledge };
	plan_ties_make(items, list->declared.count);
	for (int i = 0; i < list->declared.count; i++) {
		struct plan_known *k = &list->items[i];

		knowledge_limit_memory(&k->knowledge, on->bytes, host_bytes);
		k->knowledge.min_efficiency = on->min_efficiency;
		knowledge_of_job(&k->knowledge, job, &k->model);
		k->model.best_tier = on->best_tier;
		k->model.n_best_tier = on->n + 1;
		if (k->model.known)
			set_table(k, &list->declared.items[i], list->n_devices);
	}
}

static void find_best(struct plan_list *list)
{
	const struct goodput_table *tables[EXECUTION_PLANS_MAX];
	int n = 0;

	for (int i = 0; i < list->declared.count; i++)
		if (list->items[i].table)
			tables[n++] = list->items[i].table;
	if (n > 0)
		list->best = goodput_table_best_of(tables, n, list->n_devices);
}

int plan_list_read(struct store *store, const struct job *job, const struct plan_devices *on,
		   struct plan_list *list, struct err *err)
{
	int most = job->declared.max_replicas;

	*list = (struct plan_list){
		.n_devices = most > 0 && most < on->n ? most : on->n,
	};
	if (execution_plans_parse(job->declared.plans, &list->declared, err))
		return -1;
	list->items = xcalloc((size_t)list->declared.count + 1, sizeof(*list->items));
	for (int i = 0; i < list->declared.count; i++)
		if (read_plan(store, job, on->kind, list, i, err)) {
			plan_list_release(list);
			return -1;
		}
	weigh_plans(job, on, list);
	find_best(list);
	return 0;
}

const struct plan_known *plan_list_find(const struct plan_list *list, const char *name)
{
	const struct execution_plan *plan = execution_plans_find(&list->declared, name);

	return plan ? &list->items[plan - list->declared.items] : NULL;
}

void plan_list_release(struct plan_list *list)
{
	for (int i = 0; i < list->declared.count; i++) {
		goodput_table_free(list->items[i].table);
		knowledge_release(&list->items[i].knowledge);
		observation_list_release(&list->items[i].sizes);
	}
	goodput_table_free(list->best);
	free(list->items);
	execution_plans_release(&list->declared);
	*list = (struct plan_list){ .n_devices = 0 };
}

/* --- for people --- */

static void cell_gib(struct table *t, int64_t bytes)
{
	if (bytes > 0)
		table_cell(t, "%.2f", (double)bytes / (1 << 30));
	else
		table_text(t, "-");
}

static void add_size(struct table *t, const char *plan, const struct observation *size)
{
	table_text(t, plan);
	table_cell(t, "%d", size->configuration.replicas);
	table_positive(t, size->configuration.local_batch_size);
	table_positive(t, size->configuration.accumulation_steps);
	table_number(t, size->step_time_s * 1e3);
	cell_gib(t, size->device_bytes);
	cell_gib(t, size->host_bytes);
	table_text(t, size->outcome == OBSERVATION_NO_MEMORY ? "out of memory" : "");
	if (size->outcome == OBSERVATION_NO_MEMORY)
		table_style(t, STYLE_YELLOW);
}

static void add_other(const struct plan_list *list, int i, int replicas, struct text *t)
{
	const struct plan_known *k = &list->items[i];
	double best = list->best->goodput[replicas];
	double own = k->table ? k->table->goodput[replicas] : (double)NAN;
	int workers = job_model_workers(&k->model, replicas);
	int64_t too_large = memory_too_large(&k->knowledge.memory, workers);
	struct text needs = TEXT_INIT;

	text_addf(t, "%s%s ", t->length ? "; " : "", list->declared.items[i].name);
	if (own > 0)
		text_addf(t, "would be %.0f %% slower", 100 * (1 - own / best));
	else if (replicas % list->declared.items[i].width != 0)
		text_addf(t, "has %d devices for a replica", list->declared.items[i].width);
	else if (job_model_lacks_memory(&k->model, replicas, &needs))
		text_add(t, needs.data);
	else if (too_large > 0)
		text_addf(t, "has no memory for %lld samples on a device", (long long)too_large);
	else if (failed_sizes_least(&k->knowledge.failed, workers) > 0)
		text_add(t, "failed");
	else
		text_add(t, k->table ? "was not measured near that" : "was not measured");
	text_release(&needs);
}

static void print_best(const struct plan_list *list, int replicas, const struct output *out)
{
	const struct configuration *c = &list->best->best[replicas].configuration;
	struct text t = TEXT_INIT, others = TEXT_INIT, label = TEXT_INIT;

	for (int i = 0; i < list->declared.count; i++)
		if (strcmp(list->declared.items[i].name, c->plan) != 0)
			add_other(list, i, replicas, &others);
	text_addf(&label, "best on %d", replicas);
	text_addf(&t, "%s, batch %lld = %d * %lld * %d%s%s%s", c->plan,
		  (long long)configuration_batch_size(c), configuration_workers(c),
		  (long long)c->local_batch_size, c->accumulation_steps,
		  others.length ? " (" : "", others.length ? others.data : "",
		  others.length ? ")" : "");
	output_textline(out, label.data, &t);
	text_release(&label);
	text_release(&others);
	text_release(&t);
}

/* The ends of an interval of 95 %. */
#define RATIO_LOW(r) ((r)->value * exp(-1.96 * (r)->spread))
#define RATIO_HIGH(r) ((r)->value * exp(1.96 * (r)->spread))

static void print_ratio(const struct plan_list *list, int i, const struct output *out)
{
	const struct plan_tie *tie = &list->items[i].knowledge.tie;
	struct text t = TEXT_INIT;

	text_addf(&t, "a step of %s takes %.2f (%.2f to %.2f) times as long as of %s",
		  list->declared.items[i].name, tie->ratio.value, RATIO_LOW(&tie->ratio),
		  RATIO_HIGH(&tie->ratio), tie->reference);
	if (tie->pass || tie->sync)
		text_addf(&t, "; from there come its times of %s%s%s", tie->pass ? "a pass" : "",
			  tie->pass && tie->sync ? " and " : "",
			  tie->sync ? "synchronisation" : "");
	output_textline(out, "ratio", &t);
	text_release(&t);
}

void plan_list_print(const struct plan_list *list, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "PLAN" },
		{ .heading = "DEV", .right = true },
		{ .heading = "LOCAL", .right = true },
		{ .heading = "PASSES", .right = true, .leave_out = 1 },
		{ .heading = "MS/STEP", .right = true },
		{ .heading = "DEVICE GiB", .right = true, .leave_out = 2 },
		{ .heading = "HOST GiB", .right = true, .leave_out = 3 },
		{ .heading = "", .room = 13 },
	};
	struct table t;

	if (list->declared.count == 0)
		return;
	fputs("\nplans (what was tried)\n", out->file);
	table_begin(&t, columns);
	for (int i = 0; i < list->declared.count; i++)
		for (int k = 0; k < list->items[i].sizes.count; k++)
			add_size(&t, list->declared.items[i].name, &list->items[i].sizes.items[k]);
	table_end(&t, out);
	for (int r = 1; list->best && r <= list->n_devices && r <= 8; r *= 2)
		if (list->best->goodput[r] > 0)
			print_best(list, r, out);
	for (int i = 0; i < list->declared.count; i++)
		if (list->items[i].knowledge.tie.reference[0])
			print_ratio(list, i, out);
}

/* --- for programs --- */

static void print_json_size(struct json *j, const struct observation *size)
{
	json_object(j, NULL);
	json_integer(j, "replicas", size->configuration.replicas);
	json_positive(j, "local_batch_size", size->configuration.local_batch_size);
	json_positive(j, "accumulation_steps", size->configuration.accumulation_steps);
	json_number(j, "step_time_s", size->step_time_s);
	json_positive(j, "device_memory_bytes", size->device_bytes);
	json_positive(j, "memory_bytes", size->host_bytes);
	json_bool(j, "out_of_memory", size->outcome == OBSERVATION_NO_MEMORY);
	json_end(j);
}

static void print_json_ratio(struct json *j, const struct plan_tie *tie)
{
	bool has = tie->reference[0];

	json_string(j, "reference", has ? tie->reference : NULL);
	json_number(j, "ratio", has ? tie->ratio.value : (double)NAN);
	json_number(j, "ratio_low", has ? RATIO_LOW(&tie->ratio) : (double)NAN);
	json_number(j, "ratio_high", has ? RATIO_HIGH(&tie->ratio) : (double)NAN);
	json_bool(j, "borrows_pass", tie->pass);
	json_bool(j, "borrows_sync", tie->sync);
}

static void print_json_needs(struct json *j, const struct memory_model *m)
{
	json_number(j, "memory_fixed_bytes", m->known ? m->fixed_bytes : (double)NAN);
	json_number(j, "memory_divided_bytes", m->known ? m->divided_bytes : (double)NAN);
	json_number(j, "memory_sample_bytes", m->known ? m->sample_bytes : (double)NAN);
}

void plan_list_print_json(const struct plan_list *list, struct json *j)
{
	if (list->declared.count == 0)
		return;
	json_array(j, "plans");
	for (int i = 0; i < list->declared.count; i++) {
		const struct plan_known *k = &list->items[i];

		json_object(j, NULL);
		json_string(j, "name", list->declared.items[i].name);
		json_array(j, "tried");
		for (int s = 0; s < k->sizes.count; s++)
			print_json_size(j, &k->sizes.items[s]);
		json_end(j);
		json_array(j, "goodput_eps");	/* on 1, 2, ... devices */
		for (int r = 1; k->table && r <= list->n_devices; r++)
			json_number(j, NULL, k->table->goodput[r]);
		json_end(j);
		print_json_ratio(j, &k->knowledge.tie);
		print_json_needs(j, &k->knowledge.needs);
		json_end(j);
	}
	json_end(j);
	json_array(j, "best_plans");		/* on 1, 2, ... devices */
	for (int r = 1; list->best && r <= list->n_devices; r++)
		json_string(j, NULL, list->best->goodput[r] > 0
			    ? list->best->best[r].configuration.plan : NULL);
	json_end(j);
}
