/* supervisor_command.c - what a run is launched with. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/code.h"
#include "pollux/execution_plan.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_command.h"
#include "supervisor_remote.h"

/* --- values for templates --- */

char *supervisor_plan_args(const struct supervisor *s)
{
	struct execution_plans plans;
	const struct execution_plan *plan;
	struct err ignored;
	char *args;

	if (execution_plans_parse(s->job.declared.plans, &plans, &ignored))
		return NULL;
	plan = execution_plans_find(&plans, s->run.configuration.plan);
	args = plan ? xstrdup(plan->args) : NULL;
	execution_plans_release(&plans);
	return args;
}

void supervisor_name_nodes(const struct supervisor *s, struct strings *names,
			   struct template_values *values)
{
	if (!run_is_elsewhere(&s->run))
		return;
	run_node_names(&s->run, names);
	values->nodes = (struct template_nodes){ (int)names->count, names->items[0] };
	if (supervisor_remote)
		values->nodes.master = supervisor_remote->master();
}

/* --- the code --- */

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

/* --- files of another job in its way --- */

#define CLAIM_SIZE 128
#define SHORT_ID 8		/* characters of a store's name in the name of a file */

/* The owner of the files, as claimed: "STORE TIME", or "STORE" if an earlier pollux wrote the
 * claim. */
struct claim {
	char bytes[CLAIM_SIZE];
	const char *store;	/* "": nobody has */
	const char *time;	/* "": unknown */
};

static void read_claim(const char *path, struct claim *c)
{
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n = fd >= 0 ? read(fd, c->bytes, CLAIM_SIZE - 1) : 0;
	char *end;

	if (fd >= 0)
		close(fd);
	c->bytes[n > 0 ? n : 0] = '\0';
	end = c->bytes + strspn(c->bytes, "0123456789abcdef");
	c->store = c->bytes;
	c->time = *end == ' ' ? end + 1 : "";
	*end = '\0';
}

/* Renames path, if there is such a file, and says so. whose: the former owner, in words. */
static int move_file(const char *path, const struct claim *owner, const char *whose,
		     struct text *said, struct err *err)
{
	char *base = xasprintf("%s.of-%.*s", path, SHORT_ID,
			       *owner->store ? owner->store : "unknown");
	char *to = xstrdup(base);
	int rc = 0;

	for (int i = 2; access(to, F_OK) == 0; i++) {
		free(to);
		to = xasprintf("%s-%d", base, i);
	}
	if (rename(path, to) == 0)
		text_addf(said, "%s'%s' of %s is now '%s'", said->length ? "; " : "", path, whose,
			  to);
	else if (errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot rename '%s', which is of %s: %s", path,
			     whose, strerror(errno));
	free(base);
	free(to);
	return rc;
}

int earlier_files_move(const struct paths *paths, const struct job *job, const char *store_id,
		       struct text *said, struct err *err)
{
	char *log = paths_log(paths, job->id), *checkpoints = paths_checkpoints(paths, job->id);
	char *path = xasprintf("%s/logs/%lld.store", paths->dir, (long long)job->id);
	char *mine = xasprintf("%s %.6f", store_id, job->submit_time_s);
	char *time = strchr(mine, ' ') + 1;
	bool same_store, same_time;
	struct claim owner;
	int rc = 0;

	read_claim(path, &owner);
	same_store = !strcmp(owner.store, store_id);
	same_time = same_store && !strcmp(owner.time, time);
	if (*owner.store ? !same_store || (*owner.time && !same_time) : job->progress.runs <= 1) {
		const char *whose = same_store ? "a lost job of the same number" : "another store";

		rc = move_file(log, &owner, whose, said, err) ||
		     move_file(checkpoints, &owner, whose, said, err) ? -1 : 0;
	}
	if (rc == 0 && !same_time)
		rc = file_replace(path, mine, strlen(mine), err);
	free(log);
	free(checkpoints);
	free(path);
	free(mine);
	return rc;
}
