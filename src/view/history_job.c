/* history_job.c - converts a job of the store into a job that replay.h simulates. Its rates come
 * from the measured model, or from the time that the job took. */
#include <math.h>
#include <stdlib.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"

#define PHASES 8			/* parts of a job, each with one noise scale */
/* As in a pass, a restart whose time is unknown takes this part of a slice. */
#define RESTART_SLICES 0.05

static int most_devices(const struct history *h)
{
	return h->n_devices > h->n_simulated_devices ? h->n_devices : h->n_simulated_devices;
}

static int least_devices(const struct history *h)
{
	return h->n_devices < h->n_simulated_devices ? h->n_devices : h->n_simulated_devices;
}

/* The model of the job as it was at a position. */
static void model_at(struct knowledge *k, const struct job *job, double samples,
		     struct job_model *m)
{
	struct job at = *job;

	at.progress.samples = samples;
	knowledge_of_job(k, &at, m);
}

/* --- how much work it was --- */

static double efficiency_of(struct knowledge *k, const struct job *job, const struct run *run,
			    double samples)
{
	struct job_model m;

	if (run->configuration.local_batch_size <= 0)
		return 1;
	model_at(k, job, samples, &m);
	return goodput_choice_of(&m.goodput, run->configuration).efficiency;
}

/* Useful samples: the samples of each run up to where the next run began, weighted by the
 * efficiency of the batch size that the run had last. */
static double work_of_runs(struct knowledge *k, const struct job *job, const struct run_list *runs)
{
	double at = 0, work = 0;

	for (int i = 0; i < runs->count; i++) {
		double end = job->progress.samples;

		for (int next = i + 1; next < runs->count; next++)
			if (isfinite(runs->items[next].first_samples)) {
				end = runs->items[next].first_samples;
				break;
			}
		if (!(end > at))
			continue;
		work += (end - at) * efficiency_of(k, job, &runs->items[i], (at + end) / 2);
		at = end;
	}
	return work > 0 ? work : job->progress.samples;
}

/* Seconds from the first launch to the first step; NaN: unknown. */
static double first_step(const struct run_list *runs)
{
	for (int i = 0; i < runs->count; i++)
		if (isfinite(runs->items[i].first_step_s))
			return runs->items[i].first_step_s;
	return (double)NAN;
}

/* Seconds of a job's runs that were not steps: evaluations, checkpoints, the end. 0 if step times
 * are unknown. */
static double pauses_of(const struct job *job, const struct run_list *runs,
			const struct observation_list *seen)
{
	double n = 0, stepped_s = 0, launched_s = 0, pauses_s;

	for (int i = 0; i < seen->count; i++) {
		const struct observation *o = &seen->items[i];

		if (o->n_windows == 0)
			continue;
		n += (double)o->n_steps;
		stepped_s += (double)o->n_steps * o->step_time_s;
	}
	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];

		launched_s += isfinite(run->first_step_s) ? run->first_step_s : 0;
		launched_s += isfinite(run->stop_duration_s) ? run->stop_duration_s : 0;
	}
	if (!(n > 0))
		return 0;
	pauses_s = job->progress.run_time_s - launched_s - job->progress.lost_s -
		   stepped_s / n * job->progress.steps;
	return job->state == JOB_DONE && pauses_s > 0 ? pauses_s : 0;
}

/* --- rates --- */

/* The whole length of a job. */
struct extent {
	double samples, work, pauses_s;
};

/* --- by its model --- */

/* Samples of the whole job; NaN: unknown. */
static double length_of(struct knowledge *k, const struct job *job)
{
	struct job_model m;

	if (job->state == JOB_DONE)
		return job->progress.samples;
	knowledge_of_job(k, job, &m);
	return (job->progress.samples > 0 ? job->progress.samples : 0) + m.remaining_samples;
}

static double told_work(struct knowledge *k, const struct job *job, const struct extent *all)
{
	struct job_model m;

	model_at(k, job, 0, &m);
	return m.remaining_samples * all->work / all->samples;
}

static void set_modelled(const struct history *h, struct knowledge *k, const struct job *job,
			 const struct run_list *runs, const struct observation_list *seen,
			 struct replay_job *made)
{
	struct extent all = { .samples = length_of(k, job),
			      .pauses_s = pauses_of(job, runs, seen) };
	double unknown_s = RESTART_SLICES * h->config.slice_s, first_s = first_step(runs);

	all.work = job->state == JOB_DONE ? work_of_runs(k, job, runs) : all.samples;
	made->modelled = true;
	made->restart_s = isfinite(k->restart_s) ? k->restart_s : unknown_s;
	made->start_s = isfinite(first_s) ? first_s : made->restart_s;
	made->told_work = told_work(k, job, &all);
	made->phases = xcalloc(PHASES, sizeof(*made->phases));
	made->n_phases = PHASES;
	for (int p = 0; p < PHASES; p++) {
		struct job_model m;
		struct replay_phase *phase = &made->phases[p];
		const struct declaration *d = &job->declared;

		model_at(k, job, all.samples * (p + 0.5) / PHASES, &m);
		phase->best = xcalloc((size_t)most_devices(h) + 1, sizeof(*phase->best));
		phase->own = xcalloc((size_t)most_devices(h) + 1, sizeof(*phase->own));
		for (int r = 1; r <= most_devices(h); r++) {
			struct configuration own = configuration_spread(&d->batch,
									job_model_workers(&m, r));
			struct goodput_choice best;

			phase->own[r] = goodput_choice_of(&m.goodput, own).goodput;
			phase->best[r] = job_model_best(&m, r, &best) && best.goodput > 0
						 ? best.goodput
						 : (double)NAN;
		}
		made->phases[p].until = all.work * (p + 1) / PHASES;
		made->phases[p].pause_s = all.pauses_s / PHASES;
	}
}

/* --- by its time --- */

static void set_timed(const struct history *h, const struct knowledge *k, const struct job *job,
		      struct replay_job *made)
{
	double run_time_s = job->progress.run_time_s;
	double service_s = job->progress.attained_service_device_s;
	double replicas = run_time_s > 0 ? rint(service_s / run_time_s) : 1;
	int n = most_devices(h);
	struct replay_phase *phase = xcalloc(1, sizeof(*phase));

	made->min_replicas = made->max_replicas = replicas > 1 ? (int)replicas : 1;
	/* A pass knows the length only once step times of the workload are known. */
	made->told_work = job->declared.total_steps > 0 ? job->progress.run_time_s : (double)NAN;
	made->restart_s =
		isfinite(k->restart_s) ? k->restart_s : RESTART_SLICES * h->config.slice_s;
	made->phases = phase;
	made->n_phases = 1;
	phase->until = job->progress.run_time_s > 0 ? job->progress.run_time_s : 0;
	phase->best = xcalloc((size_t)n + 1, sizeof(*phase->best));
	phase->own = xcalloc((size_t)n + 1, sizeof(*phase->own));
	for (int r = 1; r <= n; r++) {
		phase->best[r] = sqrt(r / (double)made->min_replicas);	/* as a pass assumes it */
		phase->own[r] = 1;
	}
}

/* --- all --- */

static struct replay_job declared(const struct history *h, const struct job *job)
{
	int least = job->declared.min_replicas > 1 ? job->declared.min_replicas : 1;
	int most = job->declared.max_replicas > 0 ? job->declared.max_replicas : most_devices(h);

	return (struct replay_job){
		.id = job->id, .submit_s = job->submit_time_s, .release_s = job->submit_time_s,
		.min_replicas = least, .max_replicas = most > least ? most : least,
		.weight = job->declared.weight,
		.preemptible = job_may_be_preempted(job, NULL),
	};
}

static bool ended_badly(const struct job *job)
{
	if (job->state == JOB_DONE)
		return !(job->end_time_s >= job->submit_time_s);
	return job->state != JOB_QUEUED && job->state != JOB_RUNNING;
}

static enum history_basis basis_of(const struct history *h, struct knowledge *k,
				   const struct job *job)
{
	struct job_model m;

	if (job->declared.cpu_cores)
		return HISTORY_NO_DEVICE;
	if (ended_badly(job))
		return HISTORY_ENDED_BADLY;
	knowledge_of_job(k, job, &m);
	if (m.known && length_of(k, job) > 0)
		return job->declared.min_replicas > least_devices(h) ? HISTORY_TOO_LARGE
								     : HISTORY_MODEL;
	return job->state == JOB_DONE ? HISTORY_TIME : HISTORY_LENGTH_UNKNOWN;
}

int history_job(struct session *s, const struct history *h, const struct job *job,
		struct replay_job *made, enum history_basis *basis, struct err *err)
{
	struct knowledge *k = history_knowledge_of(h, job);
	struct observation_list seen;
	struct run_list runs;

	*made = declared(h, job);
	*basis = basis_of(h, k, job);
	if (*basis == HISTORY_TIME) {
		set_timed(h, k, job, made);
		if (made->min_replicas <= least_devices(h))
			return 0;
		replay_job_release(made);
		*basis = HISTORY_TOO_LARGE;
		return 0;
	}
	if (*basis != HISTORY_MODEL)
		return 0;
	if (store_runs_of_job(&s->store, job->id, &runs, err))
		return -1;
	if (store_observations_of_job(&s->store, job->id, &seen, err)) {
		run_list_release(&runs);
		return -1;
	}
	set_modelled(h, k, job, &runs, &seen, made);
	observation_list_release(&seen);
	run_list_release(&runs);
	return 0;
}
