/* cuda_freeze_old.c - the stand-in for CUDA's driver, as drivers before 570 had it. */
#define CUDA_FREEZE_OLD
#include "cuda_freeze.c"	/* NOLINT(bugprone-suspicious-include) */
