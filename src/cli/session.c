/* session.c - open the store for a command; act on jobs. */
#include <unistd.h>

#include "command.h"
#include "pollux/clock.h"
#include "pollux/supervise.h"
#include "session.h"

int session_open(struct session *s, enum store_mode mode, struct err *err)
{
	if (paths_init(&s->paths, err))
		return -1;
	if (store_open(&s->store, &s->paths, mode, err) == 0)
		return 0;
	paths_release(&s->paths);
	return -1;
}

void session_close(struct session *s)
{
	store_close(&s->store);
	paths_release(&s->paths);
}

int for_each_job(const struct command *command, int argc, char **argv, int first,
		 int (*act)(struct session *s, int64_t job_id, struct err *err), struct err *err)
{
	struct session s;
	long long id;
	int rc = 0;

	if (first >= argc)
		return usage_error(command, err, "which job? give its number");
	for (int i = first; i < argc; i++)
		if (parse_job_id(command, argv[i], &id, err))
			return -1;
	if (session_open(&s, STORE_WRITE, err))
		return -1;
	for (int i = first; rc == 0 && i < argc; i++) {
		parse_job_id(command, argv[i], &id, err);
		rc = act(&s, id, err);
	}
	session_close(&s);
	return rc;
}

int stop_runs_of_job(struct session *s, int64_t job_id, enum stop_reason reason,
		     struct run_list *runs, struct err *err)
{
	int n = 0;

	if (store_runs_active(&s->store, runs, err))
		return -1;
	for (int i = 0; i < runs->count; i++) {
		struct run run = runs->items[i];

		if (run.job_id != job_id) {
			run_release(&runs->items[i]);
			continue;
		}
		runs->items[n++] = run;
		if (store_run_request_stop(&s->store, run.id, reason, clock_boot_s(), err)) {
			for (i++; i < runs->count; i++)
				run_release(&runs->items[i]);
			runs->count = n;
			return -1;
		}
	}
	runs->count = n;
	return 0;
}

void wake_runs(const struct run_list *runs)
{
	for (int i = 0; i < runs->count; i++)
		supervisor_wake(&runs->items[i]);
}
