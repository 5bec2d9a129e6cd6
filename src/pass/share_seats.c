/* share_seats.c - which seat of a shared device a job gets. */
#include "decision.h"
#include "share.h"

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
