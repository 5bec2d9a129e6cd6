/* store_environments.c - environments of jobs: each is stored once, and forgotten in time. */
#include <stdlib.h>
#include <string.h>

#include "environments.h"
#include "pollux/mem.h"
#include "pollux/store_environments.h"
#include "pollux/text.h"
#include "store_wait.h"

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
#define UNNEEDED \
	"SELECT e.id, e.env FROM environments e WHERE e.names_only = 0 AND NOT EXISTS" \
	" (SELECT 1 FROM commands c JOIN jobs j ON j.id = c.job_id WHERE c.environment_id = e.id" \
	"  AND (j.state IN ('queued', 'held', 'running') OR abs(j.end_time_s - ?) < ?)) LIMIT ?"

static int forget_some(struct store *s, double now_s, double after_s, struct contents *c,
		       struct err *err)
{
	sqlite3_stmt *q;
	int rc = 0;

	if (sql_query(s, &q, err, UNNEEDED, "ddi", now_s, after_s, (int64_t)AT_ONCE) ||
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
