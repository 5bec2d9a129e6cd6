/* cmd_wait.c - pollux wait: until jobs have ended, then exit as they did. */
#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"

#define LOOK_NS 100000000L	/* between looks for changes */

/* Exit statuses besides those of jobs and STATUS_NOT_RUN_TO_END, as timeout(1) and the shell use
 * them. */
#define STATUS_TIME_LIMIT 124
#define STATUS_SIGNAL 128

struct wait_options {
	double timeout_s;
	bool any;
	struct selection_options which;
};

static const struct option_spec options[] = {
	{ "any", 'a', OPTION_FLAG, NULL,
	  .offset = offsetof(struct wait_options, any), 0, 0,
	  "until the first of them has ended; print its number, exit as it did" },
	{ "timeout", 't', OPTION_DURATION, "TIME",
	  .offset = offsetof(struct wait_options, timeout_s), 0, 1e9,
	  "give up after this long, with exit status 75" },
	SELECTION_OPTIONS(offsetof(struct wait_options, which)),
	{ .name = NULL },
};

struct waited {
	int64_t id;
	enum job_state state;
	int exit_status;	/* once ended */
	bool told_held;
	/* it is paused at a rung of its sweep, and the sweep is over */
	bool stays_paused;
};

static bool is_waited_for(const struct waited *w)
{
	return !job_has_ended(w->state) && !w->stays_paused;
}

/* Returns the exit status of an ended job. A failure without a known status is 1. */
static int exit_status_of(const struct job *job)
{
	switch (job->state) {
	case JOB_DONE: return 0;
	case JOB_CANCELLED: return STATUS_NOT_RUN_TO_END;
	case JOB_TIMEOUT: return STATUS_TIME_LIMIT;
	case JOB_FAILED:
		if (job->progress.term_signal > 0)
			return STATUS_SIGNAL + job->progress.term_signal;
		return job->progress.exit_code > 0 ? job->progress.exit_code : EX_FAILED;
	case JOB_QUEUED:
	case JOB_HELD:
	case JOB_RUNNING: break;
	}
	return 0;
}

/* Looks at the jobs that had not ended; *left: the number of those that still have not. */
static int look_at_jobs(struct session *s, struct waited *waited, int n, int *left, struct err *err)
{
	int64_t group = 0;	/* whose sweep was read: the jobs of a group follow each other */
	bool is_over = false;
	struct job job;

	*left = 0;
	for (int i = 0; i < n; i++) {
		struct waited *w = &waited[i];
		bool is_paused;

		if (job_has_ended(w->state))
			continue;
		if (store_job_get(&s->store, w->id, &job, err))
			return -1;
		w->state = job_state_told(&job);
		w->exit_status = exit_status_of(&job);
		is_paused = job_is_paused(&job);
		if (is_paused && job.group_id != group) {
			struct halving_sweep sweep;

			group = job.group_id;
			if (store_halving_read(&s->store, group, &sweep, err)) {
				job_release(&job);
				return -1;
			}
			is_over = sweep.over;
			halving_sweep_release(&sweep);
		}
		job_release(&job);
		w->stays_paused = is_paused && is_over;
		if (w->state == JOB_HELD && !w->told_held)
			fprintf(stderr, "pollux: job %lld is held; 'pollux release %lld' lets it "
				"go\n", (long long)w->id, (long long)w->id);
		w->told_held = w->state == JOB_HELD;
		*left += is_waited_for(w);
	}
	return 0;
}

static int waited_too_long(struct session *s, const struct wait_options *o,
			   const struct waited *w, struct err *err)
{
	bool set_aside;

	if (store_job_is_set_aside(&s->store, w->id, &set_aside, err))
		return -1;
	return err_set(err, EX_TEMPFAIL, "job %lld has not ended within %g s: it %s",
		       (long long)w->id, o->timeout_s, job_state_clause(w->state, set_aside));
}

/* The version is read before the jobs: what changes in between is looked at again. */
static int wait_for_jobs(struct session *s, const struct wait_options *o, struct waited *waited,
			 int n, struct err *err)
{
	double end_s = clock_boot_s() + (isnan(o->timeout_s) ? (double)INFINITY : o->timeout_s);
	int64_t version = -1, now;
	int left = n;

	for (;;) {
		struct timespec pause = { .tv_nsec = LOOK_NS };
		double left_s;

		if (store_data_version(&s->store, &now, err))
			return -1;
		if (now != version && look_at_jobs(s, waited, n, &left, err))
			return -1;
		version = now;
		if (left == 0 || (o->any && left < n))
			return 0;
		left_s = end_s - clock_boot_s();
		for (int i = 0; left_s <= 0 && i < n; i++)
			if (is_waited_for(&waited[i]))
				return waited_too_long(s, o, &waited[i], err);
		if (left_s < (double)LOOK_NS * 1e-9)
			pause.tv_nsec = (long)(left_s * 1e9);
		nanosleep(&pause, NULL);
	}
}

/* Returns the exit status: as the first job that failed; with --any, as the first that ended. */
static int exit_status(const struct wait_options *o, const struct waited *waited, int n)
{
	int rc = 0;

	for (int i = 0; rc == 0 && i < n; i++) {
		if (o->any && is_waited_for(&waited[i]))
			continue;
		rc = waited[i].exit_status;
		if (o->any) {
			printf("%lld\n", (long long)waited[i].id);
			break;
		}
	}
	return rc;
}

/* True if --state alone left no job, so that there is nothing to wait for: all that the operands
 * and the other options mean have ended, say. err: why nothing was selected. */
static bool nothing_is_left(const struct selecting *what, struct store *s, const struct err *err)
{
	struct selection_options of_any_state = *what->options;
	struct selecting wider = *what;
	struct id_list ids;
	struct err ignored;
	bool there;

	if (err->exit_status != EX_NOINPUT || !what->options->states)
		return false;
	of_any_state.states = NULL;
	wider.options = &of_any_state;
	if (!selection_is_given(&wider))
		return true;
	there = selection_read(&wider, s, &ids, &ignored) == 0;
	id_list_release(&ids);
	return there;
}

static int main_wait(int argc, char **argv, struct err *err)
{
	struct wait_options o = { .timeout_s = NAN, .which = SELECTION_INIT };
	struct selecting what = { .command = &cmd_wait, .options = &o.which };
	struct waited *waited;
	struct id_list ids;
	struct session s;
	int rc;

	if (selecting_parse(&what, argc, argv, &o, err))
		return -1;
	if (!selection_is_given(&what))
		return usage_error(&cmd_wait, err, "wait for which job? give its number");
	if (selection_check(&what, err) || session_open(&s, STORE_READ, err))
		return -1;
	rc = selection_read(&what, &s.store, &ids, err);
	if (rc && nothing_is_left(&what, &s.store, err)) {
		rc = 0;
	} else if (rc == 0) {
		waited = xcalloc((size_t)ids.count, sizeof(*waited));
		for (int i = 0; i < ids.count; i++)
			waited[i] = (struct waited){ .id = ids.items[i], .state = JOB_QUEUED };
		rc = wait_for_jobs(&s, &o, waited, ids.count, err);
		if (rc == 0)
			rc = exit_status(&o, waited, ids.count);
		free(waited);
	}
	id_list_release(&ids);
	session_close(&s);
	return rc;
}

const struct command cmd_wait = {
	.name = "wait", .synopsis = "[--any] [--timeout TIME] [SELECTION] [JOB...]",
	.summary = "wait until jobs have ended; exit as the job did",
	.example = "pollux wait 17 && ./evaluate.sh\n"
		   "pollux wait --timeout 2h 17 18\n"
		   "pollux wait 'lr*'\n"
		   "pollux wait --any 17-19",
	.options = options, .takes_jobs = true, .run = main_wait,
};
