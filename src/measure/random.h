/* random.h - operands without special cases such as zeros or powers of two; private to the
 * layer. */
#ifndef MEASURE_RANDOM_H
#define MEASURE_RANDOM_H

#include <stddef.h>
#include <stdint.h>

/* Fills x with uniform values in [-0.5, 0.5), the same in each run. */
void random_fill_fp32(float *x, size_t n);
void random_fill_fp64(double *x, size_t n);

#endif
