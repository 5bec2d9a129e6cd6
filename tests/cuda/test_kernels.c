/* test_kernels.c - the example trainer's GPU kernels: each, run on the host thread by thread,
 * against the processor's code for the same; and NVRTC compiles them for every GPU it knows. */
#include "kernels_on_host.h"
#include "tap.h"

#include "../../examples/train/data.h"
#include "../../examples/train/die.h"
#include "../../examples/train/gpu.h"
#include "../../examples/train/kernels.h"
#include "../../examples/train/net.h"

#include <cblas.h>
#include <stdint.h>
#include <string.h>

enum { N = 301, LANES = 32, MANY_LANES = 8192, SOME_LANES = 128 };

static uint64_t state = 7;

static float random_float(void)
{
	return (float)((double)(random_next(&state) >> 11) * 0x1p-53 - 0.5);
}

static float *random_floats(size_t n)
{
	float *v = allocate(n, sizeof(float));

	for (size_t i = 0; i < n; i++)
		v[i] = random_float();
	return v;
}

static float *copy_of(const float *v, size_t n)
{
	return memcpy(allocate(n, sizeof(float)), v, n * sizeof(float));
}

static int same(const float *a, const float *b, size_t n)
{
	return memcmp(a, b, n * sizeof(float)) == 0;
}

static double largest_difference(const float *a, const float *b, size_t n)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		largest = fmax(largest, fabs((double)a[i] - (double)b[i]));
	return largest;
}

/* As net_cuda.c adds up. */
static double sum_of(const double *v, int n, double scale, double before)
{
	double sums[SOME_LANES], total = before;

	RUN(SOME_LANES, plain_sums(v, n, SOME_LANES, sums));
	RUN(1, add_up(sums, SOME_LANES, scale, &total));
	return total;
}

static double sqr_of(const float *v, long n)
{
	double *sums = allocate(MANY_LANES, sizeof(double)), total;

	RUN(MANY_LANES, sqr_sums(v, 1, n, MANY_LANES, sums));
	total = sum_of(sums, MANY_LANES, 1, 0);
	free(sums);
	return total;
}

static void test_sums(void)
{
	static const long lengths[] = { 1, 31, 1024, 8191, 8193, 270001 };
	float *v = random_floats(270001);
	double numbers[N], sum = 0;

	for (size_t i = 0; i < sizeof(lengths) / sizeof(*lengths); i++)
		near(sqr_of(v, lengths[i]), norm_sqr(v, (size_t)lengths[i]), 1e-6,
		     "the squared norm of a vector");
	for (int i = 0; i < N; i++)
		sum += numbers[i] = i + 0.25;
	near(sum_of(numbers, N, 1, 0), sum, 1e-14, "a sum");
	near(sum_of(numbers, 1, 1, 0), 0.25, 0, "of one number");
	near(sum_of(numbers, N, 0.5, 3), 3 + sum / 2, 1e-14, "scaled and added to what was there");
	free(v);
}

static void test_vectors(void)
{
	enum { LENGTH = 1001 };
	float *w = random_floats(LENGTH), *v = random_floats(LENGTH), *g = random_floats(LENGTH);
	float *w2 = copy_of(w, LENGTH), *v2 = copy_of(v, LENGTH);
	const float scale = 1.0f / 96, momentum = 0.9f, lr = 0.05f;

	RUN(LENGTH, update(w, v, g, LENGTH, scale, momentum, lr));
	cblas_saxpby(LENGTH, scale, g, 1, momentum, v2, 1);
	cblas_saxpy(LENGTH, -lr, v2, 1, w2, 1);
	ok(largest_difference(v, v2, LENGTH) < 1e-7, "update: the velocity");
	ok(largest_difference(w, w2, LENGTH) < 1e-7, "and the parameters");
	RUN(LENGTH, add(w, g, LENGTH));
	cblas_saxpy(LENGTH, 1, g, 1, w2, 1);
	ok(largest_difference(w, w2, LENGTH) < 1e-6, "add");
	RUN(LENGTH, add(w, g, LENGTH - 5));
	ok(largest_difference(w + LENGTH - 5, w2 + LENGTH - 5, 5) < 1e-6, "and not beyond the end");
	free(w);
	free(v);
	free(g);
	free(w2);
	free(v2);
}

static void test_gather(void)
{
	enum { SAMPLES = 40, WIDTH = 29, BATCH = 9 };
	uint8_t pixels[SAMPLES * WIDTH], labels[SAMPLES], labels_1[BATCH], labels_2[BATCH];
	struct dataset data = { SAMPLES, WIDTH, 10, pixels, labels };
	int samples[BATCH] = { 39, 0, 7, 7, 21, 38, 1, 2, 3 };
	int row[BATCH] = { 5, 6, 7, 8, 9, 10, 11, 12, 13 };
	float inputs_1[BATCH * WIDTH], inputs_2[BATCH * WIDTH];

	for (int i = 0; i < SAMPLES * WIDTH; i++)
		pixels[i] = (uint8_t)random_next(&state);
	for (int i = 0; i < SAMPLES; i++)
		labels[i] = (uint8_t)(i % 10);
	dataset_gather(&data, samples, BATCH, inputs_1, labels_1);
	RUN(BATCH * WIDTH, gather(pixels, labels, samples, 0, BATCH, WIDTH, dataset_scale,
				  dataset_offset, inputs_2, labels_2));
	ok(largest_difference(inputs_1, inputs_2, sizeof(inputs_1) / sizeof(*inputs_1)) < 1e-6 &&
	   memcmp(labels_1, labels_2, BATCH) == 0, "gather of samples");
	dataset_gather(&data, row, BATCH, inputs_1, labels_1);
	RUN(BATCH * WIDTH, gather(pixels, labels, NULL, 5, BATCH, WIDTH, dataset_scale,
				  dataset_offset, inputs_2, labels_2));
	ok(largest_difference(inputs_1, inputs_2, sizeof(inputs_1) / sizeof(*inputs_1)) < 1e-6 &&
	   memcmp(labels_1, labels_2, BATCH) == 0, "gather of a row of them");
}

/* A net through which N samples have gone, on the processor. */
struct example {
	struct net net;
	struct pass pass;
	float *params, *gradient;
	double loss;
};

static void make_example(struct example *e)
{
	static const int width[] = { 43, 37, 19, 7 };

	net_init(&e->net, 3, width);
	e->params = random_floats(e->net.n_params);
	e->gradient = allocate(e->net.n_params, sizeof(float));
	pass_init(&e->pass, &e->net, N, false);
	e->pass.wants_sample_sqr = true;
	for (int i = 0; i < N * width[0]; i++)
		e->pass.activation[0][i] = 4 * random_float();
	for (int i = 0; i < N; i++)
		e->pass.labels[i] = (uint8_t)(random_next(&state) % 7);
	e->loss = net_gradient(&e->net, e->params, &e->pass, N, e->gradient);
}

static void release_example(struct example *e)
{
	pass_release(&e->pass);
	free(e->params);
	free(e->gradient);
}

static void test_add_bias(const struct example *e)
{
	const struct net *net = &e->net;

	for (int l = 0; l < net->n_layers; l++) {
		int in = net->width[l], out = net->width[l + 1], count = N * out;
		float *y = allocate((size_t)count, sizeof(float));

		cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasTrans, N, out, in, 1,
			    e->pass.activation[l], in, e->params + net->weights[l], in, 0, y, out);
		RUN(count, add_bias(y, e->params + net->biases[l], N, out, l + 1 < net->n_layers));
		ok(largest_difference(y, e->pass.activation[l + 1], (size_t)count) < 1e-5,
		   l + 1 < net->n_layers ? "add_bias and ReLU" : "add_bias alone");
		free(y);
	}
}

static void test_cross_entropy(const struct example *e)
{
	int last = e->net.n_layers, classes = e->net.width[last];
	size_t count = (size_t)N * (size_t)classes;
	float *delta = allocate(count, sizeof(float));
	double *losses = allocate(N, sizeof(double));

	RUN(N, cross_entropy(e->pass.activation[last], e->pass.labels, N, classes, delta, losses));
	ok(largest_difference(delta, e->pass.delta[last], count) < 1e-6,
	   "cross_entropy: the deltas");
	near(sum_of(losses, N, 1, 0), e->loss, 1e-9, "and the losses");
	free(delta);
	free(losses);
}

static void test_relu_backward(const struct example *e)
{
	int count = N * e->net.width[1], n_zero = 0;
	float *delta = random_floats((size_t)count), *want = copy_of(delta, (size_t)count);
	const float *output = e->pass.activation[1];

	for (int i = 0; i < count; i++) {
		if (!(output[i] > 0))
			want[i] = 0;
		n_zero += want[i] == 0;
	}
	RUN(count, relu_backward(delta, output, count));
	ok(same(delta, want, (size_t)count) && n_zero > count / 10 && n_zero < count,
	   "relu_backward");
	free(delta);
	free(want);
}

static void test_classify(struct example *e)
{
	int last = e->net.n_layers, classes = e->net.width[last];
	double *hits = allocate(N, sizeof(double));
	int want = net_correct(&e->net, e->params, &e->pass, N);

	RUN(N, classify(e->pass.activation[last], e->pass.labels, N, classes, hits));
	is_int((int)sum_of(hits, N, 1, 0), want, "classify");
	ok(want > 0 && want < N, "where there is something to tell apart");
	free(hits);
}

static void test_sample_sqr(const struct example *e)
{
	double *input = allocate((size_t)N * LANES, sizeof(double));
	double *delta = allocate((size_t)N * LANES, sizeof(double));
	double *sqr = allocate(N, sizeof(double));

	for (int l = 0; l < e->net.n_layers; l++) {
		RUN(N * LANES, sqr_sums(e->pass.activation[l], N, e->net.width[l], LANES, input));
		RUN(N * LANES,
		    sqr_sums(e->pass.delta[l + 1], N, e->net.width[l + 1], LANES, delta));
		RUN(N, add_sample_sqr(input, delta, N, LANES, sqr));
	}
	near(sum_of(sqr, N, 1, 0), e->pass.sample_sqr, 1e-6,
	     "the squared norms of single samples' gradients");
	free(input);
	free(delta);
	free(sqr);
}

#ifdef TRAIN_CUDA
/* How many of the kernels that gpu.c asks for are in the code by their names. */
static int n_named(const char *code, size_t bytes)
{
	static const char *const names[] = {
#define QUOTED(name) #name,
		GPU_KERNELS(QUOTED)
	};
	int n = 0;

	for (int k = 0; k < N_KERNELS; k++) {
		char entry[40];

		snprintf(entry, sizeof(entry), ".text.%s", names[k]);
		n += memmem(code, bytes, entry, strlen(entry) + 1) != NULL;
	}
	return n;
}

/* Translated code is text that names what it is for; machine code is an ELF file. */
static void test_compiles_for(int capability, const char *begins)
{
	const char *why = NULL;
	char name[100], *code;
	size_t bytes = 0;

	snprintf(name, sizeof(name), "NVRTC compiles the kernels for compute capability %d.%d%s",
		 capability / 10, capability % 10,
		 *begins == '/' ? ", for the driver to translate" : "");
	code = kernels_compile(capability, &bytes, &why);
	ok(code && bytes > 1000 && memcmp(code, begins, strlen(begins)) == 0, name);
	if (!code)
		printf("# %s\n", why);
	else if (*begins != '/')
		is_int(n_named(code, bytes), N_KERNELS,
		       "all of them, under the names they are asked by");
	free(code);
}

static void test_nvrtc(void)
{
	const char *why = NULL;
	int all[64], n = kernels_capabilities(all, 64, &why), newest = 0;
	size_t bytes;

	if (n < 0) {
		printf("# SKIPPED: whether NVRTC compiles the kernels: %s\n", why);
		return;
	}
	for (int i = 0; i < n; i++) {
		test_compiles_for(all[i], "\177ELF");
		newest = all[i] > newest ? all[i] : newest;
	}
	test_compiles_for(newest + 9, "//");
	ok(!kernels_compile(20, &bytes, &why) && strstr(why, "2.0"),
	   "and refuses a GPU too old, by its number");
}
#else
static void test_nvrtc(void)
{
	puts("# SKIPPED: whether NVRTC compiles the kernels: built without CUDA's headers");
}
#endif

int main(void)
{
	struct example e = { 0 };

	test_sums();
	test_vectors();
	test_gather();
	make_example(&e);
	test_add_bias(&e);
	test_cross_entropy(&e);
	test_relu_backward(&e);
	test_classify(&e);
	test_sample_sqr(&e);
	release_example(&e);
	test_nvrtc();
	return done();
}
