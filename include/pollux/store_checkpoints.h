/* store_checkpoints.h - the directories for checkpoints that jobs have declared. */
#ifndef POLLUX_STORE_CHECKPOINTS_H
#define POLLUX_STORE_CHECKPOINTS_H

#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/store_select.h"

struct job_directory {
	int64_t job_id;
	char *path, *glob;		/* owned; glob: of --checkpoint-glob, NULL: none */
	enum job_state state;
};

struct job_directory_list {
	struct job_directory *items;	/* by job_id */
	int count;
};

/* Those of jobs that are queued, and those of all jobs that have not ended. */
int store_checkpoint_dirs(struct store *s, struct job_directory_list *list, struct err *err);
int store_checkpoint_dirs_in_use(struct store *s, struct job_directory_list *list,
				 struct err *err);
void job_directory_list_release(struct job_directory_list *list);

/* The jobs that never run while this one runs, because one of the two waits for the other, directly
 * or through others. Ascending; the caller releases the list. */
int store_jobs_in_turn_with(struct store *s, int64_t id, struct id_list *ids, struct err *err);

#endif
