/* store_aside.h - GPUs that are not given out for an hour, since CUDA does not start there.
 *
 * A start has died if its run failed within a minute of its launch, its log says that CUDA could
 * not be initialized, and pollux cannot start CUDA there either. A GPU is set aside after two such
 * starts within an hour, in this boot, of runs on that GPU alone. Those of a job (or a sweep) that
 * died so on another GPU, too, do not count: it has a fault of its own; nor do those of a job whose
 * --env names the GPUs. A run that works there later, or a person, gives the GPU back. Nothing is
 * kept for that: the runs in the store tell. */
#ifndef POLLUX_STORE_ASIDE_H
#define POLLUX_STORE_ASIDE_H

#include "pollux/job.h"
#include "pollux/store.h"

/* The beginning of such a run's diagnosis. */
#define CUDA_DOES_NOT_START "CUDA does not start"
#define ASIDE_DIED_WITHIN_S 60
#define ASIDE_S 3600
/* A job's first starts that died so are no failures. */
#define ASIDE_FORGIVEN 2

struct aside_list {
	struct aside {
		char device[DEVICE_ID_SIZE];
		double until_s;		/* wall clock */
	} *items;		/* owned */
	int count;
};

int store_aside_list(struct store *s, struct aside_list *list, struct err *err);
void aside_list_release(struct aside_list *list);
/* *until_s: when the device comes back; NaN: it is not set aside. */
double aside_until_s(const struct aside_list *list, const char *device);
/* Gives the device back: starts that died before now no longer count. */
int store_aside_retry(struct store *s, const char *device, struct err *err);

/* True if the run, whose row may not have its end yet, died so on a GPU of this machine. */
bool run_died_of_cuda(const struct run *run);
/* Whether that is no failure of its job: pollux run and profiles are not repeated. */
int store_aside_forgives(struct store *s, const struct run *run, bool *forgives, struct err *err);
/* Adds an event for each device of the run that is set aside now. */
int store_aside_tell(struct store *s, const struct run *run, struct err *err);

#endif
