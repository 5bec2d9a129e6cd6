/* worker_cpu.c - a replica on the processor, with OpenBLAS.
 *
 * The optimizer is sharded over the replicas: each updates its slice of one set of parameters,
 * which all read, and keeps that slice of the velocity. worker_cpu_replicated has all of both in
 * each replica, as data-parallel programs on several devices have. */
#include "worker.h"

#include "die.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

struct cpu_worker {
	struct worker base;              /* first: a pointer to it is one to this */
	struct pass pass;
	struct weights weights;          /* the setup's, or its own: all of them */
	int *indices;                    /* of test samples, one chunk */
	float *gradient;                 /* sum over this update's samples */
	float *pass_gradient;            /* the same of one pass after the first */
};

static struct cpu_worker *cpu_of(struct worker *worker)
{
	return (struct cpu_worker *)(void *)worker;
}

static void release_passes(struct cpu_worker *w)
{
	free(w->pass_gradient);
	w->pass_gradient = NULL;
	pass_release(&w->pass);
}

static void init_passes(struct cpu_worker *w)
{
	const struct team_setup *s = w->base.setup;
	int capacity = s->local_batch_size < EVALUATION_CHUNK ? EVALUATION_CHUNK :
		       s->local_batch_size;

	if (s->accumulation_steps > 1)
		w->pass_gradient = allocate(s->net->n_params, sizeof(float));
	pass_init(&w->pass, s->net, capacity, s->recompute);
	w->pass.wants_sample_sqr = s->replicas * s->accumulation_steps == 1;
}

static void resize(struct worker *worker)
{
	release_passes(cpu_of(worker));
	init_passes(cpu_of(worker));
}

static float *copy_of(const float *v, size_t n)
{
	float *copy = allocate(n, sizeof(*copy));

	memcpy(copy, v, n * sizeof(*copy));
	return copy;
}

static struct worker *open_worker(const struct worker *base)
{
	struct cpu_worker *w = allocate(1, sizeof(*w));

	openblas_set_num_threads(1);     /* parallelism is the replicas' */
	w->base = *base;
	w->weights = base->setup->weights;
	if (base->setup->kind == &worker_cpu_replicated) {
		size_t n = base->setup->net->n_params;

		w->weights.params = copy_of(w->weights.params, n);
		w->weights.velocity = copy_of(w->weights.velocity, n);
	}
	w->gradient = allocate(base->setup->net->n_params, sizeof(float));
	w->indices = allocate(EVALUATION_CHUNK, sizeof(int));
	init_passes(w);
	return &w->base;
}

static void close_worker(struct worker *worker)
{
	struct cpu_worker *w = cpu_of(worker);

	if (worker->setup->kind == &worker_cpu_replicated) {
		free(w->weights.params);
		free(w->weights.velocity);
	}
	free(w->gradient);
	free(w->indices);
	release_passes(w);
	free(w);
}

static void run_pass(struct cpu_worker *w, const int *samples, int n, float *gradient)
{
	const struct team_setup *s = w->base.setup;

	dataset_gather(s->train, samples, n, w->pass.activation[0], w->pass.labels);
	w->base.loss_sum += net_gradient(s->net, w->weights.params, &w->pass, n, gradient);
	if (s->replicas * s->accumulation_steps > 1)
		w->base.local_sqr_sum += norm_sqr(gradient, s->net->n_params) / ((double)n * n);
	else
		w->base.local_sqr_sum += w->pass.sample_sqr;
}

static void pass(struct worker *worker, const int *samples, int n, bool first)
{
	struct cpu_worker *w = cpu_of(worker);
	size_t n_params = worker->setup->net->n_params;

	if (n == 0) {
		memset(w->gradient, 0, n_params * sizeof(float));
	} else if (first) {
		run_pass(w, samples, n, w->gradient);
	} else {
		run_pass(w, samples, n, w->pass_gradient);
		cblas_saxpy((int)n_params, 1, w->pass_gradient, 1, w->gradient, 1);
	}
}

static void classify(struct worker *worker, int first, int n)
{
	const struct team_setup *s = worker->setup;
	struct cpu_worker *w = cpu_of(worker);

	for (int i = 0; i < n; i++)
		w->indices[i] = first + i;
	dataset_gather(s->test, w->indices, n, w->pass.activation[0], w->pass.labels);
	worker->n_correct += net_correct(s->net, w->weights.params, &w->pass, n);
}

/* Add every replica's slice to replica 0's, in the order of ranks. */
static void reduce(struct worker *worker, struct worker *const *all)
{
	float *sum = cpu_of(all[0])->gradient + worker->first;

	for (int q = 1; q < worker->setup->replicas; q++)
		cblas_saxpy((int)worker->n, 1, cpu_of(all[q])->gradient + worker->first, 1,
			    sum, 1);
}

static void update_slice(struct worker *worker, struct worker *const *all,
			 const struct update *u)
{
	const struct weights *w = &cpu_of(worker)->weights;
	const float *sum = cpu_of(all[0])->gradient + worker->first;
	float *velocity = w->velocity + worker->first;
	int n = (int)worker->n;

	worker->slice_sqr = norm_sqr(sum, worker->n);
	if (u->lr == 0)
		return;
	cblas_saxpby(n, 1 / (float)u->n_samples, sum, 1, (float)u->momentum, velocity, 1);
	cblas_saxpy(n, -(float)u->lr, velocity, 1, w->params + worker->first, 1);
}

static void copy_slice(const struct worker *slice, const struct weights *from,
		       const struct weights *to)
{
	size_t bytes = slice->n * sizeof(float);

	memcpy(to->params + slice->first, from->params + slice->first, bytes);
	memcpy(to->velocity + slice->first, from->velocity + slice->first, bytes);
}

static void take_other_slices(struct worker *worker, struct worker *const *all)
{
	for (int q = 0; q < worker->setup->replicas; q++)
		if (q != worker->rank)
			copy_slice(all[q], &cpu_of(all[q])->weights, &cpu_of(worker)->weights);
}

static void fetch(struct worker *worker)
{
	copy_slice(worker, &cpu_of(worker)->weights, &worker->setup->weights);
}

#define COMMON .open = open_worker, .close = close_worker, .resize = resize, .pass = pass, \
	.classify = classify, .reduce = reduce, .update = update_slice

const struct worker_kind worker_cpu = { COMMON };
const struct worker_kind worker_cpu_replicated = {
	COMMON, .share = take_other_slices, .fetch = fetch,
};
