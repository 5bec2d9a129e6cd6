/* profile_choice.c - chooses the next point of a profile from all that is known of the workload. */
#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "profile_state.h"

/* The guess before any launch was timed. */
#define LAUNCH_GUESS_S 1.0
/* Growth may use this share of the budget. */
#define GROWTH_SHARE 0.5
/* A launch may take this multiple of the mean of earlier launches, plus a constant. The first may
 * take the whole budget. */
#define LAUNCH_PATIENCE 4.0
#define LAUNCH_PATIENCE_S 5.0

/* --- knowledge --- */

/* All that is known of the workload, also from runs of other jobs. */
struct known {
	struct knowledge knowledge;
	struct observation_list points;
};

static void add_point(struct known *k, struct observation point)
{
	struct observation_list *points = &k->points;

	points->items = xgrow(points->items, points->count, sizeof(*points->items));
	points->items[points->count++] = point;
}

/* An experiment has one kind of device, and its configurations do not name it. */
static void add_measured(struct known *k, struct observation point)
{
	const struct configuration *c = &point.configuration;

	point.configuration = configuration_at(configuration_place(c), c->local_batch_size,
					       c->accumulation_steps);
	add_point(k, point);
}

static void release_known(struct known *k)
{
	knowledge_release(&k->knowledge);
	observation_list_release(&k->points);
}

/* Adds the points that ran out of memory. If each device has its own memory, their number of
 * replicas does not matter. */
static void add_ran_out(struct known *k)
{
	const struct memory_bounds *b = &k->knowledge.memory;

	for (int i = 0; i < b->n_ran_out; i++)
		add_point(k, (struct observation){
			.configuration = {
				.replicas = b->shared ? b->ran_out[i].configuration.replicas : 0,
				.local_batch_size = b->ran_out[i].configuration.local_batch_size,
			},
			.outcome = OBSERVATION_NO_MEMORY,
		});
}

static int read_known(struct profile *p, struct known *k, struct err *err)
{
	const char *workload = p->workload, *kind = p->devices[0].kind;

	*k = (struct known){ 0 };
	if (knowledge_load(p->store, workload, kind, &k->knowledge, err) ||
	    knowledge_learn(p->store, workload, kind, "", &k->knowledge, err))
		return -1;
	for (int i = 0; i < k->knowledge.seen.count; i++)
		add_measured(k, k->knowledge.seen.items[i]);
	p->n_known = k->points.count;
	for (int i = 0; i < p->bad.count; i++)
		add_point(k, p->bad.items[i]);
	add_ran_out(k);
	return 0;
}

/* --- choosing --- */

static struct experiment_limits limits_of(const struct profile *p)
{
	const struct declaration *d = &p->job->declared;
	int width = p->plan ? p->plan->width : 1;

	return (struct experiment_limits){
		.min_replicas = (d->min_replicas + width - 1) / width,
		.max_replicas = p->n_devices / width,
		.batch = d->batch,
		.shares_memory = device_backend_of(p->devices[0].id)->shares_memory,
	};
}

static double launch_s(const struct profile *p, const struct known *k)
{
	if (p->n_launches > 0)
		return p->launches_s / p->n_launches;
	return isfinite(k->knowledge.restart_s) ? k->knowledge.restart_s : LAUNCH_GUESS_S;
}

static int max_points(const struct profile *p)
{
	return p->settings->max_points > 0 ? p->settings->max_points : PROFILE_POINTS;
}

/* The share of the rest of the budget for one point. It is divided among the points still to come,
 * or among those that it suffices for, if these are fewer. */
static double share_s(const struct profile *p, double launch, double left)
{
	double points = fmax(max_points(p) - p->n_points, 1);
	double affordable = floor(left / (launch + EXPERIMENT_MEASURE_S));

	return left / fmax(fmin(points, affordable), 1);
}

static bool choose_trial(const struct profile *p, const struct known *k, struct trial *t)
{
	double left = profile_left_s(p), launch = launch_s(p, k);
	struct experiment e = {
		.limits = limits_of(p), .points = k->points.items, .n_points = k->points.count,
		.fit = k->knowledge.model.fit, .launch_s = launch, .left_s = left,
		.growth_left_s = left - (1 - GROWTH_SHARE) * p->budget_s,
		.share_s = share_s(p, launch, left), .again = p->n_points == 0,
	};

	if (e.limits.max_replicas < e.limits.min_replicas ||
	    (p->n_points >= max_points(p) && p->settings->max_points > 0))
		return false;
	/* Without a batch size there is only one point, which is measured once. */
	if (p->job->declared.batch.size == 0 && p->n_measured > 0)
		return false;
	if (!experiment_next(&e, &t->choice))
		return false;
	t->measure_s = fmin(fmax(e.share_s, t->choice.expected_s), left) - launch;
	if (p->job->declared.batch.size == 0)
		t->measure_s = left;
	t->launch_limit_s = p->n_launches == 0 ? left
		: fmin(left, LAUNCH_PATIENCE_S + LAUNCH_PATIENCE * launch);
	return true;
}

int profile_choose(struct profile *p, struct trial *t, bool *chosen, struct err *err)
{
	struct known k;
	int rc = read_known(p, &k, err);

	*chosen = rc == 0 && choose_trial(p, &k, t);
	release_known(&k);
	return rc;
}
