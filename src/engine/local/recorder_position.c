/* recorder_position.c - where a run begins, and what the job had lost by that. */
#include <math.h>

#include "recorder.h"

#define FIRST_STEPS 2	/* steps that a run may have made before its second position */

/* Moves the position of the job without work: backwards, the samples between are done again;
 * forwards, less had been lost than was thought. Their time is computed from the mean time of a
 * sample before this run. */
static void move_position(struct recorder *r, struct run *run, double from, double to)
{
	const struct recorder_start *start = &r->start;

	if (isnan(from) || isnan(start->samples))
		return;
	run->lost_samples = fmax(run->lost_samples + from - to, -start->lost_samples);
	if (start->samples > 0)
		run->lost_s = fmax(run->lost_samples * start->run_time_s / start->samples,
				   -start->lost_s);
}

/* The helper for PyTorch tells from which checkpoint a program continues. A program that does not
 * continue begins at 0. */
void recorder_add_start(struct recorder *r, struct run *run, const struct report_message *m)
{
	bool resumes = m->resumed[0] && m->samples >= 0;

	if (!resumes && (r->position_is_known || !run->framework[0] || m->samples < 0))
		return;
	move_position(r, run, r->position_is_known ? run->last_samples : r->start.samples,
		      resumes ? (double)m->samples : 0);
	r->position_is_known = true;
	r->resumed |= resumes;
	if (!resumes)
		return;
	run->first_samples = run->checkpoint_samples = (double)m->samples;
	run->checkpoint_boot_s = run->launch_boot_s;
}

/* The first two positions tell where the program began: at most their distance before the first. A
 * job whose position lies in that range, or a little before it, begins at its own position: a log
 * has to show a few steps before it is understood. A job that never reported a checkpoint may also
 * begin later than was thought; clearly later, because the first distance may be a short one.
 */
void recorder_see_position(struct recorder *r, struct run *run, double samples)
{
	double step = samples - r->first_position, least = fmax(r->first_position - step, 0);
	double from = r->start.samples, stood = isnan(from) ? 0 : from;

	if (isnan(r->first_position))
		r->first_position = samples;
	if (!(step > 0) || isfinite(r->began))
		return;
	r->began = least;
	if (stood <= r->first_position && least - stood <= FIRST_STEPS * step)
		r->began = stood;
	if (r->position_is_known || r->began == from ||
	    (r->began > from && r->start.has_reported))
		return;
	move_position(r, run, from, r->began);
}
