/* replay.c - goes from one event to the next. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/replay.h"

#define STUCK_S (28 * 86400.0)		/* this long without a running job is an error */
/* The least age of a job in a pass: live, some time goes by between the submission and its pass.
 * Under the policy pollux a job of no age at all gets no devices. */
#define LEAST_AGE_S 0.1

struct state {
	const struct replay_job *job;
	bool here;			/* submitted, and free to start */
	double progress, delay_s;	/* delay: time left until its launch is over */
	double pause_s;			/* rest of the phase's pause */
	int phase, replicas, restarts;	/* restarts -1: never had any device */
	double start_s, finish_s;	/* NaN: not yet */
	double launched_s, waiting_since_s, demoted_s, attained_device_s;
};

struct replay_run {
	const struct replay_options *options;
	struct state *states;
	/* jobs before first are done, jobs from end on are not submitted yet */
	int n, n_done, first, end;
	double now_s, ran_s;		/* ran: when a job last ran */
	struct sched_job *told;		/* one entry for each present job, like those below */
	struct sched_choice *choices;
	struct state **told_state;
	double *ended_device_s;		/* service of the jobs that are done */
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

static bool is_done(const struct state *s)
{
	return !isnan(s->finish_s);
}

/* --- a decision --- */

static double rate_of(const struct replay_run *r, const struct state *s)
{
	const struct replay_phase *phase = &s->job->phases[s->phase];

	if (s->job->modelled && r->options->policy->models_goodput && phase->best[s->replicas] > 0)
		return phase->best[s->replicas];
	return phase->own[s->replicas];
}

static struct sched_job tell_state(const struct replay_run *r, const struct state *s)
{
	const struct replay_job *job = s->job;
	int most = job->max_replicas < r->options->n_devices ? job->max_replicas
							     : r->options->n_devices;

	return (struct sched_job){
		.id = job->id, .min_replicas = job->min_replicas, .max_replicas = most,
		.weight = job->weight, .preemptible = job->preemptible, .replicas = s->replicas,
		.attained_service_device_s = s->attained_device_s, .launched_s = s->launched_s,
		.demoted_s = s->demoted_s,
		.submitted_s = fmin(job->submit_s, r->now_s - LEAST_AGE_S),
		.waiting_since_s = s->waiting_since_s,
		.restarts = s->restarts > 0 ? s->restarts : 0, .restart_s = job->restart_s,
		.goodput = job->phases[s->phase].best,
		.goodput_now = job->modelled && s->replicas ? rate_of(r, s) : (double)NAN,
		.remaining_samples = sched_remaining(job->told_work, s->progress),
	};
}

static void give_replicas(const struct replay_run *r, struct state *s, int replicas)
{
	if (replicas == s->replicas)
		return;
	s->replicas = replicas;
	if (!replicas) {
		s->waiting_since_s = r->now_s;
		return;
	}
	s->delay_s = ++s->restarts ? s->job->restart_s : s->job->start_s;
	s->launched_s = r->now_s;
	if (isnan(s->start_s))
		s->start_s = r->now_s;
}

static void give_devices(struct replay_run *r)
{
	struct sched_input in = {
		.jobs = r->told, .n_devices = r->options->n_devices, .now_s = r->now_s,
		.slice_s = r->options->slice_s, .ended_device_s = r->ended_device_s,
	};

	for (int i = r->first; i < r->end; i++) {
		struct state *s = &r->states[i];

		if (s->here && is_done(s))
			r->ended_device_s[in.n_ended++] = s->attained_device_s;
		if (!s->here || is_done(s))
			continue;
		if (isnan(s->demoted_s) && s->attained_device_s >= TIRESIAS_QUEUE_DEVICE_S)
			s->demoted_s = r->now_s;
		r->told_state[in.n_jobs] = s;
		r->told[in.n_jobs++] = tell_state(r, s);
	}
	if (!in.n_jobs)
		return;
	r->options->policy->decide(&in, r->choices);
	for (int i = 0; i < in.n_jobs; i++)
		give_replicas(r, r->told_state[i], r->choices[i].replicas);
}

/* --- time --- */

/* The end of a phase is computed from rates: at a rate of 0 a job would never end, and at NaN at
 * once. */
static int check_rates(const struct replay_run *r, struct err *err)
{
	for (int i = r->first; i < r->end; i++) {
		const struct state *s = &r->states[i];
		double rate = s->replicas ? rate_of(r, s) : 1;

		if (!(rate > 0 && isfinite(rate)))
			return err_set(err, EX_DATAERR,
				       "job %lld does work at a rate of %g on %d devices",
				       (long long)s->job->id, rate, s->replicas);
	}
	return 0;
}

/* Seconds to the end of a running job's phase. */
static double phase_left_s(const struct replay_run *r, const struct state *s)
{
	double left = s->job->phases[s->phase].until - s->progress;

	return s->delay_s + s->pause_s + (left > 0 ? left / rate_of(r, s) : 0);
}

/* Advances a job. Returns true if the job has ended. */
static bool advance_state(struct replay_run *r, struct state *s, double seconds)
{
	double left_s = phase_left_s(r, s), delay_s = fmin(s->delay_s, seconds);
	double pause_s = fmin(s->pause_s, seconds - delay_s);

	s->attained_device_s += seconds * s->replicas;
	if (left_s > seconds) {
		s->delay_s -= delay_s;
		s->pause_s -= pause_s;
		s->progress += rate_of(r, s) * (seconds - delay_s - pause_s);
		return false;
	}
	s->delay_s = 0;
	s->progress = s->job->phases[s->phase].until;
	if (++s->phase < s->job->n_phases) {
		s->pause_s = s->job->phases[s->phase].pause_s;
		return false;
	}
	s->finish_s = r->now_s + seconds;
	s->replicas = 0;
	r->n_done++;
	return true;
}

/* The time at which a job may start; INFINITY: a job that must end before has not ended. */
static double release_of(const struct replay_run *r, const struct replay_job *job)
{
	double release_s = fmax(job->submit_s, job->release_s);

	for (int i = 0; i < job->n_after; i++) {
		const struct state *after = &r->states[job->after[i]];

		release_s = is_done(after) ? fmax(release_s, after->finish_s) : (double)INFINITY;
		if (isinf(release_s))
			break;
	}
	return release_s;
}

/* Admits the jobs that have been submitted by now. Returns a time before which no other job
 * arrives. */
static double admit_jobs(struct replay_run *r)
{
	double next_s;

	while (r->first < r->n && is_done(&r->states[r->first]))
		r->first++;
	while (r->end < r->n && r->states[r->end].job->submit_s <= r->now_s)
		r->end++;
	next_s = r->end < r->n ? r->states[r->end].job->submit_s : (double)INFINITY;
	for (int i = r->first; i < r->end; i++) {
		struct state *s = &r->states[i];
		double release_s;

		if (s->here)
			continue;
		release_s = release_of(r, s->job);
		s->here = release_s <= r->now_s;
		s->waiting_since_s = release_s;
		if (!s->here)
			next_s = fmin(next_s, release_s);
	}
	return next_s;
}

/* The time of the next pass by the clock, or as a job comes at next_s; not before a job is present;
 * INFINITY: no job will ever be. */
static double next_pass_s(const struct replay_run *r, double next_s)
{
	double interval_s = r->options->interval_s, pass_s = ceil(next_s / interval_s) * interval_s;

	for (int i = r->first; i < r->end; i++)
		if (r->states[i].here && !is_done(&r->states[i]))
			pass_s = (floor(r->now_s / interval_s) + 1) * interval_s;
	return r->options->submission_passes ? fmin(pass_s, next_s) : pass_s;
}

/* Goes to the next event. Returns true if a job has ended. */
static bool go_to_event(struct replay_run *r, double pass_s)
{
	double seconds = pass_s - r->now_s;
	bool ended = false, running = false;

	for (int i = r->first; i < r->end; i++)
		if (r->states[i].replicas)
			seconds = fmin(seconds, phase_left_s(r, &r->states[i]));
	for (int i = r->first; i < r->end; i++) {
		struct state *s = &r->states[i];

		running |= s->replicas > 0;
		if (s->replicas)
			ended |= advance_state(r, s, seconds);
	}
	r->now_s = seconds < pass_s - r->now_s ? r->now_s + seconds : pass_s;
	if (running)
		r->ran_s = r->now_s;
	return ended;
}

static int replay_jobs(struct replay_run *r, struct err *err)
{
	bool pass = false;

	while (r->n_done < r->n) {
		double next_s = admit_jobs(r), pass_s;

		if (pass)
			give_devices(r);
		pass_s = next_pass_s(r, next_s);
		if (isinf(pass_s) || (isinf(next_s) && r->now_s - r->ran_s > STUCK_S))
			return err_set(err, EX_UNAVAILABLE,
				       "under '%s' on %d devices no job got any "
				       "further in 28 days",
				       r->options->policy->name, r->options->n_devices);
		if (check_rates(r, err))
			return -1;
		pass = go_to_event(r, pass_s) || r->now_s >= pass_s;
	}
	return 0;
}

/* --- all --- */

static void run_init(struct replay_run *r, const struct replay_options *options,
		     const struct replay_job *jobs, int n)
{
	size_t size = (size_t)n;

	*r = (struct replay_run){
		.options = options, .n = n, .states = xcalloc(size, sizeof(*r->states)),
		.told = xcalloc(size, sizeof(*r->told)),
		.choices = xcalloc(size, sizeof(*r->choices)),
		.told_state = xcalloc(size, sizeof(struct state *)),
		.ended_device_s = xcalloc(size, sizeof(double)),
	};
	/* A pass at the moment of the first submission is then still to come. */
	r->now_s = r->ran_s = n ? jobs[0].submit_s - 1 : 0;
	for (int i = 0; i < n; i++)
		r->states[i] = (struct state){
			.job = &jobs[i], .pause_s = jobs[i].phases[0].pause_s, .restarts = -1,
			.start_s = (double)NAN, .finish_s = (double)NAN, .demoted_s = (double)NAN,
		};
}

int replay(const struct replay_options *options, const struct replay_job *jobs, int n,
	   struct sim_job_result *results, double *device_s, struct err *err)
{
	struct replay_run r;
	int rc;

	run_init(&r, options, jobs, n);
	rc = replay_jobs(&r, err);
	for (int i = 0; rc == 0 && i < n; i++) {
		const struct state *s = &r.states[i];

		results[i] = (struct sim_job_result){
			.submit_s = jobs[i].submit_s, .start_s = s->start_s,
			.finish_s = s->finish_s, .restarts = s->restarts > 0 ? s->restarts : 0,
			.fairness = (double)NAN,
		};
		if (device_s)
			device_s[i] = s->attained_device_s;
	}
	free(r.states);
	free(r.told);
	free(r.choices);
	free(r.told_state);
	free(r.ended_device_s);
	return rc;
}
