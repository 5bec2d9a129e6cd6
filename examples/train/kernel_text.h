/* kernel_text.h - what a GPU computes beside matrix products, as source text that
 * NVRTC compiles on the machine it runs on.
 *
 * NVRTC and not nvcc: a build needs no CUDA compiler then, and one program suits
 * every GPU that the installed NVRTC knows, those to come too.
 *
 * No kernel's threads wait for each other or share memory: a sum is made in
 * steps, each thread adding up every lanes-th number. So the same text is valid C
 * that a loop can run thread by thread (tests/cuda/host.c), and results do not
 * depend on the order in which threads run.
 *
 * Includers define KERNELS(...), KERNEL and FUNCTION: the text is one argument,
 * so it has no preprocessor lines. */

KERNELS(

FUNCTION long thread_number(void)
{
	return (long)blockIdx.x * (long)blockDim.x + (long)threadIdx.x;
}

/* Row i of inputs = the pixels of sample samples[i], as dataset_gather() has
 * them; samples null: of sample first + i. */
KERNEL void gather(const unsigned char *pixels, const unsigned char *labels,
		   const int *samples, int first, int n, int width, float scale, float offset,
		   float *inputs, unsigned char *batch_labels)
{
	long t = thread_number();
	long i = t / width;
	long k = t % width;

	if (i >= n)
		return;
	long sample = samples ? samples[i] : first + i;
	inputs[t] = (float)pixels[sample * width + k] * scale + offset;
	if (k == 0)
		batch_labels[i] = labels[sample];
}

/* y, n rows of width, becomes y + bias, or with relu != 0 max(y + bias, 0). */
KERNEL void add_bias(float *y, const float *bias, int n, int width, int relu)
{
	long t = thread_number();

	if (t >= (long)n * width)
		return;
	float sum = y[t] + bias[t % width];
	y[t] = relu && !(sum > 0) ? 0 : sum;
}

/* The derivative of ReLU: zero where its output is. */
KERNEL void relu_backward(float *delta, const float *output, long n)
{
	long t = thread_number();

	if (t < n && !(output[t] > 0))
		delta[t] = 0;
}

/* A thread per sample: loss = -ln p[label] with p = softmax(z), delta = p - [label]. */
KERNEL void cross_entropy(const float *logits, const unsigned char *labels, int n,
			  int n_classes, float *deltas, double *losses)
{
	long t = thread_number();

	if (t >= n)
		return;
	const float *z = logits + t * n_classes;
	float *delta = deltas + t * n_classes;
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
	delta[labels[t]] -= 1;
	losses[t] = log(sum) - (double)(z[labels[t]] - largest);
}

/* A thread per sample: 1 if its largest logit is at its label, else 0. */
KERNEL void classify(const float *logits, const unsigned char *labels, int n, int n_classes,
		     double *hits)
{
	long t = thread_number();

	if (t >= n)
		return;
	const float *z = logits + t * n_classes;
	int best = 0;
	for (int k = 1; k < n_classes; k++)
		if (z[k] > z[best])
			best = k;
	hits[t] = best == labels[t] ? 1 : 0;
}

/* sums[row * lanes + lane] = the sum of squares of every lanes-th number of that
 * row, from lane on. */
KERNEL void sqr_sums(const float *v, int rows, long width, int lanes, double *sums)
{
	long t = thread_number();
	long row = t / lanes;
	double sum = 0;

	if (row >= rows)
		return;
	for (long k = t % lanes; k < width; k += lanes)
		sum += (double)v[row * width + k] * (double)v[row * width + k];
	sums[t] = sum;
}

/* The same of one row of numbers as they are. */
KERNEL void plain_sums(const double *v, int width, int lanes, double *sums)
{
	long t = thread_number();
	double sum = 0;

	if (t >= lanes)
		return;
	for (long k = t; k < width; k += lanes)
		sum += v[k];
	sums[t] = sum;
}

/* By one thread: total += scale times the sum of n numbers. */
KERNEL void add_up(const double *v, int n, double scale, double *total)
{
	double sum = 0;

	if (thread_number() != 0)
		return;
	for (int k = 0; k < n; k++)
		sum += v[k];
	*total += scale * sum;
}

/* A thread per sample: the squared norm of its gradient in one layer, weights and
 * biases (layer_sample_sqr() in net.c), from lanes sums of squares of its inputs and of its
 * deltas, is added to sqr. */
KERNEL void add_sample_sqr(const double *input_sums, const double *delta_sums, int n,
			   int lanes, double *sqr)
{
	long t = thread_number();
	double input = 1;
	double delta = 0;

	if (t >= n)
		return;
	for (long k = t * lanes; k < (t + 1) * lanes; k++) {
		input += input_sums[k];
		delta += delta_sums[k];
	}
	sqr[t] += input * delta;
}

/* sum += v */
KERNEL void add(float *sum, const float *v, long n)
{
	long t = thread_number();

	if (t < n)
		sum[t] += v[t];
}

/* v = momentum v + scale g, w = w - lr v: scale makes a mean of the sum g. */
KERNEL void update(float *w, float *v, const float *g, long n, float scale, float momentum,
		   float lr)
{
	long t = thread_number();

	if (t >= n)
		return;
	v[t] = momentum * v[t] + scale * g[t];
	w[t] -= lr * v[t];
}

)
