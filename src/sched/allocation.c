/* allocation.c - the dynamic program over jobs and devices.
 *
 * best[j][g], the most that jobs j, j + 1, ... can be worth on g devices, is the maximum over r of
 * value_j[r] + best[j + 1][g - r]: R. Bellman, "Dynamic Programming", 1957, chapter 1. Only two
 * rows of the table are kept, and for each maximum its r. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "allocation.h"
#include "pollux/mem.h"

#define VALUE_BITS 48

struct option {
	int replicas;
	struct total total;
};

struct table {
	int n_devices;
	int exponent;		/* the unit of values is 2^exponent */
	struct option *options;	/* of one job, n_devices + 1 at most, more devices first */
	struct total *row, *next;	/* n_devices + 1 each */
	int *taken;		/* [j * (n_devices + 1) + g] */
};

int allocation_exponent(const struct allocation_job *jobs, int n_jobs, int n_devices)
{
	double largest = 0;
	int exponent, jobs_bits, bits = VALUE_BITS;

	for (int j = 0; j < n_jobs; j++)
		for (int r = 0; r <= n_devices; r++)
			if (isfinite(jobs[j].value[r]))
				largest = fmax(largest, fabs(jobs[j].value[r]));
	frexp(largest, &exponent);
	frexp(n_jobs, &jobs_bits);
	if (bits + jobs_bits > 62)
		bits = 62 - jobs_bits;
	return exponent - bits;
}

static int set_options(const struct table *t, const struct allocation_job *job)
{
	int n = 0;

	for (int r = t->n_devices; r >= 0; r--) {
		if (!isfinite(job->value[r]))
			continue;
		t->options[n++] = (struct option){
			.replicas = r, .total.value = llrint(ldexp(job->value[r], -t->exponent)),
			.total.rank = (r == job->held ? t->n_devices + 1 : 0) - r,
		};
	}
	return n;
}

static void add_job(const struct table *t, int n_options, int *taken)
{
	for (int g = 0; g <= t->n_devices; g++) {
		struct total best = { INT64_MIN, 0 };
		int best_replicas = 0;

		for (int i = 0; i < n_options; i++) {
			const struct option *o = &t->options[i];
			struct total sum;

			if (o->replicas > g || t->next[g - o->replicas].value == INT64_MIN)
				continue;
			sum = t->next[g - o->replicas];
			sum.value += o->total.value;
			sum.rank += o->total.rank;
			if (best.value == INT64_MIN || total_is_more(&sum, &best)) {
				best = sum;
				best_replicas = o->replicas;
			}
		}
		t->row[g] = best;
		taken[g] = best_replicas;
	}
}

bool allocation_best(const struct allocation_job *jobs, int n_jobs, int n_devices, int *count)
{
	int width = (n_devices > 0 ? n_devices : 0) + 1;
	struct table t = {
		.n_devices = width - 1, .exponent = allocation_exponent(jobs, n_jobs, width - 1),
		.options = xcalloc((size_t)width, sizeof(*t.options)),
		.row = xcalloc((size_t)width, sizeof(*t.row)),
		.next = xcalloc((size_t)width, sizeof(*t.next)),
		.taken = xcalloc((size_t)n_jobs * (size_t)width, sizeof(*t.taken)),
	};
	int left = width - 1;
	bool allowed;

	/* The last job comes first here, so that the first job chooses first below. */
	for (int j = n_jobs - 1; j >= 0; j--) {
		struct total *swap = t.row;

		add_job(&t, set_options(&t, &jobs[j]), &t.taken[(size_t)j * (size_t)width]);
		t.row = t.next;
		t.next = swap;
	}
	allowed = t.next[left].value != INT64_MIN;
	for (int j = 0; j < n_jobs; j++) {
		count[j] = allowed ? t.taken[(size_t)j * (size_t)width + (size_t)left] : 0;
		left -= count[j];
	}
	free(t.options);
	free(t.row);
	free(t.next);
	free(t.taken);
	return allowed;
}
