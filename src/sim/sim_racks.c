/* sim_racks.c - the world of machines in racks: jobs have GPUs for a lease at a time, and compute
 * for a part of it that depends on how their GPUs are joined. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "world.h"

#define LOOKS_PER_LEASE 4	/* while a job waits */

struct racks {
	const struct sim_racks *files;
	struct rack_state state;
	int *held;			/* memory of all runs, and of the free GPUs */
	int n_machines;
	struct rack_job **asked;	/* the jobs that wait, in this order */
	struct rack_lease *leases;
};

/* --- who shares uplinks --- */

/* True if the run has GPUs within the n machines from first on, and outside. */
static bool crosses(const struct rack_run *r, int first, int n)
{
	int inside = 0;

	for (int m = first; m < first + n; m++)
		inside += r->held[m];
	return inside > 0 && inside < r->told.gpus;
}

/* The largest number of jobs that cross one of the boundaries that the run crosses, among the
 * groups of n machines. */
static int most_sharers(const struct sim *s, const struct rack_run *r, int n)
{
	int most = 1, n_machines = ((const struct racks *)s->own)->n_machines;

	for (int first = 0; first < n_machines; first += n) {
		int sharers = 0;

		for (int i = 0; crosses(r, first, n) && i < s->n_active; i++) {
			const struct rack_run *other = s->active[i]->own;

			sharers += other->runs && crosses(other, first, n);
		}
		if (sharers > most)
			most = sharers;
	}
	return most;
}

/* The part of its time in which the job computes on these GPUs while nobody shares uplinks. */
static double part_alone(const struct racks *racks, const struct rack_run *r, const int *held)
{
	static const int alone[DISTANCES] = { 1, 1, 1 };

	return sim_racks_part(racks->files, r->application, held, alone);
}

/* --- leases --- */

static void count_work(struct sim_job *job, double seconds)
{
	struct rack_run *r = job->own;

	r->told.left_s -= seconds * r->part;
	job->communication_s += seconds * (1 - r->part);
}

/* Sets the end of the lease for a job that computes for this part of the time. */
static void set_end(struct rack_run *r, double part)
{
	double needs_s = r->told.left_s / part, room_s = r->lease_end_s - r->from_s;

	r->part = part;
	r->last = needs_s <= room_s;
	r->ends_s = r->from_s + fmin(needs_s, room_s);
}

static void begin_lease(struct sim *s, struct sim_job *job, const int *held)
{
	struct racks *racks = s->own;
	struct rack_run *r = job->own;

	memcpy(r->held, held, (size_t)racks->n_machines * sizeof(*held));
	for (int m = 0; m < racks->n_machines; m++) {
		racks->state.cluster.free[m] -= held[m];
		if (held[m])
			placement_add(&job->placement, m, held[m]);
	}
	r->runs = true;
	r->begun_s = s->now_s;
	r->from_s = s->now_s + (job->restarts >= 0 ? SIM_RACKS_CHECKPOINT_S : 0);
	r->lease_end_s = r->from_s + racks->state.lease_s;
	r->part_most = part_alone(racks, r, held);
	set_end(r, r->part_most);
	if (job->restarts++ < 0)
		job->start_s = s->now_s;
}

/* Ends the lease, and with the last one the job. */
static void end_lease(struct sim *s, struct sim_job *job)
{
	struct racks *racks = s->own;
	struct rack_run *r = job->own;

	for (int m = 0; m < racks->n_machines; m++)
		racks->state.cluster.free[m] += r->held[m];
	memset(r->held, 0, (size_t)racks->n_machines * sizeof(*r->held));
	placement_release(&job->placement);
	count_work(job, r->ends_s - r->from_s);
	r->told.on_s += r->ends_s - r->begun_s;
	r->told.since_s = s->now_s;
	r->ended = true;
	r->runs = false;
	job->service_device_s = r->told.on_s;
	job->attained_device_s = r->told.on_s * r->told.gpus;
	s->due = true;
	if (r->last)
		job->finish_s = s->now_s;
}

static int end_of_lease(struct sim *s, struct sim_job *job, struct moment *event)
{
	const struct rack_run *r = job->own;

	if (r->runs)
		*event = (struct moment){ r->ends_s, r->ends_s - s->now_s };
	return 0;
}

static int run_lease(struct sim *s, struct sim_job *job, double start_s, double seconds)
{
	size_t machines = (size_t)((const struct racks *)s->own)->n_machines;
	struct rack_run *r = job->own;

	(void)start_s;
	(void)seconds;
	r->ran = r->runs;
	r->ended = false;
	memcpy(r->held_before, r->held, machines * sizeof(*r->held));
	if (r->runs)
		s->progress_s = s->now_s;
	if (r->runs && r->ends_s <= s->now_s)
		end_lease(s, job);
	return 0;
}

/* --- a decision --- */

/* Tells the policy about leases, ended jobs and all jobs that wait. */
static void prepare_policy(struct sim *s)
{
	struct racks *racks = s->own;
	struct rack_state *state = &racks->state;
	int n = 0;

	state->n_leases = 0;
	state->ended_s = s->ended_device_s;
	state->n_ended = s->n_ended;
	for (int i = 0; i < s->n_active; i++) {
		struct rack_run *r = s->active[i]->own;

		if (r->runs) {
			racks->leases[state->n_leases++] = (struct rack_lease){
				.held = r->held,
				.ends_s = s->options->lengths == SIM_LENGTHS_KNOWN
					? r->ends_s : r->lease_end_s,
			};
			continue;
		}
		r->told.remaining_s = sim_told_left(s, r->told.left_s);
		racks->asked[n++] = &r->told;
	}
	s->options->rack_policy->prepare(state, racks->asked, n);
}

static void ask_jobs(struct sim *s)
{
	struct racks *racks = s->own;
	const struct rack_policy *policy = s->options->rack_policy;
	int *held = xcalloc((size_t)racks->n_machines, sizeof(*held)), n = 0;

	if (policy->prepare)
		prepare_policy(s);
	/* In the order in which the jobs that wait are asked. */
	for (int i = 0; i < s->n_active; i++) {
		struct rack_run *r = s->active[i]->own;
		int at = n;

		if (r->runs)
			continue;
		for (; at > 0 && rack_compare(policy, &r->told, racks->asked[at - 1]) < 0; at--)
			racks->asked[at] = racks->asked[at - 1];
		racks->asked[at] = &r->told;
		n++;
	}
	for (int k = 0; k < n * (policy->prepare ? 2 : 1); k++) {
		struct rack_job *told = racks->asked[k % n];
		double alarm_s = HUGE_VAL;

		racks->state.second_pass = k >= n;
		if (((const struct rack_run *)s->jobs[told->index].own)->runs)
			continue;
		if (policy->offer(&racks->state, told, held, &alarm_s))
			begin_lease(s, &s->jobs[told->index], held);
		else
			s->alarm_s = fmin(s->alarm_s, alarm_s);
	}
	free(held);
}

/* Sets the rates of jobs whose uplinks have got other sharers. */
static void share_uplinks(struct sim *s)
{
	const struct racks *racks = s->own;

	for (int i = 0; i < s->n_active; i++) {
		struct rack_run *r = s->active[i]->own;
		int sharers[DISTANCES] = { 1, 1, 1 };
		double part;

		if (!r->runs)
			continue;
		if (racks_distance(&racks->state.cluster, r->held) != IN_MACHINE) {
			sharers[IN_RACK] = most_sharers(s, r, 1);
			sharers[ANYWHERE] =
				most_sharers(s, r, racks->state.cluster.machines_per_rack);
		}
		part = sim_racks_part(racks->files, r->application, r->held, sharers);
		if (part == r->part)
			continue;
		if (s->now_s > r->from_s) {
			count_work(s->active[i], s->now_s - r->from_s);
			r->from_s = s->now_s;
		}
		set_end(r, part);
	}
}

static void decide_leases(struct sim *s, struct sim_round *round)
{
	struct racks *racks = s->own;
	double look_s = racks->state.lease_s / LOOKS_PER_LEASE;

	racks->state.now_s = s->now_s;
	ask_jobs(s);
	if (racks->files->contention)
		share_uplinks(s);
	for (int i = 0; i < s->n_active; i++) {
		const struct rack_run *r = s->active[i]->own;

		round->running += r->runs;
		round->waiting += !r->runs;
		round->gpus += r->runs ? r->told.gpus : 0;
		round->restarts += r->runs && r->begun_s == s->now_s && s->active[i]->restarts > 0;
	}
	if (round->waiting)
		s->alarm_s = fmin(s->alarm_s, look_s * (floor(s->now_s / look_s) + 1));
}

static int check_leases(struct sim *s)
{
	const struct racks *racks = s->own;

	return rack_check(racks->files, racks->state.cluster.free, s->jobs[0].own,
			  s->workload->n_jobs, racks->state.lease_s, s->err)
		       ? err_prefix(s->err, "at %.0f s", s->now_s) : 0;
}

/* --- the whole --- */

/* The time of the job alone on the cluster. All GPUs are free, and its own memory is used. */
static int alone_on_racks(struct sim *s, const struct sim_job *job, double gpus, double *seconds)
{
	const struct racks *racks = s->own;
	const struct rack_run *r = job->own;

	(void)gpus;
	for (enum distance d = IN_MACHINE; d < DISTANCES; d++)
		if (racks_find(&racks->state.cluster, d, r->told.gpus, r->held))
			break;
	*seconds = r->told.work_s / part_alone(racks, r, r->held);
	return 0;
}

static void init_run(struct racks *racks, struct rack_run *r, const struct sim_job *job,
		     const struct rack_workload_job *work)
{
	static const char *const insensitive[] = { "ResNet50", "ResNet18", "BERT" };
	size_t machines = (size_t)racks->n_machines;
	const struct rack_cluster *cluster = &racks->state.cluster;
	int gpus = job->spec->replicas, far;

	*r = (struct rack_run){
		.name = job->spec->name, .application = work->application,
		.held = racks->held + (size_t)job->index * machines * 2,
		.told = { .index = job->index, .gpus = gpus, .since_s = job->spec->submit_s,
			  .work_s = work->work_s, .left_s = work->work_s },
	};
	r->held_before = r->held + machines;
	for (int i = 0; i < 3; i++)
		r->told.insensitive |= !strcmp(r->application->name, insensitive[i]);
	for (enum distance d = IN_MACHINE; d < DISTANCES; d++) {
		r->told.part[d] = (double)NAN;
		if (gpus > racks_width(cluster, d) * cluster->gpus_per_machine)
			continue;
		racks_find(cluster, d, gpus, r->held);
		/* At this distance, where there are enough machines and racks for it. */
		far = d == ANYWHERE ? cluster->machines_per_rack
			: d == IN_RACK && cluster->machines_per_rack > 1 ? 1 : racks->n_machines;
		if (gpus > 1 && racks_distance(cluster, r->held) < d && far < racks->n_machines) {
			r->held[0]--;
			r->held[far]++;
		}
		r->told.part[d] = part_alone(racks, r, r->held);
	}
	memset(r->held, 0, machines * sizeof(*r->held));
}

static const struct world world_of_racks = {
	.own_size = sizeof(struct rack_run),
	.event = end_of_lease, .run = run_lease, .decide = decide_leases, .decided = check_leases,
	.alone = alone_on_racks,
};

int sim_racks_run(const struct sim_options *options, const struct sim_racks *t,
		  const struct sim_workload *workload, const struct sim_progress *progress,
		  struct sim_result *result, struct err *err)
{
	const struct rack_workload_job *jobs = workload->own;
	size_t n = (size_t)workload->n_jobs, machines = (size_t)racks_machines(&t->cluster);
	struct racks racks = {
		.files = t, .n_machines = (int)machines,
		.asked = xcalloc(n, sizeof(struct rack_job *)),
		.leases = xcalloc(n, sizeof(*racks.leases)),
		.held = xcalloc(n * machines * 2 + machines, sizeof(*racks.held)),
		.state = { .cluster = t->cluster, .lease_s = options->slice_s,
			   .tunes = options->tunes, .timers = options->rack_timers },
	};
	scoped(sim_release) struct sim s = { 0 };
	int rc;

	sim_init(&s, &world_of_racks, options, workload, err);
	sim_add_kind(&s, NULL, racks.n_machines, t->cluster.gpus_per_machine);
	s.own = &racks;
	s.interval_s = HUGE_VAL;
	s.stops_at_events = s.decides_on_arrival = true;
	racks.state.leases = racks.leases;
	racks.state.cluster.free = racks.held + n * machines * 2;
	for (size_t m = 0; m < machines; m++)
		racks.state.cluster.free[m] = t->cluster.gpus_per_machine;
	for (size_t i = 0; i < n; i++) {
		init_run(&racks, s.jobs[i].own, &s.jobs[i], &jobs[i]);
	}
	rc = sim_run(&s, progress, result);
	rack_state_release(&racks.state);
	free(racks.asked);
	free(racks.leases);
	free(racks.held);
	return rc;
}
