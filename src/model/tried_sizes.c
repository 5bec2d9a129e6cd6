/* tried_sizes.c - bounds on all sizes, from those that ran out of memory, that failed and that
 * worked. */
#include "pollux/tried_sizes.h"

#include <stddef.h>
#include <stdlib.h>

#include "pollux/configuration.h"
#include "pollux/mem.h"

static int64_t samples_of_pass(const struct configuration *c)
{
	return c->replicas * c->local_batch_size;
}

/* True if a takes at least as much memory as b in any program. */
static bool takes_as_much(const struct memory_bounds *bounds, const struct observation *a,
			  const struct observation *b)
{
	const struct configuration *x = &a->configuration, *y = &b->configuration;

	if (!bounds->shared)
		return x->local_batch_size >= y->local_batch_size;
	return x->replicas >= y->replicas && samples_of_pass(x) >= samples_of_pass(y);
}

/* True if another run of at most the size of t also ran out, after the newest that fitted. */
static bool is_confirmed(const struct memory_bounds *b, const struct observation *t,
			 int64_t newest_fitted)
{
	for (int i = 0; i < b->n_ran_out; i++)
		if (b->ran_out[i].run_id != t->run_id && b->ran_out[i].run_id > newest_fitted &&
		    takes_as_much(b, t, &b->ran_out[i]))
			return true;
	return false;
}

static bool is_believed(const struct memory_bounds *b, const struct observation *t)
{
	int64_t newest_fitted = 0, n_windows = 0;

	for (int i = 0; i < b->n_fitted; i++) {
		if (!takes_as_much(b, &b->fitted[i], t))
			continue;
		n_windows += b->fitted[i].n_windows;
		if (b->fitted[i].run_id > newest_fitted)
			newest_fitted = b->fitted[i].run_id;
	}
	return newest_fitted < t->run_id &&
	       (n_windows < MEMORY_ACCIDENT_WINDOWS || is_confirmed(b, t, newest_fitted));
}

/* Judges all runs before it drops any, since they confirm each other. */
void memory_bounds_settle(struct memory_bounds *b)
{
	autofree bool *believed = xcalloc((size_t)b->n_ran_out, sizeof(*believed));
	int kept = 0;

	for (int i = 0; i < b->n_ran_out; i++)
		believed[i] = is_believed(b, &b->ran_out[i]);
	for (int i = 0; i < b->n_ran_out; i++)
		if (believed[i])
			b->ran_out[kept++] = b->ran_out[i];
	b->n_ran_out = kept;
}

/* For each run the smallest local batch for this number of replicas that certainly takes as much
 * memory counts, if there is one. */
int64_t memory_too_large(const struct memory_bounds *b, int replicas)
{
	int64_t least = 0;

	for (int i = 0; i < b->n_ran_out; i++) {
		const struct configuration *c = &b->ran_out[i].configuration;
		int64_t m = c->local_batch_size;

		if (b->shared)
			m = replicas < c->replicas ? 0 : ceil_div(samples_of_pass(c), replicas);
		if (m > 0 && (least == 0 || m < least))
			least = m;
	}
	return least;
}

/* For each run the largest local batch for this number of replicas that certainly takes no more
 * memory counts, if there is one. */
int64_t memory_fits(const struct memory_bounds *b, int replicas)
{
	int64_t too_large = memory_too_large(b, replicas), most = 0;

	for (int i = 0; i < b->n_fitted; i++) {
		const struct configuration *c = &b->fitted[i].configuration;
		int64_t m = c->local_batch_size;

		if (b->shared)
			m = replicas > c->replicas ? 0 : samples_of_pass(c) / replicas;
		if (m > most && (too_large == 0 || m < too_large))
			most = m;
	}
	return most;
}

/* The largest local batch to give this number of replicas: the largest that is known to fit, or
 * else one less than what is too large. 0: no limit; -1: every size is too large. */
static int64_t memory_limit(const struct memory_bounds *b, int replicas)
{
	int64_t too_large = memory_too_large(b, replicas), fits = memory_fits(b, replicas);

	if (too_large == 0)
		return 0;
	return fits > 0 ? fits : too_large > 1 ? too_large - 1 : -1;
}

int memory_least_bounded(const struct memory_bounds *b)
{
	int least = 0;

	if (!b->shared)
		return b->n_ran_out > 0;
	for (int i = 0; i < b->n_ran_out; i++)
		if (least == 0 || b->ran_out[i].configuration.replicas < least)
			least = b->ran_out[i].configuration.replicas;
	return least;
}

void memory_bounds_release(struct memory_bounds *b)
{
	free(b->ran_out);
	free(b->fitted);
	*b = (struct memory_bounds){ 0 };
}

/* ---- other reasons than memory ---- */

void failed_sizes_settle(struct failed_sizes *f)
{
	int kept = 0;

	for (int i = 0; i < f->n_failed; i++) {
		const struct observation *t = &f->failed[i];
		int64_t n_windows = 0;
		bool later = false;

		for (int k = 0; k < f->n_worked; k++) {
			const struct observation *w = &f->worked[k];

			if (w->configuration.replicas < t->configuration.replicas ||
			    w->configuration.local_batch_size < t->configuration.local_batch_size)
				continue;
			later |= w->run_id > t->run_id;
			n_windows += w->n_windows;
		}
		if (!later && n_windows < MEMORY_ACCIDENT_WINDOWS)
			f->failed[kept++] = f->failed[i];
	}
	f->n_failed = kept;
}

static const struct configuration *find_least(const struct failed_sizes *f, int replicas)
{
	const struct configuration *least = NULL;

	for (int i = 0; i < f->n_failed; i++) {
		const struct configuration *c = &f->failed[i].configuration;

		if (c->replicas <= replicas &&
		    (!least || c->local_batch_size < least->local_batch_size))
			least = c;
	}
	return least;
}

int64_t failed_sizes_least(const struct failed_sizes *f, int replicas)
{
	const struct configuration *least = find_least(f, replicas);

	return least ? least->local_batch_size : 0;
}

int64_t failed_sizes_limit(const struct failed_sizes *f, int replicas)
{
	const struct configuration *least = find_least(f, replicas);
	int64_t most = -1;

	if (!least)
		return 0;
	for (int i = 0; i < f->n_worked; i++) {
		const struct configuration *c = &f->worked[i].configuration;

		if (c->replicas >= least->replicas &&
		    c->local_batch_size < least->local_batch_size && c->local_batch_size > most)
			most = c->local_batch_size;
	}
	return most;
}

void failed_sizes_release(struct failed_sizes *f)
{
	free(f->failed);
	free(f->worked);
	*f = (struct failed_sizes){ 0 };
}

/* The smaller bound; 0 stands for no bound. */
static int64_t lesser(int64_t a, int64_t b)
{
	return a != 0 && (b == 0 || a < b) ? a : b;
}

int64_t sizes_too_large(const struct memory_bounds *b, const struct failed_sizes *f, int replicas)
{
	return lesser(memory_too_large(b, replicas), failed_sizes_least(f, replicas));
}

int64_t sizes_limit(const struct memory_bounds *b, const struct failed_sizes *f, int replicas)
{
	return lesser(memory_limit(b, replicas), failed_sizes_limit(f, replicas));
}
