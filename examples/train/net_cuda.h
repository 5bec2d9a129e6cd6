/* net_cuda.h - the net on a GPU, and the memory that it takes there: what net.h
 * has for the processor. */
#ifndef TRAIN_NET_CUDA_H
#define TRAIN_NET_CUDA_H

#ifdef TRAIN_CUDA
#include "gpu.h"
#include "worker.h"

/* How many threads share a sum: of a whole vector, of one number per sample, and
 * of one sample's activations. */
enum { VECTOR_LANES = 8192, LANES = 128, SAMPLE_LANES = 32 };

enum { LOSS, LOCAL_SQR, CORRECT, SLICE_SQR, N_RESULTS };

struct device_data {
	unsigned char *pixels, *labels;
};

/* All pointers but setup's are to the GPU's memory; shapes as in struct pass. */
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

/* The inputs and labels of n samples: samples, or NULL for those from first on. */
void cuda_gather(struct cuda_worker *w, const struct device_data *data, const int *samples,
		 int first, int n);

/* Of the n samples that were gathered: the sum of their gradients, and results[LOSS]
 * grows by the sum of their losses. */
void cuda_net_gradient(struct cuda_worker *w, int n, float *gradient);

/* After cuda_net_gradient: results[LOCAL_SQR] grows by the sum over the samples of
 * |gradient of the sample|^2. */
void cuda_net_sample_sqr(struct cuda_worker *w, int n);

/* results[CORRECT] grows by how many of them are classified as labelled. */
void cuda_net_correct(struct cuda_worker *w, int n);

/* results[which] += scale |v|^2 */
void cuda_norm_sqr(struct cuda_worker *w, const float *v, size_t n, double scale, int which);

/* sum += v */
void cuda_add(struct cuda_worker *w, float *sum, const float *v, size_t n);

#endif
#endif
