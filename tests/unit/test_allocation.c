/* The exact allocation: held to all allocations of small problems, tie by tie; that what may be
 * given can be placed; and first in, first out as the best of all allocations that its rule allows.
 * (Least attained service is no such maximum: what it launches depends on slices and on who
 * gathers.) */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "sched/allocation.h"
#include "sched/curve.h"
#include "sched_cases.h"
#include "tap.h"

#define CASES 10000

/* --- the dynamic program --- */

struct problem {
	struct allocation_job jobs[CASE_JOBS];
	double value[CASE_JOBS][CASE_DEVICES + 1];
	int n_jobs, n_devices;
	int count[CASE_JOBS], best[CASE_JOBS];
	double sum;		/* of best */
	bool any;
};

/* Whole numbers, few of them: sums are exact and often equal. */
static void draw_problem(uint64_t *x, struct problem *p)
{
	*p = (struct problem){ .n_jobs = case_below(x, CASE_JOBS + 1),
			       .n_devices = case_below(x, CASE_DEVICES + 1) };
	for (int j = 0; j < p->n_jobs; j++) {
		p->jobs[j] =
			(struct allocation_job){ case_below(x, p->n_devices + 1), p->value[j] };
		for (int r = 0; r <= p->n_devices; r++)
			p->value[j][r] = case_below(x, 4) ? case_below(x, 7) - 3.0 : -HUGE_VAL;
	}
}

/* Negative, 0 or positive as a comes after, with or before b in the order of the header. */
static int compare(const struct problem *p, const int *a, const int *b)
{
	double value = 0;
	int kept = 0, used = 0, first = 0;

	for (int j = 0; j < p->n_jobs; j++) {
		value += p->value[j][a[j]] - p->value[j][b[j]];
		kept += (a[j] == p->jobs[j].held) - (b[j] == p->jobs[j].held);
		used += a[j] - b[j];
		first = first ? first : a[j] - b[j];
	}
	if (value < 0 || value > 0)
		return value > 0 ? 1 : -1;
	return kept ? kept : used ? -used : first;
}

static void try_all(struct problem *p, int job, int left)
{
	if (job == p->n_jobs) {
		if (!p->any || compare(p, p->count, p->best) > 0)
			memcpy(p->best, p->count, sizeof(p->best));
		p->any = true;
		return;
	}
	for (int r = 0; r <= left; r++) {
		p->count[job] = r;
		if (isfinite(p->value[job][r]))
			try_all(p, job + 1, left - r);
	}
}

/* With one kind, the devices of a job are their number. */
static bool best(const struct allocation_job *jobs, int n_jobs, int n_devices, int *count)
{
	return allocation_best(jobs, n_jobs, &n_devices, 1, count, NULL);
}

static void test_ties(void)
{
	uint64_t random = 1;
	int wrong = 0, impossible = 0;

	for (int n = 0; n < CASES; n++) {
		struct problem p;
		int count[CASE_JOBS] = { 0 };
		bool any;

		draw_problem(&random, &p);
		try_all(&p, 0, p.n_devices);
		any = best(p.jobs, p.n_jobs, p.n_devices, count);
		wrong += any != p.any || memcmp(count, p.best, sizeof(count)) != 0;
		impossible += !any;
	}
	is_int(wrong, 0, "10,000 problems get the best allocation, with ties by the header");
	ok(impossible > 100 && impossible < CASES / 2,
	   "some of the 10,000 problems have no solution");
}

/* The same three values in any order: rounding must not tell them apart. */
static void test_rounding(void)
{
	static const double worth[3][2] = { { 0, 0.1 }, { 0, 0.2 }, { 0, 0.3 } };
	static const int order[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
					 { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
	static const double pair[] = { 0, 0, 0.1 + 0.2 }, single[] = { 0, 0.3, 0.3 };

	for (int i = 0; i < 6; i++) {
		struct allocation_job jobs[3];
		int count[3];

		for (int k = 0; k < 3; k++)
			jobs[k] = (struct allocation_job){ 0, worth[order[i][k]] };
		best(jobs, 3, 1, count);
		for (int k = 0; k < 3; k++)
			is_int(count[k], order[i][k] == 2,
			       "the device goes to the largest worth, wherever it stands");
	}

	const struct allocation_job near[] = { { 0, pair }, { 0, single } };
	int count[2];

	best(near, 2, 2, count);
	ok(count[0] == 0 && count[1] == 1, "a last digit is no difference, and fewer devices win");
}

static void test_extremes(void)
{
	static const double huge[] = { 0, 1e300 }, tiny[] = { 0, 1e-300 },
			    none[] = { -HUGE_VAL, -HUGE_VAL };
	static const double zero[] = { 0 }, odd[] = { 0, (double)NAN };
	struct allocation_job jobs[] = { { 0, tiny }, { 0, huge } };
	int count[2] = { 7, 7 };

	ok(best(jobs, 2, 1, count) && !count[0] && count[1] == 1,
	   "a worth of 1e300 counts before 1e-300");
	ok(best(jobs, 1, 1, count) && count[0] == 1,
	   "a worth of 1e-300 counts before nothing");
	jobs[0].value = odd;
	ok(best(jobs, 1, 1, count) && !count[0], "a worth of NaN gets no device");
	jobs[0].value = none;
	ok(!best(jobs, 2, 1, count) && !count[0] && !count[1],
	   "no device is given where there is no solution");
	jobs[0].value = jobs[1].value = zero;
	ok(best(jobs, 2, 0, count) && !count[0] && !count[1],
	   "no device is given where there is none");
	ok(best(jobs, 0, 4, count), "no jobs are a problem with a solution");
}

/* More jobs than sums of 2^48 each leave room for (the sanitizers see the overflow). */
static void test_many(void)
{
	enum { MANY = 100000 };
	static const double usual[] = { 1, 1.5 }, most[] = { 1, 1.5 + 1e-9 };
	static struct allocation_job jobs[MANY];
	static int count[MANY];
	int given = 0;

	for (int j = 0; j < MANY; j++)
		jobs[j].value = j == 30000 ? most : usual;
	best(jobs, MANY, 1, count);
	for (int j = 0; j < MANY; j++)
		given += count[j];
	ok(given == 1 && count[30000] == 1,
	   "the device of 100,000 jobs goes where it is worth 1e-9 more");
}

/* --- what may be given can be placed --- */

/* --- many jobs and devices, where prices leave few choices to search --- */

#define LARGE_JOBS 400
#define LARGE_DEVICES 100

struct sum {
	double value;
	int rank;	/* jobs that keep what they hold, then few devices */
};

/* A second dynamic program, over all choices. */
static bool best_of_all(const struct allocation_job *jobs, int n_jobs, int n_devices, int *count)
{
	static struct sum best[LARGE_JOBS + 1][LARGE_DEVICES + 1];
	static int taken[LARGE_JOBS][LARGE_DEVICES + 1];
	int left = n_devices;

	memset(best[n_jobs], 0, sizeof(best[n_jobs]));
	for (int j = n_jobs - 1; j >= 0; j--)
		for (int g = 0; g <= n_devices; g++) {
			struct sum *b = &best[j][g];

			*b = (struct sum){ -HUGE_VAL, 0 };
			for (int r = g; r >= 0; r--) {
				struct sum sum = best[j + 1][g - r];

				sum.value += jobs[j].value[r];
				sum.rank += (r == jobs[j].held ? LARGE_DEVICES + 1 : 0) - r;
				if (sum.value > b->value ||
				    (sum.value >= b->value && sum.rank > b->rank)) {
					*b = sum;
					taken[j][g] = r;
				}
			}
		}
	for (int j = 0; isfinite(best[0][n_devices].value) && j < n_jobs; j++)
		left -= count[j] = taken[j][left];
	return isfinite(best[0][n_devices].value);
}

/* Whole numbers are often equal. Some curves bend down, as goodput does, and others jump. */
static void draw_large(uint64_t *x, struct allocation_job *jobs,
		       double value[LARGE_JOBS][LARGE_DEVICES + 1])
{
	for (int j = 0; j < LARGE_JOBS; j++) {
		int most = 1 + case_below(x, LARGE_DEVICES), slope = 1 + case_below(x, 60);
		bool jumps = case_below(x, 4) == 0;

		jobs[j] = (struct allocation_job){ case_below(x, 4), value[j] };
		value[j][0] = case_below(x, 40) ? 0 : -HUGE_VAL;
		for (int r = 1; r <= LARGE_DEVICES; r++) {
			value[j][r] = jumps ? case_below(x, 100) : value[j][r - 1] + slope;
			if (r == 1 && !jumps)
				value[j][r] = 50 + slope;
			slope -= slope > 0 && case_below(x, 2);
			if (r > most || (jumps && case_below(x, 3) == 0))
				value[j][r] = -HUGE_VAL;
		}
	}
}

static void test_large(void)
{
	static double value[LARGE_JOBS][LARGE_DEVICES + 1];
	struct allocation_job jobs[LARGE_JOBS];
	int found[LARGE_JOBS], wanted[LARGE_JOBS], wrong = 0, none = 0;
	uint64_t x = 7;

	for (int i = 0; i < 30; i++) {
		int n_devices = 80 + case_below(&x, LARGE_DEVICES - 79);
		bool any;

		draw_large(&x, jobs, value);
		memset(wanted, 0, sizeof(wanted));
		any = best_of_all(jobs, LARGE_JOBS, n_devices, wanted);
		none += !any;
		wrong += best(jobs, LARGE_JOBS, n_devices, found) != any ||
			 memcmp(found, wanted, sizeof(found)) != 0;
	}
	is_int(wrong, 0, "many jobs on many devices get the allocation that comes first");
	ok(none < 15, "most of the large problems have an allocation");
}

/* The jobs of the given sizes, the largest first, each on whole nodes or within one. */
static bool pack(const int *size, int n_sizes, int node, int n_devices)
{
	int room[32], n_nodes = 0;

	for (int left = n_devices; left > 0; left -= node)
		room[n_nodes++] = left < node ? left : node;
	for (int i = 0; i < n_sizes; i++) {
		int rest = size[i];

		for (int k = 0; k < n_nodes && rest > 0; k++) {
			int part = rest < node ? rest : node;

			if (room[k] < part)
				continue;
			room[k] -= part;
			rest -= part;
		}
		if (rest)
			return false;
	}
	return true;
}

/* All selections of allowed sizes, falling, with a sum of at most the devices. */
static int unplaced(const struct sched_input *in, int *size, int n, int left)
{
	int bad = !pack(size, n, in->kinds[0].devices_per_node, in->kinds[0].n_devices);

	for (int r = n ? size[n - 1] : left; r > 0; r--) {
		if (r > left || !curve_placeable(in, r))
			continue;
		size[n] = r;
		bad += unplaced(in, size, n + 1, left - r);
	}
	return bad;
}

static void test_placement(void)
{
	int bad = 0, differ = 0, size[32];

	for (int node = 1; node <= 12; node++)
		for (int n = 1; n <= 26; n++) {
			struct sched_input in = { SCHED_ONE_KIND(n, node) };

			if (n > node)
				bad += unplaced(&in, size, 0, n);
			for (int r = 0; r <= n + 1; r++)
				differ += curve_placeable(&in, r) != case_placeable(&in, r);
		}
	is_int(bad, 0, "every choice of allowed numbers fits nodes of 1 to 12");
	is_int(differ, 0, "the allowed numbers divide a node or are whole nodes");
}

/* --- first in, first out --- */

struct fifo {
	const struct sched_case *c;
	int count[CASE_JOBS], best[CASE_JOBS];
	int best_started;
};

/* The rule: who runs keeps what he holds; nobody who can run at all is passed by one behind him;
 * and while somebody waits, those that start have their least. */
static bool fifo_allows(const struct fifo *f)
{
	bool waits = false, above_least = false;

	for (int i = 0; i < f->c->in.n_jobs; i++) {
		const struct sched_job *job = &f->c->jobs[i];

		if (job->replicas) {
			if (f->count[i] != job->replicas)
				return false;
			continue;
		}
		if (f->count[i] && waits)
			return false;
		if (f->count[i] &&
		    (f->count[i] < job->min_replicas || f->count[i] > job->max_replicas))
			return false;
		waits = waits || (!f->count[i] && job->min_replicas <= f->c->in.kinds[0].n_devices);
		above_least = above_least || f->count[i] > job->min_replicas;
	}
	return !(waits && above_least);
}

static bool gives_first(const int *a, const int *b)
{
	for (int i = 0; i < CASE_JOBS; i++)
		if (a[i] != b[i])
			return a[i] > b[i];
	return false;
}

/* Most jobs, then most for the first, the second, ... */
static void fifo_try(struct fifo *f, int job, int left)
{
	int started = 0;

	for (int r = left; r >= 0 && job < f->c->in.n_jobs; r--) {
		f->count[job] = r;
		fifo_try(f, job + 1, left - r);
	}
	if (job < f->c->in.n_jobs || !fifo_allows(f))
		return;
	for (int i = 0; i < f->c->in.n_jobs; i++)
		started += f->count[i] > 0;
	if (started > f->best_started ||
	    (started == f->best_started && gives_first(f->count, f->best))) {
		memcpy(f->best, f->count, sizeof(f->best));
		f->best_started = started;
	}
}

static void test_fifo(void)
{
	struct sched_case c = { .random = 3 };
	int wrong = 0, all_started = 0;

	for (int n = 0; n < CASES; n++) {
		struct fifo f = { .c = &c, .best_started = -1 };
		bool all = true;

		case_draw(&c);
		policy_fifo.decide(&c.in, c.choices);
		fifo_try(&f, 0, c.in.kinds[0].n_devices);
		for (int i = 0; i < c.in.n_jobs; i++) {
			wrong += c.choices[i].replicas != f.best[i];
			all = all && f.best[i];
		}
		all_started += all;
	}
	is_int(wrong, 0, "fifo is the best that its rule allows in 10,000 problems");
	ok(all_started > 1000 && all_started < CASES - 1000,
	   "the problems are with and without a line of waiting jobs");
}

int main(void)
{
	test_ties();
	test_rounding();
	test_extremes();
	test_many();
	test_large();
	test_placement();
	test_fifo();
	return done();
}
