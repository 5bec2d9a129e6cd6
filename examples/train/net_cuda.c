/* net_cuda.c - the net's kernels and products, queued on a GPU. */
#include "net_cuda.h"

#ifdef TRAIN_CUDA

/* --- kernels, with arguments of their types ---------------------------------- */

void cuda_gather(struct cuda_worker *w, const struct device_data *data, const int *samples,
		 int first, int n)
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

void cuda_norm_sqr(struct cuda_worker *w, const float *v, size_t n, double scale, int which)
{
	sqr_sums(w, v, 1, (long)n, VECTOR_LANES, w->vector_sums);
	add_to_result(w, w->vector_sums, VECTOR_LANES, scale, which);
}

void cuda_add(struct cuda_worker *w, float *sum, const float *v, size_t n)
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

void cuda_net_sample_sqr(struct cuda_worker *w, int n)
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

void cuda_net_gradient(struct cuda_worker *w, int n, float *gradient)
{
	forward(w, n);
	cross_entropy(w, n);
	add_to_result(w, w->per_sample, n, 1, LOSS);
	backward(w, n, gradient);
}

void cuda_net_correct(struct cuda_worker *w, int n)
{
	forward(w, n);
	count_hits(w, n);
	add_to_result(w, w->per_sample, n, 1, CORRECT);
}

#else
typedef int no_net_cuda;                 /* ISO C has no empty files */
#endif
