/* team.h - threads that do the same task at the same time; private to the layer.
 *
 * The threads wait for one another in pthread_barrier_wait, asleep, as those of a training program
 * do. */
#ifndef MEASURE_TEAM_H
#define MEASURE_TEAM_H

#include <pthread.h>
#include <stdint.h>

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

#endif
