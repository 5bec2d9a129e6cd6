/* racks.c - sets of GPUs on machines in racks, and the table of the policies over them: a policy is
 * the order in which jobs are asked and the offer that a job accepts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/racks.h"

/* Keys that differ by rounding alone are the same, so that ties are broken by the rules. */
#define KEY_DIGITS 1e9
#define SERVICE_DIGITS 1e3	/* in a GPU-second */

/* --- sets of GPUs --- */

int racks_machines(const struct rack_cluster *c)
{
	return c->racks * c->machines_per_rack;
}

int racks_width(const struct rack_cluster *c, enum distance within)
{
	return within == IN_MACHINE ? 1
	     : within == IN_RACK ? c->machines_per_rack : racks_machines(c);
}

bool racks_find(const struct rack_cluster *c, enum distance within, int n, int *held)
{
	int width = racks_width(c, within), best = -1, best_free = 0;

	memset(held, 0, (size_t)racks_machines(c) * sizeof(*held));
	for (int first = 0; first < racks_machines(c); first += width) {
		int free = 0;

		for (int m = first; m < first + width; m++)
			free += c->free[m];

		if (free >= n && (best < 0 || free < best_free)) {
			best = first;
			best_free = free;
		}
	}
	while (best >= 0 && n > 0) {
		int most = -1;

		for (int m = best; m < best + width; m++)
			if (!held[m] && c->free[m] && (most < 0 || c->free[m] > c->free[most]))
				most = m;
		held[most] = n < c->free[most] ? n : c->free[most];
		n -= held[most];
	}
	return best >= 0;
}

enum distance racks_distance(const struct rack_cluster *c, const int *held)
{
	enum distance farthest = IN_MACHINE;
	int first = -1;

	for (int m = 0; m < racks_machines(c); m++) {
		if (!held[m])
			continue;
		if (first >= 0)
			farthest = m / c->machines_per_rack != first / c->machines_per_rack ||
				   farthest == ANYWHERE ? ANYWHERE : IN_RACK;
		else
			first = m;
	}
	return farthest;
}

/* --- policies --- */

static double key_dally(const struct rack_job *j)
{
	if (j->on_s <= 0)
		return 0;
	return nearbyint((j->work_s - j->left_s) / j->on_s * KEY_DIGITS);
}

static double key_las(const struct rack_job *j)
{
	return nearbyint(j->on_s * j->gpus * SERVICE_DIGITS);
}

static double key_srtf(const struct rack_job *j)
{
	return j->left_s;
}

static double key_fifo(const struct rack_job *j)
{
	(void)j;
	return 0;
}

/* Offers the job the GPUs that are free and closest together. */
static bool offer_tightest(struct rack_state *s, const struct rack_job *j, int *held,
			   double *alarm_s)
{
	*alarm_s = HUGE_VAL;
	return racks_find(&s->cluster, IN_MACHINE, j->gpus, held) ||
	       racks_find(&s->cluster, IN_RACK, j->gpus, held) ||
	       racks_find(&s->cluster, ANYWHERE, j->gpus, held);
}

static bool offer_tiresias(struct rack_state *s, const struct rack_job *j, int *held,
			   double *alarm_s)
{
	if (j->insensitive || j->gpus > s->cluster.gpus_per_machine)
		return offer_tightest(s, j, held, alarm_s);
	*alarm_s = HUGE_VAL;
	return racks_find(&s->cluster, IN_MACHINE, j->gpus, held);
}

static const struct rack_policy policies[] = {
	{ "dally", key_dally, dally_offer, true, NULL },
	{ "tiresias-net", key_las, offer_tiresias, false, NULL },
	{ "gandiva-net", key_fifo, offer_tightest, false, NULL },
	{ "srtf-net", key_srtf, dally_offer, true, NULL },
	{ "las-net", key_las, dally_offer, true, NULL },
	{ "goodput", rack_goodput_key, rack_goodput_offer, false, rack_goodput_prepare },
	{ .name = NULL },
};

const struct rack_policy *rack_policy_find(const char *name)
{
	for (const struct rack_policy *p = policies; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}

int rack_compare(const struct rack_policy *policy, const struct rack_job *a,
		 const struct rack_job *b)
{
	double x = policy->key(a), y = policy->key(b);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->since_s != b->since_s)
		return a->since_s < b->since_s ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

void rack_state_release(struct rack_state *s)
{
	free(s->machine.waits);
	free(s->rack.waits);
	free(s->promised_s);
	free(s->reserved);
	free(s->open);
	s->machine = s->rack = (struct rack_history){ 0 };
	s->promised_s = NULL;
	s->reserved = NULL;
	s->open = NULL;
}
