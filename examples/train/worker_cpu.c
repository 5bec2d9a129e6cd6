/* worker_cpu.c - a replica on the processor: OpenBLAS, and one set of parameters
 * that all replicas read. */
#include "worker.h"

#include "die.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

struct cpu_worker {
	struct worker base;              /* first: a pointer to it is one to this */
	struct pass pass;
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
	pass_init(&w->pass, s->net, capacity);
}

static void resize(struct worker *worker)
{
	release_passes(cpu_of(worker));
	init_passes(cpu_of(worker));
}

static struct worker *open_worker(const struct worker *base)
{
	struct cpu_worker *w = allocate(1, sizeof(*w));

	openblas_set_num_threads(1);     /* parallelism is the replicas' */
	w->base = *base;
	w->gradient = allocate(base->setup->net->n_params, sizeof(float));
	w->indices = allocate(EVALUATION_CHUNK, sizeof(int));
	init_passes(w);
	return &w->base;
}

static void close_worker(struct worker *worker)
{
	struct cpu_worker *w = cpu_of(worker);

	free(w->gradient);
	free(w->indices);
	release_passes(w);
	free(w);
}

static void run_pass(struct cpu_worker *w, const int *samples, int n, float *gradient)
{
	const struct team_setup *s = w->base.setup;

	dataset_gather(s->train, samples, n, w->pass.activation[0], w->pass.labels);
	w->base.loss_sum += net_gradient(s->net, s->weights.params, &w->pass, n, gradient);
	if (s->replicas * s->accumulation_steps > 1)
		w->base.local_sqr_sum += norm_sqr(gradient, s->net->n_params) / ((double)n * n);
	else
		w->base.local_sqr_sum += net_sample_sqr(s->net, &w->pass, n);
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
	worker->n_correct += net_correct(s->net, s->weights.params, &w->pass, n);
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
	const float *sum = cpu_of(all[0])->gradient + worker->first;
	float *velocity = worker->setup->weights.velocity + worker->first;
	float *params = worker->setup->weights.params + worker->first;
	int n = (int)worker->n;

	worker->slice_sqr = norm_sqr(sum, worker->n);
	if (u->lr == 0)
		return;
	cblas_saxpby(n, 1 / (float)u->n_samples, sum, 1, (float)u->momentum, velocity, 1);
	cblas_saxpy(n, -(float)u->lr, velocity, 1, params, 1);
}

const struct worker_kind worker_cpu = {
	.open = open_worker, .close = close_worker, .resize = resize,
	.pass = pass, .classify = classify, .reduce = reduce, .update = update_slice,
};
