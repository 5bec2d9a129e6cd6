/* explain_tables.c - the tables of a job's curves and of its model. */
#include <math.h>
#include <string.h>

#include "parts.h"

/* --- cells --- */

static void cells_sizes(struct table *t, const struct configuration *c)
{
	table_cell(t, "%lld", (long long)configuration_batch_size(c));
	table_cell(t, "%lld", (long long)c->local_batch_size);
	table_cell(t, "%d", c->accumulation_steps);
}

/* Adds four cells: time of a step, throughput, efficiency, goodput. */
static void cells_speed(struct table *t, const struct explanation *e,
			const struct goodput_choice *c)
{
	table_span(t, explanation_step_time(c));
	table_count(t, c->throughput);
	table_cell_if(t, !explanation_assumes(e, c), "%.0f%%", 100 * c->efficiency);
	table_count(t, c->goodput);
}

/* --- devices --- */

/* True if the table has a row for r devices. On a large machine, these are all numbers up to 16,
 * then every 8th up to 128, the powers of two, and the neighbours of the present number. */
static bool is_shown(const struct explanation *e, int r)
{
	return r <= 16 || (r & (r - 1)) == 0 || r == e->n_devices ||
	       (e->n_devices <= 128 && r % 8 == 0) ||
	       (r >= e->replicas - 1 && r <= e->replicas + 1);
}

/* What the last column says. */
static void cell_remark(struct table *t, int nodes, bool now, const char *obstacle)
{
	if (nodes > 1 && (now || !obstacle))
		table_cell(t, now ? "now, %d nodes" : "%d nodes", nodes);
	else
		table_text(t, now ? "now" : obstacle ? obstacle : "");
}

static void add_devices(struct table *t, const struct explanation *e, int r)
{
	const struct goodput_choice *best = &e->best[r];
	const char *obstacle = explanation_obstacle(e, r);
	bool now = e->item->run && e->item->run->configuration.replicas == r;

	table_cell(t, "%d", r);
	if (best->goodput > 0 && (!obstacle || strcmp(obstacle, "not tried") != 0)) {
		cells_sizes(t, &best->configuration);
		cells_speed(t, e, best);
	} else {
		table_dashes(t, 7);
	}
	table_cell_if(t, !obstacle, "%.2f", obstacle ? (double)NAN
		      : outlook_offer(e->kind, r) / outlook_offer(e->kind, e->least));
	if (!obstacle && e->job->profile && !explanation_is_measured(e, r))
		obstacle = "not measured";
	cell_remark(t, explanation_nodes(e, r), now, obstacle);
	if (now)
		table_style(t, STYLE_GREEN);
	else if (obstacle)
		table_style(t, STYLE_DIM);
}

void explanation_print_devices(const struct explanation *e, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "DEV", .right = true },
		{ .heading = "BATCH", .right = true },
		{ .heading = "LOCAL", .right = true, .leave_out = 3 },
		{ .heading = "PASSES", .right = true, .leave_out = 1 },
		{ .heading = "STEP", .right = true, .leave_out = 2 },
		{ .heading = "SAMPLES/S", .right = true, .leave_out = 5 },
		{ .heading = "EFF", .right = true, .leave_out = 4 },
		{ .heading = "GOODPUT", .right = true },
		{ .heading = "SPEEDUP", .right = true },
		{ .heading = "", },
	};
	struct table t;

	table_begin(&t, columns);
	for (int r = 1; r <= e->n_devices; r++)
		if (is_shown(e, r))
			add_devices(&t, e, r);
	table_end(&t, out);
}

/* --- batch sizes --- */

static bool same(const struct goodput_choice *a, const struct goodput_choice *b)
{
	return configuration_equal(&a->configuration, &b->configuration);
}

static void add_batch(struct table *t, const struct explanation *e, const struct goodput_choice *c,
		      const struct goodput_choice *of_all)
{
	bool best = of_all && same(c, of_all), now = same(c, &e->now);

	cells_sizes(t, &c->configuration);
	cells_speed(t, e, c);
	table_text(t, best && now ? "best, now" : best ? "best" : now ? "now" : "");
	if (best || now)
		table_style(t, now ? STYLE_GREEN : STYLE_BOLD);
}

/* Says why the table has choices with more goodput than the best one, where it has. */
static void tell_of_better(const struct explanation *e, const struct goodput_choice *best,
			   const struct output *out)
{
	int64_t bound = explanation_growth_bound(e), m;
	bool by_growth = false, by_digits = false;
	struct text t = TEXT_INIT;

	for (int i = 0; i < e->n_batches; i++) {
		if (!(e->batches[i].goodput > best->goodput))
			continue;
		m = configuration_batch_size(&e->batches[i].configuration);
		by_growth |= m > bound;
		by_digits |= m <= bound;
	}
	if (by_growth)
		text_addf(&t, "that is, of those to which the batch may grow now, up to %lld",
			  (long long)bound);
	if (by_digits)
		text_addf(&t, "%s of those whose local batch has three binary digits (5, 6, 7, 8, "
			  "10, 12, 14, 16, ...), as these are within 1 %% of the greatest",
			  by_growth ? ";" : "that is,");
	output_text_if(out, "best", &t);
	text_release(&t);
}

void explanation_print_batches(const struct explanation *e, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "BATCH", .right = true },
		{ .heading = "LOCAL", .right = true, .leave_out = 3 },
		{ .heading = "PASSES", .right = true, .leave_out = 1 },
		{ .heading = "STEP", .right = true, .leave_out = 2 },
		{ .heading = "SAMPLES/S", .right = true },
		{ .heading = "EFF", .right = true },
		{ .heading = "GOODPUT", .right = true },
		{ .heading = "", },
	};
	const struct goodput_choice *of_all = e->replicas > 0 && e->replicas <= e->n_devices
		? &e->best[e->replicas] : NULL;
	struct table t;

	table_begin(&t, columns);
	for (int i = 0; i < e->n_batches; i++)
		add_batch(&t, e, &e->batches[i], of_all);
	table_end(&t, out);
	if (of_all)
		tell_of_better(e, of_all, out);
}

/* --- the model --- */

static const char *const units[N_THROUGHPUT_PARAMS] = {
	[ALPHA_GRAD] = "a pass", [BETA_GRAD] = "a sample", [ALPHA_SYNC_LOCAL] = "a step",
	[BETA_SYNC_LOCAL] = "a replica above 2", [ALPHA_SYNC_NODE] = "a step",
	[BETA_SYNC_NODE] = "a replica above 2", [GAMMA] = "1: after one another, 10: at once",
};

void explanation_print_parameters(const struct explanation *e, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "PARAMETER" }, { .heading = "VALUE", .right = true },
		{ .heading = "FOR", .leave_out = 1 }, { .heading = "BASIS" },
	};
	double values[N_THROUGHPUT_PARAMS];
	struct table t;
	int n_measured = 0;

	memcpy(values, &e->knowledge->model.fit.params, sizeof(values));
	table_begin(&t, columns);
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++) {
		table_text(&t, throughput_param_name((enum throughput_param)i));
		if (i == GAMMA)
			table_cell(&t, "%.2f", values[i]);
		else
			table_span(&t, values[i]);
		table_text(&t, units[i]);
		table_text(&t, fit_basis_name(e->knowledge->model.fit.basis[i]));
	}
	/* The factors on the time of a synchronisation, where several tiers were measured. */
	for (int tier = TIER_FAST; tier < CONFIGURATION_TIERS; tier++)
		n_measured += e->knowledge->model.fit.tier_basis[tier] == FIT_FROM_DATA;
	for (int tier = TIER_FAST; n_measured > 1 && tier < CONFIGURATION_TIERS; tier++) {
		table_cell(&t, "kappa_%s",
			   configuration_tier_name((enum configuration_tier)tier));
		table_cell(&t, "%.2f", exp(e->knowledge->model.fit.params.ln_tier[tier]));
		table_text(&t, "factor on a step's sync there");
		table_text(&t, fit_basis_name(e->knowledge->model.fit.tier_basis[tier]));
	}
	table_end(&t, out);
}

void explanation_print_observations(const struct explanation *e, const struct output *out)
{
	static const struct table_column columns[] = {
		{ .heading = "DEV", .right = true },
		{ .heading = "BATCH", .right = true },
		{ .heading = "LOCAL", .right = true },
		{ .heading = "PASSES", .right = true, .leave_out = 2 },
		{ .heading = "STEPS", .right = true, .leave_out = 1 },
		{ .heading = "MEASURED", .right = true },
		{ .heading = "MODEL", .right = true },
		{ .heading = "DIFF", .right = true },
		{ .heading = "SYNC", .right = true, .leave_out = 3 },
	};
	struct table t;

	table_begin(&t, columns);
	for (int i = 0; i < e->knowledge->seen.count; i++) {
		double measured = e->knowledge->seen.items[i].step_time_s;
		const struct configuration *c = &e->knowledge->seen.items[i].configuration;
		double model = throughput_time_of(&e->model.goodput.params, c);

		table_cell(&t, "%d", c->replicas);
		cells_sizes(&t, c);
		table_count(&t, (double)e->knowledge->seen.items[i].n_steps);
		table_span(&t, measured);
		table_span(&t, model);
		/* + 0.0 turns -0 into 0. */
		table_cell(&t, "%+.1f%%", round(1000 * (model / measured - 1)) / 10 + 0.0);
		table_span(&t, e->knowledge->seen.items[i].sync_time_s);
	}
	table_end(&t, out);
}
