/* net.c - forward, backward, and the norms of gradients.
 *
 * With X the activations of a layer (a row per sample), W and b its parameters
 * and D the derivative of each sample's loss by the layer's sums:
 *
 *	Y = X W' + b	dW = D' X	db = D' 1	dX = D W
 */
#include "net.h"

#include "data.h"
#include "die.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void net_init(struct net *net, int n_layers, const int *width)
{
	size_t at = 0;

	memset(net, 0, sizeof(*net));
	net->n_layers = n_layers;
	net->width[0] = width[0];
	for (int l = 0; l < n_layers; l++) {
		net->width[l + 1] = width[l + 1];
		net->weights[l] = at;
		at += (size_t)width[l] * (size_t)width[l + 1];
		net->biases[l] = at;
		at += (size_t)width[l + 1];
	}
	net->n_params = at;
}

/* A standard normal number, by Box and Muller. */
static double random_normal(uint64_t *state)
{
	const double two_pi = 6.283185307179586;
	double u = ((double)(random_next(state) >> 11) + 1.0) * 0x1p-53;
	double v = (double)(random_next(state) >> 11) * 0x1p-53;

	return sqrt(-2 * log(u)) * cos(two_pi * v);
}

void net_randomise(const struct net *net, float *params, uint64_t seed)
{
	uint64_t state = ~seed;

	for (int l = 0; l < net->n_layers; l++) {
		double deviation = sqrt(2.0 / net->width[l]);

		for (size_t i = net->weights[l]; i < net->biases[l]; i++)
			params[i] = (float)(deviation * random_normal(&state));
		memset(params + net->biases[l], 0,
		       (size_t)net->width[l + 1] * sizeof(*params));
	}
}

static size_t largest_width(const struct net *net)
{
	int largest = 1;

	for (int l = 1; l < net->n_layers; l++)
		largest = net->width[l] > largest ? net->width[l] : largest;
	return (size_t)largest;
}

/* Activations and deltas of hidden layers that take turns share a buffer of the largest width. */
static void share_buffers(struct pass *pass, const struct net *net)
{
	size_t bytes = (size_t)pass->capacity * largest_width(net);

	for (int l = 1; l < net->n_layers; l++) {
		int turn = l % pass->segment;

		if (turn && !pass->scratch[turn])
			pass->scratch[turn] = allocate(bytes, sizeof(float));
		if (turn)
			pass->activation[l] = pass->scratch[turn];
		if (!pass->spare_delta[l % 2])
			pass->spare_delta[l % 2] = allocate(bytes, sizeof(float));
		pass->delta[l] = pass->spare_delta[l % 2];
	}
}

/* Segments of about the square root of the number of layers need the fewest buffers. */
static int segment_length(int n_layers)
{
	int length = 2;

	while (length * length < n_layers)
		length++;
	return length;
}

void pass_init(struct pass *pass, const struct net *net, int capacity, bool recompute)
{
	size_t n = (size_t)capacity;

	memset(pass, 0, sizeof(*pass));
	pass->capacity = capacity;
	pass->segment = recompute ? segment_length(net->n_layers) : net->n_layers;
	if (recompute)
		share_buffers(pass, net);
	for (int l = 0; l <= net->n_layers; l++) {
		size_t size = n * (size_t)net->width[l];

		if (!pass->activation[l])
			pass->activation[l] = pass->kept[l] = allocate(size, sizeof(float));
		if (l > 0 && !pass->delta[l])
			pass->delta[l] = pass->kept_delta[l] = allocate(size, sizeof(float));
	}
	pass->ones = allocate(n, sizeof(float));
	for (int i = 0; i < capacity; i++)
		pass->ones[i] = 1;
	pass->labels = allocate(n, 1);
}

void pass_release(struct pass *pass)
{
	for (int l = 0; l <= MAX_LAYERS; l++) {
		free(pass->kept[l]);
		free(pass->kept_delta[l]);
		free(pass->scratch[l]);
	}
	free(pass->spare_delta[0]);
	free(pass->spare_delta[1]);
	free(pass->ones);
	free(pass->labels);
}

/* Loops of a fixed count are what -O2 vectorises. */
enum { LANES = 16 };

static void relu(float *x, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			x[i + k] = x[i + k] > 0 ? x[i + k] : 0;
	for (; i < n; i++)
		x[i] = x[i] > 0 ? x[i] : 0;
}

/* The derivative of ReLU: zero where its output is. */
static void relu_backward(float *restrict delta, const float *restrict output, size_t n)
{
	size_t i = 0;

	for (; i + LANES <= n; i += LANES)
		for (size_t k = 0; k < LANES; k++)
			delta[i + k] = output[i + k] > 0 ? delta[i + k] : 0;
	for (; i < n; i++)
		delta[i] = output[i] > 0 ? delta[i] : 0;
}

/* Computes the activations of layers first + 1 .. last from that of layer first. */
static void forward(const struct net *net, const float *params, struct pass *pass, int n,
		    int first, int last)
{
	for (int l = first; l < last; l++) {
		int in = net->width[l], out = net->width[l + 1];
		float *y = pass->activation[l + 1];

		for (int i = 0; i < n; i++)
			memcpy(y + (size_t)i * (size_t)out, params + net->biases[l],
			       (size_t)out * sizeof(*y));
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, n, out, in, 1,
			    pass->activation[l], in, params + net->weights[l], in, 1, y, out);
		if (l + 1 < net->n_layers)
			relu(y, (size_t)n * (size_t)out);
	}
}

/* One sample: loss = -ln p[label] with p = softmax(z); delta = d loss / d z =
 * p - [label]. Returns the loss. */
static double cross_entropy(const float *z, float *delta, int n_classes, int label)
{
	float largest = z[0];
	double sum = 0;

	for (int k = 1; k < n_classes; k++)
		largest = z[k] > largest ? z[k] : largest;
	for (int k = 0; k < n_classes; k++) {
		delta[k] = expf(z[k] - largest);
		sum += (double)delta[k];
	}
	for (int k = 0; k < n_classes; k++)
		delta[k] = (float)((double)delta[k] / sum);
	delta[label] -= 1;
	/* cppcheck-suppress invalidFunctionArg ; sum >= 1: the largest gives exp(0) */
	return log(sum) - (double)(z[label] - largest);
}

static double loss_sum(const struct net *net, struct pass *pass, int n)
{
	int last = net->n_layers, n_classes = net->width[last];
	double sum = 0;

	for (int i = 0; i < n; i++) {
		size_t row = (size_t)i * (size_t)n_classes;

		sum += cross_entropy(pass->activation[last] + row, pass->delta[last] + row,
				     n_classes, pass->labels[i]);
	}
	return sum;
}

/* The gradient of sample i by the weights of a layer is the outer product of its
 * delta and its input, so its squared norm is the product of theirs, and the
 * bias adds 1 to the input's (Goodfellow, "Efficient Per-Example Gradient
 * Computations", 2015). */
static double layer_sample_sqr(const struct net *net, const struct pass *pass, int n, int l)
{
	size_t in = (size_t)net->width[l], out = (size_t)net->width[l + 1];
	double sum = 0;

	for (size_t i = 0; i < (size_t)n; i++)
		sum += (norm_sqr(pass->activation[l] + i * in, in) + 1) *
		       norm_sqr(pass->delta[l + 1] + i * out, out);
	return sum;
}

/* In a pass that recomputes, layers of one segment share their buffers with those of the others:
 * the activations of a segment are computed again before its top layer's gradient. */
static void backward(const struct net *net, const float *params, struct pass *pass, int n,
		     float *gradient)
{
	for (int l = net->n_layers - 1; l >= 0; l--) {
		int in = net->width[l], out = net->width[l + 1];
		const float *delta = pass->delta[l + 1];

		if (l % pass->segment == pass->segment - 1 && l + 1 < net->n_layers)
			forward(net, params, pass, n, l + 1 - pass->segment, l);
		if (pass->wants_sample_sqr)
			pass->sample_sqr += layer_sample_sqr(net, pass, n, l);
		cblas_sgemm(CblasRowMajor, CblasTrans, CblasNoTrans, out, in, n, 1, delta, out,
			    pass->activation[l], in, 0, gradient + net->weights[l], in);
		cblas_sgemv(CblasRowMajor, CblasTrans, n, out, 1, delta, out, pass->ones, 1, 0,
			    gradient + net->biases[l], 1);
		if (l == 0)
			break;
		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, n, in, out, 1, delta, out,
			    params + net->weights[l], in, 0, pass->delta[l], in);
		relu_backward(pass->delta[l], pass->activation[l], (size_t)n * (size_t)in);
	}
}

double net_gradient(const struct net *net, const float *params, struct pass *pass, int n,
		    float *gradient)
{
	pass->sample_sqr = 0;
	forward(net, params, pass, n, 0, net->n_layers);
	double loss = loss_sum(net, pass, n);
	backward(net, params, pass, n, gradient);
	return loss;
}

static int largest_index(const float *v, int n)
{
	int best = 0;

	for (int k = 1; k < n; k++)
		if (v[k] > v[best])
			best = k;
	return best;
}

int net_correct(const struct net *net, const float *params, struct pass *pass, int n)
{
	int n_classes = net->width[net->n_layers], correct = 0;
	const float *logits = pass->activation[net->n_layers];

	forward(net, params, pass, n, 0, net->n_layers);
	for (int i = 0; i < n; i++)
		correct += largest_index(logits + (size_t)i * (size_t)n_classes, n_classes) ==
			   pass->labels[i];
	return correct;
}

double dot(const float *a, const float *b, size_t n)
{
	enum { BLOCK = 1024 };
	double sum = 0;

	for (size_t i = 0; i < n; i += BLOCK) {
		int part = n - i < BLOCK ? (int)(n - i) : BLOCK;

		sum += (double)cblas_sdot(part, a + i, 1, b + i, 1);
	}
	return sum;
}

double norm_sqr(const float *v, size_t n)
{
	return dot(v, v, n);
}
