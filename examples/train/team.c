/* team.c - the threads, who computes what, and what they found together. */
#include "team.h"

#include "clock.h"
#include "die.h"
#include "worker.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <sysexits.h>

enum task { STEP, EVALUATE, FETCH, QUIT };

struct replica {
	struct team *team;
	struct worker *worker;
	pthread_t thread;
	int64_t arrived_ns, update_ns;
};

struct team {
	struct team_setup setup;
	const struct worker_kind *kind;
	struct replica *replicas;
	struct worker **workers;         /* the same ones as in replicas */
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

static void finish(struct replica *r)
{
	if (r->team->kind->finish)
		r->team->kind->finish(r->worker);
}

static void compute_gradient(struct replica *r)
{
	const struct team_setup *s = &r->team->setup;
	const struct update *u = r->team->update;
	struct worker *w = r->worker;

	w->loss_sum = w->local_sqr_sum = 0;
	for (int a = 0; a < s->accumulation_steps; a++) {
		int first = (a * s->replicas + w->rank) * s->local_batch_size;
		int n = smaller(s->local_batch_size, u->n_samples - first);

		if (n > 0)
			r->team->kind->pass(w, u->samples + first, n, a == 0);
		else if (a == 0)
			r->team->kind->pass(w, NULL, 0, true);
	}
	finish(r);
}

static void step(struct replica *r)
{
	struct team *team = r->team;

	compute_gradient(r);
	r->arrived_ns = clock_ns();
	meet(team);
	team->kind->reduce(r->worker, team->workers);
	int64_t reduced_ns = clock_ns();
	team->kind->update(r->worker, team->workers, team->update);
	r->update_ns = clock_ns() - reduced_ns;
	meet(team);
	if (team->kind->share) {
		team->kind->share(r->worker, team->workers);
		meet(team);
	}
}

static void evaluate(struct replica *r)
{
	const struct team_setup *s = &r->team->setup;
	int64_t n_test = s->test->n_samples, rank = r->worker->rank;
	int at = (int)(n_test * rank / s->replicas);
	int end = (int)(n_test * (rank + 1) / s->replicas);

	r->worker->n_correct = 0;
	for (; at < end; at += EVALUATION_CHUNK)
		r->team->kind->classify(r->worker, at, smaller(EVALUATION_CHUNK, end - at));
	finish(r);
	meet(r->team);
}

static void fetch(struct replica *r)
{
	r->team->kind->fetch(r->worker);
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
		case FETCH:
			fetch(r);
			break;
		case QUIT:
			return NULL;
		}
	}
}

static void replica_init(struct replica *r, struct team *team, int rank)
{
	size_t n_params = team->setup.net->n_params, n = (size_t)team->setup.replicas;
	struct worker base = { .setup = &team->setup, .rank = rank };

	base.first = n_params * (size_t)rank / n;
	base.n = n_params * ((size_t)rank + 1) / n - base.first;
	r->team = team;
	r->worker = team->workers[rank] = team->kind->open(&base);
}

struct team *team_new(const struct team_setup *setup)
{
	struct team *team = allocate(1, sizeof(*team));
	size_t n = (size_t)setup->replicas;

	team->setup = *setup;
	team->kind = setup->kind;
	team->replicas = allocate(n, sizeof(struct replica));
	team->workers = allocate(n, sizeof(struct worker *));
	if (pthread_barrier_init(&team->barrier, NULL, (unsigned)setup->replicas))
		die(EX_OSERR, "cannot make a barrier for %d threads", setup->replicas);
	for (int rank = 0; rank < setup->replicas; rank++) {
		struct replica *r = &team->replicas[rank];

		replica_init(r, team, rank);
		if (rank > 0 && pthread_create(&r->thread, NULL, work, r))
			die(EX_OSERR, "cannot start thread %d of %d", rank + 1,
			    setup->replicas);
	}
	for (int rank = 0; team->kind->connect && rank < setup->replicas; rank++)
		team->kind->connect(team->workers[rank], team->workers);
	return team;
}

void team_free(struct team *team)
{
	team->task = QUIT;
	meet(team);
	for (int rank = 0; rank < team->setup.replicas; rank++) {
		if (rank > 0)
			pthread_join(team->replicas[rank].thread, NULL);
		team->kind->close(team->workers[rank]);
	}
	pthread_barrier_destroy(&team->barrier);
	free(team->replicas);
	free(team->workers);
	free(team);
}

/* The others wait for the next task meanwhile. */
void team_reconfigure(struct team *team, int local_batch_size, int accumulation_steps)
{
	team->setup.local_batch_size = local_batch_size;
	team->setup.accumulation_steps = accumulation_steps;
	for (int rank = 0; rank < team->setup.replicas; rank++)
		team->kind->resize(team->workers[rank]);
}

/* Have all do it, this thread as replica 0. */
static void do_together(struct team *team, enum task task, void (*part)(struct replica *))
{
	team->task = task;
	meet(team);
	part(&team->replicas[0]);
	for (int q = 0; q < team->setup.replicas; q++)
		if (team->workers[q]->failure.status)
			die(team->workers[q]->failure.status, "%s",
			    team->workers[q]->failure.text);
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
		sum += team->workers[q]->local_sqr_sum;
	result->local_batch = n_passes > 1 ? s->local_batch_size : 1;
	result->local_sqr = n_passes > 1 ? sum / n_passes : sum / n;
	result->batch = n;
	result->batch_sqr = result->mean_sqr;
}

void team_step(struct team *team, const struct update *update,
	       struct update_result *result)
{
	double n = update->n_samples, sqr = 0, loss_sum = 0;

	team->update = update;
	do_together(team, STEP, step);
	*result = (struct update_result){ .local_sqr = (double)NAN };
	result->sync_ns = sync_time_ns(team, clock_ns());
	for (int q = 0; q < team->setup.replicas; q++) {
		loss_sum += team->workers[q]->loss_sum;
		sqr += team->workers[q]->slice_sqr;
	}
	result->loss = loss_sum / n;
	result->mean_sqr = sqr / (n * n);
	two_norms(team, result);
}

double team_evaluate(struct team *team)
{
	int n_correct = 0;

	do_together(team, EVALUATE, evaluate);
	for (int q = 0; q < team->setup.replicas; q++)
		n_correct += team->workers[q]->n_correct;
	return (double)n_correct / team->setup.test->n_samples;
}

void team_fetch(struct team *team)
{
	if (team->kind->fetch)
		do_together(team, FETCH, fetch);
}
