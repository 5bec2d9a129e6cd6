/* track.c - see steps_state.h. */
#include <math.h>

#include "patterns.h"
#include "steps_state.h"

static const struct track_point nowhere = { (double)NAN, (double)NAN };

void track_init(struct track *t, double epochs, double total)
{
	*t = (struct track){
		.base = epochs > 0 && total > 0 ? epochs * total : 0, .repeats = epochs > 0,
		.step = (double)NAN, .total = (double)NAN, .epoch = (double)NAN,
		.first_epoch = (double)NAN, .epochs = (double)NAN, .length = (double)NAN,
		.expected_epochs = t->expected_epochs, .from_0 = t->from_0,
		.former_total = (double)NAN, .former_position = (double)NAN,
		.leap = (double)NAN,
		.anchor = nowhere, .latest = nowhere, .sum = nowhere,
		.unknown = {
			.seen = (double)NAN, .fell_from = (double)NAN, .first = (double)NAN,
			.left_at = (double)NAN, .left_base = (double)NAN,
		},
	};
}

void track_break(struct track *t)
{
	t->broken = true;
}

/* --- whether a line of a counter of unknown meaning is of the training --- */

#define NEAR_END 0.99

/* Returns the units that were done in an epoch that is over. Where each unit has a line and the
 * first is 0, the last has the number of units less one. */
static double units_of_epoch(const struct track *t)
{
	return t->step + (t->from_step_0 && t->leap <= 1);
}

/* True if the counter falls, or its total changes before its end. */
static bool leads_astray(const struct track *t, const struct sighting *s)
{
	if (t->total > 0 && s->total > 0 && (t->total < s->total || t->total > s->total))
		return t->step + 1 < NEAR_END * t->total;
	return s->step < t->step && !(s->total > 0);
}

/* True if the counter fell twice in a row from the same count, which is then the end of an epoch.
 * The epoch before this line was passed over, except its first line. */
static bool is_next_epoch(struct track *t, const struct sighting *s)
{
	struct track_unknown *u = &t->unknown;
	double from = u->seen;
	bool again;

	if (s->total > 0 || !(s->step < from))
		return false;
	again = from >= t->step && from >= u->fell_from && from <= u->fell_from;
	u->fell_from = from;
	if (again && !t->repeats)
		t->base += units_of_epoch(t);
	return again;
}

/* True if the training begins anew: the same words, and the first count or less. */
static bool begins_anew(struct track *t, const struct sighting *s)
{
	struct track_unknown *u = &t->unknown;

	if (s->total > 0 || !s->label || s->label != u->label || !(s->step <= u->first) ||
	    !(s->step < t->step))
		return false;
	u->left_at = t->step;
	u->left_base = t->base;
	return true;
}

/* Takes a new beginning back if the counter leaps to where it was before. */
static void return_from_aside(struct track *t, const struct sighting *s)
{
	struct track_unknown *u = &t->unknown;
	double leap = fmax(u->leap, 1);

	if (!(s->step > u->left_at) || s->step - t->step <= TRACK_LEAP * leap ||
	    s->step - u->left_at > TRACK_LEAP * leap)
		return;
	t->base = u->left_base;
	t->step = u->left_at;
	t->repeats = false;
	t->broken = true;
	u->left_at = (double)NAN;
}

static bool has_new_epoch(const struct track *t, const struct sighting *s)
{
	return s->epoch > t->epoch || s->epoch < t->epoch || s->header != t->header;
}

/* True if the line is of the training. */
static bool is_own(struct track *t, const struct sighting *s)
{
	struct track_unknown *u = &t->unknown;
	double leap;
	bool own;

	return_from_aside(t, s);
	leap = s->step - t->step;
	own = is_next_epoch(t, s) || !leads_astray(t, s) || begins_anew(t, s) ||
	      (!isnan(s->epoch) && has_new_epoch(t, s) && s->label == u->label);
	u->seen = s->step;
	if (!own && ++u->n_aside > TRACK_ASIDE_MAX && u->n_aside > u->n_taken)
		own = true;
	if (!own) {
		t->broken = true;
		return false;
	}
	u->n_aside = 0;
	if (u->n_taken++ == 0)
		u->label = s->label;
	u->first = fmin(s->step, u->first);
	if (leap > 0) {
		/* Lines are missing, or lines taken before were not of the training. */
		t->broken |= u->leap > 0 && leap > TRACK_LEAP * u->leap;
		u->leap = leap;
	}
	return true;
}

/* --- epochs --- */

#define EARLY 0.1	/* a counter below this part of its total has just begun */

void track_continue(struct track *t, const struct track *before)
{
	t->first_epoch = before->first_epoch;
	t->epochs = before->epochs;
	t->length = before->length;
	t->within = before->within;
	t->repeats = before->repeats;
	t->unknown.label = before->unknown.label;
	t->former_total = before->repeats ? (double)NAN : before->base + before->total;
	t->former_position = before->base + before->step;
}

static double epoch_length(const struct track *t, const struct sighting *s)
{
	return s->total > 0 && !s->total_is_named ? s->total : t->length;
}

static void see_epoch(struct track *t, const struct sighting *s)
{
	/* A guess, where neither this line nor those before it have shown it. */
	bool from_1 = !t->from_0 && !(s->kind == KIND_BAR && !s->from_header && s->epoch > 1 &&
				    isnan(s->epochs));

	if (s->first_epoch != ONE_OR_ZERO || s->epoch <= 0)
		from_1 = s->first_epoch == 1;
	if (isnan(t->first_epoch))
		t->first_epoch = from_1;
	t->first_epoch = fmin(t->first_epoch, s->epoch);
	if (s->epochs > 0)
		t->epochs = s->epochs + (t->first_epoch <= 0 && s->epochs_are_bare);
}

static enum track_within first_line_says(const struct sighting *s)
{
	if (s->is_of_epoch || (s->kind == KIND_BAR && !s->from_header))
		return WITHIN_EPOCHS;
	if (s->total_is_named)
		return WITHIN_UNKNOWN;
	if (s->total > 0 && s->from_header)
		return s->step <= EARLY * s->total ? WITHIN_EPOCHS : NOT_WITHIN;
	return s->total > 0 && !s->epoch_is_behind ? WITHIN_EPOCHS : WITHIN_UNKNOWN;
}

/* Decides by the first line, or by the line after a change of epoch, if the counter is one of the
 * epoch's units. */
static void see_within(struct track *t, const struct sighting *s)
{
	/* where each line has an epoch, the same count in the next epoch counts as a fall */
	double same = !s->from_header && s->kind != KIND_BAR ? 0.5 : 0;

	bool begins_again = t->within == WITHIN_UNKNOWN && isnan(t->epoch) && s->step < t->step;

	if (s->kind == KIND_BATCHES || s->kind == KIND_EPOCH || s->kind == KIND_SAMPLES ||
	    (begins_again && !s->is_global))
		t->within = WITHIN_EPOCHS;
	else if (s->is_global)
		t->within = NOT_WITHIN;
	else if (s->epoch > t->epoch)
		t->within = s->step < t->step + same || s->step <= 0 ? WITHIN_EPOCHS : NOT_WITHIN;
	else if (t->within == WITHIN_UNKNOWN && isnan(t->step))
		t->within = first_line_says(s);
}

/* Places the line by its epoch. False: the line is of an evaluation, since the counter began again
 * within an epoch that has a line of its own. */
static bool follow_epochs(struct track *t, const struct sighting *s)
{
	bool changed = has_new_epoch(t, s), fell = s->step < t->step;

	if (s->from_header && !changed && !isnan(t->step) &&
	    (fell || s->total > t->total || s->total < t->total || s->kind == KIND_EPOCH)) {
		t->broken = true;
		return false;
	}
	if (s->kind == KIND_BAR && !changed && fell && s->step <= 0)
		return false;	/* Lightning sets a bar back before it changes its description */
	see_within(t, s);
	if (s->step <= t->step && s->epoch > t->epoch && (!(s->total > 0) || s->total_is_named))
		t->length = units_of_epoch(t);
	/* of the first epoch again: the former training is over, and another begins */
	if (!isnan(t->epoch) && s->epoch <= t->first_epoch &&
	    (s->epoch < t->epoch || (fell && (s->kind == KIND_BAR || s->header != t->header)))) {
		t->trials = t->base + (t->total > 0 ? t->total : units_of_epoch(t));
		t->epoch = (double)NAN;
	}
	see_epoch(t, s);
	if (changed && !isnan(t->step)) {
		t->anchor = t->latest = nowhere;
		t->broken = true;
	}
	t->base = t->trials;
	if (t->within == WITHIN_EPOCHS && epoch_length(t, s) > 0)
		t->base += (s->epoch - t->first_epoch) * epoch_length(t, s);
	if (t->within != WITHIN_UNKNOWN)
		t->repeats = t->within == WITHIN_EPOCHS;
	t->epoch = s->epoch;
	t->header = s->header;
	return true;
}

void track_see_outer(struct track *t, const struct sighting *s, double step, double total)
{
	double base = t->trials + step * s->total;

	if (!(s->total > 0) || !isnan(s->epoch))
		return;
	t->expected_epochs = total;
	t->repeats = true;
	if (!(s->step >= t->step) && base > t->base + s->total * !isnan(t->step))
		t->base = base - s->total * !isnan(t->step);
}

/* The number of epochs, if it is known and not passed yet. */
static double epochs_of(const struct track *t)
{
	double epochs = t->epochs > 0 ? t->epochs : t->expected_epochs;
	double begun = isnan(t->epoch) ? 0 : t->epoch - t->first_epoch + 1;

	return epochs > 0 && epochs >= begun ? epochs : (double)NAN;
}

void track_doubt_total(struct track *t, struct step_event *e)
{
	t->repeats = true;
	e->unit = STEP_BATCHES;
	e->total = epochs_of(t) * t->total;
	e->total_may_be_of_epoch = true;
}

/* --- the position --- */

/* The counter fell: a new epoch begins. A counter from the beginning of the training falls only if
 * the program went back to an earlier state or started over. */
static void begin_again(struct track *t, const struct sighting *s)
{
	bool was_at_its_end = t->total > 0 && t->step >= t->total / 2;

	if (t->part_began) {
		t->trials = t->base += t->total > 0 && was_at_its_end ? t->total
								     : units_of_epoch(t);
	} else if ((s->kind != KIND_UPDATES && s->kind != KIND_TIMESTEPS) || was_at_its_end) {
		t->base += t->total > 0 ? t->total : units_of_epoch(t);
		t->repeats = true;
	}
	t->anchor = t->latest = nowhere;
	t->broken = true;
}

static bool move_track(struct track *t, const struct sighting *s)
{
	if (s->kind == KIND_EPOCHS) {
		/* an epoch without steps is done if the line tells its result */
		if (s->epoch < t->epoch && s->epoch <= t->first_epoch)
			t->trials += t->step;
		see_epoch(t, s);
		t->epoch = s->epoch;
		t->base = t->trials;
		t->step = s->epoch - t->first_epoch + s->epoch_is_over;
		t->total = t->epochs;
		return true;
	}
	if (!isnan(s->epoch) && s->kind != KIND_UPDATES && s->kind != KIND_TIMESTEPS) {
		if (!follow_epochs(t, s))
			return false;
		if (t->within != WITHIN_EPOCHS && s->step < t->step)
			begin_again(t, s);
	} else if (s->kind == KIND_EPOCH) {
		t->base += isnan(t->step) ? 0 : t->total;
		t->repeats = true;
	} else if (s->step < t->step) {
		begin_again(t, s);
	} else {
		double done = t->former_total - s->total;

		if (isnan(t->step) && isnan(s->epoch) && done > 0 &&
		    done <= t->former_position + 1 && s->step <= fmax(EARLY * s->total, 1))
			t->base = done;
	}
	t->step = s->step;
	t->total = s->total;
	return true;
}

/* --- the unit and the total of the counter --- */

/* A counter that repeats counts batches, unless its unit is known. */
static enum step_unit unit_of(const struct track *t, const struct sighting *s)
{
	if (s->kind == KIND_SAMPLES)
		return STEP_SAMPLES;
	if (s->kind == KIND_TIMESTEPS)
		return STEP_TIMESTEPS;
	if (s->kind == KIND_EPOCHS)
		return STEP_EPOCHS;
	if (s->kind == KIND_ITERATIONS)
		return STEP_ITERATIONS;
	if (s->kind == KIND_PERCENT)
		return STEP_PERCENT;
	if (s->kind == KIND_BAR && bars_is_of_epoch(s))
		return STEP_BATCHES;
	if (s->kind == KIND_BAR && t->bars_are_of_updates)
		return STEP_UPDATES;
	if (s->is_global)
		return STEP_UPDATES;
	return s->kind == KIND_BATCHES || t->repeats ? STEP_BATCHES : STEP_UPDATES;
}

/* The total of the training: a counter that repeats has its total in each epoch. After a second
 * training, or before the last of several, nobody knows how many will come. */
static double total_of(const struct track *t, const struct sighting *s, enum step_unit unit)
{
	double length = epoch_length(t, s), total = (double)NAN;

	if (t->trials > 0 || t->parts_are_left)
		return (double)NAN;
	if (unit == STEP_EPOCHS)
		total = epochs_of(t);
	else if (t->repeats && length > 0)
		total = epochs_of(t) * length;
	else if (!t->repeats && s->total > 0 && unit != STEP_BATCHES && unit != STEP_SAMPLES)
		total = t->base + s->total;
	return t->base + t->step > total ? (double)NAN : total;
}

/* True if the total of a line may be that of an epoch: a bar and "[4/20] loss" do not say what they
 * count; "batch 4/20" counts within an epoch, and so may any counter until a second one begins. */
static bool total_may_be_of_epoch(const struct track *t, const struct sighting *s)
{
	if (s->kind == KIND_ITERATIONS || s->kind == KIND_PERCENT)
		return true;
	if (t->repeats || s->is_global)
		return false;
	if (s->kind == KIND_BAR)
		return !t->bars_are_of_updates;
	if (s->is_of_epoch || (s->kind == KIND_UNKNOWN && !s->pattern->scan))
		return true;
	return !isnan(s->epoch) && !(t->epoch > t->first_epoch) &&
	       !(s->kind == KIND_UPDATES && s->from_header);
}

/* Returns how many units more may be done than the line tells. Bars tell their last unit. */
static double unseen(const struct track *t, const struct sighting *s, const struct step_event *e)
{
	if (s->kind == KIND_BAR || s->kind == KIND_EPOCH || s->pattern->is_bar ||
	    !(t->leap > 1) || s->step >= s->total || e->position >= e->total)
		return 0;
	return t->leap - 1;
}

static double part_of(const struct track *t, const struct sighting *s, const struct step_event *e)
{
	if (s->kind == KIND_EPOCHS)	/* no line may say that the last epoch is over */
		return (t->step + 1) / t->total;
	return s->total > 0 ? (units_of_epoch(t) + e->unseen) / s->total : (double)NAN;
}

/* --- how long the steps took, by times of arrival or by printed times --- */

/* n units took span_s together. */
static void set_time(struct step_event *e, enum step_basis basis, double n, double span_s)
{
	if (!(n > 0 && span_s > 0 && isfinite(span_s)))
		return;
	e->basis = basis;
	e->n = n;
	e->unit_s = span_s / n;
}

static void time_by_arrival(struct track *t, struct step_event *e)
{
	struct track_point here = { e->position, e->arrival_s };
	double span_s = t->latest.time_s - t->anchor.time_s;
	double n = t->latest.position - t->anchor.position;

	/* The interval ends at the last line of the bundle before this one. */
	if (here.time_s > t->latest.time_s && span_s >= TRACK_INTERVAL_S && n > 0) {
		set_time(e, STEP_BY_ARRIVAL, n, span_s);
		t->anchor = t->latest;
	}
	if (isnan(t->anchor.position) || t->broken || here.time_s <= t->anchor.time_s)
		t->anchor = here;
	if (isnan(t->latest.position) || t->broken || here.position > t->latest.position)
		t->latest = here;
}

static void set_times(struct track *t, const struct sighting *s, struct step_event *e)
{
	struct step_event unused = *e;
	enum pattern_time kind = isnan(s->time_s) || s->time_is_coarse ? TIME_NONE
								       : s->pattern->time_kind;
	bool by_line = kind == TIME_STEP || kind == TIME_SUM;

	if (!isnan(s->arrival_s))
		time_by_arrival(t, by_line ? &unused : e);
	if (s->kind == KIND_EPOCH && kind == TIME_SUM) {
		set_time(e, STEP_PRINTED, s->total, s->time_s);
	} else if (kind == TIME_SUM) {
		/* the time between two printed sums, which leave out evaluations */
		if (!t->broken)
			set_time(e, STEP_PRINTED, e->position - t->sum.position,
				 s->time_s - t->sum.time_s);
		t->sum = (struct track_point){ e->position, s->time_s };
	} else if (kind == TIME_STEP && !t->broken) {
		set_time(e, STEP_PRINTED, 1, s->time_s);
	} else if (kind == TIME_MEAN && !t->broken && isnan(s->arrival_s)) {
		set_time(e, STEP_PRINTED_MEAN, 1, s->time_s);
	}
}

bool track_add(struct track *t, const struct sighting *s, struct step_event *e)
{
	enum step_unit unit;

	if (t->trial_ended && !isnan(t->step)) {
		t->trials = t->base = t->base + t->step;
		t->step = t->epoch = (double)NAN;
		t->anchor = t->latest = nowhere;
		t->broken = true;
		t->unknown.seen = t->unknown.fell_from = t->unknown.left_at = (double)NAN;
	}
	t->trial_ended = false;
	if (!isnan(s->leap) && s->leap > 0)
		t->leap = s->leap;
	t->from_step_0 = s->from_step_0;
	if ((s->kind == KIND_UNKNOWN && !is_own(t, s)) || !move_track(t, s))
		return false;
	unit = unit_of(t, s);
	*e = (struct step_event){
		.unit = unit, .basis = STEP_UNTIMED, .arrival_s = s->arrival_s,
		.position = t->base + t->step, .n = (double)NAN, .unit_s = (double)NAN,
		.total = total_of(t, s, unit),
		.is_by_epochs = t->within == WITHIN_EPOCHS && epoch_length(t, s) > 0,
		.total_may_be_of_epoch = total_may_be_of_epoch(t, s),
	};
	e->unseen = unseen(t, s, e);
	e->part = part_of(t, s, e);
	set_times(t, s, e);
	t->broken = t->part_began = false;
	return true;
}
