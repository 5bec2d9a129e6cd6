/* net.h - a multilayer perceptron with ReLU and softmax cross-entropy: its
 * parameters in one flat vector, its gradients by OpenBLAS. */
#ifndef TRAIN_NET_H
#define TRAIN_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_LAYERS = 8 };

/* Layer l maps width[l] inputs to width[l + 1] outputs. Its weights, a matrix of
 * width[l + 1] rows and width[l] columns, begin at params[weights[l]], its
 * biases at params[biases[l]]. */
struct net {
	int n_layers;
	int width[MAX_LAYERS + 1];
	size_t weights[MAX_LAYERS];
	size_t biases[MAX_LAYERS];
	size_t n_params;
};

/* width has n_layers + 1 entries: inputs, hidden layers, classes. */
void net_init(struct net *net, int n_layers, const int *width);

/* Weights from He et al. 2015 (variance 2 / inputs), biases zero. */
void net_randomise(const struct net *net, float *params, uint64_t seed);

/* What one thread needs to pass up to capacity samples through a net. The
 * caller fills inputs (activation[0]) and labels. */
struct pass {
	int capacity;
	bool wants_sample_sqr;              /* net_gradient also computes sample_sqr */
	double sample_sqr;                  /* sum over the samples of |gradient of sample i|^2 */
	int segment;                        /* layers from one kept activation to the next */
	float *activation[MAX_LAYERS + 1];  /* capacity * width[l] */
	float *delta[MAX_LAYERS + 1];       /* d loss_i / d activation, before ReLU */
	/* The buffers that these point to: one for each layer, or those that layers share. */
	float *kept[MAX_LAYERS + 1], *kept_delta[MAX_LAYERS + 1];
	float *scratch[MAX_LAYERS + 1], *spare_delta[2];
	float *ones;                        /* capacity */
	uint8_t *labels;                    /* capacity */
};

/* With recompute only the activation of each segment's first layer is kept; backward computes the
 * others again: less memory, up to a third more time, and the same gradients. */
void pass_init(struct pass *pass, const struct net *net, int capacity, bool recompute);
void pass_release(struct pass *pass);

/* Forward and backward through the first n samples of pass. gradient (n_params)
 * becomes the SUM over them of each sample's gradient; returns the sum of the
 * losses. */
double net_gradient(const struct net *net, const float *params, struct pass *pass, int n,
		    float *gradient);

/* How many of the first n samples are classified as labelled. */
int net_correct(const struct net *net, const float *params, struct pass *pass, int n);

/* The squared norm of v, and a.b, summed in double over blocks of float sums. */
double norm_sqr(const float *v, size_t n);
double dot(const float *a, const float *b, size_t n);

#endif
