/* job_change.c - act on jobs, and on the runs that they have. */
#include <stdio.h>
#include <unistd.h>

#include "command.h"
#include "job_change.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

int for_each_job(const struct command *command, int argc, char **argv, int first,
		 int (*act)(struct session *s, int64_t job_id, struct err *err), struct err *err)
{
	struct session s;
	long long id;
	int rc = 0, status = 0;

	if (first >= argc)
		return usage_error(command, err, "which job? give its number");
	for (int i = first; i < argc; i++)
		if (parse_job_id(command, argv[i], &id, err))
			return -1;
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	for (int i = first; i < argc; i++) {
		if (rc)		/* the last failure is left to main.c */
			fprintf(stderr, "pollux: %s\n", err->text);
		parse_job_id(command, argv[i], &id, err);
		rc = act(&s, id, err);
		if (rc && status == 0)
			status = err->exit_status;
	}
	session_close(&s);
	if (rc)
		err->exit_status = status;
	return rc ? rc : status;
}

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
		rc = store_run_request_stop(&s->store, all.items[i].id, reason, clock_boot_s(), err);
		runs->items[runs->count++] = all.items[i];
		run_init(&all.items[i]);	/* it is theirs now */
	}
	run_list_release(&all);
	return rc;
}

int change_job(struct session *s, int64_t job_id, const struct job_change *change, struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };
	struct run_list runs = { 0 };
	int rc;

	if (store_begin(&s->store, err))
		return -1;
	rc = change->act(s, job_id, &runs, err);
	if (rc)
		store_rollback(&s->store);
	else
		rc = store_commit(&s->store, err);
	for (int i = 0; rc == 0 && i < runs.count; i++)
		engine_wake(&at, &runs.items[i]);
	if (rc == 0 && isatty(STDOUT_FILENO))
		printf("Job %lld %s.\n", (long long)job_id, runs.count ? change->stopping : change->done);
	run_list_release(&runs);
	return rc;
}
