/* simulate.c - the loop of every simulation, from one event to the next, and what comes of it. */
#include <assert.h>
#include <math.h>
#include <stdlib.h>

#include "pollux/assign.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "world.h"

#define STUCK_S (28 * 86400.0)		/* this long without progress of any job is an error */

void sim_init(struct sim *s, const struct world *world, const struct sim_options *options,
	      const struct sim_workload *workload, struct err *err)
{
	size_t n = (size_t)workload->n_jobs;

	*s = (struct sim){
		.world = world, .options = options, .workload = workload, .err = err,
		.interval_s = options->interval_s, .alarm_s = HUGE_VAL,
		.jobs = xcalloc(n, sizeof(*s->jobs)), .owns = xcalloc(n, world->own_size),
		.active = xcalloc(n, sizeof(struct sim_job *)),
		.ended_device_s = xcalloc(n, sizeof(*s->ended_device_s)),
		.next_arrival_s = n ? workload->jobs[0].submit_s : HUGE_VAL,
	};
	for (size_t i = 0; i < n; i++)
		s->jobs[i] = (struct sim_job){
			.spec = &workload->jobs[i], .index = (int)i, .restarts = -1,
			.own = s->owns + i * world->own_size,
			.finish_s = (double)NAN, .start_s = (double)NAN, .demoted_s = (double)NAN,
		};
}

void sim_add_kind(struct sim *s, const char *name, int nodes, int gpus_per_node)
{
	struct gpu_kind *k = &s->kinds[s->n_kinds++];

	*k = (struct gpu_kind){
		.name = name, .first_node = s->n_nodes, .nodes = nodes,
		.gpus_per_node = gpus_per_node, .n_gpus = nodes * gpus_per_node,
	};
	s->n_nodes += k->nodes;
	s->n_gpus += k->n_gpus;
}

void sim_release(struct sim *s)
{
	for (int i = 0; i < s->workload->n_jobs; i++) {
		placement_release(&s->jobs[i].placement);
		free(s->jobs[i].ends);
	}
	free(s->jobs);
	free(s->owns);
	free(s->active);
	free(s->ended_device_s);
	free(s->decide_s);
	free(s->gap);
}

void sim_serve(struct sim_job *job, double seconds, double speed)
{
	job->attained_device_s += seconds * job->placement.replicas;
	job->service_device_s += seconds * job->placement.replicas * speed;
}

/* --- time --- */

/* Admits the jobs that may start by now, and sets the time before which no other may. */
static void admit_jobs(struct sim *s)
{
	s->next_arrival_s = HUGE_VAL;
	for (int i = s->first; i < s->workload->n_jobs; i++) {
		struct sim_job *job = &s->jobs[i];
		double release_s = job->spec->submit_s;
		int at = s->n_active;

		if (release_s > s->now_s) {
			s->next_arrival_s = fmin(s->next_arrival_s, release_s);
			break;
		}
		s->n_submitted = i + 1 > s->n_submitted ? i + 1 : s->n_submitted;
		if (!job->here && s->world->release_s)
			release_s = s->world->release_s(s, job);
		if (!job->here && release_s > s->now_s) {
			s->next_arrival_s = fmin(s->next_arrival_s, release_s);
			continue;
		}
		s->first += i == s->first;
		if (job->here)
			continue;
		if (!s->n_active)
			s->progress_s = s->now_s;
		job->here = true;
		job->waiting_since_s = release_s;
		for (; at > 0 && s->active[at - 1] > job; at--)
			s->active[at] = s->active[at - 1];
		s->active[at] = job;
		s->n_active++;
		s->due |= s->decides_on_arrival;
	}
}

/* The sooner one. Two that are rounded to the same time may still differ. */
static struct moment sooner(struct moment a, struct moment b)
{
	return b.at_s < a.at_s || (b.at_s <= a.at_s && b.in_s < a.in_s) ? b : a;
}

static struct moment moment_at(const struct sim *s, double at_s)
{
	return (struct moment){ at_s, at_s - s->now_s };
}

/* Lets all jobs run up to now_s; those that end leave. */
static int run_jobs(struct sim *s, double start_s, double seconds)
{
	int n = s->n_active, left = 0;

	for (int i = 0; i < n; i++) {
		struct sim_job *job = s->active[i];

		job->active_sum += n * seconds;
		job->active_s += seconds;
		if (s->world->run(s, job, start_s, seconds))
			return -1;
		if (isnan(job->finish_s)) {
			s->active[left++] = job;
			continue;
		}
		s->n_done++;
		if (s->world->ended)
			s->world->ended(s, job);
		else
			s->ended_device_s[s->n_ended++] = job->service_device_s;
	}
	s->n_active = left;
	s->due |= left < n && s->decides_on_end;
	return 0;
}

static int stuck(const struct sim *s)
{
	const struct sim_options *o = s->options;

	return err_set(s->err, EX_UNAVAILABLE, "'%s' under '%s': no job got any further in 28 days",
		       s->workload->name, o->policy ? o->policy->name : o->rack_policy->name);
}

/* Goes to the next interval, or to an event before it. While no job is present, intervals go by
 * unseen. */
static int go_on(struct sim *s)
{
	double round = (double)s->round + 1, idle = ceil(s->next_arrival_s / s->interval_s);
	double start_s = s->now_s, round_s;
	struct moment next, event;

	if (!s->n_active && idle > round)
		round = idle;
	round_s = isinf(s->interval_s) || isinf(round) ? HUGE_VAL : round * s->interval_s;
	next = sooner(moment_at(s, round_s), moment_at(s, s->alarm_s));
	if (s->decides_on_arrival)
		next = sooner(next, moment_at(s, s->next_arrival_s));
	for (int i = 0; s->stops_at_events && i < s->n_active; i++) {
		event = (struct moment){ HUGE_VAL, HUGE_VAL };
		if (s->world->event(s, s->active[i], &event))
			return -1;
		next = sooner(next, event);
	}
	if (isinf(next.at_s))
		return stuck(s);
	s->now_s = next.at_s;
	s->due = s->now_s >= fmin(round_s, s->alarm_s);
	if (s->now_s >= round_s)
		s->round = (int64_t)round;
	else if (!s->n_active && !isinf(s->interval_s))
		s->round = (int64_t)(s->now_s / s->interval_s);
	return run_jobs(s, start_s, next.in_s);
}

/* --- a decision --- */

int sim_tell(struct sim *s, struct sim_job *job, struct sched_job *told)
{
	*told = (struct sched_job){
		.id = job->index + 1, .weight = 1, .preemptible = true,
		.min_replicas = job->spec->replicas, .max_replicas = job->spec->replicas,
		.attained_service_device_s = job->service_device_s,
		.replicas = job->placement.replicas, .kind = job->kind,
		.launched_s = job->launched_s, .demoted_s = job->demoted_s,
		.submitted_s = job->spec->submit_s, .waiting_since_s = job->waiting_since_s,
		.restarts = job->restarts > 0 ? job->restarts : 0,
		.restart_s = s->options->restart_s,
		.goodput_now = (double)NAN, .remaining_samples = (double)NAN,
		.time_left_s = job->spec->time_limit_s -
			       job->service_device_s / fmax(job->spec->replicas, 1),
	};
	return s->world->tell(s, job, told);
}

double sim_told_left(const struct sim *s, double left)
{
	return s->options->lengths == SIM_LENGTHS_KNOWN ? left : (double)NAN;
}

/* The service of jobs that took at most a slice, as policies are told. */
static double brief_device_s(const struct sim *s)
{
	double since_s = s->now_s - SCHED_BRIEF_SLICES * s->options->slice_s, sum_device_s = 0;

	for (int i = 0; i < s->n_submitted; i++) {
		const struct sim_job *job = &s->jobs[i];
		double slice_device_s = job->spec->replicas * s->options->slice_s;

		if (job->finish_s > since_s && (job->spec->time_limit_s <= s->options->slice_s ||
						job->service_device_s <= slice_device_s))
			sum_device_s += job->service_device_s;
	}
	return sum_device_s;
}

struct sched_input sim_input(const struct sim *s, const struct sched_job *told)
{
	struct sched_input in = {
		.jobs = told, .n_jobs = s->n_active,
		.now_s = s->now_s, .slice_s = s->options->slice_s,
		.ended_device_s = s->ended_device_s, .n_ended = s->n_ended,
		.brief_device_s = brief_device_s(s),
	};

	for (int k = 0; k < s->n_kinds; k++)
		in.kinds[in.n_kinds++] = (struct sched_kind){
			s->kinds[k].n_gpus, s->any_number ? 0 : s->kinds[k].gpus_per_node,
			s->kinds[k].name,
		};
	return in;
}

static void place_on_kind(const struct sim *s, int kind, const struct sched_choice *choices,
			  struct placement *placements)
{
	const struct gpu_kind *gpus = &s->kinds[kind];
	size_t n_jobs = (size_t)s->n_active, nodes = (size_t)gpus->nodes;
	autofree int *held = xcalloc(n_jobs * nodes, sizeof(*held)),
		     *placed = xcalloc(n_jobs * nodes, sizeof(*placed));
	autofree int *count = xcalloc(n_jobs, sizeof(*count));

	for (size_t i = 0; i < n_jobs; i++) {
		const struct placement *p = &s->active[i]->placement;

		if (choices[i].kind == kind)
			count[i] = choices[i].replicas;
		for (int k = 0; s->active[i]->kind == kind && k < p->n; k++)
			held[i * nodes + (size_t)(p->nodes[k] - gpus->first_node)] = p->gpus[k];
	}
	place_jobs(gpus->nodes, gpus->gpus_per_node, s->n_active, held, count, placed);
	for (size_t i = 0; i < n_jobs; i++)
		for (int node = 0; node < gpus->nodes; node++)
			if (placed[i * nodes + (size_t)node] > 0)
				placement_add(&placements[i], gpus->first_node + node,
					      placed[i * nodes + (size_t)node]);
}

/* Asks the policy for numbers of GPUs, finds nodes, and moves the jobs whose nodes or GPUs
 * differ. */
static void decide_by_policy(struct sim *s, const struct sched_job *told, struct sim_round *round,
			     double *decide_s, double *gap)
{
	autofree struct sched_choice *choices = xcalloc((size_t)s->n_active, sizeof(*choices));
	autofree struct placement *placements = xcalloc((size_t)s->n_active, sizeof(*placements));
	struct sched_input in = sim_input(s, told);
	double start_s = clock_boot_s();

	in.gap = gap;
	policy_decide(s->options->policy, &in, s->options->kinds_blind, choices);
	if (s->world->place)
		s->world->place(s, choices, placements);
	for (int k = 0; !s->world->place && k < s->n_kinds; k++)
		place_on_kind(s, k, choices, placements);
	*decide_s = clock_boot_s() - start_s;
	for (int i = 0; i < s->n_active; i++) {
		struct sim_job *job = s->active[i];

		if (!placement_equal(&job->placement, &placements[i])) {
			round->restarts += placements[i].n && job->restarts >= 0;
			if (job->placement.n)
				job->waiting_since_s = s->now_s;
			placement_release(&job->placement);
			job->placement = placements[i];
			placements[i] = (struct placement){ 0 };
			if (job->placement.n) {
				job->kind = choices[i].kind;
				job->launched_s = s->now_s;
				job->restarts++;
				if (isnan(job->start_s))
					job->start_s = s->now_s;
			}
			s->world->launch(s, job);
		}
		round->gpus += job->placement.replicas;
		round->running += job->placement.n > 0;
		placement_release(&placements[i]);
	}
	assert(round->gpus <= s->n_gpus);
	round->waiting = s->n_active - round->running;
}

static void keep_placements(const struct sim *s, struct sim_result *result)
{
	for (int i = 0; i < s->n_active; i++) {
		const struct placement *p = &s->active[i]->placement;

		for (int k = 0; k < p->n; k++) {
			result->held = xgrow(result->held, result->n_held, sizeof(*result->held));
			result->held[result->n_held++] = (struct sim_held){
				s->active[i]->index, p->nodes[k], p->gpus[k],
			};
		}
	}
	result->rounds[result->n_rounds - 1].held_end = result->n_held;
}

static int decide(struct sim *s, struct sim_result *result)
{
	int n = result->n_rounds++, rc = 0;
	autofree struct sched_job *told = xcalloc((size_t)s->n_active, sizeof(*told));
	double start_s;

	result->rounds = xgrow(result->rounds, n, sizeof(*result->rounds));
	s->decide_s = xgrow(s->decide_s, n, sizeof(*s->decide_s));
	s->gap = xgrow(s->gap, n, sizeof(*s->gap));
	result->rounds[n] = (struct sim_round){ .time_s = s->now_s };
	s->decide_s[n] = s->gap[n] = 0;
	s->alarm_s = HUGE_VAL;
	for (int i = 0; !s->world->decide && rc == 0 && i < s->n_active; i++) {
		struct sim_job *job = s->active[i];

		if (isnan(job->demoted_s) && job->attained_device_s >= TIRESIAS_QUEUE_DEVICE_S)
			job->demoted_s = s->now_s;
		rc = sim_tell(s, job, &told[i]);
	}
	start_s = clock_boot_s();
	if (rc == 0 && s->world->decide) {
		s->world->decide(s, &result->rounds[n]);
		s->decide_s[n] = clock_boot_s() - start_s;
	} else if (rc == 0) {
		decide_by_policy(s, told, &result->rounds[n], &s->decide_s[n], &s->gap[n]);
	}
	if (rc == 0 && s->options->placements)
		keep_placements(s, result);
	if (rc == 0 && s->world->decided && s->world->decided(s))
		rc = -1;
	return rc;
}

/* --- the whole --- */

static int set_jobs(struct sim *s, struct sim_result *result)
{
	result->jobs = xcalloc((size_t)s->workload->n_jobs, sizeof(*result->jobs));
	for (int i = 0; i < s->workload->n_jobs; i++) {
		struct sim_job *job = &s->jobs[i];
		double alone_s = (double)NAN;

		if (s->world->alone &&
		    s->world->alone(s, job, s->n_gpus * job->active_s / job->active_sum, &alone_s))
			return -1;
		result->jobs[i] = (struct sim_job_result){
			.name = job->spec->name, .submit_s = job->spec->submit_s,
			.start_s = job->start_s, .finish_s = job->finish_s,
			.restarts = job->restarts, .application = job->spec->application_name,
			.gpu_hours = job->attained_device_s / 3600,
			.fairness = (job->finish_s - job->spec->submit_s) / alone_s,
			.communication_s = job->communication_s, .ends = job->ends,
		};
		job->ends = NULL;
	}
	result->figures = sim_figures_of(result->jobs, s->workload->n_jobs, 0);
	return 0;
}

int sim_run(struct sim *s, const struct sim_progress *progress, struct sim_result *result)
{
	double start_s = clock_boot_s();
	int rc = 0;

	*result = (struct sim_result){ .workload = s->workload };
	while (rc == 0 && s->n_done < s->workload->n_jobs) {
		int done = s->n_done;

		rc = go_on(s);
		if (rc == 0)
			admit_jobs(s);
		if (rc == 0 && s->n_active && s->now_s - s->progress_s > STUCK_S)
			rc = stuck(s);
		if (rc == 0 && s->due && (s->n_active || s->world->decide))
			rc = decide(s, result);
		if (progress && s->n_done != done)
			progress->tell(progress->data, s->n_done);
	}
	if (rc == 0)
		rc = set_jobs(s, result);
	result->figures.rounds = result->n_rounds;
	result->figures.decide_median_s = quantile(s->decide_s, result->n_rounds, 0.5);
	result->figures.decide_p95_s = quantile(s->decide_s, result->n_rounds, 0.95);
	result->figures.gap_median = quantile(s->gap, result->n_rounds, 0.5);
	result->figures.wall_s = clock_boot_s() - start_s;
	if (rc)
		sim_result_release(result);
	return rc;
}

void sim_result_release(struct sim_result *result)
{
	for (int i = 0; result->jobs && i < result->workload->n_jobs; i++)
		free(result->jobs[i].ends);
	free(result->jobs);
	free(result->rounds);
	free(result->held);
	*result = (struct sim_result){ 0 };
}
