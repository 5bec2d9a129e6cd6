/* share_guests.c - guests come last among the candidates; the seats of shared devices. */
#include <stdlib.h>

#include "decision.h"
#include "pollux/mem.h"
#include "share.h"

bool share_is_guest(const struct share_place *p)
{
	return p->device >= 0 && !p->leaves;
}

/* Moves the candidates that are guests, or those that are not, behind those moved before. */
static int move_candidates(const struct decision *d, bool guests, struct decision *to, int n,
			   int *now_at)
{
	for (int j = 0; j < d->n; j++) {
		if (share_is_guest(&d->places[j]) != guests)
			continue;
		to->candidates[n] = d->candidates[j];
		to->sched_jobs[n] = d->sched_jobs[j];
		to->places[n] = d->places[j];
		now_at[j] = n++;
	}
	return n;
}

void share_put_guests_last(struct decision *d)
{
	size_t n = (size_t)d->n;
	struct decision to = {
		.candidates = xcalloc(n, sizeof(*to.candidates)),
		.sched_jobs = xcalloc(n, sizeof(*to.sched_jobs)),
		.places = xcalloc(n, sizeof(*to.places)),
	};
	int *now_at = xcalloc(n, sizeof(*now_at));

	d->n_asked = move_candidates(d, false, &to, 0, now_at);
	move_candidates(d, true, &to, d->n_asked, now_at);
	for (int j = 0; j < d->n; j++)
		if (to.places[j].device >= 0)
			to.places[j].host = now_at[to.places[j].host];
	free(d->candidates);
	free(d->sched_jobs);
	free(d->places);
	free(now_at);
	d->candidates = to.candidates;
	d->sched_jobs = to.sched_jobs;
	d->places = to.places;
}

/* --- seats --- */

/* True if the candidate's run stays on its devices. */
static bool stays(const struct decision *d, const struct run *run, int device)
{
	for (int k = 0; k < d->n; k++)
		if (d->candidates[k].run == run)
			return d->choices[k].replicas == 1 &&
			       (d->owner[device] == k || d->places[k].device == device);
	return false;
}

static bool is_taken(const struct snapshot *s, const struct decision *d, int device, int seat)
{
	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run_held(run) > 0 && run->devices[0].seat == seat && stays(d, run, device) &&
		    device_is_same(&s->devices.items[device], &run->devices[0]))
			return true;
	}
	for (int k = 0; k < d->n; k++)
		if (d->places[k].seat == seat && d->places[k].device == device)
			return true;
	return false;
}

/* A run that is to leave keeps its seat until it ends. The job that gets the same seat waits for
 * this end. */
static int seat_on(const struct snapshot *s, const struct decision *d, int device)
{
	int seat = 1;

	for (int r = 0; r < s->runs.count; r++) {
		const struct run *run = &s->runs.items[r];

		if (run_held(run) > 0 && run->devices[0].seat > 0 && !stays(d, run, device) &&
		    device_is_same(&s->devices.items[device], &run->devices[0]) &&
		    !is_taken(s, d, device, run->devices[0].seat))
			return run->devices[0].seat;
	}
	while (is_taken(s, d, device, seat))
		seat++;
	return seat;
}

void share_give_seats(const struct snapshot *s, struct decision *d)
{
	for (int i = 0; i < s->devices.count; i++)
		for (int j = 0; j < d->n; j++)
			if (d->choices[j].replicas == 1 && share_is_for(s, &d->candidates[j]) &&
			    (d->owner[i] == j || (d->places[j].device == i &&
						  !d->places[j].leaves)))
				d->places[j].seat = seat_on(s, d, i);
}
