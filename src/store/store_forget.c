/* store_forget.c - what is taken back or forgotten: what is known of a workload, ended jobs,
 * environments. */
#include <string.h>

#include "columns.h"
#include "database.h"
#include "pollux/secret.h"
#include "rows.h"

/* --- knowledge of workloads --- */

/* The runs of a job, or of all jobs of a workload. */
#define OF_RUNS \
	"(SELECT id FROM runs WHERE (?1 = 0 AND workload = ?2) OR job_id = ?1 OR (?1 = 0 AND " \
	SQL_OF_PLANS("workload", "?2") "))"

static int change_rows(struct store *s, const struct forget *f, const char *sql, int64_t *n,
		       struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err, sql, "it", f->job_id, f->workload);

	*n += changed;
	return rc;
}

/* With the times goes the model, because it rests on the observations of all jobs. The next pass
 * fits a new model to the observations that are left. */
int store_forget(struct store *s, const struct forget *f, struct forgotten *n, struct err *err)
{
	int64_t ignored = 0;

	*n = (struct forgotten){ 0 };
	if (f->gradients && f->times && f->memory && !f->job_id &&
	    change_rows(s, f, "UPDATE workloads SET never_suspend = 0 WHERE workload = ?2"
			" AND ?1 = ?1", &ignored, err))
		return -1;
	if (f->gradients &&
	    change_rows(s, f, "DELETE FROM gradient_statistics WHERE run_id IN " OF_RUNS,
			&n->windows, err))
		return -1;
	if (f->times &&
	    (change_rows(s, f, "UPDATE runs SET forgotten = forgotten | 1 WHERE state = 'ended'"
			 " AND id IN " OF_RUNS, &ignored, err) ||
	     change_rows(s, f, "DELETE FROM observations WHERE run_id IN " OF_RUNS,
			 &n->observations, err) ||
	     change_rows(s, f, "DELETE FROM steps_beside WHERE run_id IN " OF_RUNS, &ignored,
			 err) ||
	     change_rows(s, f, "DELETE FROM models WHERE (workload = ?2 OR "
			 SQL_OF_PLANS("workload", "?2") ") AND ?1 = ?1", &n->models, err)))
		return -1;
	if (f->memory &&
	    (change_rows(s, f, "DELETE FROM apart WHERE ?2 IN (workload, beside) AND ?1 = ?1",
			 &ignored, err) ||
	     change_rows(s, f, "UPDATE runs SET forgotten = forgotten WHERE out_of_memory = 1"
			 " AND state = 'ended' AND (forgotten & 2) = 0 AND id IN " OF_RUNS,
			 &n->out_of_memory, err) ||
	     change_rows(s, f, "UPDATE runs SET forgotten = forgotten | 2 WHERE state = 'ended'"
			 " AND id IN " OF_RUNS, &ignored, err)))
		return -1;
	return 0;
}

int store_workload_has_jobs(struct store *s, const char *workload, bool *has, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE workload = ?)", "b<t", has,
		       workload);
}

/* --- ended jobs --- */

#define LENGTHS_OF "20"		/* as store_measurements.c reads them */

/* True (in SQL) if nothing that runs or waits can need the job. */
#define UNNEEDED \
	"state IN ('done', 'failed', 'cancelled', 'timeout')" \
	" AND NOT EXISTS (SELECT 1 FROM runs WHERE job_id = jobs.id AND state <> 'ended')" \
	" AND NOT EXISTS (SELECT 1 FROM dependencies d JOIN jobs w ON w.id = d.job_id" \
	"  WHERE d.after_id = jobs.id AND w.state IN ('queued', 'held', 'running'))"

#define MODEL_RESTS \
	"EXISTS (SELECT 1 FROM runs r WHERE r.job_id = jobs.id AND r.id IN " \
	SQL_NEWEST_RUNS("r.workload") ")" \
	" OR id IN (SELECT l.id FROM jobs l WHERE l.workload = jobs.workload" \
	"  AND l.state = 'done' AND l.profile = 0 AND l.samples > 0 ORDER BY l.id DESC" \
	"  LIMIT " LENGTHS_OF ")"

#define ROW struct prunable
static const struct store_column of_prunable[] = {
	C("id", INT64, id, KNOWN, 0),
	NAMES("state", state, KNOWN, job_state_names, 0),
	C("name", TEXT, name, KNOWN, 0),
	C("end_time_s", DOUBLE, end_time_s, UNKNOWN, 0),
	C(MODEL_RESTS, BOOL, model_rests, KNOWN, COMPUTED),
	C("EXISTS (SELECT 1 FROM commands c WHERE c.job_id = jobs.id"
	  "  AND c.snapshot_dir IS NOT NULL)", BOOL, has_snapshot, KNOWN, COMPUTED),
};
static const struct store_table prunable_table = TABLE_OF("jobs", of_prunable);
#undef ROW

int store_prunable_jobs(struct store *s, const bool states[N_JOB_STATES], double before_time_s,
			int64_t keep_last, struct prunable_list *list, struct err *err)
{
	struct text rest = TEXT_INIT;
	int rc;

	text_add(&rest, "WHERE " UNNEEDED " AND end_time_s <= ? AND state IN (''");
	for (int i = 0; i < N_JOB_STATES; i++)
		if (states[i])
			text_addf(&rest, ", '%s'", job_state_name((enum job_state)i));
	text_add(&rest, ") ORDER BY end_time_s DESC, id DESC LIMIT -1 OFFSET ?");
	rc = rows_list(s, ALL_OF(prunable_table), list, err, rest.data, "di", before_time_s,
		       keep_last);
	text_release(&rest);
	return rc;
}

void prunable_list_release(struct prunable_list *list)
{
	rows_release(&prunable_table, list->items, list->count);
	*list = (struct prunable_list){ 0 };
}

int store_job_is_prunable(struct store *s, int64_t id, bool *prunable, struct err *err)
{
	return sql_get(s, err, "SELECT 1 FROM jobs WHERE id = ? AND " UNNEEDED, "b<i", prunable,
		       id);
}

int store_job_delete(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM jobs WHERE id = ?", "i", id);
}

/* --- environments, one for all jobs that have it --- */

/* environments in one transaction, for which other writers wait */
#define AT_ONCE 200
#define CHECKPOINT_WAIT_MS 2000
/* 8 MB; fewer are not worth the time to write the file anew */
#define UNUSED_PAGES 2000

/* True for a credential whose value is there. */
static bool has_secret(const char *variable)
{
	return strchr(variable, '=') && variable_is_secret(variable);
}

/* The hash is FNV-1a. Contents with equal hashes are still compared. */
int environment_put(struct store *s, const struct strings *env, int64_t *id, struct err *err)
{
	struct text content = TEXT_INIT;
	uint64_t hash = 0xcbf29ce484222325;
	int64_t secrets = 0;
	int rc;

	for (size_t i = 0; i < env->count; i++) {
		bool is_secret = has_secret(env->items[i]);

		secrets |= is_secret && !s->no_secrets;
		if (!is_secret || !s->no_secrets)
			text_add_bytes(&content, env->items[i], strlen(env->items[i]) + 1);
	}
	for (size_t i = 0; i < content.length; i++)
		hash = (hash ^ (unsigned char)content.data[i]) * 0x100000001b3;
	rc = sql_get(s, err, "SELECT id FROM environments WHERE hash = ? AND names_only = 0"
		     " AND env = ?", "i<ib", id, (int64_t)hash, content.data, content.length);
	if (rc == 0 && !*id) {
		rc = sql_run(s, NULL, err, "INSERT INTO environments (hash, secrets, env)"
			     " VALUES (?, ?, ?)", "iib", (int64_t)hash, secrets, content.data,
			     content.length);
		*id = sqlite3_last_insert_rowid(s->db);
	}
	text_release(&content);
	return rc;
}

int environment_read(struct store *s, struct job_command *c, struct err *err)
{
	bool found;
	int rc;

	if (c->environment_id == 0)
		return 0;
	rc = sql_get(s, err, "SELECT 1, names_only, env FROM environments WHERE id = ?", "bbs<i",
		     &found, &c->env_names_only, &c->env, c->environment_id);
	if (rc == 0 && !found)
		rc = err_set(err, EX_DATAERR, "the store has no environment for job %lld",
			     (long long)c->job_id);
	if (rc)
		job_command_release(c);
	return rc;
}

int store_environment_replace(struct store *s, int64_t job_id, const struct strings *env,
			      bool keeps_templates, struct err *err)
{
	int64_t id;

	return environment_put(s, env, &id, err) ||
	       sql_run(s, NULL, err, "UPDATE commands SET environment_id = ?,"
		       " env_templates = CASE WHEN ? THEN env_templates END WHERE job_id = ?",
		       "iii", id, (int64_t)keeps_templates, job_id) ? -1 : 0;
}

/* --- forgetting --- */

/* An end in the future was written while the clock was wrong, and counts as old. */
#define UNNEEDED_ENVIRONMENTS \
	"SELECT e.id FROM environments e WHERE e.names_only = 0 AND NOT EXISTS" \
	" (SELECT 1 FROM commands c JOIN jobs j ON j.id = c.job_id WHERE c.environment_id = e.id" \
	"  AND (j.state IN ('queued', 'held', 'running') OR abs(j.end_time_s - ?) < ?)) LIMIT ?"

/* "A=1" becomes "A". */
static int keep_names(struct store *s, int64_t id, struct err *err)
{
	struct strings env = { 0 };
	struct text names = TEXT_INIT;
	int rc = sql_get(s, err, "SELECT env FROM environments WHERE id = ?", "s<i", &env, id);

	for (size_t i = 0; i < env.count; i++) {
		text_add_bytes(&names, env.items[i], strcspn(env.items[i], "="));
		text_add_bytes(&names, "", 1);
	}
	if (rc == 0)
		rc = sql_run(s, NULL, err, "UPDATE environments SET hash = NULL, names_only = 1,"
			     " secrets = 0, env = ? WHERE id = ?", "bi", names.data, names.length,
			     id);
	strings_release(&env);
	text_release(&names);
	return rc;
}

#define UNNEEDED_SECRETS \
	"SELECT id FROM environments WHERE secrets = 1 AND names_only = 0 AND id NOT IN" \
	" (SELECT c.environment_id FROM jobs j JOIN commands c ON c.job_id = j.id" \
	"  WHERE j.state IN ('queued', 'held', 'running') AND c.environment_id IS NOT NULL)" \
	" AND ?1 = ?1 AND ?2 = ?2 LIMIT ?3"

/* Gives the jobs that have the environment one in which credentials have their names alone: "A=1"
 * becomes "A". The other goes with the last of its jobs. */
static int drop_secrets(struct store *s, int64_t id, struct err *err)
{
	struct strings env = { 0 };
	int64_t cut;
	int rc = sql_get(s, err, "SELECT env FROM environments WHERE id = ?", "s<i", &env, id);

	for (size_t i = 0; i < env.count; i++)
		if (has_secret(env.items[i]))
			env.items[i][strcspn(env.items[i], "=")] = '\0';
	if (rc == 0)
		rc = environment_put(s, &env, &cut, err) ||
		     sql_run(s, NULL, err, "UPDATE commands SET environment_id = ?"
			     " WHERE environment_id = ?", "ii", cut, id) ||
		     sql_run(s, NULL, err, "UPDATE environments SET secrets = 0 WHERE id = ?", "i",
			     id) ? -1 : 0;
	strings_release(&env);
	return rc;
}

struct forgetting {
	const char *query;		/* environments, by two times and a limit */
	double now_s, after_s;
	int (*forget)(struct store *s, int64_t id, struct err *err);
};

static int forget_all(struct store *s, const struct forgetting *f, int *forgotten, struct err *err)
{
	struct id_list ids;
	int rc, n;

	*forgotten = 0;
	do {
		if (store_begin(s, err))
			return -1;
		rc = sql_ids(s, &ids, err, f->query, "ddi", f->now_s, f->after_s, (int64_t)AT_ONCE);
		for (int i = 0; rc == 0 && i < ids.count; i++)
			rc = f->forget(s, ids.items[i], err);
		n = ids.count;
		id_list_release(&ids);
		rc = store_finish(s, rc, err);
		*forgotten += rc ? 0 : n;
	} while (rc == 0 && n == AT_ONCE);
	return rc;
}

int store_environments_forget(struct store *s, double now_s, double after_s, int *forgotten,
			      struct err *err)
{
	const struct forgetting f = { UNNEEDED_ENVIRONMENTS, now_s, after_s, keep_names };

	return forget_all(s, &f, forgotten, err);
}

/* Most passes find none, and take no lock for that. */
int store_secrets_forget(struct store *s, int *forgotten, struct err *err)
{
	const struct forgetting f = { UNNEEDED_SECRETS, 0, 0, drop_secrets };
	bool any;

	*forgotten = 0;
	if (sql_get(s, err, "SELECT EXISTS (" UNNEEDED_SECRETS ")", "b<ddi", &any, 0.0, 0.0,
		    (int64_t)1))
		return -1;
	return any ? forget_all(s, &f, forgotten, err) : 0;
}

/* --- the file --- */

int store_wipe_deleted(struct store *s, bool *wiped, struct err *err)
{
	int64_t pages, unused;
	int rc;

	*wiped = false;
	if (sql_get(s, err, "PRAGMA page_count", "i<", &pages) ||
	    sql_get(s, err, "PRAGMA freelist_count", "i<", &unused))
		return -1;
	sql_forget(s);
	sqlite3_busy_timeout(s->db, CHECKPOINT_WAIT_MS);
	if (unused > UNUSED_PAGES && unused > pages / 2)
		sqlite3_exec(s->db, "VACUUM", NULL, NULL, NULL);
	rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	store_wait_set(s, s->is_observer ? STORE_OBSERVE : STORE_WRITE);
	*wiped = rc == SQLITE_OK;
	return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? 0
		: sql_error(s, err, "write the store's log into the store");
}
