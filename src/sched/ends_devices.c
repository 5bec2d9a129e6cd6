/* ends_devices.c - who has which devices at one moment of a draw, see ends_play.h. */
#include <math.h>
#include <stdlib.h>

#include "ends_play.h"

#define NEWCOMERS_ELASTICITY 0.7
#define KEEPS 1.3		/* a running job leaves its devices for one this much shorter */

/* --- order --- */

bool player_shows_length(const struct player *p)
{
	return p->known || p->service >= p->shows_at * (1 - 1e-12);
}

static double key_of(const struct draw *d, const struct player *p)
{
	double index = player_shows_length(p) ? p->work : d->index[p->bin];

	if (p->held && p->curve && !p->curve->job->preemptible)
		return 0;
	return p->held ? index / KEEPS : index;
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

static void order_players(struct draw *d)
{
	bool is_first = d->n_ordered == 0;

	for (int k = 0; k < d->n_moved; k++)
		d->moved[k]->key = key_of(d, d->moved[k]);
	if (d->one_ended || d->n_ordered < d->n) {
		int n = 0;

		for (int k = 0; k < d->n_order; k++)
			if (player_may_run(d->order[k]))
				d->order[n++] = d->order[k];
		for (; d->n_ordered < d->n; d->n_ordered++) {
			struct player *p = &d->players[d->n_ordered];

			if (!player_may_run(p))
				continue;
			p->key = key_of(d, p);
			d->order[n++] = p;
			d->n_wide += p->least > 1;
		}
		d->n_order = n;
		d->one_ended = false;
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
	bool is_exact = player_shows_length(p) || !p->gets;
	double rank = is_exact ? d->n_order - position : (d->n_order + 1) / 2.0;

	return rank * (sqrt(speedup(p, r)) - sqrt(speedup(p, p->gets))) / (r - p->gets);
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

/* n_given players have devices so far, `seen` of them have earlier places than the one that is
 * looked at. first: no player without a device was seen yet. */
static void give_devices(struct draw *d)
{
	int left = d->curves->n_devices, n_given = 0;

	while (left > 0) {
		struct player *best = NULL;
		bool first = true;
		double most = 0;
		int replicas = 0, seen = 0;

		for (int k = 0; k < d->n_order; k++) {
			struct player *p = d->order[k];
			int r;

			/* No player from this place on may get more. */
			if (!first && seen == n_given && d->n_wide == 0)
				break;
			seen += p->gets > 0;
			/* Among several jobs that need a single first device, the first one gains
			 * most. */
			if (!p->gets && p->least == 1 && !first)
				continue;
			first &= p->gets || p->least > 1;
			r = next_above(p, left);
			if (!r || gain(d, p, k, r) <= most)
				continue;
			most = gain(d, p, k, r);
			best = p;
			replicas = r;
		}
		if (!best)
			return;
		n_given += !best->gets;
		left -= replicas - best->gets;
		best->gets = replicas;
		note_moved(d, best);
	}
}

void draw_give(struct draw *d)
{
	int n = 0;

	order_players(d);
	for (int k = 0; k < d->n_moved; k++) {
		d->moved[k]->gets = 0;
		if (d->moved[k]->held && player_may_run(d->moved[k]))
			d->moved[n++] = d->moved[k];
	}
	d->n_moved = n;
	give_devices(d);
	for (int k = 0; k < d->n_moved; k++) {
		struct player *p = d->moved[k];

		if (p->gets && !p->held)
			p->delay_s = p->curve ? p->curve->restart_s : d->restart_s;
		p->held = p->gets;
	}
}
