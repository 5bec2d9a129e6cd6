/* team.c - threads that meet at a barrier before and after each task. */
#include "team.h"

#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

struct team_member {
	struct team *team;
	const struct device *device;	/* NULL: the thread is not bound */
	int rank;
	pthread_t thread;
	struct err err;			/* of binding the thread */
};

void team_meet(struct team *team)
{
	pthread_barrier_wait(&team->barrier);
}

static void bind(struct team_member *m)
{
	const struct device_backend *backend = m->device ? device_backend_of(m->device->id) : NULL;

	if (backend)
		backend->bind(m->device, 1, &m->err);
}

static void *run_tasks(void *argument)
{
	struct team_member *m = argument;

	bind(m);
	team_meet(m->team);		/* see team_start */
	for (;;) {
		team_meet(m->team);
		if (!m->team->task)
			return NULL;
		m->team->task(m->team, m->rank, m->team->count);
		team_meet(m->team);
	}
}

static int first_error(const struct team *team, struct err *err)
{
	for (int r = 0; r < team->n; r++) {
		if (team->members[r].err.exit_status) {
			*err = team->members[r].err;
			return -1;
		}
	}
	return 0;
}

/* If a thread cannot be started, the others stay at the barrier: the process is about to end. */
int team_start(struct team *team, int n, const struct device *devices, struct err *err)
{
	*team = (struct team){ .n = n, .members = xcalloc((size_t)n, sizeof(struct team_member)) };
	if (pthread_barrier_init(&team->barrier, NULL, (unsigned)n))
		return err_set(err, EX_OSERR, "cannot make a barrier for %d threads", n);
	for (int r = 0; r < n; r++) {
		struct team_member *m = &team->members[r];

		*m = (struct team_member){
			.team = team, .rank = r, .device = devices ? &devices[r] : NULL,
		};
		if (r > 0 && pthread_create(&m->thread, NULL, run_tasks, m))
			return err_set(err, EX_OSERR, "cannot start thread %d of %d", r + 1, n);
	}
	bind(&team->members[0]);
	team_meet(team);
	return first_error(team, err);
}

double team_do(struct team *team, team_task *task, int64_t count)
{
	double time_s;

	team->task = task;
	team->count = count;
	team_meet(team);
	time_s = task(team, 0, count);
	team_meet(team);
	return time_s;
}

void team_stop(struct team *team)
{
	team->task = NULL;
	team_meet(team);
	for (int r = 1; r < team->n; r++)
		pthread_join(team->members[r].thread, NULL);
	pthread_barrier_destroy(&team->barrier);
	free(team->members);
}
