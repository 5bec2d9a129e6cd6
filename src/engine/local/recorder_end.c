/* recorder_end.c - whether a run has come to the end of its work, by its own account. */
#include <math.h>

#include "recorder.h"

/* Work of less than this many steps is not another step: a partial batch or accumulation. */
#define LESS_THAN_A_STEP 1.0

void recorder_add_ended(struct recorder *r, const struct report_message *m)
{
	bool by_itself = m->ended == 2 && !r->told_to_stop;

	if (m->ended >= 0)
		r->has_ended = m->ended == 1 || by_itself;
	else if (m->step > r->last_step)
		r->has_ended = false;	/* another training has begun */
}

/* What pollux computed from an epoch's samples is no account of the program's. */
static double total_samples(const struct recorder *r, const struct declaration *d)
{
	if (d->total_samples > 0 || d->total_steps > 0)
		return d->total_samples;
	return r->total_samples_are_reported || !r->samples_are_reported ? r->total_samples
									 : (double)NAN;
}

static double total_steps(const struct recorder *r, const struct declaration *d)
{
	if (d->total_samples > 0 || d->total_steps > 0)
		return d->total_steps;
	if (r->total_steps > 0)
		return r->total_steps;
	return r->printed_total_steps > 0 && !r->total_may_be_of_epoch ? r->printed_total_steps
								       : (double)NAN;
}

/* Each comparison is false where one side is not known. */
static bool is_at_total(const struct recorder *r, const struct run *run,
			const struct declaration *d)
{
	double batch = (double)configuration_batch_size(&run->configuration);
	double samples_left = total_samples(r, d) - run->last_samples;
	double steps_left = total_steps(r, d) - r->steps - r->counts_from_0;

	return samples_left <= 0 || samples_left < batch || steps_left < LESS_THAN_A_STEP;
}

/* True if the log counts epochs and no steps. */
static bool counts_epochs(const struct recorder *r, const struct run *run)
{
	return !r->steps_are_reported && r->logged_unit == STEP_EPOCHS && isnan(r->steps) &&
	       isnan(run->last_samples);
}

bool recorder_is_at_its_end(const struct recorder *r, const struct run *run, const struct job *job)
{
	if (job->profile)	/* a profile ends with its budget, not with its work */
		return false;
	return r->has_ended || is_at_total(r, run, &job->declared) ||
	       (counts_epochs(r, run) && r->epoch >= r->total_epochs);
}
