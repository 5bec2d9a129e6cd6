/* cpu_work.h - what kernels on processors work with; private to the layer: threads that do the same
 * task at the same time, OpenBLAS, and the peak of cores.
 *
 * The threads wait for one another in pthread_barrier_wait, asleep, as those of a training program
 * do. */
#ifndef MEASURE_CPU_WORK_H
#define MEASURE_CPU_WORK_H

#include <pthread.h>
#include <stdint.h>

#include "backend.h"
#include "pollux/device.h"

struct team;

/* The task of each thread. Returns its time, seconds; the time of rank 0 counts. */
typedef double team_task(struct team *team, int rank, int64_t count);

struct team {
	int n;
	pthread_barrier_t barrier;
	struct team_member *members;	/* owned */
	team_task *task;
	int64_t count;
	void *data;			/* for the tasks */
};

/* Starts a team of n threads; rank 0 is the calling thread. Each thread, also the caller, is bound
 * to its device. devices NULL: all threads keep the binding of the caller. */
int team_start(struct team *team, int n, const struct device *devices, struct err *err);
/* Does a task in all threads, and returns the time of rank 0. */
double team_do(struct team *team, team_task *task, int64_t count);
/* Waits until all threads of the team call this function. */
void team_meet(struct team *team);
void team_stop(struct team *team);

/* ---- OpenBLAS ---- */

/* OpenBLAS is loaded by dlopen instead of being linked, so that 'status' and 'schedule' do not load
 * 30 MB and start its threads, and pollux runs without it. Loading it late also allows to set the
 * environment that it reads. It picks its kernels by the processor's model number, and on a model
 * newer than itself falls back to its oldest kernels, which are at least three times slower. In
 * this case the environment tells it which kernels to use. */

struct blas {
	/* C (m x n) = A (m x k) B (k x n), stored by rows without gaps. */
	void (*product_fp32)(int64_t m, int64_t n, int64_t k, const void *a, const void *b,
			     void *c);
	void (*product_fp64)(int64_t m, int64_t n, int64_t k, const void *a, const void *b,
			     void *c);
	const char *kernels;		/* "SkylakeX" */
};

/* Opens OpenBLAS with a number of threads, which get the affinity of the caller. At most once in a
 * process. EX_UNAVAILABLE: OpenBLAS is not installed, or pollux was built without its header. */
int blas_open(struct blas *blas, int threads, struct err *err);

/* ---- the peak of cores ---- */

/* Sends the theoretical peaks of a number of cores. processor is the logical processor of the first
 * core, on which the calling thread runs. */
void cpu_peak_send(struct sink *sink, int cores, int processor);

#endif
