/* random_numbers.h - random numbers from a seed: splitmix64 (G. L. Steele, D. Lea and C. H. Flood,
 * "Fast splittable pseudorandom number generators", OOPSLA 2014). */
#ifndef POLLUX_RANDOM_NUMBERS_H
#define POLLUX_RANDOM_NUMBERS_H

#include <math.h>
#include <stdint.h>

static inline uint64_t random_bits(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

/* Each name leads to numbers of its own. */
static inline void random_add_name(uint64_t *state, const char *name)
{
	for (; *name; name++) {
		uint64_t bits = random_bits(state);

		*state += (unsigned char)*name + bits;
	}
}

/* In [0, 1). */
static inline double random_uniform(uint64_t *state)
{
	return (double)(random_bits(state) >> 11) / 9007199254740992.0;
}

static inline double random_exponential(uint64_t *state, double mean)
{
	return -mean * log(1 - random_uniform(state));
}

/* By G. E. P. Box and M. E. Muller (1958); the second number of each pair is dropped. */
static inline double random_normal(uint64_t *state)
{
	double r = sqrt(random_exponential(state, 2));

	return r * cos(2 * 3.14159265358979323846 * random_uniform(state));
}

#endif
