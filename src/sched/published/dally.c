/* dally.c - how long a job waits for GPUs that are joined better: a timer for each distance.
 *
 * After "Dally" (arXiv 2401.16492): delay scheduling. A job that waits takes GPUs of one machine at
 * once, GPUs of one rack only when it has waited for the timer of the rack, and any GPUs when it
 * has waited for the timer of the network. The timers follow the waits of other jobs of the same
 * demand:
 *
 *	stat(waits) = mean + 2 population standard deviations, 1 if there are none
 *	T_rack = min(ceil(0.8 H), max(6, ceil(stat(waits for a machine))))   in leases, H = 24
 *	T_network = min(H, max(12, ceil(stat(waits for a rack))))
 *
 * where waits count that are at least a lease long and younger than H leases. srtf-net and las-net
 * wait in the same way, and ask jobs in another order (racks.c). */
#include <math.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/racks.h"

#define RACK_HOURS 24		/* H: leases for which a wait counts; the longest timer */

/* --- timers --- */

void rack_history_add(struct rack_history *h, struct rack_wait wait, double lease_s)
{
	int old = 0;

	while (old < h->n && wait.time_s - h->waits[old].time_s >= RACK_HOURS * lease_s)
		old++;
	h->n -= old;
	if (old)
		memmove(h->waits, h->waits + old, (size_t)h->n * sizeof(*h->waits));
	h->waits = xreallocarray(h->waits, (size_t)h->n + 1, sizeof(*h->waits));
	h->waits[h->n++] = wait;
}

static bool wait_counts(const struct rack_wait *w, int gpus, double now_s, double lease_s)
{
	return w->gpus == gpus && now_s - w->time_s < RACK_HOURS * lease_s;
}

/* Mean plus two population standard deviations of the waits of jobs of this many GPUs. */
static double statistic(const struct rack_history *h, int gpus, double now_s, double lease_s)
{
	double sum = 0, squares = 0, mean;
	int n = 0;

	for (int i = 0; i < h->n; i++)
		if (wait_counts(&h->waits[i], gpus, now_s, lease_s)) {
			sum += h->waits[i].leases;
			n++;
		}
	if (n == 0)
		return 1;
	mean = sum / n;
	for (int i = 0; i < h->n; i++)
		if (wait_counts(&h->waits[i], gpus, now_s, lease_s)) {
			double off = h->waits[i].leases - mean;

			squares += off * off;
		}
	return mean + 2 * sqrt(squares / n);
}

struct rack_timers rack_tune(const struct rack_history *machine, const struct rack_history *rack,
			     int gpus, double now_s, double lease_s)
{
	double on_rack = ceil(statistic(machine, gpus, now_s, lease_s));
	double anywhere = ceil(statistic(rack, gpus, now_s, lease_s));

	return (struct rack_timers){
		.rack_s = lease_s * fmin(ceil(0.8 * RACK_HOURS), fmax(6, on_rack)),
		.network_s = lease_s * fmin(RACK_HOURS, fmax(12, anywhere)),
	};
}

/* --- offers --- */

/* Adds the wait of a job that takes GPUs to the history, if it was a lease or longer. */
static void remember(struct rack_state *s, struct rack_history *h, const struct rack_job *j)
{
	if (s->now_s >= j->since_s + s->lease_s)
		rack_history_add(h, (struct rack_wait){
			.gpus = j->gpus, .time_s = s->now_s,
			.leases = (s->now_s - j->since_s) / s->lease_s }, s->lease_s);
}

bool dally_offer(struct rack_state *s, const struct rack_job *j, int *held, double *alarm_s)
{
	struct rack_timers t;
	double rack_s, network_s;

	*alarm_s = HUGE_VAL;
	if (racks_find(&s->cluster, IN_MACHINE, j->gpus, held)) {
		remember(s, &s->machine, j);
		return true;
	}
	if (!racks_find(&s->cluster, ANYWHERE, j->gpus, held))
		return false;
	t = s->tunes ? rack_tune(&s->machine, &s->rack, j->gpus, s->now_s, s->lease_s) : s->timers;
	rack_s = j->gpus > s->cluster.gpus_per_machine ? s->now_s : j->since_s + t.rack_s;
	network_s = j->gpus > s->cluster.gpus_per_machine * s->cluster.machines_per_rack
			    ? s->now_s : j->since_s + t.network_s;
	if (s->now_s >= rack_s && racks_find(&s->cluster, IN_RACK, j->gpus, held)) {
		remember(s, &s->rack, j);
		return true;
	}
	if (s->now_s >= network_s)
		return racks_find(&s->cluster, ANYWHERE, j->gpus, held);
	*alarm_s = rack_s > s->now_s ? fmin(rack_s, network_s) : network_s;
	return false;
}
