/* supervisor_code.c - see supervisor_code.h. */
#include "supervisor_code.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/code_snapshot.h"
#include "pollux/mem.h"
#include "pollux/store_code.h"
#include "pollux/store_events.h"
#include "supervisor.h"

#define NOT_EXECUTABLE 126

static int enter_snapshot(struct supervisor *s, struct err *err)
{
	struct job_command *c = &s->command;
	const struct snapshot_command command = { &c->program, &c->directory, &c->argv, &c->env };

	if (!c->snapshot_dir || !c->repository)
		return err_set(err, NOT_EXECUTABLE, "the snapshot of the job's code was pruned: "
			       "'pollux again %lld' makes one of the present code",
			       (long long)s->job.id);
	return snapshot_enter(c->snapshot_dir, c->repository, &command, err);
}

/* The state that the code of this run is compared with, and how that state is called. */
static const char *state_before(const struct job_command *c, struct code_state *before)
{
	*before = c->first_code;
	if (before->tree[0])
		return "the first run";
	if (c->git_commit && c->git_tree) {
		snprintf(before->commit, sizeof(before->commit), "%.64s%s", c->git_commit,
			 c->git_dirty ? "+" : "");
		snprintf(before->tree, sizeof(before->tree), "%.64s", c->git_tree);
	}
	return "it was submitted";
}

static void compare(struct supervisor *s, struct text *said)
{
	const struct job_command *c = &s->command;
	const struct code_asking asking = {
		.dir = s->paths->dir, .variables = c->env.items, .limit_s = CODE_LIMIT_S,
	};
	struct code_state before;
	const char *since = state_before(c, &before);
	struct err err;

	if (code_state_read(c->repository, &asking, &s->run.code, NULL, &err)) {
		if (before.tree[0])
			text_addf(said, "whether the code changed since %s is not known: %s",
				  since, err.text);
		return;
	}
	if (!code_differs(&before, &s->run.code))
		return;
	text_addf(said, "code changed since %s: ", since);
	code_add_difference(c->repository, &asking, &before, &s->run.code, said);
}

int supervisor_take_code(struct supervisor *s, struct text *said, struct err *err)
{
	struct err failure;

	if (s->job.declared.snapshot && !s->job.profile)
		return enter_snapshot(s, err);
	if (!s->command.repository || s->job.profile || s->foreground)
		return 0;
	compare(s, said);
	if ((s->run.code.tree[0] && store_run_set_code(&s->store, &s->run, &failure)) ||
	    (said->length && store_event_add(&s->store, s->job.id, s->run.id, "code", said->data,
					     &failure)))
		supervisor_log(s, "%s", failure.text);
	return 0;
}

void supervisor_tell_own_files(struct supervisor *s)
{
	const char *dir = s->command.snapshot_dir;
	char *own = NULL, *text;
	struct err err;

	if (!dir || s->run.stop_reason != STOP_NONE || snapshot_own_files(dir, &own) != 1)
		return;
	text = xasprintf("runs made files in its snapshot of the code, such as '%s': 'pollux "
			 "prune' leaves them there", own);
	if (store_event_add(&s->store, s->job.id, s->run.id, "code", text, &err))
		supervisor_log(s, "%s", err.text);
	free(text);
	free(own);
}
