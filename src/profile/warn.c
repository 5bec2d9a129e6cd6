/* warn.c - what is to be known of the figures: they are kept as events of the job. */
#include <math.h>
#include <signal.h>
#include <string.h>

#include "pollux/signal_name.h"
#include "pollux/steady.h"
#include "profile_state.h"

#define OTHERS_SHARE 0.10	/* of the processors, by other programs */
#define STOLEN_SHARE 0.05	/* of the time, by the hypervisor or a quota */
#define MODEL_ERROR 0.10	/* of step times, root mean square */
#define FLAT 1.02		/* the step times of batches that are twice each other, and take the same */
#define MEMORY_SHARE 0.90	/* of the machine's */

static int warn(struct profile *p, const char *text, struct err *err)
{
	return store_event_add(p->store, p->job->id, 0, "warning", text, err);
}

static int warn_of_others(struct profile *p, struct err *err)
{
	struct text t = TEXT_INIT;
	double processors = p->others_s / p->watched_s;
	int n = machine_processors(), rc = 0;

	if (processors > OTHERS_SHARE * n) {
		text_addf(&t, "the machine was busy: other programs used %.2g of its %d processors",
			  processors, n);
		rc = warn(p, t.data, err);
	}
	text_clear(&t);
	if (rc == 0 && p->stolen_s > STOLEN_SHARE * p->watched_s) {
		text_addf(&t, "the processors were throttled: a hypervisor or a quota held back %.2g of "
			  "them", p->stolen_s / p->watched_s);
		rc = warn(p, t.data, err);
	}
	text_release(&t);
	return rc;
}

static int warn_of_speed(struct profile *p, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc = 0;

	if (p->n_slowed > 0) {
		text_addf(&t, "devices were slowed at %d of %d points: %s", p->n_slowed, p->n_points,
			  p->slowed_by);
		rc = warn(p, t.data, err);
	}
	text_clear(&t);
	if (rc == 0 && p->n_hot > 0) {
		text_addf(&t, "processor cores were slowed by heat %lld times", (long long)p->n_hot);
		rc = warn(p, t.data, err);
	}
	text_release(&t);
	return rc;
}

static int warn_of_spread(struct profile *p, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_addf(&t, "%d point%s not steady (half-width of the confidence interval under %g %%)"
		  " within the share of the budget, of %d that should be: a larger --budget, or a quieter machine, "
		  "would make them so", p->n_unsteady, p->n_unsteady == 1 ? " was" : "s were",
		  100 * STEADY_HALF_WIDTH, p->n_lasting);
	if (p->n_measured > p->n_lasting)
		text_addf(&t, "; the other %d had only to show that they fit", p->n_measured - p->n_lasting);
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

/* And nothing more. */
static bool says_memory(const char *why)
{
	return !strcmp(why, "out of memory") || !strcmp(why, "GPU out of memory");
}

void profile_describe_end(const struct run *run, struct text *text)
{
	const char *why = run->diagnosis ? run->diagnosis : "";
	char name[SIGNAL_NAME_SIZE];

	if (run->out_of_memory)
		text_add(text, "it is out of memory");
	else if (run->outcome == OUTCOME_COMPLETED)
		text_add(text, "ended by itself, with exit status 0, before it could be timed");
	else if (run->term_signal > 0)
		text_addf(text, "was killed by %s", signal_name(name, run->term_signal));
	else
		text_addf(text, "failed with exit status %d", run->exit_code);
	if (*why && !(run->out_of_memory && says_memory(why)))
		text_addf(text, ": %s", why);
}

static int is_failure(struct profile *p, const struct run *run, bool *failed, struct err *err)
{
	struct observation o;

	*failed = false;
	if (run->out_of_memory || (run->outcome != OUTCOME_FAILED && run->outcome != OUTCOME_COMPLETED))
		return 0;
	if (store_observation_get(p->store, run, &o, err))
		return -1;
	*failed = o.n_windows == 0;
	return 0;
}

static int warn_of_failure(struct profile *p, const struct run *run, struct err *err)
{
	struct text t = TEXT_INIT;
	bool is;
	int rc;

	if (is_failure(p, run, &is, err))
		return -1;
	if (!is)
		return 0;
	text_addf(&t, "at batch %lld on %d device%s the command ",
		  (long long)configuration_batch_size(&run->configuration),
		  run->configuration.replicas, run->configuration.replicas == 1 ? "" : "s");
	profile_describe_end(run, &t);
	if (p->n_measured > 0)
		text_add(&t, "; neither this nor larger sizes are recommended, or given to jobs of the workload, "
			     "until they were measured");
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

/* By the supervisor, after the grace. What takes longer than that may be what the command left behind, or its
 * devices' driver. */
static bool had_to_be_killed(const struct profile *p, const struct run *run)
{
	return run->outcome == OUTCOME_STOPPED && run->stop_duration_s >= p->job->declared.grace_s &&
	       (run->term_signal == SIGTERM || run->term_signal == SIGKILL) &&
	       run->term_signal != p->job->declared.stop_signal;
}

/* Stopped when it had been measured, but still there after the grace. */
static int warn_of_grace(struct profile *p, const struct run_list *runs, struct err *err)
{
	struct text t = TEXT_INIT;
	double longest_s = 0;
	int rc = 0;

	for (int i = 0; i < runs->count; i++)
		if (had_to_be_killed(p, &runs->items[i]) && runs->items[i].stop_duration_s > longest_s)
			longest_s = runs->items[i].stop_duration_s;
	if (longest_s > 0) {
		char name[SIGNAL_NAME_SIZE];

		text_addf(&t, "it was still there %g s (--grace) after %s, and was killed, gone after %.3g s: that is "
			  "what a stop costs, and a job would lose what it has not saved", p->job->declared.grace_s,
			  signal_name(name, p->job->declared.stop_signal), longest_s);
		rc = warn(p, t.data, err);
	}
	text_release(&t);
	return rc;
}

static int warn_of_model(struct profile *p, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_addf(&t, "the model is off by %.0f %% (root mean square) from what was measured: what it predicts is "
		  "uncertain; where the machine was busy, profile again when it is not", 100 * p->model_error);
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

/* The step times of the smallest and of the largest batch in one pass on the fewest devices. */
struct ends {
	int64_t least, most;		/* 0: none was measured */
	double least_s, most_s;
};

static int read_ends(struct profile *p, const struct run_list *runs, struct ends *e, struct err *err)
{
	struct observation o;

	*e = (struct ends){ 0 };
	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		const struct configuration *c = &run->configuration;
		int64_t batch_size = configuration_batch_size(c);

		if (c->replicas != p->job->declared.min_replicas || c->accumulation_steps != 1)
			continue;
		if (store_observation_get(p->store, run, &o, err))
			return -1;
		if (o.n_windows > 0 && (e->least == 0 || batch_size < e->least)) {
			e->least = batch_size;
			e->least_s = o.step_time_s;
		}
		if (o.n_windows > 0 && batch_size > e->most) {
			e->most = batch_size;
			e->most_s = o.step_time_s;
		}
	}
	return 0;
}

/* On a GPU that small batches leave idle it may be so; mostly the command does not do what it is told. */
static int warn_of_flatness(struct profile *p, const struct run_list *runs, struct err *err)
{
	struct text t = TEXT_INIT;
	struct ends e;
	int rc;

	if (read_ends(p, runs, &e, err))
		return -1;
	if (e.least == 0 || e.most < 2 * e.least || e.most_s > FLAT * e.least_s)
		return 0;
	text_addf(&t, "a step takes the same at batch %lld as at %lld, %.3g and %.3g ms: does the command take its "
		  "batch from {batch} or {local_batch}, or from its environment? Else all that is told of sizes is "
		  "wrong", (long long)e.most, (long long)e.least, 1e3 * e.most_s, 1e3 * e.least_s);
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

static int warn_of_runs(struct profile *p, struct err *err)
{
	struct run_list runs;
	int rc = 0;

	if (store_runs_of_job(p->store, p->job->id, &runs, err))
		return -1;
	for (int i = 0; rc == 0 && i < runs.count; i++)
		rc = warn_of_failure(p, &runs.items[i], err);
	if (rc == 0)
		rc = warn_of_grace(p, &runs, err);
	if (rc == 0)
		rc = warn_of_flatness(p, &runs, err);
	run_list_release(&runs);
	return rc;
}

static int warn_of_memory(struct profile *p, struct err *err)
{
	struct run_list runs;
	int64_t most = 0;
	struct text t = TEXT_INIT;
	int rc;

	if (store_runs_of_job(p->store, p->job->id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++)
		if (runs.items[i].peak_memory_bytes > most)
			most = runs.items[i].peak_memory_bytes;
	run_list_release(&runs);
	if ((double)most <= MEMORY_SHARE * (double)machine_memory_bytes())
		return 0;
	text_addf(&t, "its processes took %.0f %% of the machine's memory at the most",
		  100 * (double)most / (double)machine_memory_bytes());
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

static int warn_of_missing(struct profile *p, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_addf(&t, "more than %d device%s: not measured (%s)", p->n_devices, p->n_devices == 1 ? "" : "s",
		  p->missing);
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

static int warn_of_lost(struct profile *p, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_addf(&t, "%d point%s lost the supervisor, which was killed: tried again as far as there was time, "
		  "but no size that lost it %d times", p->n_lost, p->n_lost == 1 ? "" : "s", PROFILE_MOST_LOST);
	rc = warn(p, t.data, err);
	text_release(&t);
	return rc;
}

int profile_warn(struct profile *p, struct err *err)
{
	if ((p->missing && warn_of_missing(p, err)) || (p->n_lost > 0 && warn_of_lost(p, err)))
		return -1;
	if (warn_of_runs(p, err) || (p->watched_s > 0 && warn_of_others(p, err)))
		return -1;
	if (warn_of_speed(p, err))
		return -1;
	if (p->n_unsteady > 0 && warn_of_spread(p, err))
		return -1;
	if (p->model_error > MODEL_ERROR && warn_of_model(p, err))
		return -1;
	return warn_of_memory(p, err);
}
