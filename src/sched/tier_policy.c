/* tier_policy.c - policies over tiers: in which order jobs are asked, what they refuse. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/tier.h"
#include "tier_goodput.h"

/* Keys that differ by rounding alone are the same, so that ties are broken by the rules. */
#define KEY_DIGITS 1e9
#define SERVICE_DIGITS 1e3	/* in a GPU-second */

/* --- keys --- */

static double key_dally(const struct tier_job *j)
{
	if (j->on_s <= 0)
		return 0;
	return nearbyint((j->work_s - j->left_s) / j->on_s * KEY_DIGITS);
}

static double key_las(const struct tier_job *j)
{
	return nearbyint(j->on_s * j->gpus * SERVICE_DIGITS);
}

static double key_srtf(const struct tier_job *j)
{
	return j->left_s;
}

static double key_fifo(const struct tier_job *j)
{
	(void)j;
	return 0;
}

void tier_state_release(struct tier_state *s)
{
	tier_history_release(&s->machine);
	tier_history_release(&s->rack);
	free(s->promised_s);
	free(s->reserved);
	free(s->open);
	s->promised_s = NULL;
	s->reserved = NULL;
	s->open = NULL;
}

int tier_compare(const struct tier_policy *policy, const struct tier_job *a,
		 const struct tier_job *b)
{
	double x = policy->key(a), y = policy->key(b);

	if (x != y)
		return x < y ? -1 : 1;
	if (a->since_s != b->since_s)
		return a->since_s < b->since_s ? -1 : 1;
	return (a->index > b->index) - (a->index < b->index);
}

/* --- offers --- */

static int gpus_of_rack(const struct tier_cluster *c)
{
	return c->machines_per_rack * c->gpus_per_machine;
}

/* Adds the wait of a job that takes GPUs to the history, if it was a lease or longer. */
static void remember(struct tier_state *s, struct tier_history *h, const struct tier_job *j)
{
	if (s->now_s >= j->since_s + s->lease_s)
		tier_history_add(h, (struct tier_wait){
			.gpus = j->gpus, .time_s = s->now_s,
			.leases = (s->now_s - j->since_s) / s->lease_s }, s->lease_s);
}

static bool offer_with_timers(struct tier_state *s, const struct tier_job *j, int *held,
			      double *alarm_s)
{
	struct tier_timers t;
	double rack_s, network_s;

	*alarm_s = HUGE_VAL;
	if (tier_find(&s->cluster, TIER_MACHINE, j->gpus, held)) {
		remember(s, &s->machine, j);
		return true;
	}
	if (!tier_find(&s->cluster, TIER_NETWORK, j->gpus, held))
		return false;
	t = s->tunes ? tier_tune(&s->machine, &s->rack, j->gpus, s->now_s, s->lease_s) : s->timers;
	rack_s = j->gpus > s->cluster.gpus_per_machine ? s->now_s : j->since_s + t.rack_s;
	network_s = j->gpus > gpus_of_rack(&s->cluster) ? s->now_s : j->since_s + t.network_s;
	if (s->now_s >= rack_s && tier_find(&s->cluster, TIER_RACK, j->gpus, held)) {
		remember(s, &s->rack, j);
		return true;
	}
	if (s->now_s >= network_s)
		return tier_find(&s->cluster, TIER_NETWORK, j->gpus, held);
	*alarm_s = rack_s > s->now_s ? fmin(rack_s, network_s) : network_s;
	return false;
}

/* Offers the job the GPUs that are free and closest together. */
static bool offer_tightest(struct tier_state *s, const struct tier_job *j, int *held,
			   double *alarm_s)
{
	*alarm_s = HUGE_VAL;
	return tier_find(&s->cluster, TIER_MACHINE, j->gpus, held) ||
	       tier_find(&s->cluster, TIER_RACK, j->gpus, held) ||
	       tier_find(&s->cluster, TIER_NETWORK, j->gpus, held);
}

static bool offer_tiresias(struct tier_state *s, const struct tier_job *j, int *held,
			   double *alarm_s)
{
	if (j->insensitive || j->gpus > s->cluster.gpus_per_machine)
		return offer_tightest(s, j, held, alarm_s);
	*alarm_s = HUGE_VAL;
	return tier_find(&s->cluster, TIER_MACHINE, j->gpus, held);
}

const struct tier_policy tier_policies[] = {
	{ "dally", key_dally, offer_with_timers, true, NULL },
	{ "tiresias-net", key_las, offer_tiresias, false, NULL },
	{ "gandiva-net", key_fifo, offer_tightest, false, NULL },
	{ "srtf-net", key_srtf, offer_with_timers, true, NULL },
	{ "las-net", key_las, offer_with_timers, true, NULL },
	{ "goodput", tier_goodput_key, tier_goodput_offer, false, tier_goodput_prepare },
	{ .name = NULL },
};

const struct tier_policy *tier_policy_find(const char *name)
{
	for (const struct tier_policy *p = tier_policies; p->name; p++)
		if (!strcmp(p->name, name))
			return p;
	return NULL;
}
