/* store_forget.c - what is taken back or forgotten: what is known of a workload, ended jobs,
 * environments. */
#include <stdlib.h>
#include <string.h>

#include "database.h"
#include "job_rows.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

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

/* Deletes the model, too, because it rests on the observations of all jobs. The next pass fits a
 * new model to the observations that are left. */
static int forget_times(struct store *s, const struct forget *f, struct forgotten *n,
			struct err *err)
{
	int64_t ignored = 0;

	return change_rows(s, f, "UPDATE runs SET forgotten = forgotten | 1 WHERE state = 'ended'"
			   " AND id IN " OF_RUNS, &ignored, err) ||
	       change_rows(s, f, "DELETE FROM observations WHERE run_id IN " OF_RUNS,
			   &n->observations, err) ||
	       change_rows(s, f, "DELETE FROM steps_beside WHERE run_id IN " OF_RUNS, &ignored,
			   err) ||
	       change_rows(s, f, "DELETE FROM models WHERE (workload = ?2 OR "
			   SQL_OF_PLANS("workload", "?2") ") AND ?1 = ?1", &n->models, err)
		? -1 : 0;
}

static int forget_memory(struct store *s, const struct forget *f, struct forgotten *n,
			 struct err *err)
{
	int64_t ignored = 0;

	return change_rows(s, f, "DELETE FROM apart WHERE ?2 IN (workload, beside) AND ?1 = ?1",
			   &ignored, err) ||
	       change_rows(s, f, "UPDATE runs SET forgotten = forgotten WHERE out_of_memory = 1"
			   " AND state = 'ended' AND (forgotten & 2) = 0 AND id IN " OF_RUNS,
			   &n->out_of_memory, err) ||
	       change_rows(s, f, "UPDATE runs SET forgotten = forgotten | 2 WHERE state = 'ended'"
			   " AND id IN " OF_RUNS, &ignored, err) ? -1 : 0;
}

int store_forget(struct store *s, const struct forget *f, struct forgotten *n, struct err *err)
{
	*n = (struct forgotten){ 0 };
	if (f->gradients &&
	    change_rows(s, f, "DELETE FROM gradient_statistics WHERE run_id IN " OF_RUNS,
			&n->windows, err))
		return -1;
	if (f->times && forget_times(s, f, n, err))
		return -1;
	return f->memory ? forget_memory(s, f, n, err) : 0;
}

int store_workload_has_jobs(struct store *s, const char *workload, bool *has, struct err *err)
{
	int64_t n;
	int rc = sql_ask(s, &n, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE workload = ?)", "t",
			 workload);

	*has = rc == 0 && n > 0;
	return rc;
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

static void add_states(struct text *sql, const bool states[N_JOB_STATES])
{
	const char *between = "";

	text_add(sql, " AND state IN (");
	for (int i = 0; i < N_JOB_STATES; i++) {
		if (!states[i])
			continue;
		text_addf(sql, "%s'%s'", between, job_state_name((enum job_state)i));
		between = ", ";
	}
	text_add(sql, ")");
}

int store_prunable_jobs(struct store *s, const bool states[N_JOB_STATES], double before_time_s,
			int64_t keep_last, struct prunable_list *list, struct err *err)
{
	struct text sql = TEXT_INIT;
	sqlite3_stmt *q;
	int rc;

	*list = (struct prunable_list){ 0 };
	text_add(&sql, "SELECT id, state, name, end_time_s, " MODEL_RESTS ","
		 " EXISTS (SELECT 1 FROM commands c WHERE c.job_id = jobs.id"
		 "  AND c.snapshot_dir IS NOT NULL) FROM jobs WHERE " UNNEEDED
		 " AND end_time_s <= ?");
	add_states(&sql, states);
	text_add(&sql, " ORDER BY end_time_s DESC, id DESC LIMIT -1 OFFSET ?");
	rc = sql_query(s, &q, err, sql.data, "di", before_time_s, keep_last);
	text_release(&sql);
	if (rc)
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		char *state = sql_text(q, 1);

		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = (struct prunable){
			.id = sql_int(q, 0, 0), .state = (enum job_state)job_state_parse(state),
			.name = sql_text(q, 2), .end_time_s = sql_double(q, 3),
			.model_rests = sql_int(q, 4, 0) != 0,
			.has_snapshot = sql_int(q, 5, 0) != 0,
		};
		free(state);
	}
	sql_done(q);
	if (rc)
		prunable_list_release(list);
	return rc;
}

void prunable_list_release(struct prunable_list *list)
{
	for (int i = 0; i < list->count; i++)
		free(list->items[i].name);
	free(list->items);
	*list = (struct prunable_list){ 0 };
}

int store_job_is_prunable(struct store *s, int64_t id, bool *prunable, struct err *err)
{
	int64_t answer;
	int rc = sql_ask(s, &answer, err, "SELECT 1 FROM jobs WHERE id = ? AND " UNNEEDED, "i",
			 id);

	*prunable = answer == 1;
	return rc;
}

int store_job_delete(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "DELETE FROM jobs WHERE id = ?", "i", id);
}

/* --- environments --- */

/* environments in one transaction, for which other writers wait */
#define AT_ONCE 200
#define CHECKPOINT_WAIT_MS 2000
/* 8 MB; fewer are not worth the time to write the file anew */
#define UNUSED_PAGES 2000

/* --- one for all jobs that have it --- */

/* FNV-1a. Contents with equal hashes are still compared. */
static int64_t hash_of(const struct text *content)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (size_t i = 0; i < content->length; i++)
		hash = (hash ^ (unsigned char)content->data[i]) * 0x100000001b3;
	return (int64_t)hash;
}

static int put_environment(struct store *s, const struct text *content, int64_t *id,
			   struct err *err)
{
	int64_t hash = hash_of(content);

	if (sql_ask(s, id, err, "SELECT id FROM environments"
		    " WHERE hash = ? AND names_only = 0 AND env = ?", "ib", hash, content->data,
		    content->length))
		return -1;
	if (*id)
		return 0;
	if (sql_run(s, NULL, err, "INSERT INTO environments (hash, env) VALUES (?, ?)", "ib", hash,
		    content->data, content->length))
		return -1;
	*id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int environment_put(struct store *s, const struct strings *env, int64_t *id, struct err *err)
{
	struct text content = TEXT_INIT;
	int rc;

	strings_pack(env, &content);
	rc = put_environment(s, &content, id, err);
	text_release(&content);
	return rc;
}

int environment_read(struct store *s, struct job_command *c, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (c->environment_id == 0)
		return 0;
	if (sql_query(s, &q, err, "SELECT names_only, env FROM environments WHERE id = ?", "i",
		      c->environment_id)) {
		job_command_release(c);
		return -1;
	}
	rc = sql_row(s, q, err);
	if (rc == 1) {
		c->env_names_only = sql_int(q, 0, 0) != 0;
		strings_release(&c->env);
		strings_unpack(&c->env, sqlite3_column_blob(q, 1),
			       (size_t)sqlite3_column_bytes(q, 1));
	}
	sql_done(q);
	if (rc == 0)
		err_set(err, EX_DATAERR, "the store has no environment for job %lld",
			(long long)c->job_id);
	if (rc != 1)
		job_command_release(c);
	return rc == 1 ? 0 : -1;
}

int store_environment_replace(struct store *s, int64_t job_id, const struct strings *env,
			      struct err *err)
{
	int64_t id;

	return environment_put(s, env, &id, err) ||
	       sql_run(s, NULL, err, "UPDATE commands SET environment_id = ?,"
		       " env_templates = NULL WHERE job_id = ?", "ii", id, job_id) ? -1 : 0;
}

/* --- forgetting --- */

/* The rows of a query, each with an id and a content. */
struct contents {
	struct {
		int64_t id;
		struct text content;
	} items[AT_ONCE];
	int n;
};

/* The query must end with "LIMIT ?". */
static int read_contents(struct store *s, sqlite3_stmt *q, struct contents *c, struct err *err)
{
	int rc;

	c->n = 0;
	while ((rc = sql_row(s, q, err)) == 1) {
		c->items[c->n].id = sql_int(q, 0, 0);
		text_init(&c->items[c->n].content);
		text_add_bytes(&c->items[c->n++].content, sqlite3_column_blob(q, 1),
			       (size_t)sqlite3_column_bytes(q, 1));
	}
	sql_done(q);
	return rc;
}

static void contents_release(struct contents *c)
{
	for (int i = 0; i < c->n; i++)
		text_release(&c->items[i].content);
	c->n = 0;
}

/* "A=1" becomes "A". */
static void keep_names(const struct text *content, struct text *names)
{
	const char *end = content->data + content->length;

	for (const char *p = content->data; p < end; p += strlen(p) + 1) {
		text_add_bytes(names, p, strcspn(p, "="));
		text_add_bytes(names, "", 1);
	}
}

static int forget_one(struct store *s, int64_t id, const struct text *content, struct err *err)
{
	struct text names = TEXT_INIT;
	int rc;

	keep_names(content, &names);
	rc = sql_run(s, NULL, err, "UPDATE environments SET hash = NULL, names_only = 1, env = ?"
		     " WHERE id = ?", "bi", names.data, names.length, id);
	text_release(&names);
	return rc;
}

/* An end in the future was written while the clock was wrong, and counts as old. */
#define UNNEEDED_ENVIRONMENTS \
	"SELECT e.id, e.env FROM environments e WHERE e.names_only = 0 AND NOT EXISTS" \
	" (SELECT 1 FROM commands c JOIN jobs j ON j.id = c.job_id WHERE c.environment_id = e.id" \
	"  AND (j.state IN ('queued', 'held', 'running') OR abs(j.end_time_s - ?) < ?)) LIMIT ?"

static int forget_some(struct store *s, double now_s, double after_s, struct contents *c,
		       struct err *err)
{
	sqlite3_stmt *q;
	int rc = 0;

	if (sql_query(s, &q, err, UNNEEDED_ENVIRONMENTS, "ddi", now_s, after_s, (int64_t)AT_ONCE) ||
	    read_contents(s, q, c, err))
		return -1;
	for (int i = 0; rc == 0 && i < c->n; i++)
		rc = forget_one(s, c->items[i].id, &c->items[i].content, err);
	return rc;
}

int store_environments_forget(struct store *s, double now_s, double after_s, int *forgotten,
			      struct err *err)
{
	struct contents c = { .n = 0 };
	int rc, n;

	*forgotten = 0;
	do {
		if (store_begin(s, err))
			return -1;
		rc = forget_some(s, now_s, after_s, &c, err);
		n = c.n;
		contents_release(&c);
		if (rc)
			store_rollback(s);
		else
			rc = store_commit(s, err);
		*forgotten += rc ? 0 : n;
	} while (rc == 0 && n == AT_ONCE);
	return rc;
}

/* --- the file --- */

static int wants_vacuum(struct store *s, bool *wants, struct err *err)
{
	int64_t pages, unused;

	if (sql_ask(s, &pages, err, "PRAGMA page_count", "") ||
	    sql_ask(s, &unused, err, "PRAGMA freelist_count", ""))
		return -1;
	*wants = unused > UNUSED_PAGES && unused > pages / 2;
	return 0;
}

int store_wipe_deleted(struct store *s, struct err *err)
{
	bool wants;
	int rc;

	if (wants_vacuum(s, &wants, err))
		return -1;
	sql_forget(s);
	sqlite3_busy_timeout(s->db, CHECKPOINT_WAIT_MS);
	if (wants)
		sqlite3_exec(s->db, "VACUUM", NULL, NULL, NULL);
	rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	store_wait_set(s, s->is_observer ? STORE_OBSERVE : STORE_WRITE);
	return rc == SQLITE_OK || (rc & 0xff) == SQLITE_BUSY ? 0
		: sql_error(s, err, "write the store's log into the store");
}
