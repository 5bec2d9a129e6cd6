/* replay.c - the world of a machine's own history: jobs whose rates are given, phase by phase. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/replay.h"
#include "world.h"

/* The least age of a job in a pass: live, some time goes by between the submission and its pass.
 * Under the policy pollux a job of no age at all gets no devices. */
#define LEAST_AGE_S 0.1

struct state {
	const struct replay_job *job;
	double progress;
	double pause_s;			/* rest of the phase's pause */
	int phase;
};

void replay_job_release(struct replay_job *job)
{
	for (int p = 0; p < job->n_phases; p++) {
		free(job->phases[p].best);
		free(job->phases[p].own);
	}
	free(job->phases);
	free(job->after);
	*job = (struct replay_job){ .id = 0 };
}

static double rate_of(const struct sim *s, const struct sim_job *job)
{
	const struct state *state = job->own;
	const struct replay_phase *phase = &state->job->phases[state->phase];
	int n = job->placement.replicas;

	return state->job->modelled && s->options->policy->models_goodput && phase->best[n] > 0
		       ? phase->best[n] : phase->own[n];
}

/* Seconds to the end of a running job's phase. */
static double phase_left_s(const struct sim *s, const struct sim_job *job)
{
	const struct state *state = job->own;
	double left = state->job->phases[state->phase].until - state->progress;

	return job->delay_s + state->pause_s + (left > 0 ? left / rate_of(s, job) : 0);
}

/* The end of a phase is computed from rates: at a rate of 0 a job would never end, and at NaN at
 * once. */
static int end_of_phase(struct sim *s, struct sim_job *job, struct moment *event)
{
	double rate = job->placement.n ? rate_of(s, job) : 1;

	if (!(rate > 0 && isfinite(rate)))
		return err_set(s->err, EX_DATAERR,
			       "job %lld does work at a rate of %g on %d devices",
			       (long long)((const struct state *)job->own)->job->id, rate,
			       job->placement.replicas);
	if (job->placement.n) {
		event->in_s = phase_left_s(s, job);
		event->at_s = s->now_s + event->in_s;
	}
	return 0;
}

static int run_phase(struct sim *s, struct sim_job *job, double start_s, double seconds)
{
	struct state *state = job->own;
	const struct replay_job *replayed = state->job;
	double delay_s = fmin(job->delay_s, seconds);
	double pause_s = fmin(state->pause_s, seconds - delay_s);

	if (!job->placement.n)
		return 0;
	s->progress_s = s->now_s;
	sim_serve(job, seconds, 1);
	if (phase_left_s(s, job) > seconds) {
		job->delay_s -= delay_s;
		state->pause_s -= pause_s;
		state->progress += rate_of(s, job) * (seconds - delay_s - pause_s);
		return 0;
	}
	job->delay_s = 0;
	state->progress = replayed->phases[state->phase].until;
	if (++state->phase < replayed->n_phases)
		state->pause_s = replayed->phases[state->phase].pause_s;
	else
		job->finish_s = start_s + seconds;
	return 0;
}

/* The time at which a job may start; infinite: a job that must end before has not ended. */
static double release_of(const struct sim *s, const struct sim_job *job)
{
	const struct replay_job *replayed = ((const struct state *)job->own)->job;
	double release_s = fmax(replayed->submit_s, replayed->release_s);

	for (int i = 0; i < replayed->n_after; i++) {
		double finish_s = s->jobs[replayed->after[i]].finish_s;

		if (isnan(finish_s))
			return HUGE_VAL;
		release_s = fmax(release_s, finish_s);
	}
	return release_s;
}

static int tell_state(struct sim *s, struct sim_job *job, struct sched_job *told)
{
	const struct state *state = job->own;
	const struct replay_job *replayed = state->job;

	told->id = replayed->id;
	told->min_replicas = replayed->min_replicas;
	told->max_replicas = replayed->max_replicas < s->n_gpus ? replayed->max_replicas
								: s->n_gpus;
	told->weight = replayed->weight;
	told->preemptible = replayed->preemptible;
	told->submitted_s = fmin(replayed->submit_s, s->now_s - LEAST_AGE_S);
	told->restart_s = replayed->restart_s;
	told->offers[0] = offers_of(s->n_gpus, replayed->phases[state->phase].best);
	if (replayed->modelled && job->placement.n)
		told->goodput_now = rate_of(s, job);
	told->remaining_samples = sched_remaining(replayed->told_work, state->progress);
	return 0;
}

static void launch_replayed(struct sim *s, struct sim_job *job)
{
	const struct replay_job *replayed = ((const struct state *)job->own)->job;

	(void)s;
	if (job->placement.n)
		job->delay_s = job->restarts ? replayed->restart_s : replayed->start_s;
}

static const struct world world_of_replays = {
	.own_size = sizeof(struct state),
	.event = end_of_phase, .run = run_phase, .release_s = release_of, .tell = tell_state,
	.launch = launch_replayed,
};

int replay(const struct sim_options *o, const struct replay_job *jobs, int n,
	   struct sim_job_result *results, struct err *err)
{
	struct sim_workload w = { .n_jobs = n, .name = xasprintf("%d devices", o->gpus_per_node),
				  .jobs = xcalloc((size_t)n, sizeof(*w.jobs)) };
	struct sim_result result;
	struct sim s;
	int rc;

	for (int i = 0; i < n; i++)
		w.jobs[i].submit_s = jobs[i].submit_s;
	sim_init(&s, &world_of_replays, o, &w, err);
	sim_add_kind(&s, NULL, o->nodes, o->gpus_per_node);
	s.any_number = s.stops_at_events = s.decides_on_end = true;
	s.decides_on_arrival = o->events;
	/* A pass at the moment of the first submission is then still to come. */
	s.now_s = s.progress_s = n ? jobs[0].submit_s - 1 : 0;
	s.round = (int64_t)floor(s.now_s / s.interval_s);
	for (int i = 0; i < n; i++)
		*(struct state *)s.jobs[i].own = (struct state){
			.job = &jobs[i], .pause_s = jobs[i].phases[0].pause_s,
		};
	rc = sim_run(&s, NULL, &result);
	sim_release(&s);
	if (rc == 0) {
		for (int i = 0; i < n; i++)
			results[i] = result.jobs[i];
		sim_result_release(&result);
	}
	sim_workload_release(&w);
	return rc;
}
