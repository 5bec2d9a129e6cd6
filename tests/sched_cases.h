/* sched_cases.h - small scheduling problems at random, and their best allocation by trying them
 * all.
 *
 * What a job may be given is stated here once more, on purpose not by the functions under test. */
#ifndef SCHED_CASES_H
#define SCHED_CASES_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"

#define CASE_JOBS 5
#define CASE_DEVICES 6
#define CASE_ENDED 6
#define CASE_MAX 9		/* replicas asked for at most */

struct sched_case {
	uint64_t random;
	struct sched_job jobs[CASE_JOBS];
	double goodput[CASE_JOBS][CASE_MAX + 1];
	struct sched_input in;
	struct sched_choice choices[CASE_JOBS];
	double ended_device_s[CASE_ENDED];
};

/* value[j][r] of a case; NaN: job j may not be given r devices. */
struct case_values {
	double of[CASE_JOBS][CASE_DEVICES + 1];
};

static inline uint64_t case_bits(uint64_t *random)
{
	uint64_t z = *random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;	/* splitmix64 */
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static inline int case_below(uint64_t *random, int n)
{
	return (int)(case_bits(random) % (uint64_t)n);
}

static inline double case_uniform(uint64_t *random)
{
	return (double)(case_bits(random) >> 11) / 9007199254740992.0;
}

/* Amdahl's law, now and then with holes, or rising and falling. goodput[0..max]. */
static inline void case_curve(uint64_t *random, int max, double *goodput)
{
	double one = pow(10, 4 * case_uniform(random) - 1), serial = case_uniform(random);
	int kind = case_below(random, 6);

	goodput[0] = 0;
	for (int r = 1; r <= max; r++) {
		goodput[r] = one * r / (1 + serial * (r - 1));
		if (kind == 0 && !case_below(random, 3))
			goodput[r] = (double)NAN;
		if (kind == 1)
			goodput[r] *= 0.3 + case_uniform(random);
	}
}

/* Which counts the machine has room for whatever the others have. */
static inline bool case_placeable(const struct sched_input *in, int r)
{
	int g = in->kinds[0].devices_per_node;

	if (g <= 0 || in->kinds[0].n_devices <= g)
		return r >= 1 && r <= in->kinds[0].n_devices;
	for (int power = 1; power < g; power *= 2)
		if (r == power && g % power == 0)
			return true;
	return r >= g && r <= in->kinds[0].n_devices && r % g == 0;
}

/* A number to start the job on. */
static inline bool case_startable(const struct sched_input *in, const struct sched_job *job, int r)
{
	if (r < job->min_replicas || r > job->max_replicas || !case_placeable(in, r))
		return false;
	if (job->offers[0].goodput[0])
		return !isnan(job->offers[0].goodput[0][r]);
	for (int less = job->min_replicas; less < r; less++)
		if (case_placeable(in, less))
			return false;
	return true;
}

/* 0: none. */
static inline int case_least(const struct sched_input *in, const struct sched_job *job)
{
	for (int r = 1; r <= in->kinds[0].n_devices; r++)
		if (case_startable(in, job, r))
			return r;
	return 0;
}

/* How long the run of a job is protected once launched, or one that starts now. */
static inline double case_run_slice_s(const struct sched_input *in, const struct sched_job *job)
{
	bool first = job->replicas ? !job->restarts : !(job->attained_service_device_s > 0);

	return fmax(in->slice_s + (first ? job->restart_s : 0), 3 * job->restart_s);
}

/* How long it is protected after its first run. */
static inline double case_slice_s(const struct sched_input *in, const struct sched_job *job)
{
	return fmax(in->slice_s, 3 * job->restart_s);
}

/* B of policy.h. */
static inline double case_limit_s(const struct sched_input *in, const struct sched_job *waiting)
{
	double round = 0;

	for (int i = 0; i < in->n_jobs; i++)
		if (!(in->jobs[i].submitted_s > waiting->waiting_since_s))
			round += case_least(in, &in->jobs[i]) * case_slice_s(in, &in->jobs[i]);
	return 24 * fmax(in->slice_s, round / in->kinds[0].n_devices);
}

/* What keeps an overdue job waiting at most once nothing is launched any more: L of policy.h. */
static inline double case_turn_s(const struct sched_input *in)
{
	double slice = in->slice_s, restart = 0;

	for (int i = 0; i < in->n_jobs; i++) {
		if (!case_least(in, &in->jobs[i]))
			continue;
		slice = fmax(slice, fmax(case_slice_s(in, &in->jobs[i]),
					 in->slice_s + in->jobs[i].restart_s));
		if (!isnan(in->jobs[i].remaining_samples))
			restart = fmax(restart, in->jobs[i].restart_s);
	}
	return slice + 2 * restart;
}

/* Samples in 100 s on the most devices that work. */
static inline double samples_100_s(const double *goodput, int max)
{
	while (max > 0 && isnan(goodput[max]))
		max--;
	return 100 * goodput[max];
}

static inline void case_draw_job(struct sched_case *c, int i, int *left)
{
	static const double weights[] = { 0.5, 1, 1, 2 };
	struct sched_job *job = &c->jobs[i];
	uint64_t *x = &c->random;
	double now_s = c->in.now_s;

	*job = (struct sched_job){
		.id = i + 1,
		.min_replicas = case_below(x, 2) ? 1 : 1 + case_below(x, 4),
		.weight = weights[case_below(x, 4)],
		.attained_service_device_s = case_below(x, 3) * 9000 * case_uniform(x),
		.preemptible = case_below(x, 5) > 0,
		.restarts = case_below(x, 4),
		.restart_s = case_below(x, 4) ? 10 + 390 * pow(case_uniform(x), 3) : 30,
		.goodput_now = (double)NAN,
		.remaining_samples = (double)NAN,
	};
	job->submitted_s = now_s - 24000 * case_uniform(x);
	job->waiting_since_s = case_below(x, 3) ? job->submitted_s : now_s;
	job->max_replicas = job->min_replicas + case_below(x, 6);
	case_curve(x, job->max_replicas, c->goodput[i]);
	if (case_below(x, 6))
		job->offers[0] = offers_of(job->max_replicas, c->goodput[i]);
	if (case_below(x, 2) && *left > 0) {
		job->replicas = 1 + case_below(x, *left);
		if (!case_startable(&c->in, job, job->replicas))
			job->replicas = 0;
		*left -= job->replicas;
		job->launched_s = now_s - case_below(x, 2) * 1200 * case_uniform(x);
	}
	if (job->offers[0].goodput[0] && job->replicas && case_below(x, 2))
		job->goodput_now = c->goodput[i][job->replicas] * (0.6 + 0.4 * case_uniform(x));
	if (job->offers[0].goodput[0] && case_below(x, 2))
		job->remaining_samples = 1 + samples_100_s(c->goodput[i], job->max_replicas) *
					     pow(10, 5 * case_uniform(x) - 2);
	job->remaining_spread = case_below(x, 2) * case_uniform(x);
	job->workload = case_below(x, 3);
	job->time_left_s = case_below(x, 3) ? 0 : 800 * case_uniform(x);
}

static inline void case_draw(struct sched_case *c)
{
	static const int per_node[] = { 0, 0, 2, 3, 4 };
	uint64_t random = c->random;
	int left;

	*c = (struct sched_case){ .random = random };
	c->in = (struct sched_input){
		.jobs = c->jobs, .now_s = 100000, .slice_s = 600,
		.n_jobs = case_below(&c->random, CASE_JOBS + 1),
		SCHED_ONE_KIND(case_below(&c->random, CASE_DEVICES + 1),
			       per_node[case_below(&c->random, 5)]),
	};
	c->in.ended_device_s = c->ended_device_s;
	c->in.n_ended = case_below(&c->random, CASE_ENDED + 1);
	for (int i = 0; i < c->in.n_ended; i++)
		c->ended_device_s[i] = pow(10, 6 * case_uniform(&c->random));
	left = c->in.kinds[0].n_devices;
	c->in.brief_device_s = case_below(&c->random, 2) * 3600 * left * case_uniform(&c->random);
	for (int i = 0; i < c->in.n_jobs; i++)
		case_draw_job(c, i, &left);
}

/* Visits every allocation: the largest sum, -INFINITY where none is allowed. */
static inline double case_best(const struct sched_case *c, const struct case_values *v, int job,
			       int left)
{
	double best = -HUGE_VAL;

	if (job == c->in.n_jobs)
		return 0;
	for (int r = 0; r <= left; r++)
		if (!isnan(v->of[job][r]))
			best = fmax(best, v->of[job][r] + case_best(c, v, job + 1, left - r));
	return best;
}

/* Whether what was chosen is allowed and as good as the best, to 1e-12 of the largest terms. */
static inline bool case_is_best(const struct sched_case *c, const struct case_values *v)
{
	double sum = 0, size = 0, best = case_best(c, v, 0, c->in.kinds[0].n_devices);
	int used = 0;

	for (int i = 0; i < c->in.n_jobs; i++) {
		used += c->choices[i].replicas;
		if (used > c->in.kinds[0].n_devices || isnan(v->of[i][c->choices[i].replicas]))
			return false;
		sum += v->of[i][c->choices[i].replicas];
		size += fabs(v->of[i][c->choices[i].replicas]);
	}
	return fabs(sum - best) <= 1e-12 * size;
}

#endif
