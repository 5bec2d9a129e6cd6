/* submit_snapshot.c - see submit_snapshot.h. */
#include "submit_snapshot.h"

#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/report.h"

static const char *place_of_code(const struct job_command *command)
{
	return command->repository ? command->repository : command->directory;
}

int submit_snapshot(const struct paths *paths, const struct job *job, struct job_command *command,
		    struct code_snapshot *s, struct err *err)
{
	*s = (struct code_snapshot){ .lock = -1, .remarks = TEXT_INIT };
	if (!job->declared.snapshot)
		return 0;
	if (snapshot_make(paths, place_of_code(command), s, err))
		return -1;
	xreplace(&command->snapshot_dir, s->dir);
	xreplace(&command->repository, s->top);
	if (s->remarks.length)
		output_messagef("warning: the snapshot has links to these, whose files it uses as "
				"they are when it runs: %s", s->remarks.data);
	return 0;
}

void submit_snapshot_end(struct code_snapshot *s, int rc)
{
	if (rc)
		snapshot_drop(s);
	else
		snapshot_keep(s);
}

int submit_snapshot_tell(const struct job *job, const struct job_command *command,
			 struct err *err)
{
	struct git git = { .directory = place_of_code(command),
			   .until_boot_s = clock_boot_s() + SNAPSHOT_LIMIT_S };
	struct code_repository r;

	if (!job->declared.snapshot)
		return 0;
	if (code_repository_find(&git, &r, err))
		return err_prefix(err, "no snapshot of the code can be made");
	output_messagef("a snapshot of '%s' would be made, at commit %.6s%s", r.top,
			r.head.commit,
			command->git_dirty ? " with its uncommitted changes" : "");
	code_repository_release(&r);
	return 0;
}
