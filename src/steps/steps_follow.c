/* steps_follow.c - locks a pattern, and follows its counter. */
#include <math.h>

#include "steps_state.h"

#define LOCK_HITS 3

/* --- locking --- */

/* A pattern gives way to those of a higher rank. */
static int rank_of(const struct pattern *p)
{
	switch (p ? (int)p->kind : -1) {
	case -1:
		return 0;
	case KIND_PERCENT:
		return 1;
	case KIND_EPOCHS:
		return 2;
	case KIND_ITERATIONS:
	case KIND_UNKNOWN:
		return 3;
	case KIND_BAR:
		return 4;
	default:
		return 5;
	}
}

const struct pattern *steps_locked_pattern(const struct steps *s)
{
	return s->locked < 0 ? NULL : s->patterns.items[s->locked];
}

/* True if the pattern may be locked instead of the locked one. */
static bool may_count(const struct steps *s, int i)
{
	const struct pattern *p = s->patterns.items[i], *locked = steps_locked_pattern(s);

	return !locked || i == s->locked || rank_of(p) > rank_of(locked) ||
	       (p->kind == KIND_BAR && locked->kind == KIND_BAR);
}

static bool has_counter(const struct pattern *p)
{
	return p->kind != KIND_IGNORE && p->kind != KIND_FINAL && p->kind != KIND_TRIAL &&
	       p->kind != KIND_LOSSES && p->kind != KIND_LIGHTNING && p->kind != KIND_PART &&
	       p->kind != KIND_NAMES;
}

/* A hit counts if the counter moved; the counter of a last resort must go up. The counter of
 * KIND_EPOCH stands still, so every hit counts. */
static void count_hit(struct record *r, const struct sighting *seen)
{
	bool up = r->n == 0 || seen->step > r->step || seen->epoch > r->epoch ||
		  seen->kind == KIND_EPOCH;
	bool moved = up || seen->step < r->step;

	if (r->n++ == 0)
		r->first_arrival_s = seen->arrival_s;
	if (seen->step > r->step)
		r->leap = seen->step - r->step;
	r->epoch = seen->epoch;
	r->step_0 |= seen->step <= 0;
	if (up || (moved && seen->kind != KIND_UNKNOWN))
		r->hits++;
	else if (moved)
		r->hits = 1;
	r->step = seen->step;
}

/* --- what was seen --- */

static void follow_sighting(struct steps *s, const struct sighting *seen, bool begins)
{
	const struct bar *outer = seen->kind == KIND_BAR ? bars_outer(&s->bars) : NULL;
	struct step_event event;

	s->track.bars_are_of_updates = s->is_trainer;
	s->track.parts_are_left = s->parts_are_left;
	if (outer && !s->is_trainer)
		track_see_outer(&s->track, seen, outer->step, outer->total);
	if (!track_add(&s->track, seen, &event))
		return;
	event.begins = begins || !s->has_begun;
	/* Lines of these kinds have the number of a unit, which may be that of a first unit 0.
	 * Other lines have the number of units that are done. */
	event.counts_from_0 = s->records[s->locked].step_0 &&
			      (seen->kind == KIND_UPDATES || seen->kind == KIND_BATCHES ||
			       seen->kind == KIND_UNKNOWN || seen->kind == KIND_ITERATIONS) &&
			      !seen->pattern->counts_from_0 && !seen->pattern->is_bar;
	s->has_begun = true;
	s->last = event;
	s->sink(&event, s->arg);
}

/* The program goes on: the total of a bar that is at its end, with no outer bar, may be that of an
 * epoch. */
static void doubt_total(struct steps *s)
{
	const struct pattern *locked = steps_locked_pattern(s);

	if (!locked || locked->kind != KIND_BAR || !s->has_begun || s->is_trainer ||
	    !bars_taken_ended(&s->bars) || bars_outer(&s->bars) || s->track.repeats)
		return;
	track_doubt_total(&s->track, &s->last);
	s->last.begins = false;
	s->last.basis = STEP_UNTIMED;
	s->last.n = s->last.unit_s = (double)NAN;
	s->sink(&s->last, s->arg);
}

/* epochs: how many whole epochs, not followed, came before this line. begins: the track begins
 * anew. */
static void see_counter(struct steps *s, int i, struct sighting *seen, double epochs,
			bool begins)
{
	const struct pattern *p = s->patterns.items[i];
	struct record *r = &s->records[i];
	int needed = p->hits ? p->hits : LOCK_HITS;

	if (!may_count(s, i))
		return;
	count_hit(r, seen);
	seen->leap = r->leap;
	seen->from_step_0 = r->step_0;
	if (seen->kind == KIND_BAR)
		r->first_arrival_s = bars_taken_since(&s->bars);
	if (p == &s->patterns.own || p->kind == KIND_BAR || i == s->former)
		needed = 1;
	if (i != s->locked) {
		if (r->hits < needed)
			return;
		s->locked = i;
		s->active = 0;
		/* Others are still tried if they may take over, or tell of pauses, trials, epochs
		 * or evaluations. */
		for (int k = 0; k < s->patterns.n; k++)
			if (may_count(s, k) || !has_counter(s->patterns.items[k]) ||
			    s->patterns.items[k]->scan)
				s->active |= (uint64_t)1 << k;
		begins = true;
	}
	if (seen->kind == KIND_UNKNOWN)
		bars_see_other(&s->bars);
	if (begins) {
		s->track.from_0 = s->is_lightning;
		track_init(&s->track, epochs, seen->total);
		if (i == s->former)
			track_continue(&s->track, &s->former_track);
		s->has_begun = false;
	}
	follow_sighting(s, seen, begins);
}

/* Takes a line without a counter. */
static void see_other(struct steps *s, const struct sighting *seen)
{
	s->is_trainer |= seen->kind == KIND_FINAL || seen->kind == KIND_LOSSES;
	s->is_lightning |= seen->kind == KIND_LIGHTNING;
	s->track.trial_ended |= seen->kind == KIND_TRIAL && !isnan(s->track.step);
	if (seen->kind == KIND_PART) {
		s->track.part_began |= !(seen->step >= s->part && seen->step <= s->part);
		s->part = seen->step;
		s->parts_are_left = seen->parts_are_left;
	}
	if (seen->kind == KIND_LOSSES)
		bars_trust_last(&s->bars);
	if (seen->kind == KIND_IGNORE)
		track_break(&s->track);
	if (seen->kind == KIND_FINAL)
		s->final_unit_s = seen->time_s;
}

/* Another bar, perhaps of an evaluation. */
static void see_another_bar(struct steps *s)
{
	doubt_total(s);
	track_break(&s->track);
}

/* Decides whether a number beside the step is its total. A number that grows with the step is the
 * position. */
static void see_whole(struct steps *s, struct sighting *seen)
{
	if (isnan(seen->whole))
		return;
	s->whole_counts |= !seen->whole_is_sure && seen->whole > s->whole &&
			   seen->step > s->whole_step;
	s->whole = seen->whole;
	s->whole_step = seen->step;
	if (s->whole_counts && !seen->whole_is_sure) {
		seen->step = seen->whole;
		seen->is_global = true;
	} else if (seen->whole >= seen->step && seen->whole > 0) {
		seen->total = seen->whole;
		seen->total_is_named = !seen->is_of_epoch;
	}
}

/* Keeps the epoch of a line of its own for the steps in the lines behind it, and gives it to
 * these. */
static void see_header(struct steps *s, struct sighting *seen)
{
	if (seen->kind == KIND_EPOCHS) {
		if (s->header.n == 0)
			doubt_total(s);
		s->header = (struct header){
			.epoch = seen->epoch + seen->epoch_is_over, .epochs = seen->epochs,
			.first_epoch = seen->first_epoch, .are_bare = seen->epochs_are_bare,
			.n = s->header.n + 1,
		};
	} else if (isnan(seen->epoch) && !isnan(s->header.epoch) && !seen->is_global) {
		seen->epoch = s->header.epoch;
		seen->epochs = s->header.epochs;
		seen->first_epoch = s->header.first_epoch;
		seen->epochs_are_bare = s->header.are_bare;
		seen->header = s->header.n;
		seen->from_header = true;
	}
}

void steps_see(struct steps *s, int i, struct sighting *seen)
{
	enum pattern_kind kind = seen->kind;
	bool has_step = has_counter(seen->pattern) && kind != KIND_IGNORE, pauses, changed;
	int repeated;

	if (s->almost < 0 && (has_step || kind == KIND_FINAL || kind == KIND_LOSSES))
		s->almost = i;
	if (!has_step) {
		see_other(s, seen);
		return;
	}
	see_whole(s, seen);
	s->records[i].from_0 |= seen->epoch <= 0;
	if (s->records[i].from_0 && seen->first_epoch == ONE_OR_ZERO)
		seen->first_epoch = 0;
	see_header(s, seen);
	if (isnan(seen->step))
		return;
	if (kind == KIND_PERCENT && bars_is_other(seen, &pauses))
		return;
	if (kind != KIND_BAR)
		see_counter(s, i, seen, kind == KIND_EPOCH ? s->records[i].hits : 0, false);
	else if (bars_is_other(seen, &pauses))
		s->track.broken |= pauses;
	else if (bars_take(&s->bars, seen, &changed, &repeated))
		see_counter(s, i, seen, repeated, changed);
	else
		see_another_bar(s);
}
