/* team.c - the threads, the gradient exchange, and the update. */
#include "team.h"

#include "clock.h"
#include "die.h"

#include <cblas.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

enum { EVALUATION_CHUNK = 250 };         /* test samples per forward pass */

enum task { STEP, EVALUATE, QUIT };

struct replica {
	struct team *team;
	int rank;
	pthread_t thread;
	struct pass pass;
	int *indices;                    /* of test samples, one chunk */
	float *gradient;                 /* sum over this update's samples */
	float *pass_gradient;            /* the same of one pass after the first */
	/* What it found in the last task, for replica 0 to add up. */
	double loss_sum;
	double local_sqr_sum;            /* sum over passes of |mean gradient|^2, or,
					  * in a single pass, over samples of |gradient|^2 */
	double slice_sqr;                /* |sum of gradients|^2, this slice's part */
	int64_t arrived_ns, update_ns;
	int n_correct;
};

struct team {
	struct team_setup setup;
	struct replica *replicas;
	pthread_barrier_t barrier;
	enum task task;                  /* written between barriers, read after */
	const struct update *update;
};

static void meet(struct team *team)
{
	pthread_barrier_wait(&team->barrier);
}

static int smaller(int a, int b)
{
	return a < b ? a : b;
}

/* One forward and backward pass over n samples; the sum of their gradients. */
static void run_pass(struct replica *r, const int *samples, int n, float *gradient)
{
	const struct team_setup *s = &r->team->setup;

	dataset_gather(s->train, samples, n, r->pass.activation[0], r->pass.labels);
	r->loss_sum += net_gradient(s->net, s->weights.params, &r->pass, n, gradient);
	if (s->replicas * s->accumulation_steps > 1)
		r->local_sqr_sum += norm_sqr(gradient, s->net->n_params) / ((double)n * n);
	else
		r->local_sqr_sum += net_sample_sqr(s->net, &r->pass, n);
}

static void compute_gradient(struct replica *r)
{
	const struct team_setup *s = &r->team->setup;
	const struct update *u = r->team->update;
	int n_params = (int)s->net->n_params;

	r->loss_sum = r->local_sqr_sum = 0;
	for (int a = 0; a < s->accumulation_steps; a++) {
		int first = (a * s->replicas + r->rank) * s->local_batch_size;
		int n = smaller(s->local_batch_size, u->n_samples - first);

		if (n > 0 && a == 0) {
			run_pass(r, u->samples + first, n, r->gradient);
		} else if (n > 0) {
			run_pass(r, u->samples + first, n, r->pass_gradient);
			cblas_saxpy(n_params, 1, r->pass_gradient, 1, r->gradient, 1);
		} else if (a == 0) {
			memset(r->gradient, 0, s->net->n_params * sizeof(float));
		}
	}
}

/* Add every replica's slice to replica 0's, in the order of ranks. */
static void reduce_slice(struct team *team, size_t first, int n)
{
	for (int q = 1; q < team->setup.replicas; q++)
		cblas_saxpy(n, 1, team->replicas[q].gradient + first, 1,
			    team->replicas[0].gradient + first, 1);
}

/* v = momentum v + g, w = w - lr v, with g the sum of gradients / n_samples. */
static void update_slice(struct team *team, size_t first, int n)
{
	const struct update *u = team->update;
	struct weights w = team->setup.weights;

	if (u->lr == 0)
		return;
	cblas_saxpby(n, 1 / (float)u->n_samples, team->replicas[0].gradient + first, 1,
		     (float)u->momentum, w.velocity + first, 1);
	cblas_saxpy(n, -(float)u->lr, w.velocity + first, 1, w.params + first, 1);
}

static void step(struct replica *r)
{
	struct team *team = r->team;
	size_t n_params = team->setup.net->n_params;
	size_t replicas = (size_t)team->setup.replicas, rank = (size_t)r->rank;
	size_t first = n_params * rank / replicas;
	int n = (int)(n_params * (rank + 1) / replicas - first);

	compute_gradient(r);
	r->arrived_ns = clock_ns();
	meet(team);
	reduce_slice(team, first, n);
	int64_t reduced_ns = clock_ns();
	r->slice_sqr = norm_sqr(team->replicas[0].gradient + first, (size_t)n);
	update_slice(team, first, n);
	r->update_ns = clock_ns() - reduced_ns;
	meet(team);
}

static void evaluate(struct replica *r)
{
	const struct team_setup *s = &r->team->setup;
	int64_t n_test = s->test->n_samples;
	int at = (int)(n_test * r->rank / s->replicas);
	int end = (int)(n_test * (r->rank + 1) / s->replicas);

	r->n_correct = 0;
	for (; at < end; at += EVALUATION_CHUNK) {
		int n = smaller(EVALUATION_CHUNK, end - at);

		for (int i = 0; i < n; i++)
			r->indices[i] = at + i;
		dataset_gather(s->test, r->indices, n, r->pass.activation[0], r->pass.labels);
		r->n_correct += net_correct(s->net, s->weights.params, &r->pass, n);
	}
	meet(r->team);
}

static void *work(void *argument)
{
	struct replica *r = argument;

	for (;;) {
		meet(r->team);
		switch (r->team->task) {
		case STEP:
			step(r);
			break;
		case EVALUATE:
			evaluate(r);
			break;
		case QUIT:
			return NULL;
		}
	}
}

/* What depends on the size and number of the passes. */
static void init_passes(struct replica *r)
{
	const struct team_setup *s = &r->team->setup;
	int capacity = s->local_batch_size < EVALUATION_CHUNK ? EVALUATION_CHUNK :
		       s->local_batch_size;

	if (s->accumulation_steps > 1)
		r->pass_gradient = allocate(s->net->n_params, sizeof(float));
	pass_init(&r->pass, s->net, capacity);
}

static void release_passes(struct replica *r)
{
	free(r->pass_gradient);
	r->pass_gradient = NULL;
	pass_release(&r->pass);
}

static void replica_init(struct replica *r, struct team *team, int rank)
{
	r->team = team;
	r->rank = rank;
	r->gradient = allocate(team->setup.net->n_params, sizeof(float));
	r->indices = allocate(EVALUATION_CHUNK, sizeof(int));
	init_passes(r);
}

struct team *team_new(const struct team_setup *setup)
{
	struct team *team = allocate(1, sizeof(*team));

	openblas_set_num_threads(1);     /* parallelism is the replicas' */
	team->setup = *setup;
	team->replicas = allocate((size_t)setup->replicas, sizeof(struct replica));
	if (pthread_barrier_init(&team->barrier, NULL, (unsigned)setup->replicas))
		die(EX_OSERR, "cannot make a barrier for %d threads", setup->replicas);
	for (int rank = 0; rank < setup->replicas; rank++) {
		struct replica *r = &team->replicas[rank];

		replica_init(r, team, rank);
		if (rank > 0 && pthread_create(&r->thread, NULL, work, r))
			die(EX_OSERR, "cannot start thread %d of %d", rank + 1,
			    setup->replicas);
	}
	return team;
}

void team_free(struct team *team)
{
	team->task = QUIT;
	meet(team);
	for (int rank = 0; rank < team->setup.replicas; rank++) {
		struct replica *r = &team->replicas[rank];

		if (rank > 0)
			pthread_join(r->thread, NULL);
		free(r->gradient);
		free(r->indices);
		release_passes(r);
	}
	pthread_barrier_destroy(&team->barrier);
	free(team->replicas);
	free(team);
}

/* The others wait for the next task meanwhile. */
void team_reconfigure(struct team *team, int local_batch_size, int accumulation_steps)
{
	team->setup.local_batch_size = local_batch_size;
	team->setup.accumulation_steps = accumulation_steps;
	for (int rank = 0; rank < team->setup.replicas; rank++) {
		release_passes(&team->replicas[rank]);
		init_passes(&team->replicas[rank]);
	}
}

/* The exchange costs what passes between the last arrival and its end, less
 * the update in it, which a single replica has as well. */
static int64_t sync_time_ns(const struct team *team, int64_t end_ns)
{
	int64_t last_ns = 0;

	if (team->setup.replicas == 1)
		return 0;
	for (int q = 0; q < team->setup.replicas; q++)
		if (team->replicas[q].arrived_ns > last_ns)
			last_ns = team->replicas[q].arrived_ns;
	int64_t sync_ns = end_ns - last_ns - team->replicas[0].update_ns;
	return sync_ns > 0 ? sync_ns : 0;
}

/* The squared norms of gradients at two batch sizes. With several passes they
 * are those of the passes and of their mean, as any data-parallel program has
 * them at hand. A single pass has only its mean: then those of its samples.
 * (The gradient of the update before would do for the second batch size, were
 * it not for the step between: measured here at ordinary learning rates, phi
 * comes out 1.5 to 2.5 times too large that way.) */
static void two_norms(const struct team *team, struct update_result *result)
{
	const struct team_setup *s = &team->setup;
	int n_passes = s->replicas * s->accumulation_steps, n = team->update->n_samples;
	double sum = 0;

	if (n != n_passes * s->local_batch_size)
		return;
	for (int q = 0; q < s->replicas; q++)
		sum += team->replicas[q].local_sqr_sum;
	result->local_batch = n_passes > 1 ? s->local_batch_size : 1;
	result->local_sqr = n_passes > 1 ? sum / n_passes : sum / n;
	result->batch = n;
	result->batch_sqr = result->mean_sqr;
}

void team_step(struct team *team, const struct update *update,
	       struct update_result *result)
{
	double n = update->n_samples, sqr = 0, loss_sum = 0;

	team->task = STEP;
	team->update = update;
	meet(team);
	step(&team->replicas[0]);
	*result = (struct update_result){ .local_sqr = (double)NAN };
	result->sync_ns = sync_time_ns(team, clock_ns());
	for (int q = 0; q < team->setup.replicas; q++) {
		loss_sum += team->replicas[q].loss_sum;
		sqr += team->replicas[q].slice_sqr;
	}
	result->loss = loss_sum / n;
	result->mean_sqr = sqr / (n * n);
	two_norms(team, result);
}

double team_evaluate(struct team *team)
{
	int n_correct = 0;

	team->task = EVALUATE;
	meet(team);
	evaluate(&team->replicas[0]);
	for (int q = 0; q < team->setup.replicas; q++)
		n_correct += team->replicas[q].n_correct;
	return (double)n_correct / team->setup.test->n_samples;
}
