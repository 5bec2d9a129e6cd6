/* failed_sizes.c - see failed_sizes.h. */
#include "pollux/failed_sizes.h"

#include <stddef.h>
#include <stdlib.h>


/* True if a has at least as many replicas as b, with at least as large local batches. */
static bool is_as_large(const struct configuration *a, const struct configuration *b)
{
	return a->replicas >= b->replicas && a->local_batch_size >= b->local_batch_size;
}

static bool is_believed(const struct failed_sizes *f, const struct observation *t)
{
	int64_t n_windows = 0;

	for (int i = 0; i < f->n_worked; i++) {
		const struct observation *w = &f->worked[i];

		if (!is_as_large(&w->configuration, &t->configuration))
			continue;
		if (w->run_id > t->run_id)
			return false;
		n_windows += w->n_windows;
	}
	return n_windows < MEMORY_ACCIDENT_WINDOWS;
}

void failed_sizes_settle(struct failed_sizes *f)
{
	int kept = 0;

	for (int i = 0; i < f->n_failed; i++)
		if (is_believed(f, &f->failed[i]))
			f->failed[kept++] = f->failed[i];
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
