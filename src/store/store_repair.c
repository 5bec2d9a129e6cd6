/* store_repair.c - what is wrong with a store; builds a new one from a damaged one, and puts it in
 * its place. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "database.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store.h"
#include "sql.h"

/* the end of the new store's name, until it takes the old one's place */
#define NEW_STORE ".repaired"

/* --- nobody else is at work --- */

/* Fails if a process has the old file open: what such a process writes from now on would be
 * lost. */
static int check_unused(const struct paths *paths, struct err *err)
{
	struct pid_list users;
	int rc = 0;

	proc_users_of_file(paths->store, NULL, &users);
	if (users.count)
		rc = err_set(err, EX_TEMPFAIL, "process %d uses the store '%s': let it end first",
			     (int)users.items[0], paths->store);
	pid_list_release(&users);
	return rc;
}

static int check_unsupervised(const struct paths *paths, struct err *err)
{
	char *path = xasprintf("%s/run", paths->dir);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int rc = dir || errno == ENOENT ? 0 : err_set(err, EX_TEMPFAIL, "cannot read '%s': %s",
						      path, strerror(errno));

	while (rc == 0 && dir && (entry = readdir(dir))) {
		char *lock = xasprintf("%s/%s", path, entry->d_name);
		const char *end = strrchr(entry->d_name, '.');
		enum lock_state seen = LOCK_IS_FREE;

		if (strspn(entry->d_name, "0123456789") && end && !strcmp(end, ".lock"))
			seen = lock_look(lock);
		if (seen == LOCK_IS_HELD)
			rc = err_set(err, EX_TEMPFAIL, "'%s' is held: a job runs; cancel or hold"
				     " it, or let it end", lock);
		else if (seen == LOCK_CANNOT_BE_TOLD)
			rc = err_set(err, EX_TEMPFAIL, "'%s' cannot be read: a job may run", lock);
		free(lock);
	}
	if (dir)
		closedir(dir);
	free(path);
	return rc;
}

/* --- files --- */

/* Locks the old store, until it is closed: a process that comes now waits, and then finds that its
 * file is not the store any more (store_begin). A file that SQLite cannot lock is so damaged that
 * nobody else can write into it. The old file is only read from now on. */
static int open_old(const struct paths *paths, struct store *old, struct err *err)
{
	int rc;

	if (sql_open(paths->store, SQLITE_OPEN_READWRITE, &old->db, err))
		return -1;
	sqlite3_db_config(old->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	/* So that a damaged list of tables can be read as well. */
	sqlite3_exec(old->db, "PRAGMA writable_schema = ON", NULL, NULL, NULL);
	/* Copies the log into the file, as any process may that closes the store. The file alone
	 * then has all that was committed, so a death between the two steps of exchange() loses
	 * nothing. A log that cannot be copied because of the damage stays until then. Only the
	 * query makes SQLite look into the file, and so at the log. */
	sqlite3_exec(old->db, "PRAGMA user_version", NULL, NULL, NULL);
	sqlite3_wal_checkpoint_v2(old->db, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);
	rc = sqlite3_exec(old->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
		return sql_error(old, err, "lock");
	return check_unused(paths, err);
}

bool store_repair_left_files(const struct paths *paths)
{
	char *new = xasprintf("%s" NEW_STORE, paths->store);
	struct pid_list users;
	bool left = access(new, F_OK) == 0;

	proc_users_of_file(new, NULL, &users);
	left = left && users.count == 0;	/* a user of the file is a repair at work */
	pid_list_release(&users);
	free(new);
	return left;
}

void store_repair_remove_files(const struct paths *paths)
{
	char *new = xasprintf("%s" NEW_STORE, paths->store);

	if (store_repair_left_files(paths))
		sql_remove(new, true);
	free(new);
}

static int link_with(const char *from, const char *to, const char *suffix, struct err *err)
{
	char *a = xasprintf("%s%s", from, suffix), *b = xasprintf("%s%s", to, suffix);
	int rc = 0;

	if (link(a, b) && errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot give '%s' the name '%s': %s", a, b,
			     strerror(errno));
	free(a);
	free(b);
	return rc;
}

/* Gives the old files second names first, so that there is a store at any moment at which this
 * process is killed. The old log must not lie beside the new store, into which SQLite would copy
 * it. Between the removal of the log and the rename the old file is the store; open_old() has put
 * the log's content into it. The new store may be read by whom the old one might. Its owner is the
 * caller, as paths_check_owner has seen. */
static int exchange(const struct paths *paths, const char *new, const char *kept, struct err *err)
{
	const char *old = paths->store;
	struct stat st;

	if (stat(old, &st) || (chown(new, (uid_t)-1, st.st_gid) && errno != EPERM) ||
	    chmod(new, st.st_mode & 07777))
		return err_set(err, EX_CANTCREAT, "cannot give '%s' the group and mode of '%s': %s",
			       new, old, strerror(errno));
	if (link_with(old, kept, "", err) || link_with(old, kept, "-wal", err))
		return -1;
	sql_remove(old, false);
	if (rename(new, old))
		return err_set(err, EX_CANTCREAT, "cannot rename '%s': %s", new, strerror(errno));
	return 0;
}

static char *name_of_kept(const struct paths *paths)
{
	time_t now = time(NULL);
	struct tm tm;
	char stamp[32], *name;

	strftime(stamp, sizeof(stamp), "%Y%m%d-%H%M%S", localtime_r(&now, &tm));
	name = xasprintf("%s.damaged-%s", paths->store, stamp);
	for (int i = 2; access(name, F_OK) == 0; i++) {
		free(name);
		name = xasprintf("%s.damaged-%s-%d", paths->store, stamp, i);
	}
	return name;
}

static int repair(const struct paths *paths, struct store_repair *r, struct err *err)
{
	struct store old = { .turn = TURN_NONE }, new = { .turn = TURN_NONE };
	char *path = xasprintf("%s" NEW_STORE, paths->store);
	mode_t mask = umask(0077);
	int rc;

	sql_remove(path, true);
	rc = check_unsupervised(paths, err) || check_unused(paths, err) ||
	     open_old(paths, &old, err) ? -1 : 0;
	if (rc == 0 && sqlite3_open_v2(path, &new.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE,
				       NULL) != SQLITE_OK)
		rc = err_set(err, EX_CANTCREAT, "cannot create '%s': %s", path,
			     sqlite3_errmsg(new.db));
	if (rc == 0)
		rc = repair_fill(&old, &new, paths, r, err);
	sql_close(&new);
	if (rc == 0) {
		r->kept = name_of_kept(paths);
		rc = exchange(paths, path, r->kept, err);
	}
	sql_close(&old);
	sql_remove(path, true);
	umask(mask);
	free(path);
	return rc;
}

int store_repair(const struct paths *paths, struct store_repair *r, struct err *err)
{
	int lock, rc;

	*r = (struct store_repair){ 0 };
	if (paths_check_owner(paths, err))
		return -1;
	if (store_is_foreign(paths))
		return err_set(err, EX_DATAERR, "'%s' is another program's, or that of a newer or "
			       "much older pollux: it is not touched", paths->store);
	lock = lock_take(paths->schedule_lock, err);
	if (lock == LOCK_HELD)
		return err_set(err, EX_TEMPFAIL, "a pass is at work: try again when it has ended");
	if (lock < 0)
		return -1;
	rc = repair(paths, r, err);
	lock_drop(lock);
	return rc;
}

void store_repair_release(struct store_repair *r)
{
	for (int i = 0; i < r->count; i++)
		free(r->items[i].name);
	free(r->items);
	free(r->kept);
	*r = (struct store_repair){ 0 };
}

/* --- what is wrong with a store --- */

#define FAULTS_MAX 20

/* A column as a table declares it: another type or key makes commands fail as its absence does. */
#define COLUMN "c.name || ' ' || c.type || iif(c.\"notnull\", ' NOT NULL', '')" \
	" || iif(c.pk, ' PRIMARY KEY', '')"
#define FAULT(of, verb, name) of " || ' " verb " ''' || " name " || ''''"
#define NAMES(verb) "SELECT " FAULT("'the store'", verb, "name") ", '', name FROM sqlite_schema"
#define COLUMNS(verb, what) "SELECT " FAULT("t.name", verb, what) ", t.name, " what \
	" FROM sqlite_schema AS t, pragma_table_xinfo(t.name) AS c" \
	" WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"

/* What a new store has and this one lacks, and what hinders in this one: other tables, and columns
 * that may be empty, are in nobody's way. */
static const struct comparison {
	bool hinders;
	const char *list, *question;
} comparisons[] = {
	{ false, NAMES("has no") " WHERE name NOT LIKE 'sqlite_%' ORDER BY rowid",
	  SCHEMA_HAS_NAME },
	{ false, COLUMNS("has no", COLUMN) " ORDER BY t.rowid, c.cid",
	  "SELECT count(*) FROM pragma_table_xinfo(?1) AS c WHERE " COLUMN " = ?2" },
	{ true, NAMES("is hindered by") " WHERE type = 'trigger'"
	  " OR (type = 'index' AND sql LIKE 'CREATE UNIQUE%')", SCHEMA_HAS_NAME },
	{ true, COLUMNS("is hindered by", "c.name") " AND c.\"notnull\" AND c.dflt_value IS NULL",
	  "SELECT ?1 NOT IN (SELECT name FROM sqlite_schema)"
	  " OR ?2 IN (SELECT name FROM pragma_table_xinfo(?1))" },
};

/* A store that SQLite finds sound may lack what every command asks for, or refuse what it
 * writes. */
int store_check(struct store *s, struct strings *faults, struct err *err)
{
	struct store fresh;
	sqlite3_stmt *q;
	int64_t version;
	int rc;

	if (sql_query(s, &q, err, "PRAGMA quick_check(10)", ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		char *fault = sql_text(q, 0);

		if (strcmp(fault, "ok") != 0)
			strings_add(faults, fault);
		free(fault);
	}
	sql_done(q);
	if (rc || sql_get(s, err, "PRAGMA user_version", "i<", &version))
		return -1;
	if (version != schema_version())
		return 0;	/* an older store is brought up to date when it is opened */
	if (schema_fresh(&fresh, err))
		return -1;
	for (size_t i = 0; rc == 0 && i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		const struct comparison *c = &comparisons[i];

		rc = schema_compare(c->hinders ? s : &fresh, c->hinders ? &fresh : s, c->list,
				    c->question, faults, err);
	}
	sql_close(&fresh);
	while (faults->count > FAULTS_MAX) {
		free(faults->items[--faults->count]);
		faults->items[faults->count] = NULL;
	}
	return rc;
}

bool store_is_foreign(const struct paths *paths)
{
	struct store s = { .turn = TURN_NONE };
	int64_t application = 0, version = 0, tables = 0;
	bool has_45 = false;
	struct err ignored;
	bool known = sql_open(paths->store, SQLITE_OPEN_READONLY, &s.db, &ignored) == 0 &&
		     sql_get(&s, &ignored, "PRAGMA application_id", "i<", &application) == 0 &&
		     sql_get(&s, &ignored, "PRAGMA user_version", "i<", &version) == 0 &&
		     sql_get(&s, &ignored, "SELECT count(*), EXISTS (SELECT 1 FROM"
			     " pragma_table_info('jobs') WHERE name = 'launch') FROM sqlite_schema",
			     "ib<", &tables, &has_45) == 0;

	sql_close(&s);
	return known && tables > 0 &&
	       (application != STORE_APPLICATION_ID ||
		version > schema_version() || (version < SCHEMA_OLDEST && !has_45));
}

int store_has_job(struct store *s, int64_t id, bool *has, struct err *err)
{
	return sql_get(s, err, "SELECT 1 FROM jobs WHERE id = ?", "b<i", has, id);
}

int store_last_job(struct store *s, int64_t *id, struct err *err)
{
	return sql_get(s, err, "SELECT seq FROM sqlite_sequence WHERE name = 'jobs'", "i<", id);
}

int store_count_jobs(struct store *s, int64_t *n, struct err *err)
{
	return sql_get(s, err, "SELECT count(*) FROM jobs", "i<", n);
}
