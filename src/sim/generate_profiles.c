/* generate_profiles.c - tables of a made-up application. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "generate.h"
#include "placement.h"
#include "pollux/random_numbers.h"

#define ERROR 0.02		/* standard deviation of the logarithm of times */
#define NOISE_ERROR 0.05	/* standard deviation of the logarithm of the noise scale */

/* --- times --- */

static void add_times(const struct kind *k, struct throughput_place place, double m,
		      uint64_t *random, struct text *t)
{
	double grad_s = throughput_grad_time(&k->params, m) * exp(ERROR * random_normal(random));
	double step_s =
		throughput_update_time(&k->params, place, m) * exp(ERROR * random_normal(random));

	/* A single GPU synchronises too, for a moment. */
	step_s = fmax(step_s, 1.001 * grad_s);
	text_addf(t, "%.0f,%.6g,%.6g\n", m, step_s, step_s - grad_s);
}

static void add_local_sizes(const struct kind *k, const char *head, struct throughput_place place,
			    uint64_t *random, struct text *t)
{
	for (int i = 0; i <= k->local_doublings; i++) {
		text_add(t, head);
		add_times(k, place, ldexp((double)k->min_local_batch_size, i), random, t);
	}
}

/* One to four nodes with one to `gpus` GPUs each, each placement by its smallest rotation. */
void generate_placements(const struct kind *k, int gpus, uint64_t *random, struct text *t)
{
	text_add(t, "placement,local_bsz,step_time,sync_time\n");
	for (int nodes = 1, n = gpus; nodes <= 4; nodes++, n *= gpus)
		for (int i = 0; i < n; i++) {
			char digits[5] = "", canonical[5], head[8];
			struct throughput_place place = throughput_place_on(nodes, 0);

			for (int node = nodes - 1, rest = i; node >= 0; node--, rest /= gpus) {
				digits[node] = (char)('1' + rest % gpus);
				place.replicas += 1 + rest % gpus;
			}
			placement_canonical(digits, canonical);
			if (strcmp(digits, canonical) != 0)
				continue;
			snprintf(head, sizeof(head), "%s,", digits);
			add_local_sizes(k, head, place, random, t);
		}
}

/* The next number of GPUs per node; 0: there is none. */
static int next_per_node(int per_node, int gpus)
{
	if (per_node == gpus)
		return 0;
	return 2 * per_node < gpus ? 2 * per_node : gpus;
}

/* Measures 1, 2, 4, ... GPUs of a node, and all of them. */
void generate_scalability(const struct kind *k, int gpus, uint64_t *random, struct text *t)
{
	static const int wide[] = { 6, 8, 12, 16 };

	text_add(t, "num_nodes,num_replicas,local_bsz,step_time,sync_time\n");
	for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
		for (int per_node = 1; per_node; per_node = next_per_node(per_node, gpus)) {
			struct throughput_place place =
				throughput_place_on(wide[i], wide[i] * per_node);
			char head[32];

			snprintf(head, sizeof(head), "%d,%d,", place.nodes, place.replicas);
			add_local_sizes(k, head, place, random, t);
		}
}

/* --- trainings --- */

/* All batch sizes have the same noise scale, so it is drawn from the same seed. */
void generate_validation(const struct kind *k, int doubling, uint64_t seed, struct text *t)
{
	double m0 = (double)k->initial_batch_size, scale = ldexp(1, doubling), iteration = 0;

	text_add(t, "progress,iteration,metric,grad_sqr,grad_var\n");
	for (int e = 0; e < k->epochs; e++) {
		double part = k->epochs > 1 ? (double)e / (k->epochs - 1) : 0;
		double phi = k->noise_scale * pow(k->growth, part) *
			     exp(NOISE_ERROR * random_normal(&seed));
		double gain = scale * (phi + m0) / (phi + scale * m0), sqr = 1 / (1 + 9 * part);

		iteration += k->updates / gain;
		text_addf(t, "%.10g,%.10g,%.4f,%.6g,%.6g\n", k->updates * (e + 1), round(iteration),
			  1 - exp(-3 * part), sqr, phi * sqr / m0);
	}
}
