/* prune.c - the files of ended jobs, and in which order files and records go. */
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/code.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

#define OPEN_DIRECTORIES 16
#define JOBS_AT_ONCE 100	/* jobs removed in one transaction, for which other writers wait */
#define BLOCK_BYTES 512.0	/* unit of st_blocks */
#define DAY_S 86400.0
#define HOUR_S 3600.0

/* --- how much there is --- */

static double tree_bytes;	/* sum of the present walk; there are no threads */

static int add_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)path;
	(void)where;
	if (type != FTW_NS)
		tree_bytes += (double)st->st_blocks * BLOCK_BYTES;
	return 0;
}

static double bytes_of(char *path)
{
	tree_bytes = 0;
	nftw(path, add_entry, OPEN_DIRECTORIES, FTW_PHYS | FTW_MOUNT);
	free(path);
	return tree_bytes;
}

/* Adds up what would go of the job. False: nothing. */
static bool add_job(const struct paths *paths, const struct prune_order *o, struct pruned *p,
		    struct prune_result *r)
{
	if (o->logs)
		p->log_bytes = bytes_of(paths_log(paths, p->job.id));
	if (o->checkpoints)
		p->checkpoint_bytes = bytes_of(paths_checkpoints(paths, p->job.id));
	p->record = o->records && !p->job.model_rests;
	p->snapshot = o->checkpoints && p->job.has_snapshot;
	r->snapshots += o->dry_run && p->snapshot;
	r->bytes += p->log_bytes + p->checkpoint_bytes;
	r->records += p->record;
	r->records_kept += o->records && p->job.model_rests;
	return p->log_bytes > 0 || p->checkpoint_bytes > 0 || p->record || p->snapshot;
}

/* --- removing --- */

#define DOOMED ".pruned"	/* the end of the name of a directory that is being removed */

static void remove_file(char *path)
{
	unlink(path);
	free(path);
}

/* In a transaction that keeps others from queueing the job again. A directory only gets another
 * name here, because removing it may take long. */
static int remove_one(struct store *s, const struct paths *paths, const struct prune_order *o,
		      struct pruned *p, struct err *err)
{
	char *from = paths_checkpoints(paths, p->job.id);
	char *to = xasprintf("%s/checkpoints/%lld" DOOMED, paths->dir, (long long)p->job.id);
	bool still = false;
	int rc = store_job_is_prunable(s, p->job.id, &still, err);

	if (rc == 0 && still) {
		if (o->checkpoints && rename(from, to) && errno != ENOENT)
			rc = err_set(err, EX_IOERR, "cannot rename '%s': %s", from,
				     strerror(errno));
		if (rc == 0 && o->checkpoints)
			rc = store_job_leave_snapshot(s, p->job.id, err);
		if (rc == 0 && o->logs)
			remove_file(paths_log(paths, p->job.id));
		if (rc == 0 && p->record) {
			remove_file(xasprintf("%s/logs/%lld.store", paths->dir,
					      (long long)p->job.id));
			rc = store_job_delete(s, p->job.id, err);
		}
	}
	free(from);
	free(to);
	return rc;
}

/* Removes what is doomed, also what prunes that were killed left, whether or not the store still
 * knows the jobs. */
static void remove_doomed(const struct paths *paths)
{
	char *checkpoints = xasprintf("%s/checkpoints", paths->dir);
	DIR *dir = opendir(checkpoints);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		size_t digits = strspn(entry->d_name, "0123456789");
		char *path;

		if (digits == 0 || strcmp(entry->d_name + digits, DOOMED) != 0)
			continue;
		path = xasprintf("%s/%s", checkpoints, entry->d_name);
		remove_tree(path);
		free(path);
	}
	if (dir)
		closedir(dir);
	free(checkpoints);
}

static int remove_some(struct store *s, const struct paths *paths, const struct prune_order *o,
		       struct pruned *items, int n, struct err *err)
{
	int rc = 0;

	if (store_begin(s, err))
		return -1;
	for (int i = 0; i < n && rc == 0; i++)
		rc = remove_one(s, paths, o, &items[i], err);
	if (rc)
		store_rollback(s);
	else
		rc = store_commit(s, err);
	remove_doomed(paths);
	return rc;
}

/* --- snapshots of code --- */

struct snapshots {
	struct store *store;
	struct prune_result *result;
};

/* Of a store that cannot be read, all snapshots stay. */
static void remove_unneeded(const char *dir, void *arg)
{
	const struct snapshots *all = arg;
	struct prune_result *r = all->result;
	struct err ignored;
	bool needed = true;
	char *own = NULL;
	int rc;

	if (store_snapshot_is_needed(all->store, dir, &needed, &ignored) || needed)
		return;
	rc = snapshot_remove(dir, &own);
	r->snapshots += rc == 0;
	if (own) {
		strings_add(&r->kept_files, own);
		free(own);
	}
}

/* --- all --- */

int prune(struct store *s, const struct paths *paths, const struct prune_order *order,
	  double now_s, struct prune_result *result, struct err *err)
{
	struct prunable_list list;
	int rc = 0;

	*result = (struct prune_result){ 0 };
	if (store_prunable_jobs(s, order->states, now_s - order->older_than_s, order->keep_last,
				&list, err))
		return -1;
	result->items = xcalloc((size_t)list.count + 1, sizeof(*result->items));
	for (int i = 0; i < list.count; i++) {
		struct pruned *p = &result->items[result->count];

		*p = (struct pruned){ .job = list.items[i] };
		list.items[i].name = NULL;
		if (add_job(paths, order, p, result))
			result->count++;
		else
			free(p->job.name);
	}
	prunable_list_release(&list);
	if (!order->dry_run)
		remove_doomed(paths);
	for (int i = 0; !order->dry_run && i < result->count && rc == 0; i += JOBS_AT_ONCE) {
		int n = result->count - i;

		rc = remove_some(s, paths, order, result->items + i,
				 n < JOBS_AT_ONCE ? n : JOBS_AT_ONCE, err);
	}
	if (!order->dry_run && rc == 0) {
		struct snapshots all = { s, result };

		snapshots_each(paths, remove_unneeded, &all);
		code_forget_old(paths->dir, now_s);
	}
	return rc;
}

void prune_result_release(struct prune_result *r)
{
	for (int i = 0; i < r->count; i++)
		free(r->items[i].job.name);
	free(r->items);
	strings_release(&r->kept_files);
	*r = (struct prune_result){ 0 };
}

/* --- from time to time --- */

/* The time since the one in the setting; a clock that was set back does not stop what is due:
 * infinite where there is none. */
static int time_since(struct store *s, const char *setting, double now_s, double *since_s,
		      struct err *err)
{
	double last_s;
	char *last;

	if (store_setting_get(s, setting, &last, err))
		return -1;
	*since_s = !last || number_parse(last, &last_s) ? HUGE_VAL : fabs(now_s - last_s);
	free(last);
	return 0;
}

static int set_time(struct store *s, const char *setting, double now_s, struct err *err)
{
	char now[32];

	snprintf(now, sizeof(now), "%lld", (long long)now_s);
	return store_setting_set(s, setting, now, err);
}

int prune_daily(struct store *s, const struct paths *paths, double after_s, double now_s,
		struct prune_result *result, struct err *err)
{
	struct prune_order order = {
		.older_than_s = after_s, .logs = true, .checkpoints = true, .records = true,
	};
	double since_s;
	int rc;

	*result = (struct prune_result){ 0 };
	for (int i = 0; i < N_JOB_STATES; i++)
		order.states[i] = job_has_ended((enum job_state)i);
	if (time_since(s, "pruned_time_s", now_s, &since_s, err))
		return -1;
	if (since_s < DAY_S)
		return 0;
	rc = set_time(s, "pruned_time_s", now_s, err) ||
	     prune(s, paths, &order, now_s, result, err) ? -1 : 0;
	result->was_time = true;
	return rc;
}

int environments_forget(struct store *s, bool keep, double now_s, struct forgotten_values *n,
			struct err *err)
{
	bool wiped = true, is_time;
	double since_s;

	*n = (struct forgotten_values){ 0 };
	if (time_since(s, "environments_time_s", now_s, &since_s, err) ||
	    (!keep && store_secrets_forget(s, &n->with_secrets, err)))
		return -1;
	is_time = since_s >= HOUR_S;
	if (is_time && (set_time(s, "environments_time_s", now_s, err) ||
			(!keep && store_environments_forget(s, now_s, DAY_S, &n->whole, err))))
		return -1;
	if ((is_time || n->with_secrets) && store_wipe_deleted(s, &wiped, err))
		return -1;
	/* the next pass tries again */
	return wiped ? 0 : set_time(s, "environments_time_s", 0, err);
}
