/* team.h - threads that do the same at the same time, and wait for one another; private to the layer.
 *
 * They wait in pthread_barrier_wait, asleep, as the threads of a training program do. */
#ifndef MEASURE_TEAM_H
#define MEASURE_TEAM_H

#include <pthread.h>
#include <stdint.h>

#include "pollux/device.h"

struct team;

/* What each thread does; returns what it timed, of which that of rank 0 counts. */
typedef double team_task(struct team *team, int rank, int64_t count);

struct team {
	int n;
	pthread_barrier_t barrier;
	struct team_member *members;	/* owned */
	team_task *task;
	int64_t count;
	void *data;			/* the tasks' */
};

/* n threads, the caller's being rank 0. devices: each thread is bound to its own (also the caller's); NULL:
 * all stay where the caller is. */
int team_start(struct team *team, int n, const struct device *devices, struct err *err);
double team_do(struct team *team, team_task *task, int64_t count);
void team_meet(struct team *team);
void team_stop(struct team *team);

#endif
