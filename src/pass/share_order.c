/* share_order.c - guests come last among the candidates. */
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
