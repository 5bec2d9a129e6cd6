/* track_time.c - how long the steps of a counter took, by times of arrival or by printed times. */
#include <math.h>

#include "steps_state.h"

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

void track_set_times(struct track *t, const struct sighting *s, struct step_event *e)
{
	struct step_event unused = *e;
	enum pattern_time kind = time_kind_of(s);
	bool by_line = kind == TIME_STEP || kind == TIME_SUM;

	if (!isnan(s->arrival_s))
		time_by_arrival(t, by_line ? &unused : e);
	if (by_line || isnan(s->arrival_s))
		set_printed(t, s, e);
}
