/* pass.h - one scheduling pass: read, decide, apply.
 *
 *	struct pass_result result;
 *	if (pass_run(&paths, &config, verdict_words, PASS_ACT, &result, err)) ...
 *	for (i...) puts(result.actions.items[i]);
 *	pass_result_release(&result);
 *
 * Only one pass acts at a time. A second process that wants a pass meanwhile leaves at once
 * (result.busy). The process at work then does another pass (at most a hundred in a row), because
 * the reason for the second one may have come after the first one had read the store. If a process
 * has been at work for more than a minute, pass_run fails and names it. A pass that dies at any
 * instruction leaves nothing half done: its decision is one transaction, and the next pass does
 * what remained to be done after it (start a run, wake a supervisor). */
#ifndef POLLUX_PASS_H
#define POLLUX_PASS_H

#include <stdbool.h>

#include "pollux/config.h"
#include "pollux/err.h"
#include "pollux/job.h"
#include "pollux/lock.h"
#include "pollux/paths.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"
#include "pollux/verdict.h"

enum pass_mode { PASS_ACT, PASS_DRY_RUN };

struct pass_result {
	bool busy;			/* another pass was at work; nothing was done */
	int n_waiting, n_running;	/* jobs after the decision */
	/* Wall clock: when the first wait for a time ends, such as a --begin or the pause after a
	 * failure; NaN: no job waits so, or the pass is busy. */
	double next_s;
	struct strings actions;		/* done, or to be done: "start job 3 on cpu:0: ..." */
};

/* words: the wording of verdicts, for the reasons of jobs. */
int pass_run(const struct paths *paths, const struct config *config, verdict_wording *words,
	     enum pass_mode mode, struct pass_result *result, struct err *err);
void pass_result_release(struct pass_result *result);

/* Passes that come by themselves: from cron, another timer, or a 'schedule --watch'. One that a
 * submission, the end of a job, or a person starts does not count. */
/* Notes that such a pass comes now. Does nothing where there is no directory of pollux yet. */
void regular_pass_note(const struct paths *paths);
/* True if the last such pass is at most three intervals of cron old. */
bool regular_passes_come(const struct paths *paths, double now_wall_s);

/* Finds the process of a pass that lets no other one begin: at work for a minute, and
 * twice found doing nothing, a third of a second apart. False: there is none, or nobody knows who
 * is at work. */
bool pass_find_hung(const struct paths *paths, struct lock_holder *holder);
/* Adds who is in the way, for how long, and what ends that. */
void pass_describe_hung(const struct lock_holder *holder, struct text *t);

/* ---- prune ---- */

/* Removes what ended jobs left: logs, checkpoints, records in the store.
 *
 * A job is left alone if it may still run, if a job that has not ended waits for it, or if a run of
 * it is not over. Directories that a job declared are never touched, only those that pollux made. A
 * record stays if a model rests on it: if one of the job's runs is among the newest of its
 * workload, or if the job is among the newest that ended well, from which lengths of jobs are
 * learnt. */

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

/* In environments: how many lost the values of all variables, of those that look like
 * credentials. */
struct forgotten_values {
	int whole, with_secrets;
};

/* Removes values of environments, not with keep; the names stay. Those of credentials go when the
 * last job has ended, all others when none has needed the environment for a day; the latter is
 * looked for once an hour. */
int environments_forget(struct store *s, bool keep, double now_s, struct forgotten_values *n,
			struct err *err);

#endif
