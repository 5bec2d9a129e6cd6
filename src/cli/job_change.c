/* job_change.c - act on jobs, and on the runs that they have. */
#include <stdio.h>
#include <unistd.h>

#include "job_change.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

int stop_runs_of_job(struct session *s, int64_t job_id, enum stop_reason reason,
		     struct run_list *runs, struct err *err)
{
	struct run_list all;
	int rc = 0;

	if (store_runs_active(&s->store, &all, err))
		return -1;
	runs->items = xcalloc((size_t)all.count, sizeof(*runs->items));
	for (int i = 0; rc == 0 && i < all.count; i++) {
		if (all.items[i].job_id != job_id)
			continue;
		rc = store_run_request_stop(&s->store, all.items[i].id, reason, clock_boot_s(),
					    err);
		runs->items[runs->count++] = all.items[i];
		run_init(&all.items[i]);	/* its strings are owned by *runs now */
	}
	run_list_release(&all);
	return rc;
}

static int act_in_transaction(struct session *s, int64_t job_id, const struct job_change *change,
			      struct run_list *runs, struct err *err)
{
	struct job job;
	int rc;

	if (store_begin(&s->store, err))
		return -1;
	rc = store_job_get(&s->store, job_id, &job, err);
	if (rc == 0) {
		rc = change->act(s, &job, runs, err);
		job_release(&job);
	}
	if (rc == 0)
		return store_commit(&s->store, err);
	store_rollback(&s->store);
	return rc;
}

static int change_job(struct session *s, int64_t job_id, const struct job_change *change,
		      struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	struct run_list runs = { 0 };
	int rc = act_in_transaction(s, job_id, change, &runs, err);

	for (int i = 0; rc == 0 && i < runs.count; i++)
		engine_wake(&at, &runs.items[i]);
	if (rc == 0 && isatty(STDOUT_FILENO))
		printf("Job %lld %s.\n", (long long)job_id,
		       runs.count ? change->stopping : change->done);
	run_list_release(&runs);
	return rc;
}

int change_jobs(const struct command *command, const struct job_change *change, int argc,
		char **argv, struct err *err)
{
	int first, rc = 0, status = 0;
	struct session s;
	long long id;

	if (options_parse(command, argc, argv, NULL, &first, err))
		return -1;
	if (first >= argc)
		return usage_error(command, err, "which job? give its number");
	for (int i = first; i < argc; i++)
		if (parse_job_id(command, argv[i], &id, err))
			return -1;
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	for (int i = first; i < argc; i++) {
		if (rc)		/* main.c says the last failure */
			fprintf(stderr, "pollux: %s\n", err->text);
		parse_job_id(command, argv[i], &id, err);
		rc = change_job(&s, id, change, err);
		if (rc && status == 0)
			status = err->exit_status;
	}
	session_close(&s);
	if (rc)
		err->exit_status = status;
	return rc ? rc : status;
}
