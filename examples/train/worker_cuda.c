/* worker_cuda.c - a replica on a GPU.
 *
 * The GPU holds the data, and parameters and a gradient of its own. The GPUs
 * exchange slices: each adds up one slice of all gradients, updates that slice of
 * the parameters, and copies the others' slices from them. (A reduce-scatter and
 * an all-gather; every GPU sends and receives 2 (R - 1) / R of the vector.) */
#include "worker.h"

#ifdef TRAIN_CUDA
#include "net_cuda.h"

#include <stdio.h>
#include <stdlib.h>

static struct cuda_worker *cuda_of(struct worker *worker)
{
	return (struct cuda_worker *)(void *)worker;
}

static void run_pass(struct cuda_worker *w, const int *samples, int n, float *gradient)
{
	const struct team_setup *s = w->base.setup;

	gpu_upload(&w->gpu, w->samples, samples, (size_t)n * sizeof(int));
	cuda_gather(w, &w->train, w->samples, 0, n);
	cuda_net_gradient(w, n, gradient);
	if (s->replicas * s->accumulation_steps > 1)
		cuda_norm_sqr(w, gradient, s->net->n_params, 1 / ((double)n * n), LOCAL_SQR);
	else
		cuda_net_sample_sqr(w, n);
}

static void pass(struct worker *worker, const int *samples, int n, bool first)
{
	struct cuda_worker *w = cuda_of(worker);
	size_t n_params = worker->setup->net->n_params;

	gpu_use(&w->gpu);
	if (n == 0) {
		gpu_clear(&w->gpu, w->gradient, n_params * sizeof(float));
	} else if (first) {
		run_pass(w, samples, n, w->gradient);
	} else {
		run_pass(w, samples, n, w->pass_gradient);
		cuda_add(w, w->gradient, w->pass_gradient, n_params);
	}
}

static void classify(struct worker *worker, int first, int n)
{
	struct cuda_worker *w = cuda_of(worker);

	gpu_use(&w->gpu);
	cuda_gather(w, &w->test, NULL, first, n);
	cuda_net_correct(w, n);
}

static void finish(struct worker *worker)
{
	struct cuda_worker *w = cuda_of(worker);
	double results[N_RESULTS] = { 0 };

	gpu_use(&w->gpu);
	gpu_download(&w->gpu, results, w->results, sizeof(results));
	gpu_clear(&w->gpu, w->results, sizeof(results));
	gpu_wait(&w->gpu);
	worker->loss_sum = results[LOSS];
	worker->local_sqr_sum = results[LOCAL_SQR];
	worker->n_correct = (int)results[CORRECT];
}

/* Waited for, as in share(), so that its time is not taken for that of what comes after. */
static void reduce(struct worker *worker, struct worker *const *all)
{
	struct cuda_worker *w = cuda_of(worker);
	float *sum = w->gradient + worker->first;

	gpu_use(&w->gpu);
	for (int q = 0; q < worker->setup->replicas; q++) {
		const struct cuda_worker *other = cuda_of(all[q]);

		if (q == worker->rank)
			continue;
		gpu_copy(&w->gpu, w->received, &other->gpu, other->gradient + worker->first,
			 worker->n * sizeof(float));
		cuda_add(w, sum, w->received, worker->n);
	}
	gpu_wait(&w->gpu);
}

static void update_slice(struct worker *worker, struct worker *const *all,
			 const struct update *u)
{
	struct cuda_worker *w = cuda_of(worker);
	float *params = w->params + worker->first, *sum = w->gradient + worker->first;
	float scale = 1 / (float)u->n_samples, momentum = (float)u->momentum, lr = (float)u->lr;
	long n = (long)worker->n;
	void *arguments[] = { &params, &w->velocity, &sum, &n, &scale, &momentum, &lr };

	(void)all;                       /* reduce() has left the sum here */
	gpu_use(&w->gpu);
	cuda_norm_sqr(w, sum, worker->n, 1, SLICE_SQR);
	if (u->lr != 0)
		gpu_launch(&w->gpu, KERNEL_update, worker->n, arguments);
	gpu_download(&w->gpu, &worker->slice_sqr, w->results + SLICE_SQR, sizeof(double));
	gpu_clear(&w->gpu, w->results + SLICE_SQR, sizeof(double));
	gpu_wait(&w->gpu);
}

static void share(struct worker *worker, struct worker *const *all)
{
	struct cuda_worker *w = cuda_of(worker);

	gpu_use(&w->gpu);
	for (int q = 0; q < worker->setup->replicas; q++) {
		const struct cuda_worker *other = cuda_of(all[q]);
		size_t first = all[q]->first;

		if (q != worker->rank)
			gpu_copy(&w->gpu, w->params + first, &other->gpu, other->params + first,
				 all[q]->n * sizeof(float));
	}
	gpu_wait(&w->gpu);
}

static void fetch(struct worker *worker)
{
	struct cuda_worker *w = cuda_of(worker);
	const struct weights *host = &worker->setup->weights;
	size_t first = worker->first, bytes = worker->n * sizeof(float);

	gpu_use(&w->gpu);
	gpu_download(&w->gpu, host->params + first, w->params + first, bytes);
	gpu_download(&w->gpu, host->velocity + first, w->velocity, bytes);
	gpu_wait(&w->gpu);
}

/* --- memory ---------------------------------------------------------------------- */

static float *floats(struct cuda_worker *w, size_t n)
{
	return gpu_allocate(&w->gpu, n, sizeof(float));
}

static double *doubles(struct cuda_worker *w, size_t n)
{
	return gpu_allocate(&w->gpu, n, sizeof(double));
}

static void init_ones(struct cuda_worker *w, size_t n)
{
	float *ones = allocate(n, sizeof(float));

	for (size_t i = 0; i < n; i++)
		ones[i] = 1;
	w->ones = floats(w, n);
	gpu_upload(&w->gpu, w->ones, ones, n * sizeof(float));
	gpu_wait(&w->gpu);
	free(ones);
}

static void init_passes(struct cuda_worker *w)
{
	const struct team_setup *s = w->base.setup;
	size_t n = s->local_batch_size < EVALUATION_CHUNK ? EVALUATION_CHUNK :
		   (size_t)s->local_batch_size;

	for (int l = 0; l <= s->net->n_layers; l++) {
		w->activation[l] = floats(w, n * (size_t)s->net->width[l]);
		w->delta[l] = l == 0 ? NULL : floats(w, n * (size_t)s->net->width[l]);
	}
	init_ones(w, n);
	w->pass_gradient = s->accumulation_steps > 1 ? floats(w, s->net->n_params) : NULL;
	w->samples = gpu_allocate(&w->gpu, n, sizeof(int));
	w->labels = gpu_allocate(&w->gpu, n, 1);
	w->per_sample = doubles(w, n);
	w->input_sums = doubles(w, n * SAMPLE_LANES);
	w->delta_sums = doubles(w, n * SAMPLE_LANES);
}

static void release_passes(struct cuda_worker *w)
{
	void *all[] = { w->ones, w->pass_gradient, w->samples, w->labels, w->per_sample,
			w->input_sums, w->delta_sums };

	for (int l = 0; l <= w->base.setup->net->n_layers; l++) {
		gpu_free(&w->gpu, w->activation[l]);
		gpu_free(&w->gpu, w->delta[l]);
	}
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		gpu_free(&w->gpu, all[i]);
}

static void resize(struct worker *worker)
{
	struct cuda_worker *w = cuda_of(worker);

	gpu_use(&w->gpu);
	release_passes(w);
	init_passes(w);
}

static void load_data(struct cuda_worker *w, struct device_data *device,
		      const struct dataset *data)
{
	size_t n = (size_t)data->n_samples, n_pixels = n * (size_t)data->n_inputs;

	device->pixels = gpu_allocate(&w->gpu, n_pixels, 1);
	device->labels = gpu_allocate(&w->gpu, n, 1);
	gpu_upload(&w->gpu, device->pixels, data->pixels, n_pixels);
	gpu_upload(&w->gpu, device->labels, data->labels, n);
}

static void load_weights(struct cuda_worker *w)
{
	const struct team_setup *s = w->base.setup;
	size_t n_params = s->net->n_params, n = w->base.n;

	w->params = floats(w, n_params);
	w->gradient = floats(w, n_params);
	w->velocity = floats(w, n);
	w->received = floats(w, n);
	gpu_upload(&w->gpu, w->params, s->weights.params, n_params * sizeof(float));
	gpu_upload(&w->gpu, w->velocity, s->weights.velocity + w->base.first,
		   n * sizeof(float));
}

static struct worker *open_worker(const struct worker *base)
{
	struct cuda_worker *w = allocate(1, sizeof(*w));

	w->base = *base;
	gpu_open(&w->gpu, base->rank, base->setup->tf32, &w->base.failure);
	load_data(w, &w->train, base->setup->train);
	load_data(w, &w->test, base->setup->test);
	load_weights(w);
	w->results = doubles(w, N_RESULTS);
	w->vector_sums = doubles(w, VECTOR_LANES);
	w->sums = doubles(w, LANES);
	init_passes(w);
	gpu_wait(&w->gpu);
	return &w->base;
}

static void close_worker(struct worker *worker)
{
	struct cuda_worker *w = cuda_of(worker);
	void *all[] = { w->train.pixels, w->train.labels, w->test.pixels, w->test.labels,
			w->params, w->gradient, w->velocity, w->received, w->results,
			w->vector_sums, w->sums };

	gpu_use(&w->gpu);
	release_passes(w);
	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		gpu_free(&w->gpu, all[i]);
	gpu_close(&w->gpu);
	free(w);
}

static void connect_all(struct worker *worker, struct worker *const *all)
{
	for (int q = 0; q < worker->setup->replicas; q++)
		if (q != worker->rank)
			gpu_connect(&cuda_of(worker)->gpu, &cuda_of(all[q])->gpu);
}

static const struct worker_kind kind = {
	.open = open_worker, .close = close_worker, .connect = connect_all, .resize = resize,
	.pass = pass, .classify = classify, .finish = finish,
	.reduce = reduce, .update = update_slice, .share = share, .fetch = fetch,
};

const struct worker_kind *worker_cuda(int replicas, const char **why)
{
	static char text[100];

	*why = cuda_open();
	if (*why)
		return NULL;
	if (replicas <= cuda.n_gpus)
		return &kind;
	snprintf(text, sizeof(text), "%d replicas need as many GPUs: CUDA shows %d", replicas,
		 cuda.n_gpus);
	*why = text;
	return NULL;
}

const char *worker_cuda_name(void)
{
	static char name[100] = "GPU";
	CUdevice device;

	if (cuda.cuDeviceGet(&device, 0) == CUDA_SUCCESS)
		cuda.cuDeviceGetName(name, sizeof(name), device);
	return name;
}

#else /* no TRAIN_CUDA */

const struct worker_kind *worker_cuda(int replicas, const char **why)
{
	(void)replicas;
	*why = "cannot use CUDA: train was built where CUDA's headers were not found";
	return NULL;
}

const char *worker_cuda_name(void)
{
	return "no GPU";
}

#endif
