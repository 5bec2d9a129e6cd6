/* recorder_log.c - turn steps recognised in a log into what reports would have said. */
#include <math.h>
#include <stdio.h>

#include "recorder.h"

/* An interval of more steps counts as this many: their time is an average anyway. */
#define COPIES_MAX 1000
#define ANEW_SHARE 0.1	/* a run that begins below this part of the job's steps has begun anew */

void recorder_begin_log(struct recorder *r, struct run *run, const char *pattern,
			double first_boot_s)
{
	if (r->steps_are_reported)
		return;
	snprintf(run->step_source, sizeof(run->step_source), "log:%s", pattern);
	step_stats_init(&r->stats);
	r->first_logged_position = (double)NAN;
	r->printed_total_steps = 0;
	if (isnan(run->first_step_s) && isfinite(first_boot_s))
		run->first_step_s = fmax(first_boot_s - run->launch_boot_s, 0);
}

/* Returns how many units of the log make a step; NaN: not known. */
static double units_of_step(const struct run *run, enum step_unit unit)
{
	int64_t batch_size = configuration_batch_size(&run->configuration);

	if (unit == STEP_SAMPLES)
		return batch_size > 0 ? (double)batch_size : (double)NAN;
	if (unit == STEP_EPOCHS)	/* an epoch has so many samples that it is no step */
		return batch_size > 0 ? (double)NAN : 1;
	return unit == STEP_BATCHES ? (double)run->configuration.accumulation_steps : 1;
}

static void add_time(struct recorder *r, const struct step_event *e, double units)
{
	int copies;

	if (e->basis == STEP_UNTIMED || isnan(units))
		return;
	copies = (int)fmax(fmin(round(e->n / units), COPIES_MAX), 1);
	for (int i = 0; i < copies; i++)
		step_stats_add(&r->stats, e->unit_s * units, (double)NAN);
}

/* Returns the samples at a run's first step. A program that begins at a lower position than the
 * job's has gone back to an earlier checkpoint or to the start; the job's samples are scaled down
 * accordingly. A job that reports its checkpoints already stands at the last one although its steps
 * do not: for such a job only a return to the start counts. */
static double samples_at_first(struct run *run, const struct job *job, double steps)
{
	double kept = job->progress.steps > 0 ? fmin(steps / job->progress.steps, 1) : 1;

	if (!isnan(job->progress.checkpoint_samples) && kept >= ANEW_SHARE)
		kept = 1;
	if (job->progress.position_doubt != POSITION_OLD)
		run->lost_samples = (1 - kept) * job->progress.samples;
	return kept * job->progress.samples;
}

/* A pattern that replaces another continues at the run's position. */
static void see_first(struct recorder *r, struct run *run, const struct job *job,
		      const struct step_event *e, double steps)
{
	if (!isnan(r->first_logged_position))
		return;
	r->first_logged_position = e->position;
	r->base_samples = run->last_samples;
	if (isnan(run->last_samples) && job->declared.batch.max > 0 && !job->profile &&
	    !isnan(job->progress.samples))
		r->base_samples = samples_at_first(run, job, steps);
}

/* The unit of the log turned out to be another one: the times and positions so far are void. */
static void see_unit(struct recorder *r, const struct step_event *e)
{
	if (e->unit != r->logged_unit && !isnan(r->first_logged_position))
		step_stats_init(&r->stats);
	r->logged_unit = e->unit;
}

/* If the batch size changes from run to run, the steps before this run were of another size: the
 * run's own steps are counted from the job's position. A position counted in whole epochs is right
 * as it is: it has the steps of all epochs at the present size. */
static double samples_at(const struct recorder *r, const struct run *run, const struct job *job,
			 const struct step_event *e, double units)
{
	double batch = (double)configuration_batch_size(&run->configuration);

	if (e->unit == STEP_SAMPLES)
		return e->position;
	if (!(batch > 0) || e->unit == STEP_EPOCHS || e->unit == STEP_TIMESTEPS)
		return (double)NAN;
	if (job->declared.batch.max == 0 || isnan(r->base_samples) || e->is_by_epochs)
		return r->steps * batch;
	return r->base_samples +
	       floor(fmax(e->position - r->first_logged_position, 0) / units) * batch;
}

/* Where the batch size may change, samples_at_first() says what was lost. */
static void add_samples(struct recorder *r, struct run *run, const struct job *job, double samples,
			double arrival_s)
{
	if (isnan(samples))
		return;
	run->last_samples = samples;
	r->position_s = arrival_s;
	if (job->declared.batch.max == 0)
		recorder_see_position(r, run, samples);
	if (isnan(run->first_samples))
		run->first_samples = samples;
}

void recorder_add_logged(struct recorder *r, struct run *run, const struct job *job,
			 const struct step_event *e)
{
	double units = units_of_step(run, e->unit);

	if (r->steps_are_reported)
		return;
	r->changed = true;
	see_unit(r, e);
	if (e->unit == STEP_EPOCHS) {
		r->epoch = e->position;
		r->total_epochs = e->total;
	}
	if (e->unit == STEP_SAMPLES && e->total > 0)
		r->total_samples = e->total;
	add_time(r, e, units);
	if (!isnan(units)) {
		r->steps = floor(e->position / units);
		r->printed_total_steps = e->total > 0 ? e->total / units : 0;
		r->total_may_be_of_epoch = e->total_may_be_of_epoch;
		r->counts_from_0 = e->counts_from_0;
		see_first(r, run, job, e, r->steps);
	}
	if (!r->samples_are_reported)
		add_samples(r, run, job, samples_at(r, run, job, e, units), e->arrival_s);
}
