/* recorder_position.c - where a run stands by what it reports or prints, and whether that is
 * believed. */
#include <math.h>
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

/* A program that continues from a checkpoint may stand anywhere. A position that cannot be true is
 * left out, and the rest of its report counts: a program that restarted itself has step times as
 * good as before, and a checkpoint is there whatever its position. */
bool recorder_believes(struct recorder *r, struct run *run, double now)
{
	struct report_message *m = &r->message;
	enum position_verdict verdict;
	double last = r->positions.last;

	if (r->sender == SENDER_FOREIGN) {
		snprintf(run->refusal, sizeof(run->refusal),
			 "sent by a process that is not the job's");
		run->refused_reports++;
		r->changed = true;
		return false;
	}
	if (r->sender == SENDER_KEPT && !is_news(r, run, m))
		return false;
	if (r->sender != SENDER_OURS)
		report_message_drop_measurements(m);
	if (m->samples < 0 || recorder_is_of_the_past(r, run, m))
		return true;
	if (m->resumed[0])
		position_restart(&r->positions);
	verdict = position_judge(&r->positions, (double)m->samples, now);
	if (verdict != POSITION_FINE) {
		snprintf(run->refusal, sizeof(run->refusal), "SAMPLES %s from %.20g to %lld",
			 verdict == POSITION_FELL ? "fell" : "jumped", last,
			 (long long)m->samples);
		run->refused_reports++;
		r->changed = true;
		m->samples = m->step = -1;
	}
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

	if (m->ended < 0 && !(m->step > r->last_step))
		return;
	/* else another training has begun */
	r->came_to_its_end = m->ended == 1;
	r->has_ended = m->ended == 1 || by_itself;
}

/* What the run does to its end, as far as known. What pollux computed from an epoch's samples is no
 * account of the program's. The total of a counter that may begin again is not that of its end. */
static struct training_total total_of(const struct recorder *r, const struct run *run,
				      const struct declaration *d)
{
	bool has_samples = r->total_samples_are_reported || !r->samples_are_reported;
	struct total_facts facts = {
		.declared = { .samples = d->total_samples, .steps = d->total_steps },
		.reported = { has_samples ? r->total_samples : 0, r->total_steps, r->total_epochs },
		.printed_steps = r->total_may_be_of_epoch ? 0 : r->printed_total_steps,
		.position = { run->last_samples, r->steps, r->epoch },
		.batch_size = (double)configuration_batch_size(&run->configuration),
	};

	return training_total_of(&facts);
}

bool recorder_is_at_its_end(const struct recorder *r, const struct run *run, const struct job *job)
{
	double batch = (double)configuration_batch_size(&run->configuration);
	struct training_amount total = total_of(r, run, &job->declared).amount;
	double samples_left = total.samples - run->last_samples;
	double steps_left = total.steps - r->steps - r->counts_from_0;
	bool counts_epochs = !r->steps_are_reported && r->logged_unit == STEP_EPOCHS &&
			     isnan(r->steps) && isnan(run->last_samples);

	if (job->profile)	/* a profile ends with its budget, not with its work */
		return false;
	/* each comparison is false where one side is not known */
	return r->has_ended || samples_left <= 0 || samples_left < batch ||
	       steps_left < LESS_THAN_A_STEP || (counts_epochs && r->epoch >= r->total_epochs);
}

double recorder_done_ratio(const struct recorder *r, const struct run *run, const struct job *job,
			   double *most)
{
	struct training_amount total = total_of(r, run, &job->declared).amount;
	double steps = r->steps + r->counts_from_0;
	double ratio = fmax(run->last_samples / total.samples, steps / total.steps);
	bool by_epochs = isnan(ratio) ||
			 (!r->steps_are_reported && r->logged_unit == STEP_EPOCHS);

	*most = fmax(ratio, (steps + r->unseen_steps) / total.steps);
	if (!by_epochs)
		return ratio;
	/* Nothing may tell that the last epoch is over. */
	*most = fmax(*most, (r->epoch + 1) / total.epochs);
	return fmax(ratio, r->epoch / total.epochs);
}

/* --- steps in the log become what reports would have said --- */

/* An interval of more steps counts as this many: their time is an average anyway. */
#define COPIES_MAX 1000
#define ANEW_SHARE 0.1	/* a run that begins below this part of the job's steps has begun anew */

void recorder_begin_log(struct recorder *r, struct run *run, const char *pattern,
			double first_boot_s)
{
	r->log_total.first_position = r->log_total.first_steps = (double)NAN;
	r->log_total.n_without = 0;
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
	if (unit == STEP_PERCENT)
		return (double)NAN;
	return unit == STEP_BATCHES ? (double)run->configuration.accumulation_steps : 1;
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

/* If the batch size changes from run to run, the steps before this run were of another size: the
 * run's own steps are counted from the job's position. A position counted in whole epochs is right
 * as it is: it has the steps of all epochs at the present size. */
static double samples_at(const struct recorder *r, const struct run *run, const struct job *job,
			 const struct step_event *e, double units)
{
	double batch = (double)configuration_batch_size(&run->configuration);

	if (e->unit == STEP_SAMPLES)
		return e->position;
	if (!(batch > 0) || e->unit == STEP_EPOCHS || e->unit >= STEP_TIMESTEPS)
		return (double)NAN;
	if (job->declared.batch.max == 0 || isnan(r->base_samples) || e->is_by_epochs)
		return r->steps * batch;
	return r->base_samples +
	       floor(fmax(e->position - r->first_logged_position, 0) / units) * batch;
}

/* Lines in a row without a total after which the log is given up. */
#define LINES_WITHOUT_TOTAL 20
/* Units of the log that are compared with reported steps, at least; of a few, this share. */
#define COMPARED_UNITS 10
#define COMPARED_SHARE 0.1
#define COMPARED_STEPS 3
/* The log counts the reported steps themselves if their ratio is so near to one. */
#define SAME_UNIT 0.1

/* True if the log need not tell it. */
static bool has_total(const struct recorder *r, const struct run *run, const struct job *job)
{
	struct training_total total = total_of(r, run, &job->declared);

	return total.source == TOTAL_DECLARED ||
	       (total.source == TOTAL_REPORTED &&
		(total.amount.steps > 0 || total.amount.samples > 0));
}

bool recorder_wants_log(const struct recorder *r, const struct run *run, const struct job *job)
{
	return !r->steps_are_reported ||
	       (!has_total(r, run, job) && r->log_total.n_without < LINES_WITHOUT_TOTAL);
}

/* Takes the log's total for a program that reports steps and no total. The log may count other
 * units, such as batches of which several make a step: the steps reported while it counted tell
 * their ratio. */
static void add_total(struct recorder *r, const struct run *run, const struct job *job,
		      const struct step_event *e)
{
	struct recorder_log_total *t = &r->log_total;
	double counted, ratio, total;
	bool is_same;

	t->n_without = e->total > 0 ? 0 : t->n_without + 1;
	if (isnan(t->first_position) && r->steps >= 0) {
		t->first_position = e->position;
		t->first_steps = r->steps;
	}
	counted = e->position - t->first_position;
	ratio = counted > 0 ? (r->steps - t->first_steps) / counted : (double)NAN;
	is_same = fabs(ratio - 1) <= SAME_UNIT;
	total = is_same ? e->total : round(r->steps + (e->total - e->position) * ratio);
	if (has_total(r, run, job) || !(e->total > 0) || !(total >= r->steps)) {
		r->printed_total_steps = 0;
		return;
	}
	if (counted < fmin(COMPARED_UNITS, COMPARED_SHARE * e->total) ||
	    !(ratio > 0) || r->steps - t->first_steps < COMPARED_STEPS)
		return;
	/* the place of the line within a step makes steps more or less, here and at the end */
	if (!is_same && r->printed_total_steps >= r->steps &&
	    fabs(total - r->printed_total_steps) <= 2 + (e->total - e->position) / counted)
		return;
	r->printed_total_steps = total;
	r->total_may_be_of_epoch = e->total_may_be_of_epoch || !is_same;
	r->changed = true;
}

void recorder_add_logged(struct recorder *r, struct run *run, const struct job *job,
			 const struct step_event *e)
{
	double units = units_of_step(run, e->unit), samples, copies;

	if (r->steps_are_reported) {
		add_total(r, run, job, e);
		return;
	}
	r->changed = true;
	/* the unit of the log turned out to be another one: what was measured so far is void */
	if (e->unit != r->logged_unit && !isnan(r->first_logged_position))
		step_stats_init(&r->stats);
	r->logged_unit = e->unit;
	r->logged_part = e->part;
	if (e->unit == STEP_EPOCHS) {
		r->epoch = e->position;
		r->total_epochs = e->total;
	}
	if (e->unit == STEP_SAMPLES && e->total > 0)
		r->total_samples = e->total;
	copies = e->basis == STEP_UNTIMED || isnan(units)
		? 0 : fmax(fmin(round(e->n / units), COPIES_MAX), 1);
	for (int i = 0; i < copies; i++)
		step_stats_add(&r->stats, e->unit_s * units, (double)NAN);
	if (!isnan(units)) {
		r->steps = floor(step_event_done(e) / units);
		r->printed_total_steps = fmax(e->total / units, 0);	/* NaN becomes 0 */
		r->total_may_be_of_epoch = e->total_may_be_of_epoch;
		r->counts_from_0 = e->counts_from_0 && e->unseen > 0;
		r->unseen_steps = e->unseen / units;
	}
	/* A pattern that replaces another continues at the run's position. */
	if (!isnan(units) && isnan(r->first_logged_position)) {
		r->first_logged_position = e->position;
		r->base_samples = run->last_samples;
		if (isnan(run->last_samples) && job->declared.batch.max > 0 && !job->profile &&
		    !isnan(job->progress.samples))
			r->base_samples = samples_at_first(run, job, r->steps);
	}
	samples = r->samples_are_reported ? (double)NAN : samples_at(r, run, job, e, units);
	if (isnan(samples))
		return;
	run->last_samples = samples;
	r->position_s = e->arrival_s;
	/* where the batch size may change, samples_at_first() says what was lost */
	if (job->declared.batch.max == 0)
		recorder_see_position(r, run, samples);
	if (isnan(run->first_samples))
		run->first_samples = samples;
}
