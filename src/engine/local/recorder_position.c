/* recorder_position.c - where a run stands by what it reports, and whether that is believed. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "recorder.h"

/* --- what is believed of a report --- */

/* Where no position was reported, the position of the run is that of its log, which may be of a
 * line that is no step: a report counts for more. A kept report does not if the supervisor is
 * another. */
bool recorder_is_of_the_past(const struct recorder *r, const struct run *run,
			   const struct report_message *m)
{
	double last = r->positions.n > 0 ? r->positions.last
		    : r->sender == SENDER_KEPT ? run->last_samples : (double)NAN;

	return m->checkpoint[0] && !m->resumed[0] && m->samples >= 0 && (double)m->samples < last;
}

static void refuse_report(struct recorder *r, struct run *run, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void refuse_report(struct recorder *r, struct run *run, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	vsnprintf(run->refusal, sizeof(run->refusal), format, ap);
	va_end(ap);
	run->refused_reports++;
	r->changed = true;
}

/* A program that continues from a checkpoint may stand anywhere. A position that cannot be true is
 * left out, and the rest of its report counts: a program that restarted itself has step times as
 * good as before, and a checkpoint is there whatever its position. */
static void check_position(struct recorder *r, struct run *run, struct report_message *m,
			   double now)
{
	double last = r->positions.last;
	enum position_verdict judgement;

	if (m->samples < 0 || recorder_is_of_the_past(r, run, m))
		return;
	if (m->resumed[0])
		position_restart(&r->positions);
	judgement = position_judge(&r->positions, (double)m->samples, now);
	if (judgement == POSITION_FINE)
		return;
	refuse_report(r, run, "SAMPLES %s from %.0f to %lld",
		      judgement == POSITION_FELL ? "fell" : "jumped", last,
		      (long long)m->samples);
	m->samples = m->step = -1;
}

/* True if a kept report tells more than is known. The same report may have come by the socket, or a
 * later one, whose texts and numbers an older report must not replace. */
static bool is_news(const struct recorder *r, const struct run *run,
		    const struct report_message *m)
{
	double samples = (double)m->samples;

	if (m->resumed[0])
		return r->positions.n == 0 && isnan(run->last_samples);
	if (m->checkpoint[0])
		return m->samples < 0 ? isnan(run->checkpoint_samples)
				      : !(samples <= run->checkpoint_samples);
	if (m->samples >= 0)
		return !(samples <= run->last_samples);
	return m->step >= 0 ? !((double)m->step <= r->steps) : !(r->kept_s <= r->heard_s);
}

bool recorder_believes(struct recorder *r, struct run *run, double now)
{
	if (r->sender == SENDER_FOREIGN) {
		refuse_report(r, run, "sent by a process that is not the job's");
		return false;
	}
	if (r->sender == SENDER_KEPT && !is_news(r, run, &r->message))
		return false;
	if (r->sender != SENDER_OURS)
		report_message_drop_measurements(&r->message);
	check_position(r, run, &r->message, now);
	return true;
}

/* --- where a run begins, and what the job had lost by that --- */

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

/* --- whether it is at its end, by its own account --- */

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
