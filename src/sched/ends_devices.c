/* ends_devices.c - who has which devices at one moment of a draw, see ends_play.h. */
#include <math.h>
#include <stdlib.h>

#include "claims.h"
#include "ends_play.h"

#define NEWCOMERS_ELASTICITY 0.7
#define SUSPENSION_SLICES 0.02	/* as in claims_brief.c */
#define TRUSTED_SIBLINGS 2	/* ended, if alike: SCHED_TRUSTED_SPREAD */
#define SHRINKS 1.2		/* worth of a device that a player has, over that of another */
#define OUTLIVED 0.2		/* of the service of a job that has outlived its siblings */
#define KEEPS 1.3		/* a running job leaves its devices for one this much shorter */

/* --- order --- */

/* True if siblings that ended in this draw tell the player's length. */
static bool has_learnt(const struct draw *d, const struct player *p)
{
	return p->group >= 0 && d->groups[p->group].n_ended > 0 &&
	       !p->curve->job->tells_its_work;
}

bool player_shows_length(const struct draw *d, const struct player *p)
{
	return p->told || p->service >= p->shows_at * (1 - 1e-12) || has_learnt(d, p);
}

/* What remains of a player, as the order takes it: as told, or as ended siblings were long. The
 * longer it has outlived that, the longer it is taken to go on. */
static double expected_work(const struct draw *d, const struct player *p)
{
	const struct group *g = p->group < 0 ? NULL : &d->groups[p->group];
	double work = p->told_work;

	if (p->told && !(p->curve && p->curve->job->remaining_spread > 0))
		return p->work;
	if (!p->told && p->service >= p->shows_at * (1 - 1e-12))
		return p->work;
	if (!p->told && g)
		work = g->ended_device_s / g->n_ended - p->service;
	return fmax(work, OUTLIVED * p->service);
}

static double key_of(const struct draw *d, const struct player *p)
{
	const struct group *g = p->group < 0 ? NULL : &d->groups[p->group];
	int bin = p->bin;

	if (p->held && p->curve && !p->curve->job->preemptible)
		return 0;
	if (p->curve && p->curve->job->first > 0 && isnan(p->start_s))
		return -p->curve->job->first;
	if (player_shows_length(d, p)) {
		double index = expected_work(d, p);

		if (!p->held || !p->curve)
			return index;
		return fmin(LENGTHS_KEPT_PART * index,
			    index - p->least * p->curve->turn_cost_s);
	}
	if (g && g->pilot >= 0 && g->pilot != p - d->players) {
		const struct player *pilot = &d->players[g->pilot];
		int behind = draw_bin_of(d->lengths, pilot->service +
					 pilot->least * d->curves->slice_s);

		bin = behind > bin ? behind : bin;
	}
	return p->held ? d->index[bin] / KEEPS : d->index[bin];
}

bool player_counts_start(const struct player *p, bool is_first)
{
	return is_first && !p->modelled && !isfinite(p->shows_at);
}

bool player_may_run(const struct player *p)
{
	return isnan(p->end_s) && p->least > 0;
}

static bool comes_before(const struct player *x, const struct player *y)
{
	return x->key < y->key || (x->key == y->key && x < y);
}

static int by_key(const void *a, const void *b)
{
	const struct player *x = *(struct player *const *)a, *y = *(struct player *const *)b;

	return comes_before(y, x) - comes_before(x, y);
}

void draw_order(struct draw *d)
{
	bool is_first = d->n_ordered == 0;

	if (d->one_ended || d->n_ordered < d->n) {
		int n = 0;

		for (int k = 0; k < d->n_order; k++)
			if (player_may_run(d->order[k]))
				d->order[n++] = d->order[k];
		for (; d->n_ordered < d->n; d->n_ordered++) {
			struct player *p = &d->players[d->n_ordered];

			if (!player_may_run(p))
				continue;
			d->order[n++] = p;
			d->n_wide += p->least > 1;
		}
		d->n_order = n;
		d->one_ended = false;
	}
	draw_find_pilots(d);
	for (int k = 0; k < d->n_order; k++) {
		d->order[k]->key = key_of(d, d->order[k]);
		d->order[k]->yields = false;
	}
	if (is_first) {
		qsort(d->order, (size_t)d->n_order, sizeof(struct player *), by_key);
		return;
	}
	/* Most players keep their places: so they are sorted by insertion. */
	for (int k = 1; k < d->n_order; k++) {
		struct player *p = d->order[k];
		int at = k;

		for (; at > 0 && comes_before(p, d->order[at - 1]); at--)
			d->order[at] = d->order[at - 1];
		d->order[at] = p;
	}
}

/* The speed-up on r devices; NaN: the job must not get r. */
static double speedup(const struct player *p, int r)
{
	if (r == 0)
		return 0;
	if (!p->curve)
		return pow(r, NEWCOMERS_ELASTICITY);
	return r > p->most ? (double)NAN : p->curve->of[r];
}

/* The next larger number of devices for the player that takes at most `left` more; 0: none. */
static int next_above(const struct player *p, int left)
{
	for (int r = p->gets + 1; r <= p->gets + left && r <= p->most; r++)
		if (!isnan(speedup(p, r)) && r >= p->least)
			return r;
	return 0;
}

/* The gain per device, as in worth.h. The rank counts for the least devices. Beyond these it counts
 * for jobs of known length; jobs of unknown length have the middle rank there. */
static double gain(const struct draw *d, const struct player *p, int position, int r)
{
	bool is_exact = player_shows_length(d, p) || !p->gets;
	double rank = is_exact ? d->n_order - position : (d->n_order + 1) / 2.0;

	double more = rank * (sqrt(speedup(p, r)) - sqrt(speedup(p, p->gets))) / (r - p->gets);

	return p->gets && r <= p->held ? more * SHRINKS : more;
}

/* Adds a player to `moved`, unless it is there already. */
static void note_moved(struct draw *d, struct player *p)
{
	int at = d->n_moved;

	while (at > 0 && d->moved[at - 1] > p)
		at--;
	if (at > 0 && d->moved[at - 1] == p)
		return;
	for (int k = d->n_moved++; k > at; k--)
		d->moved[k] = d->moved[k - 1];
	d->moved[at] = p;
}

/* --- devices that are given before any worth is compared --- */

/* True if the player's length is known well enough that it needs no slice. */
static bool is_trusted(const struct draw *d, const struct player *p)
{
	return p->trusted || p->service >= p->shows_at * (1 - 1e-12) ||
	       (has_learnt(d, p) && d->groups[p->group].n_ended >= TRUSTED_SIBLINGS);
}

double player_kept_s(const struct draw *d, const struct player *p)
{
	if (p->curve && !p->curve->job->preemptible)
		return HUGE_VAL;
	return is_trusted(d, p) ? fmin(p->kept_s, p->turn_s) : p->kept_s;
}

bool player_is_kept(const struct draw *d, const struct player *p)
{
	return p->held && p->least && d->now_s < player_kept_s(d, p) * (1 - 1e-12);
}

static bool may_be_suspended(const struct draw *d, const struct player *p)
{
	return p->gets && p->curve && p->curve->job->preemptible && !p->brief &&
	       d->now_s >= p->settled_s &&
	       p->curve->turn_cost_s < SUSPENSION_SLICES * d->curves->slice_s;
}

/* Takes its devices from the player whose slice ends first among those that can be suspended.
 * Returns their number. */
static int suspend_one(const struct draw *d, int lacking)
{
	struct player *first = NULL;
	int n;

	for (int k = 0; k < d->n_moved; k++) {
		struct player *p = d->moved[k];

		if (may_be_suspended(d, p) && p->gets >= lacking &&
		    (!first || player_kept_s(d, p) < player_kept_s(d, first)))
			first = p;
	}
	if (!first)
		return 0;
	n = first->gets;
	first->gets = 0;
	first->yields = true;
	return n;
}

/* The devices that the brief player must not take, of jobs that are known to end sooner. */
static int ends_sooner(const struct draw *d, double device_s)
{
	int n = 0;

	for (int k = 0; k < d->n_moved; k++) {
		const struct player *p = d->moved[k];

		if (p->held && !p->gets && !p->yields && is_trusted(d, p) && p->key <= device_s)
			n += p->held;
	}
	return n;
}

/* Starts a brief player, if there is room. Returns the number of devices that are taken for it from
 * those left, below 0 where another player leaves more. */
static int start_brief(struct draw *d, struct player *p, int left)
{
	int freed = 0, apart;

	if (!player_may_run(p) || p->held || !isnan(p->start_s))
		return 0;
	apart = ends_sooner(d, claims_brief_device_s(p->curve));
	if (p->least > left - apart)
		freed = suspend_one(d, p->least - (left - apart));
	if (p->least > left + freed - apart)
		return -freed;
	p->gets = p->least;
	note_moved(d, p);
	return p->least - freed;
}

/* Keeps devices for those within their slices, and starts brief players. Returns the number of
 * devices that are left; *n_given: the players that have some. */
static int claim_devices(struct draw *d, int *n_given)
{
	int left = d->curves->n_devices;

	for (int k = 0; k < d->n_moved; k++) {
		struct player *p = d->moved[k];

		if (!player_is_kept(d, p) || p->held > left)
			continue;
		p->gets = d->now_s < p->settled_s || (p->curve && !p->curve->job->preemptible)
			? p->held : p->least < p->held ? p->least : p->held;
		left -= p->gets;
	}
	for (int k = 0; k < d->n_brief; k++)
		left -= start_brief(d, &d->players[d->brief[k]], left);
	*n_given = 0;
	for (int k = 0; k < d->n_moved; k++)
		*n_given += d->moved[k]->gets > 0;
	return left;
}

/* The player that gains most from more devices, at most `left`, and how many it then has. n_given
 * players have some. NULL: none gains. */
static struct player *find_best(const struct draw *d, int left, int n_given, int *replicas)
{
	struct player *best = NULL;
	bool first = true;		/* no player without a device was seen yet */
	double most = 0;
	int seen = 0;			/* players with devices in earlier places */

	for (int k = 0; k < d->n_order; k++) {
		struct player *p = d->order[k];
		int r;

		/* No player from this place on may get more. */
		if (!first && seen == n_given && d->n_wide == 0)
			break;
		seen += p->gets > 0;
		/* Among several jobs that need a single first device, the first one gains most. */
		if (p->yields || (!p->gets && p->least == 1 && !first))
			continue;
		first &= p->gets || p->least > 1;
		r = next_above(p, left);
		if (!r || gain(d, p, k, r) <= most)
			continue;
		most = gain(d, p, k, r);
		best = p;
		*replicas = r;
	}
	return best;
}

static void give_devices(struct draw *d)
{
	int n_given, left = claim_devices(d, &n_given), replicas = 0;
	struct player *best;

	while (left > 0 && (best = find_best(d, left, n_given, &replicas))) {
		n_given += !best->gets;
		left -= replicas - best->gets;
		best->gets = replicas;
		note_moved(d, best);
	}
}

void draw_give(struct draw *d)
{
	int n = 0;

	draw_order(d);
	for (int k = 0; k < d->n_moved; k++) {
		d->moved[k]->gets = 0;
		if (d->moved[k]->held && player_may_run(d->moved[k]))
			d->moved[n++] = d->moved[k];
	}
	d->n_moved = n;
	give_devices(d);
	for (int k = 0; k < d->n_moved; k++) {
		struct player *p = d->moved[k];

		if (p->gets && !p->held) {
			p->delay_s = player_counts_start(p, !(p->service > 0)) ? 0
				: p->curve ? p->curve->restart_s : d->restart_s;
			draw_set_kept(d, p, d->now_s);
			if (isnan(p->start_s)) {
				p->start_s = d->now_s;
				p->rests_on_guess = d->n_guessed > 0;
			}
		}
		p->held = p->gets;
	}
}
