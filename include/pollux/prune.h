/* prune.h - remove what ended jobs left: logs, checkpoints, records in the store.
 *
 * A job is left alone if it may still run, if a job that has not ended waits for it, or if a run of
 * it is not over. Directories that a job declared are never touched, only those that pollux made. A
 * record stays if a model rests on it: if one of the job's runs is among the newest of its
 * workload, or if the job is among the newest that ended well, from which lengths of jobs are
 * learnt. */
#ifndef POLLUX_PRUNE_H
#define POLLUX_PRUNE_H

#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/paths.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

struct prune_order {
	double older_than_s;		/* since the job's end; 0: any */
	bool states[N_JOB_STATES];	/* of ended jobs */
	int64_t keep_last;		/* so many of the newest are left alone */
	bool logs, records;
	/* also the snapshots of code that no other job needs */
	bool checkpoints;
	bool dry_run;			/* changes nothing */
};

/* What can be removed of one job. */
struct pruned {
	struct prunable job;
	double log_bytes, checkpoint_bytes;	/* on disk; 0 if they are not asked for */
	bool record;				/* is removed */
	bool snapshot;				/* of its code: the job leaves it */
};

struct prune_result {
	struct pruned *items;		/* owned; only jobs of which something can be removed */
	int count;
	double bytes;			/* of all logs and checkpoints */
	bool was_time;			/* of prune_daily */
	int records, records_kept;	/* kept: a model rests on them */
	int snapshots;			/* of code, that were removed; dry: jobs that have one */
	/* a file that a run made in its snapshot, for each snapshot that stays therefore */
	struct strings kept_files;
};

/* Removes (or in a dry run looks for) all that the order names. Removes what earlier prunes left
 * because they were killed. now_s: wall clock. A job that was queued again meanwhile is left alone.
 * After an error (EX_IOERR, EX_TEMPFAIL) *result also lists what was not removed yet; a second call
 * removes it. */
int prune(struct store *s, const struct paths *paths, const struct prune_order *order,
	  double now_s, struct prune_result *result, struct err *err);
void prune_result_release(struct prune_result *r);

/* Once a day, for the setting prune_after: logs, checkpoints and records of jobs that ended longer
 * ago. result->was_time tells whether a day was over. */
int prune_daily(struct store *s, const struct paths *paths, double after_s, double now_s,
		struct prune_result *result, struct err *err);

/* Removes the values of environments, which may be secrets, that no job has needed for a day; the
 * names stay. Does so at most once an hour, and not at all with keep. *forgotten: the number of
 * environments that lost their values. */
int old_environments_forget(struct store *s, bool keep, double now_s, int *forgotten,
			    struct err *err);

#endif
