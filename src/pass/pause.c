/* pause.c - see pause.h: looks at the machine and at all runs once, and is asked about jobs. */
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/pause.h"
#include "stages.h"

struct pause_look {
	struct config config;
	struct snapshot snapshot;
	double left;			/* bytes that suspended runs may keep beside the others */
};

int pause_look_new(struct session *s, struct pause_look **look, struct err *err)
{
	struct engine_context at = { .paths = &s->paths, .store = &s->store };

	*look = xcalloc(1, sizeof(**look));
	if (session_settings(s, &(*look)->config, err) ||
	    pass_read_running(&at, &(*look)->config, &(*look)->snapshot, err)) {
		pause_look_free(*look);
		*look = NULL;
		return -1;
	}
	(*look)->left = suspend_memory_left(&(*look)->snapshot);
	return 0;
}

void pause_look_free(struct pause_look *look)
{
	if (look)
		snapshot_release(&look->snapshot);
	free(look);
}

enum suspend_bar pause_ask(struct pause_look *look, int64_t job_id, bool *freezes, int64_t *bytes)
{
	const struct snapshot *s = &look->snapshot;
	const struct job *job = snapshot_job(s, job_id);
	const struct run *run = job ? snapshot_run_of(s, job) : NULL;
	enum suspend_bar bar;

	*freezes = false;
	*bytes = 0;
	if (!run)
		return SUSPEND_BAR_ENGINE;
	if (job->declared.suspend == SUSPEND_NEVER)
		return SUSPEND_BAR_NEVER;
	if (run->suspension > SUSPENSION_NONE)
		return SUSPEND_MAY;
	bar = suspend_bar_of(s, run, look->left, bytes);
	*freezes = run_freezes(s, run);
	look->left -= bar == SUSPEND_MAY ? (double)*bytes : 0;
	return bar;
}
