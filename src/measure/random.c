/* random.c - random numbers by xorshift64* (S. Vigna, ACM Trans. Math. Softw. 42 (2016)). */
#include "random.h"

static double next(uint64_t *state)
{
	uint64_t x = *state;

	x ^= x >> 12;
	x ^= x << 25;
	x ^= x >> 27;
	*state = x;
	return (double)((x * UINT64_C(0x2545f4914f6cdd1d)) >> 11) * 0x1p-53 - 0.5;
}

void random_fill_fp32(float *x, size_t n)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++)
		x[i] = (float)next(&state);
}

void random_fill_fp64(double *x, size_t n)
{
	uint64_t state = 1;

	for (size_t i = 0; i < n; i++)
		x[i] = next(&state);
}
