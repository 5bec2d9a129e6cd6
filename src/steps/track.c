/* track.c - see track.h. */
#include <math.h>

#include "bars.h"
#include "track.h"

static const struct track_point nowhere = { (double)NAN, (double)NAN };

void track_init(struct track *t, double epochs, double total)
{
	*t = (struct track){
		.base = epochs > 0 && total > 0 ? epochs * total : 0, .repeats = epochs > 0,
		.step = (double)NAN, .total = (double)NAN, .epoch = (double)NAN,
		.anchor = nowhere, .latest = nowhere, .sum = nowhere,
		.unknown = { .seen = (double)NAN, .fell_from = (double)NAN },
	};
}

void track_break(struct track *t)
{
	t->broken = true;
}

/* --- whose line it is, where nobody knows --- */

#define NEAR_END 0.99

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
		t->base += t->step;
	return again;
}

/* True if the line is of the training. */
static bool is_own(struct track *t, const struct sighting *s)
{
	struct track_unknown *u = &t->unknown;
	bool own = is_next_epoch(t, s) || !leads_astray(t, s);

	u->seen = s->step;
	if (!own && ++u->n_aside > TRACK_ASIDE_MAX && u->n_aside > u->n_taken)
		own = true;
	if (!own) {
		t->broken = true;
		return false;
	}
	u->n_aside = 0;
	u->n_taken++;
	return true;
}

/* A leap far beyond the last one means that lines are missing, or that others were of something
 * else. */
static void check_leap(struct track *t, const struct sighting *s)
{
	struct track_unknown *u = &t->unknown;
	double leap = s->step - t->step;

	if (!(leap > 0))
		return;
	if (u->leap > 0 && leap > TRACK_LEAP * u->leap)
		t->broken = true;
	u->leap = leap;
}

/* --- where it is --- */

/* The counter fell: a new epoch begins. A counter from the beginning of the training falls only if
 * the program went back to an earlier state or started over. */
static void begin_again(struct track *t, const struct sighting *s)
{
	bool was_at_its_end = t->total > 0 && t->step >= t->total / 2;

	if (s->kind != KIND_UPDATES || was_at_its_end) {
		t->base += t->total > 0 ? t->total : t->step;
		t->repeats = true;
	}
	t->anchor = t->latest = nowhere;
	t->broken = true;
}

static void follow_epochs(struct track *t, const struct sighting *s)
{
	double whole = fmax(s->epoch - s->pattern->first_epoch, 0);

	if (s->epoch > t->epoch || s->epoch < t->epoch) {
		t->anchor = t->latest = nowhere;
		t->broken = true;
	}
	t->base = s->total > 0 ? whole * s->total : 0;
	t->repeats = true;
}

static void move(struct track *t, const struct sighting *s)
{
	if (s->kind == KIND_EPOCH) {
		t->base += isnan(t->step) ? 0 : t->total;
		t->repeats = true;
	} else if (!isnan(s->epoch) && s->kind != KIND_UPDATES) {
		follow_epochs(t, s);
	} else if (s->step < t->step) {
		begin_again(t, s);
	}
	t->step = s->step;
	t->total = s->total;
	t->epoch = s->epoch;
}

/* --- how long it took --- */

/* n units took span_s together. */
static void set_time(struct step_event *e, enum step_basis basis, double n, double span_s)
{
	if (!(n > 0 && span_s > 0 && isfinite(span_s)))
		return;
	e->basis = basis;
	e->n = n;
	e->unit_s = span_s / n;
}

/* Ends the interval at the last line of the bundle before this one. */
static void close_interval(struct track *t, double now_s, struct step_event *e)
{
	double span_s = t->latest.time_s - t->anchor.time_s;
	double n = t->latest.position - t->anchor.position;

	if (!(now_s > t->latest.time_s) || !(span_s >= TRACK_INTERVAL_S) || !(n > 0))
		return;
	set_time(e, STEP_BY_ARRIVAL, n, span_s);
	t->anchor = t->latest;
}

static void time_by_arrival(struct track *t, struct step_event *e)
{
	struct track_point here = { e->position, e->arrival_s };

	close_interval(t, here.time_s, e);
	if (isnan(t->anchor.position) || t->broken || here.time_s <= t->anchor.time_s)
		t->anchor = here;
	if (isnan(t->latest.position) || t->broken || here.position > t->latest.position)
		t->latest = here;
}

/* The time between two printed sums, which leave out evaluations. */
static void time_by_sums(struct track *t, const struct sighting *s, struct step_event *e)
{
	double n = e->position - t->sum.position;

	if (!t->broken)
		set_time(e, STEP_PRINTED, n, s->time_s - t->sum.time_s);
	t->sum = (struct track_point){ e->position, s->time_s };
}

static enum pattern_time time_kind_of(const struct sighting *s)
{
	return isnan(s->time_s) || s->time_is_coarse ? TIME_NONE : s->pattern->time_kind;
}

static void set_printed(struct track *t, const struct sighting *s, struct step_event *e)
{
	enum pattern_time kind = time_kind_of(s);

	if (s->kind == KIND_EPOCH && kind == TIME_SUM)
		set_time(e, STEP_PRINTED, s->total, s->time_s);
	else if (kind == TIME_SUM)
		time_by_sums(t, s, e);
	else if (kind == TIME_STEP && !t->broken)
		set_time(e, STEP_PRINTED, 1, s->time_s);
	else if (kind == TIME_MEAN && !t->broken && isnan(s->arrival_s))
		set_time(e, STEP_PRINTED_MEAN, 1, s->time_s);
}

/* A counter that repeats counts batches, unless its unit is known. */
static enum step_unit unit_of(const struct track *t, const struct sighting *s)
{
	if (s->kind == KIND_SAMPLES)
		return STEP_SAMPLES;
	if (s->kind == KIND_BAR && bars_is_of_epoch(s))
		return STEP_BATCHES;
	if (s->kind == KIND_BAR && t->bars_are_of_updates)
		return STEP_UPDATES;
	return s->kind == KIND_BATCHES || t->repeats ? STEP_BATCHES : STEP_UPDATES;
}

/* The total of the training: a counter that repeats has its total in each epoch. */
static double total_of(const struct track *t, const struct sighting *s, enum step_unit unit)
{
	return unit == STEP_UPDATES && !t->repeats && s->total > 0 ? s->total : (double)NAN;
}

static void set_times(struct track *t, const struct sighting *s, struct step_event *e)
{
	struct step_event unused = *e;
	enum pattern_time kind = time_kind_of(s);
	bool by_line = kind == TIME_STEP || kind == TIME_SUM;

	if (!isnan(s->arrival_s))
		time_by_arrival(t, by_line ? &unused : e);
	if (by_line || isnan(s->arrival_s))
		set_printed(t, s, e);
}

bool track_add(struct track *t, const struct sighting *s, struct step_event *e)
{
	enum step_unit unit;

	if (s->kind == KIND_UNKNOWN) {
		if (!is_own(t, s))
			return false;
		check_leap(t, s);
	}
	move(t, s);
	unit = unit_of(t, s);
	*e = (struct step_event){
		.unit = unit, .basis = STEP_UNTIMED, .arrival_s = s->arrival_s,
		.position = t->base + s->step, .n = (double)NAN, .unit_s = (double)NAN,
		.total = total_of(t, s, unit),
	};
	set_times(t, s, e);
	t->broken = false;
	return true;
}
