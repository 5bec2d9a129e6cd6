/* blas.h - make OpenBLAS use this processor. */
#ifndef TRAIN_BLAS_H
#define TRAIN_BLAS_H

/* OpenBLAS picks its kernels by the processor's model number, and on a model
 * newer than itself falls back to its oldest, which here is three times slower.
 * If that has happened, start this program again with OPENBLAS_CORETYPE naming
 * better ones; else, or when that fails, return. Call it first. */
void blas_choose_kernels(char **argv);

#endif
