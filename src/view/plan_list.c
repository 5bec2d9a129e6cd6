/* plan_list.c - explain: the plans of a job's command, and which is best. */
#include <math.h>
#include <string.h>

#include "parts.h"

/* --- for people --- */

static void cell_gib(struct table *t, int64_t bytes)
{
	table_cell_if(t, bytes > 0, "%.2f", (double)bytes / (1 << 30));
}

void plan_add_lack(double needs_bytes, double of_bytes, struct text *t)
{
	text_addf(t, "needs %.3g of %.3g GiB", needs_bytes / 0x1p30, of_bytes / 0x1p30);
}

/* Says why the plan is not the one on so many devices. */
static void add_other(const struct outlook_plan *p, double best, int replicas, struct text *t)
{
	static const struct knowledge nothing;
	const struct knowledge *tried = p->tried ? p->tried : &nothing;
	double own = p->table ? p->table->goodput[replicas] : (double)NAN;
	int workers = replicas / p->width;
	int64_t too_large = memory_too_large(&tried->memory, workers);
	struct memory_lack lack;

	text_addf(t, "%s%s ", t->length ? "; " : "", p->name);
	if (own > 0)
		text_addf(t, "would be %.0f %% slower", 100 * (1 - own / best));
	else if (!p->allowed)
		text_add(t, "does not read its checkpoints");
	else if (replicas % p->width != 0)
		text_addf(t, "has %d devices for a replica", p->width);
	else if (job_model_lacks_memory(p->model, replicas, &lack))
		plan_add_lack(lack.needs_bytes, lack.of_bytes, t);
	else if (too_large > 0)
		text_addf(t, "has no memory for %lld samples on a device", (long long)too_large);
	else if (failed_sizes_least(&tried->failed, workers) > 0)
		text_add(t, "failed");
	else
		text_add(t, p->table ? "was not measured near that" : "was not measured");
}

static void print_best(const struct explanation *e, int replicas, const struct output *out)
{
	const struct configuration *c = &e->kind->table->best[replicas].configuration;
	struct text t = TEXT_INIT, others = TEXT_INIT, label = TEXT_INIT;

	for (int i = 0; i < e->outlook.n_plans; i++)
		if (strcmp(e->outlook.plans[i].name, c->plan) != 0)
			add_other(&e->outlook.plans[i], outlook_offer(e->kind, replicas), replicas,
				  &others);
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

static void print_ratio(const struct outlook_plan *p, const struct output *out)
{
	const struct plan_tie *tie = &p->known->tie;
	struct text t = TEXT_INIT;

	text_addf(&t, "a step of %s takes %.2f (%.2f to %.2f) times as long as of %s",
		  p->name, tie->ratio.value, RATIO_LOW(&tie->ratio),
		  RATIO_HIGH(&tie->ratio), tie->reference);
	if (tie->pass || tie->sync)
		text_addf(&t, "; from there come its times of %s%s%s", tie->pass ? "a pass" : "",
			  tie->pass && tie->sync ? " and " : "",
			  tie->sync ? "synchronisation" : "");
	output_textline(out, "ratio", &t);
	text_release(&t);
}

/* The plan of so many devices is the decision's; "": none. */
static const char *best_plan(const struct explanation *e, int r)
{
	return outlook_offer(e->kind, r) > 0 ? e->kind->table->best[r].configuration.plan : "";
}

void explanation_print_plans(const struct explanation *e, const struct output *out)
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
	const struct outlook *o = &e->outlook;
	struct table t;

	if (o->n_plans == 0)
		return;
	fputs("\nplans (what was tried)\n", out->file);
	table_begin(&t, columns);
	for (int i = 0; i < o->n_plans; i++)
		for (int k = 0; k < e->plan_sizes[i].count; k++) {
			const struct observation *size = &e->plan_sizes[i].items[k];

			table_text(&t, o->plans[i].name);
			table_cell(&t, "%d", size->configuration.replicas);
			table_positive(&t, size->configuration.local_batch_size);
			table_positive(&t, size->configuration.accumulation_steps);
			table_number(&t, size->step_time_s * 1e3);
			cell_gib(&t, size->device_bytes);
			cell_gib(&t, size->host_bytes);
			table_text(&t,
				   size->outcome == OBSERVATION_NO_MEMORY ? "out of memory" : "");
			if (size->outcome == OBSERVATION_NO_MEMORY)
				table_style(&t, STYLE_YELLOW);
		}
	table_end(&t, out);
	for (int r = 1; r <= e->n_devices && r <= 8; r *= 2)
		if (*best_plan(e, r))
			print_best(e, r, out);
	for (int i = 0; i < o->n_plans; i++)
		if (o->plans[i].known && o->plans[i].known->tie.reference[0])
			print_ratio(&o->plans[i], out);
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

static void print_json_known(struct json *j, const struct knowledge *known)
{
	const struct plan_tie *tie = known && known->tie.reference[0] ? &known->tie : NULL;
	const struct memory_model *m = known && known->needs.known ? &known->needs : NULL;

	json_string(j, "reference", tie ? tie->reference : NULL);
	json_number(j, "ratio", tie ? tie->ratio.value : (double)NAN);
	json_number(j, "ratio_low", tie ? RATIO_LOW(&tie->ratio) : (double)NAN);
	json_number(j, "ratio_high", tie ? RATIO_HIGH(&tie->ratio) : (double)NAN);
	json_bool(j, "borrows_pass", tie && tie->pass);
	json_bool(j, "borrows_sync", tie && tie->sync);
	json_number(j, "memory_fixed_bytes", m ? m->fixed_bytes : (double)NAN);
	json_number(j, "memory_divided_bytes", m ? m->divided_bytes : (double)NAN);
	json_number(j, "memory_sample_bytes", m ? m->sample_bytes : (double)NAN);
}

void explanation_print_json_plans(const struct explanation *e, struct json *j)
{
	const struct outlook *o = &e->outlook;

	if (o->n_plans == 0)
		return;
	json_array(j, "plans");
	for (int i = 0; i < o->n_plans; i++) {
		const struct outlook_plan *p = &o->plans[i];

		json_object(j, NULL);
		json_string(j, "name", p->name);
		json_array(j, "tried");
		for (int s = 0; s < e->plan_sizes[i].count; s++)
			print_json_size(j, &e->plan_sizes[i].items[s]);
		json_end(j);
		json_array(j, "goodput_eps");	/* on 1, 2, ... devices */
		for (int r = 1; p->table && r <= e->n_devices; r++)
			json_number(j, NULL, p->table->goodput[r]);
		json_end(j);
		print_json_known(j, p->known);
		json_end(j);
	}
	json_end(j);
	json_array(j, "best_plans");		/* on 1, 2, ... devices */
	for (int r = 1; e->kind->table && r <= e->n_devices; r++)
		json_text(j, NULL, best_plan(e, r));
	json_end(j);
}
