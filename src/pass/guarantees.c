/* guarantees.c - what --guarantee promises candidates of a pass.
 *
 * A job with --guarantee R:PLAN is promised the goodput that it has on R devices in PLAN. The least
 * number of devices on which it has as much, in its best plan, is what the guarantee needs. While
 * the goodput on R devices is not known, the job has exactly R devices, in PLAN if that is not
 * known to run out of memory.
 *
 * Jobs are admitted in the order of their submission, those that run first, while what they need
 * sums up to no more than guaranteed_devices, and the devices that there are, and has room on the
 * nodes. The first that is not admitted waits, and all that were submitted later. */
#include <math.h>
#include <stdlib.h>

#include "pollux/assign.h"
#include "pollux/mem.h"
#include "stages.h"

#define ROUNDING 1e-9

static bool is_kept_by(const struct snapshot *s)
{
	return s->policy == &policy_goodput;
}

/* --- what is promised --- */

/* The goodput of R devices by a table. 0: R devices are too few to run on, so nothing is promised.
 * NaN: the goodput is not known. */
static double promised_by(const double *goodput, int replicas, int n)
{
	if (replicas > n)
		return (double)NAN;
	if (goodput[replicas] > 0)
		return goodput[replicas];
	for (int r = 1; r < replicas; r++)
		if (goodput[r] > 0)
			return (double)NAN;
	return 0;
}

/* The promise on a kind. A plan that ran out of memory there promises nothing. */
static double promise_of(const struct decision *d, struct candidate *c, int kind)
{
	const struct job_guarantee *g = c->guarantee;
	int plan = c->plans ? plan_index(c, g->declared.plan) : -1;
	const struct plan_view *v = plan >= 0 ? &c->plans->views[plan] : NULL;
	struct goodput_table *best = c->on_kind ? c->on_kind[kind].table : NULL;
	const struct goodput_table *of_plan;
	double promised;

	if (!v)
		return best ? promised_by(best->goodput, g->declared.replicas, most_devices(d))
			    : (double)NAN;
	if (v->ran_out || v->ran_out_on >> kind & 1 || !v->allowed)
		return 0;
	of_plan = v->on_kind[kind].table;
	if (!of_plan || !best)
		return (double)NAN;
	promised = promised_by(of_plan->goodput, g->declared.replicas, most_devices(d));
	/* the plan takes its place in the table wherever it has as much, and the table has less */
	for (int r = 1; promised > 0 && r <= most_devices(d); r++)
		if (of_plan->goodput[r] >= promised && !(best->goodput[r] >= promised)) {
			best->goodput[r] = of_plan->goodput[r];
			best->best[r] = of_plan->best[r];
		}
	return promised;
}

/* Takes the offers of too few devices away; a number that the job must keep stays. Returns the
 * least that is left; 0: none. */
static int leave_out_too_few(struct decision *d, int j, int kind, double floor)
{
	const struct sched_job *job = &d->sched_jobs[j];
	double *goodput = lower_offers(d, j, kind);
	int least = 0;

	for (int r = job->offers[kind].n; r >= 1; r--) {
		if (job->min_replicas < job->max_replicas &&
		    !(goodput[r] >= floor * (1 - ROUNDING)))
			goodput[r] = (double)NAN;
		if (r >= job->min_replicas && goodput[r] > 0)
			least = r;
	}
	return least;
}

/* Gives the job as many devices as it was promised, until its goodput is known. */
static void give_what_was_promised(struct candidate *c, struct sched_job *job)
{
	const struct guarantee *declared = &c->guarantee->declared;
	int plan = c->plans ? plan_index(c, declared->plan) : -1;

	for (int k = 0; k < SCHED_KINDS; k++)
		job->offers[k].goodput[0] = NULL;
	if (declared->replicas > job->min_replicas)
		job->min_replicas = declared->replicas;
	if (job->max_replicas < job->min_replicas)
		job->max_replicas = job->min_replicas;
	if (plan >= 0 && !c->plans->views[plan].ran_out && c->plans->views[plan].allowed) {
		c->plans->trial = plan;
		run_in_plan(c, plan);
	}
}

static void promise(struct decision *d, int j)
{
	struct candidate *c = &d->candidates[j];
	struct sched_job *job = &d->sched_jobs[j];
	struct job_guarantee *g = c->guarantee;
	bool unknown = true;

	g->floor = (double)NAN;
	for (int k = 0; k < d->n_kinds; k++)
		if (!job->offers[k].barred)
			unknown &= isnan(promise_of(d, c, k));
	for (int k = 0; !unknown && k < d->n_kinds; k++) {
		double promised = job->offers[k].goodput[0] ? promise_of(d, c, k) : (double)NAN;
		int least = promised > 0 ? leave_out_too_few(d, j, k, promised) : 0;

		if (promised > 0)
			g->floor = fmin(g->floor, promised);
		if (least && (!g->needs || least < g->needs))
			g->needs = least;
	}
	if (unknown)
		give_what_was_promised(c, job);
	/* unknown, or nothing is promised, or there are too few devices to keep it */
	if (g->needs == 0)
		g->needs = job->min_replicas;
}

/* --- who is admitted --- */

struct room {
	int devices, promised;
	int *needs;			/* by job: of those that are admitted */
	bool full;
};

static struct room room_for_guarantees(const struct snapshot *s, const struct decision *d)
{
	int most = s->config->guaranteed_devices;

	return (struct room){ .devices = most >= 0 && most < d->n_usable ? most : d->n_usable };
}

/* True if the nodes have room for so many devices of each job together, were all of them free.
 * needs: by job, of those that are asked about. On several kinds of device it is not known which
 * kind a job will have: the answer is then true. */
static bool nodes_have_room(const struct snapshot *s, const struct decision *d, const int *needs)
{
	size_t size = (size_t)s->devices.count + 1, n = (size_t)d->n_asked + 1;
	struct assign_nodes_input in = { .n_nodes = d->n_nodes, .n_jobs = d->n_asked };
	int *holder, *owner;
	bool *movable, all;

	if (d->n_nodes < 2 || d->n_kinds > 1)
		return true;
	holder = xcalloc(size, sizeof(*holder));
	owner = xcalloc(size, sizeof(*owner));
	movable = xcalloc(n, sizeof(*movable));
	for (int i = 0; i < s->devices.count; i++)
		holder[i] = d->usable[i] ? ASSIGN_FREE : ASSIGN_UNUSABLE;
	in.n_devices = s->devices.count;
	in.holder = holder;
	in.node = d->node_of;
	in.count = needs;
	in.movable = movable;
	all = assign_on_nodes(&in, owner);
	free(holder);
	free(owner);
	free(movable);
	return all;
}

/* Admits the running jobs, or the others, in the order of their numbers. A run keeps what it was
 * promised. */
static void admit_guarantees(const struct snapshot *s, const struct decision *d, bool running,
			     struct room *room)
{
	for (int j = 0; j < d->n_asked; j++) {
		struct job_guarantee *g = d->candidates[j].guarantee;

		if (!g || (d->sched_jobs[j].replicas > 0) != running)
			continue;
		if (!running && g->needs > room->devices)
			continue;	/* it waits for a larger machine, the others do not */
		g->admitted = running ||
			      (!room->full && room->promised + g->needs <= room->devices);
		room->needs[j] = g->admitted ? g->needs : 0;
		g->lacks_nodes = !running && g->admitted && !nodes_have_room(s, d, room->needs);
		g->admitted &= !g->lacks_nodes;
		if (!g->admitted)
			room->needs[j] = 0;
		room->full |= !g->admitted;
		room->promised += room->needs[j];
		d->sched_jobs[j].guaranteed = g->admitted;
	}
}

void promise_guarantees(const struct snapshot *s, struct decision *d)
{
	struct room room = room_for_guarantees(s, d);

	room.needs = xcalloc((size_t)d->n + 1, sizeof(*room.needs));
	for (int j = 0; j < d->n; j++) {
		struct candidate *c = &d->candidates[j];
		struct err ignored;

		if (!c->job->declared.guarantee)
			continue;
		c->guarantee = xcalloc(1, sizeof(*c->guarantee));
		if (guarantee_parse(c->job->declared.guarantee, &c->guarantee->declared,
				    &ignored)) {
			free(c->guarantee);
			c->guarantee = NULL;
		} else if (is_kept_by(s)) {
			promise(d, j);
		}
	}
	if (is_kept_by(s)) {
		admit_guarantees(s, d, true, &room);
		admit_guarantees(s, d, false, &room);
	}
	free(room.needs);
	for (int j = 0; is_kept_by(s) && j < d->n_asked; j++)
		for (int k = 0; d->candidates[j].guarantee && k < SCHED_KINDS; k++)
			d->sched_jobs[j].offers[k].barred |= !d->candidates[j].guarantee->admitted;
}

/* --- afterwards --- */

/* The job without a guarantee that gives way: the last one of those that have nothing yet, or else
 * of those that can be relaunched. -1: there is none. */
int gives_way_to_guarantees(const struct decision *d)
{
	for (int running = 0; running < 2; running++)
		for (int j = d->n_asked - 1; j >= 0; j--)
			if (!d->sched_jobs[j].guaranteed && d->choices[j].replicas > 0 &&
			    (running ? d->sched_jobs[j].preemptible
				     : d->sched_jobs[j].replicas == 0))
				return j;
	return -1;
}

void check_guarantees(struct decision *d)
{
	const struct sched_input *in = &d->input;
	double *floor = xcalloc((size_t)in->n_jobs + 1, sizeof(*floor));
	struct fact why;
	int broken;

	for (int j = 0; j < in->n_jobs; j++) {
		const struct candidate *c = &d->candidates[j];
		const struct sched_job *job = &in->jobs[j];

		if (!c->guarantee || !job->guaranteed)
			continue;
		floor[j] = c->guarantee->floor;
		/* A run in a plan that is slower than promised is relaunched in the best one, even
		 * if that gains less than other jobs have to gain. */
		if (job->preemptible && c->plans && c->run &&
		    d->choices[j].replicas == job->replicas &&
		    in->now_s - job->launched_s >= in->slice_s &&
		    plan_goodput_now(d, c) < floor[j] * (1 - ROUNDING))
			d->choices[j].reconfigure = true;
	}
	broken = guarantee_check(in, d->choices, floor, &why);
	if (broken >= 0)
		verdict_put_first(&d->choices[broken].verdict, why);
	free(floor);
}

static void add_why_refused(const struct job_guarantee *g, int promised, int room,
			    struct verdict *v)
{
	if (g->needs > room)
		verdict_add(v, (struct fact){ FACT_GUARANTEE_TOO_LARGE, .n = room });
	else if (g->lacks_nodes)
		verdict_say(v, FACT_GUARANTEE_NO_NODES);
	else if (promised + g->needs > room)
		verdict_add(v, (struct fact){ FACT_GUARANTEE_PROMISED, .n = promised, .of = room });
	else
		verdict_say(v, FACT_GUARANTEE_EARLIER);
}

void explain_guarantees(const struct snapshot *s, struct decision *d)
{
	int room = room_for_guarantees(s, d).devices, promised = 0;

	for (int j = 0; j < d->n_asked; j++)
		if (d->candidates[j].guarantee && d->candidates[j].guarantee->admitted)
			promised += d->candidates[j].guarantee->needs;
	for (int j = 0; j < d->n_asked; j++) {
		const struct job_guarantee *g = d->candidates[j].guarantee;
		struct sched_choice *choice = &d->choices[j];
		struct fact needs = { FACT_GUARANTEE, .devices = g ? g->needs : 0 };

		if (!g)
			continue;
		if (!is_kept_by(s)) {
			verdict_put_first(&choice->verdict, (struct fact){
				FACT_NO_GUARANTEES, .name = s->policy->name });
		} else if (!g->admitted) {
			choice->verdict = verdict_of(needs);
			add_why_refused(g, promised, room, &choice->verdict);
		} else if (choice->replicas > 0) {
			verdict_put_first(&choice->verdict, needs);
		}
	}
}
