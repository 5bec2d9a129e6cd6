/* explain_json.c - pollux explain --json, for programs. pollux-explain(1) has the schema. */
#include <math.h>
#include <string.h>

#include "parts.h"

#define SCHEMA_VERSION 1

/* --- decision --- */

/* --- choices --- */

void explanation_print_json_choice(struct json *j, const struct explanation *e,
				   const struct goodput_choice *c)
{
	json_integer(j, "replicas", c->configuration.replicas);
	json_integer(j, "batch_size", configuration_batch_size(&c->configuration));
	json_integer(j, "local_batch_size", c->configuration.local_batch_size);
	json_integer(j, "accumulation_steps", c->configuration.accumulation_steps);
	json_number(j, "step_time_s", explanation_step_time(c));
	json_number(j, "throughput", c->throughput);
	json_number(j, "efficiency", explanation_assumes(e, c) ? (double)NAN : c->efficiency);
	json_number(j, "goodput", c->goodput);
}

void explanation_print_json_curves(struct json *j, const struct explanation *e)
{
	json_array(j, "devices");
	for (int r = 1; e->model.known && r <= e->n_devices; r++) {
		const struct goodput_choice *best = &e->best[r];
		const char *obstacle = explanation_obstacle(e, r);

		json_object(j, NULL);
		if (best->goodput > 0)
			explanation_print_json_choice(j, e, best);
		else
			json_integer(j, "replicas", r);
		json_number(j, "speedup",
			    obstacle ? (double)NAN
				     : outlook_offer(e->kind, r) /
				       outlook_offer(e->kind, e->least));
		json_string(j, "obstacle", obstacle);
		if (node_sizes_matter(&e->kind->nodes))
			json_integer(j, "nodes", explanation_nodes(e, r));
		json_end(j);
	}
	json_end(j);
	json_array(j, "batch_sizes");
	for (int i = 0; i < e->n_batches; i++) {
		json_object(j, NULL);
		explanation_print_json_choice(j, e, &e->batches[i]);
		json_end(j);
	}
	json_end(j);
}

/* --- the model --- */

static void print_observation(struct json *j, const struct explanation *e,
			      const struct observation *o)
{
	const struct configuration *c = &o->configuration;

	json_object(j, NULL);
	json_integer(j, "nodes", configuration_place(c).nodes);
	json_integer(j, "replicas", c->replicas);
	json_integer(j, "local_batch_size", c->local_batch_size);
	json_integer(j, "accumulation_steps", c->accumulation_steps);
	json_string(j, "tier", configuration_tier_name(c->tier));
	json_integer(j, "n_steps", o->n_steps);
	json_integer(j, "n_windows", o->n_windows);
	json_number(j, "step_time_s", o->step_time_s);
	json_number(j, "step_time_sd_s", o->step_time_sd_s);
	json_number(j, "sync_time_s", o->sync_time_s);
	json_number(j, "model_step_time_s", throughput_time_of(&e->knowledge->model.fit.params, c));
	json_end(j);
}

void explanation_print_json_model(struct json *j, const struct explanation *e)
{
	const struct model_row *m = &e->knowledge->model;
	double values[N_THROUGHPUT_PARAMS];

	if (!e->knowledge->modelled) {
		json_string(j, "model", NULL);
		return;
	}
	json_object(j, "model");
	memcpy(values, &m->fit.params, sizeof(values));
	json_object(j, "parameters");
	for (int i = 0; i < N_THROUGHPUT_PARAMS; i++) {
		json_object(j, throughput_param_name((enum throughput_param)i));
		json_number(j, "value", values[i]);
		json_string(j, "basis", fit_basis_name(m->fit.basis[i]));
		json_end(j);
	}
	json_end(j);
	json_object(j, "tiers");
	for (int t = TIER_FAST; t < CONFIGURATION_TIERS; t++) {
		if (m->fit.tier_basis[t] == FIT_TIED)
			continue;
		json_object(j, configuration_tier_name((enum configuration_tier)t));
		json_number(j, "factor", exp(m->fit.params.ln_tier[t]));
		json_string(j, "basis", fit_basis_name(m->fit.tier_basis[t]));
		json_end(j);
	}
	json_end(j);
	json_integer(j, "n_observations", m->fit.n_observations);
	json_integer(j, "n_steps", m->n_steps);
	json_integer(j, "measured_replicas", m->max_replicas);
	json_number(j, "rmse_grad", m->fit.rmse_grad);
	json_number(j, "rmse_step", m->fit.rmse_step);
	json_string(j, "stop", fit_stop_names.names[m->fit.stop]);
	json_number(j, "fit_time_s", m->fit_time_s);
	json_bool(j, "fitted_by_a_pass", !e->fitted_now);
	json_array(j, "observations");
	for (int i = 0; i < e->knowledge->seen.count; i++)
		print_observation(j, e, &e->knowledge->seen.items[i]);
	json_end(j);
	json_end(j);
}

void explanation_print_json_noise(struct json *j, const struct explanation *e)
{
	static const char *const bases[] = {
		[NOISE_UNKNOWN] = NULL, [NOISE_OWN] = "own", [NOISE_DECLARED] = "declared",
		[NOISE_SHARED] = "shared",
	};

	bool has = e->job->declared.batch.size > 0;
	const struct noise_estimate *noise = &e->model.noise;

	json_object(j, "noise");
	json_number(j, "noise_scale", has ? noise->noise_scale : (double)NAN);
	json_number(j, "noise_scale_low", has ? noise->interval.low : (double)NAN);
	json_number(j, "noise_scale_expected", has ? noise->expected : (double)NAN);
	json_number(j, "noise_scale_high", has ? noise->interval.high : (double)NAN);
	json_string(j, "basis", bases[e->model.noise_basis]);
	json_integer(j, "n_updates", e->model.noise.n_updates);
	json_integer(j, "n_doubted_jobs", e->model.noise.n_doubted);
	json_string(j, "learning_rate_rule", lr_rule_name(e->rule));
	json_end(j);
}

/* --- all of it --- */

void explanation_print_json_missing(struct json *j, const struct explanation *e)
{
	struct text t = TEXT_INIT;

	json_string(j, "missing", explanation_missing(e, &t) ? t.data : NULL);
	text_release(&t);
}

void explanation_print_json(const struct explanation *e, FILE *out)
{
	struct json j;
	const struct decision_row *d = &e->decision;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", SCHEMA_VERSION);
	json_number(&j, "time_s", e->status.now_wall_s);
	json_integer(&j, "id", e->job->id);
	json_string(&j, "name", e->job->declared.name);
	json_string(&j, "workload", e->job->declared.workload);
	json_text(&j, "split", e->split);
	json_string(&j, "state", shown_state_name(e->item->state));
	json_text(&j, "device_kind", e->device_kind);
	json_integer(&j, "usable_devices", e->n_devices);
	explanation_print_json_kinds(&j, e);
	json_positive(&j, "initial_batch_size", e->job->declared.batch.size);
	json_object(&j, "decision");
	json_text(&j, "reason", e->job->reason);
	json_string(&j, "policy", e->policy ? e->policy->name : NULL);
	json_number(&j, "slice_s", e->config.slice_s);
	json_number(&j, "last_change_time_s", d->time_s);
	json_string(&j, "last_change_policy", d->policy);
	json_string(&j, "last_change_reason", d->reason);
	json_integer_if(&j, "last_change_replicas", d->replicas, d->policy != NULL);
	json_end(&j);
	json_array(&j, "metrics");
	status_print_json_metrics(&j, &e->metrics);
	json_end(&j);
	explanation_print_json_missing(&j, e);
	if (e->now.goodput > 0) {
		json_object(&j, "now");
		explanation_print_json_choice(&j, e, &e->now);
		json_number(&j, "learning_rate_scale", e->item->run->learning_rate_scale);
		json_end(&j);
	} else {
		json_string(&j, "now", NULL);
	}
	explanation_print_json_curves(&j, e);
	explanation_print_json_model(&j, e);
	explanation_print_json_noise(&j, e);
	explanation_print_json_plans(e, &j);
	explanation_print_json_share(&j, e);
	json_number(&j, "restart_s", e->knowledge->restart_s);
	json_number(&j, "throughput_eps", e->item->throughput_eps);
	json_number(&j, "eta_s", e->item->eta_s);
	json_number(&j, "expected_s", e->item->expected_s);
	json_positive(&j, "expected_from_jobs", e->item->expected_jobs);
	json_number(&j, "likely_start_time_s", e->item->likely_start_s);
	json_number(&j, "likely_end_time_s", e->item->likely_end_s);
	json_number(&j, "end_time_s", job_has_ended(e->job->state) ? e->job->end_time_s
				      : e->status.now_wall_s + e->item->eta_s);
	json_end(&j);
}
