/* worker_cuda.c - a replica on a GPU.
 *
 * The GPU holds the data, and parameters and a gradient of its own. The GPUs
 * exchange slices: each adds up one slice of all gradients, updates that slice of
 * the parameters, and copies the others' slices from them. (A reduce-scatter and
 * an all-gather; every GPU sends and receives 2 (R - 1) / R of the vector.) */
#include "worker.h"

#ifdef TRAIN_CUDA
#include "gpu.h"

#include <stdio.h>
#include <stdlib.h>

/* How many threads share a sum: of a whole vector, of one number per sample, and
 * of one sample's activations. */
enum { VECTOR_LANES = 8192, LANES = 128, SAMPLE_LANES = 32 };

enum { LOSS, LOCAL_SQR, CORRECT, SLICE_SQR, N_RESULTS };

struct device_data {
	unsigned char *pixels, *labels;
};

/* All pointers are to the GPU's memory; shapes as in struct pass. */
struct cuda_worker {
	struct worker base;              /* first: a pointer to it is one to this */
	struct gpu gpu;
	struct device_data train, test;
	float *params, *gradient;
	float *velocity, *received;      /* of the slice: base.n */
	double *results;                 /* N_RESULTS */
	double *vector_sums, *sums;      /* VECTOR_LANES, LANES */
	/* Of one pass. */
	int *samples;
	unsigned char *labels;
	float *activation[MAX_LAYERS + 1], *delta[MAX_LAYERS + 1], *ones;
	float *pass_gradient;            /* NULL where an update is one pass */
	double *per_sample;              /* losses, hits or squared norms */
	double *input_sums, *delta_sums; /* SAMPLE_LANES of each sample */
};

static struct cuda_worker *cuda_of(struct worker *worker)
{
	return (struct cuda_worker *)(void *)worker;
}

/* --- kernels, with arguments of their types ---------------------------------- */

static void gather(struct cuda_worker *w, const struct device_data *data,
		   const int *samples, int first, int n)
{
	int width = w->base.setup->net->width[0];
	float scale = dataset_scale, offset = dataset_offset;
	const unsigned char *pixels = data->pixels, *labels = data->labels;
	void *arguments[] = { &pixels, &labels, &samples, &first, &n, &width, &scale, &offset,
			      &w->activation[0], &w->labels };

	gpu_launch(&w->gpu, KERNEL_gather, (size_t)n * (size_t)width, arguments);
}

static void add_bias(struct cuda_worker *w, int layer, int n)
{
	const struct net *net = w->base.setup->net;
	int width = net->width[layer + 1], relu = layer + 1 < net->n_layers;
	const float *bias = w->params + net->biases[layer];
	void *arguments[] = { &w->activation[layer + 1], &bias, &n, &width, &relu };

	gpu_launch(&w->gpu, KERNEL_add_bias, (size_t)n * (size_t)width, arguments);
}

static void relu_backward(struct cuda_worker *w, int layer, int n)
{
	long count = (long)n * w->base.setup->net->width[layer];
	void *arguments[] = { &w->delta[layer], &w->activation[layer], &count };

	gpu_launch(&w->gpu, KERNEL_relu_backward, (size_t)count, arguments);
}

static void cross_entropy(struct cuda_worker *w, int n)
{
	const struct net *net = w->base.setup->net;
	int last = net->n_layers, n_classes = net->width[last];
	void *arguments[] = { &w->activation[last], &w->labels, &n, &n_classes,
			      &w->delta[last], &w->per_sample };

	gpu_launch(&w->gpu, KERNEL_cross_entropy, (size_t)n, arguments);
}

static void count_hits(struct cuda_worker *w, int n)
{
	const struct net *net = w->base.setup->net;
	int last = net->n_layers, n_classes = net->width[last];
	void *arguments[] = { &w->activation[last], &w->labels, &n, &n_classes, &w->per_sample };

	gpu_launch(&w->gpu, KERNEL_classify, (size_t)n, arguments);
}

static void sqr_sums(struct cuda_worker *w, const float *v, int rows, long width, int lanes,
		     double *sums)
{
	void *arguments[] = { &v, &rows, &width, &lanes, &sums };

	gpu_launch(&w->gpu, KERNEL_sqr_sums, (size_t)rows * (size_t)lanes, arguments);
}

static void add_sample_sqr(struct cuda_worker *w, int n)
{
	int lanes = SAMPLE_LANES;
	void *arguments[] = { &w->input_sums, &w->delta_sums, &n, &lanes, &w->per_sample };

	gpu_launch(&w->gpu, KERNEL_add_sample_sqr, (size_t)n, arguments);
}

/* results[which] += scale times the sum of n numbers */
static void add_to_result(struct cuda_worker *w, const double *v, int n, double scale,
			  int which)
{
	int lanes = LANES;
	double *total = w->results + which;
	void *in_parts[] = { &v, &n, &lanes, &w->sums };
	void *at_last[] = { &w->sums, &lanes, &scale, &total };

	gpu_launch(&w->gpu, KERNEL_plain_sums, LANES, in_parts);
	gpu_launch(&w->gpu, KERNEL_add_up, 1, at_last);
}

/* results[which] += scale |v|^2 */
static void add_sqr_to_result(struct cuda_worker *w, const float *v, size_t n, double scale,
			      int which)
{
	sqr_sums(w, v, 1, (long)n, VECTOR_LANES, w->vector_sums);
	add_to_result(w, w->vector_sums, VECTOR_LANES, scale, which);
}

static void add(struct cuda_worker *w, float *sum, const float *v, size_t n)
{
	long count = (long)n;
	void *arguments[] = { &sum, &v, &count };

	gpu_launch(&w->gpu, KERNEL_add, n, arguments);
}

/* --- the net: net.c, with row-major matrices that cuBLAS takes for transposed -- */

static void forward(struct cuda_worker *w, int n)
{
	const struct net *net = w->base.setup->net;

	for (int l = 0; l < net->n_layers; l++) {
		int in = net->width[l], out = net->width[l + 1];
		struct product y = {
			.a_op = CUBLAS_OP_T, .b_op = CUBLAS_OP_N, .m = out, .n = n, .k = in,
			.a = w->params + net->weights[l], .a_rows = in,
			.b = w->activation[l], .b_rows = in, .c = w->activation[l + 1],
		};

		gpu_multiply(&w->gpu, &y);
		add_bias(w, l, n);
	}
}

static void layer_gradient(struct cuda_worker *w, int l, int n, float *gradient)
{
	const struct net *net = w->base.setup->net;
	int in = net->width[l], out = net->width[l + 1];
	struct product weights = {
		.a_op = CUBLAS_OP_N, .b_op = CUBLAS_OP_T, .m = in, .n = out, .k = n,
		.a = w->activation[l], .a_rows = in, .b = w->delta[l + 1], .b_rows = out,
		.c = gradient + net->weights[l],
	};

	gpu_multiply(&w->gpu, &weights);
	gpu_multiply_vector(&w->gpu, w->delta[l + 1], out, n, w->ones, gradient + net->biases[l]);
}

static void backward(struct cuda_worker *w, int n, float *gradient)
{
	const struct net *net = w->base.setup->net;

	for (int l = net->n_layers - 1; l >= 0; l--) {
		int in = net->width[l], out = net->width[l + 1];
		struct product inputs = {
			.a_op = CUBLAS_OP_N, .b_op = CUBLAS_OP_N, .m = in, .n = n, .k = out,
			.a = w->params + net->weights[l], .a_rows = in,
			.b = w->delta[l + 1], .b_rows = out, .c = w->delta[l],
		};

		layer_gradient(w, l, n, gradient);
		if (l == 0)
			break;
		gpu_multiply(&w->gpu, &inputs);
		relu_backward(w, l, n);
	}
}

static void sample_sqr(struct cuda_worker *w, int n)
{
	const struct net *net = w->base.setup->net;

	gpu_clear(&w->gpu, w->per_sample, (size_t)n * sizeof(double));
	for (int l = 0; l < net->n_layers; l++) {
		sqr_sums(w, w->activation[l], n, net->width[l], SAMPLE_LANES, w->input_sums);
		sqr_sums(w, w->delta[l + 1], n, net->width[l + 1], SAMPLE_LANES, w->delta_sums);
		add_sample_sqr(w, n);
	}
	add_to_result(w, w->per_sample, n, 1, LOCAL_SQR);
}

/* --- a worker's work ----------------------------------------------------------- */

static void run_pass(struct cuda_worker *w, const int *samples, int n, float *gradient)
{
	const struct team_setup *s = w->base.setup;

	gpu_upload(&w->gpu, w->samples, samples, (size_t)n * sizeof(int));
	gather(w, &w->train, w->samples, 0, n);
	forward(w, n);
	cross_entropy(w, n);
	add_to_result(w, w->per_sample, n, 1, LOSS);
	backward(w, n, gradient);
	if (s->replicas * s->accumulation_steps > 1)
		add_sqr_to_result(w, gradient, s->net->n_params, 1 / ((double)n * n), LOCAL_SQR);
	else
		sample_sqr(w, n);
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
		add(w, w->gradient, w->pass_gradient, n_params);
	}
}

static void classify(struct worker *worker, int first, int n)
{
	struct cuda_worker *w = cuda_of(worker);

	gpu_use(&w->gpu);
	gather(w, &w->test, NULL, first, n);
	forward(w, n);
	count_hits(w, n);
	add_to_result(w, w->per_sample, n, 1, CORRECT);
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
		add(w, sum, w->received, worker->n);
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
	add_sqr_to_result(w, sum, worker->n, 1, SLICE_SQR);
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
