/* kernels.h - the kernels of kernel_text.h, compiled for a GPU by NVRTC. */
#ifndef TRAIN_KERNELS_H
#define TRAIN_KERNELS_H

#ifdef TRAIN_CUDA
#include <stddef.h>

/* Code for compute capability capability (90 is 9.0): for the machine itself or,
 * where this NVRTC does not know it, for the newest one before it, in a form that
 * the driver translates (PTX). For cuModuleLoadData(), and to be freed. NULL, and
 * a line that says why. */
char *kernels_compile(int capability, size_t *bytes, const char **why);

/* The compute capabilities that this NVRTC knows, at most capacity of them; how
 * many. -1, and a line that says why. */
int kernels_capabilities(int *capabilities, int capacity, const char **why);

#endif
#endif
