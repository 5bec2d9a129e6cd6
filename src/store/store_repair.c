/* store_repair.c - builds a new store from a damaged one, and puts it in its place. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "database.h"
#include "pollux/file.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store.h"
#include "sql.h"

/* --- what was lost --- */

#define CLAIM_SIZE 128

int repair_run(struct store *s, const char *sql, struct err *err)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK
		? 0 : sql_error(s, err, "write");
}

static int has_table(struct store *s, const char *name, bool *has, struct err *err)
{
	int64_t n;
	int rc = sql_ask(s, &n, err, "SELECT 1 FROM sqlite_schema WHERE name = ?", "t", name);

	*has = rc == 0 && n;
	return rc;
}

/* --- jobs --- */

static bool devices_are_lost(const struct store_repair *r)
{
	for (int i = 0; i < r->count; i++)
		if (!strcmp(r->items[i].name, "run_devices"))
			return r->items[i].unread != 0;
	return true;
}

static int settle_environments(struct store *new, struct err *err)
{
	bool has;

	if (has_table(new, "environments", &has, err))
		return -1;
	return !has ? 0 : repair_run(new,
		"INSERT INTO environments (id, names_only, env)"
		" SELECT DISTINCT environment_id, 1, x'' FROM commands"
		" WHERE environment_id NOT IN (SELECT id FROM environments);"
		"UPDATE jobs SET state = 'failed', reason = 'its environment was lost with the"
		" damaged store: pollux requeue --take-env ' || id || ' gives the job another'"
		" WHERE state IN ('queued', 'held') AND id IN (SELECT job_id FROM commands"
		"  JOIN environments e ON e.id = environment_id WHERE e.names_only)", err);
}

/* A suspended run has no devices. */
int repair_settle_jobs(struct store *new, const struct store_repair *r, struct err *err)
{
	if (devices_are_lost(r) &&
	    repair_run(new, "UPDATE runs SET state = 'ended', outcome = 'lost'"
		       " WHERE state <> 'ended' AND id NOT IN (SELECT run_id FROM run_devices)",
		       err))
		return -1;
	if (repair_run(new,
		       "UPDATE jobs SET state = 'queued' WHERE state = 'running' AND NOT EXISTS"
		       " (SELECT 1 FROM runs WHERE job_id = jobs.id AND state <> 'ended');"
		       "UPDATE jobs SET state = 'failed',"
		       " reason = 'its command was lost with the damaged store' WHERE state IN"
		       " ('queued', 'held') AND id NOT IN (SELECT job_id FROM commands)", err))
		return -1;
	return settle_environments(new, err);
}

/* --- the name --- */

/* A file logs/JOB.store has "NAME TIME", or "NAME" alone if an earlier pollux wrote it. */
static bool read_claim(const struct paths *paths, const char *file, char claim[CLAIM_SIZE])
{
	char *path = xasprintf("%s/logs/%s", paths->dir, file);
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);
	ssize_t n = fd >= 0 ? read(fd, claim, CLAIM_SIZE - 1) : 0;

	if (fd >= 0)
		close(fd);
	free(path);
	claim[n > 0 ? n : 0] = '\0';
	n = (ssize_t)strspn(claim, "0123456789abcdef");
	return n == 32 && (claim[n] == '\0' || claim[n] == ' ');
}

static int name_by_jobs(struct store *new, const struct paths *paths, char **name, struct err *err)
{
	sqlite3_stmt *q;
	int rc = sql_query(new, &q, err, "SELECT id || '.store', submit_time_s FROM jobs"
			   " ORDER BY id DESC", "");

	while (rc == 0 && !*name && (rc = sql_row(new, q, err)) == 1) {
		char *file = sql_text(q, 0), *time = xasprintf("%.6f", sql_double(q, 1));
		char claim[CLAIM_SIZE];

		if (read_claim(paths, file, claim) && claim[32] && !strcmp(claim + 33, time))
			*name = xasprintf("%.32s", claim);
		free(file);
		free(time);
		rc = 0;
	}
	sql_done(q);
	return rc;
}

/* NULL: no file names a store, or two files name different ones. */
static char *only_name(const struct paths *paths)
{
	char *path = xasprintf("%s/logs", paths->dir), *name = NULL;
	DIR *dir = opendir(path);
	const struct dirent *entry;
	bool differ = false;

	while (dir && !differ && (entry = readdir(dir))) {
		const char *suffix = strrchr(entry->d_name, '.');
		char claim[CLAIM_SIZE];

		if (!suffix || strcmp(suffix, ".store") != 0 ||
		    !read_claim(paths, entry->d_name, claim))
			continue;
		differ = name && strncmp(name, claim, 32) != 0;
		name = name ? name : xasprintf("%.32s", claim);
	}
	if (dir)
		closedir(dir);
	free(path);
	if (differ) {
		free(name);
		name = NULL;
	}
	return name;
}

int repair_keep_identity(struct store *new, const struct paths *paths, enum repaired_identity *kept,
			 struct err *err)
{
	char *name = NULL;
	bool has;
	int rc = has_table(new, "settings", &has, err);

	*kept = IDENTITY_COPIED;
	if (rc || !has || (rc = store_setting_get(new, "store_id", &name, err)) || name) {
		free(name);
		return rc;
	}
	rc = name_by_jobs(new, paths, &name, err);
	if (rc == 0 && !name)
		name = only_name(paths);
	*kept = name ? IDENTITY_FROM_LOGS : IDENTITY_NEW;
	if (rc == 0 && name)
		rc = store_setting_set(new, "store_id", name, err);
	else if (rc == 0)
		rc = store_identity(new, &name, err);
	free(name);
	return rc;
}

/* --- the repair --- */

/* the end of the new store's name, until it takes the old one's place */
#define NEW_STORE ".repaired"

/* --- nobody else is at work --- */

/* Fails if a process has the old file open: what such a process writes from now on would be
 * lost. */
static int check_unused(const struct paths *paths, struct err *err)
{
	struct pid_list users;
	int rc = 0;

	proc_users_of_file(paths->store, &users);
	if (users.count)
		rc = err_set(err, EX_TEMPFAIL, "process %d uses the store '%s': let it end first",
			     (int)users.items[0], paths->store);
	pid_list_release(&users);
	return rc;
}

static int check_lock(const char *lock, struct err *err)
{
	switch (lock_look(lock)) {
	case LOCK_IS_HELD:
		return err_set(err, EX_TEMPFAIL, "'%s' is held: a job runs; cancel or hold it, or "
			       "let it end", lock);
	case LOCK_CANNOT_BE_TOLD:
		return err_set(err, EX_TEMPFAIL, "'%s' cannot be read: a job may run", lock);
	case LOCK_IS_FREE:
		break;
	}
	return 0;
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

		if (strspn(entry->d_name, "0123456789") && end && !strcmp(end, ".lock"))
			rc = check_lock(lock, err);
		free(lock);
	}
	if (dir)
		closedir(dir);
	free(path);
	return rc;
}

/* --- files --- */

static void close_file(struct store *s)
{
	sql_forget(s);
	sqlite3_close(s->db);
	s->db = NULL;
}

static char *beside(const char *path, const char *suffix)
{
	return xasprintf("%s%s", path, suffix);
}

static void remove_all(const char *path)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };

	for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *file = beside(path, suffixes[i]);

		unlink(file);
		free(file);
	}
}

/* Copies the log of the old store into its file, as any process may that closes the store. The file
 * alone then has all that was committed, so a death between the two steps of exchange() loses
 * nothing. A log that cannot be copied because of the damage stays until then. */
static void copy_log(struct store *old)
{
	/* Only this query makes SQLite look into the file, and so at the log. */
	sqlite3_exec(old->db, "PRAGMA user_version", NULL, NULL, NULL);
	sqlite3_wal_checkpoint_v2(old->db, NULL, SQLITE_CHECKPOINT_FULL, NULL, NULL);
}

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
	copy_log(old);
	rc = sqlite3_exec(old->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	if ((rc & 0xff) == SQLITE_BUSY || (rc & 0xff) == SQLITE_LOCKED)
		return sql_error(old, err, "lock");
	return check_unused(paths, err);
}

bool store_repair_left_files(const struct paths *paths)
{
	char *new = beside(paths->store, NEW_STORE);
	struct pid_list users;
	bool left = access(new, F_OK) == 0;

	proc_users_of_file(new, &users);
	left = left && users.count == 0;	/* a user of the file is a repair at work */
	pid_list_release(&users);
	free(new);
	return left;
}

void store_repair_remove_files(const struct paths *paths)
{
	char *new = beside(paths->store, NEW_STORE);

	if (store_repair_left_files(paths))
		remove_all(new);
	free(new);
}

static int build(struct store *old, const struct paths *paths, const char *path,
		 struct store_repair *r, struct err *err)
{
	struct store new = { .turn = TURN_NONE };
	int rc;

	if (sqlite3_open_v2(path, &new.db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, NULL) ==
	    SQLITE_OK)
		rc = repair_fill(old, &new, paths, r, err);
	else
		rc = err_set(err, EX_CANTCREAT, "cannot create '%s': %s", path,
			     sqlite3_errmsg(new.db));
	close_file(&new);
	return rc;
}

static int link_with(const char *from, const char *to, const char *suffix, struct err *err)
{
	char *a = beside(from, suffix), *b = beside(to, suffix);
	int rc = 0;

	if (link(a, b) && errno != ENOENT)
		rc = err_set(err, EX_CANTCREAT, "cannot give '%s' the name '%s': %s", a, b,
			     strerror(errno));
	free(a);
	free(b);
	return rc;
}

/* The new store may be read by whom the old one might. Its owner is the caller, as
 * paths_check_owner has seen. */
static int keep_owner(const char *from, const char *to, struct err *err)
{
	struct stat st;

	if (stat(from, &st) || (chown(to, (uid_t)-1, st.st_gid) && errno != EPERM) ||
	    chmod(to, st.st_mode & 07777))
		return err_set(err, EX_CANTCREAT, "cannot give '%s' the group and mode of '%s': %s",
			       to, from, strerror(errno));
	return 0;
}

/* Gives the old files second names first, so that there is a store at any moment at which this
 * process is killed. The old log must not lie beside the new store, into which SQLite would copy
 * it. Between the removal of the log and the rename the old file is the store; copy_log has put the
 * log's content into it. */
static int exchange(const struct paths *paths, const char *new, const char *kept, struct err *err)
{
	char *log = beside(paths->store, "-wal"), *shared = beside(paths->store, "-shm");
	int rc = link_with(paths->store, kept, "", err) ||
		 link_with(paths->store, kept, "-wal", err) ? -1 : 0;

	if (rc == 0) {
		unlink(log);
		unlink(shared);
		if (rename(new, paths->store))
			rc = err_set(err, EX_CANTCREAT, "cannot rename '%s': %s", new,
				     strerror(errno));
	}
	free(log);
	free(shared);
	return rc;
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
	struct store old = { .turn = TURN_NONE };
	char *new = beside(paths->store, NEW_STORE);
	mode_t mask = umask(0077);
	int rc;

	remove_all(new);
	rc = check_unsupervised(paths, err) || check_unused(paths, err) ||
	     open_old(paths, &old, err) || build(&old, paths, new, r, err) ? -1 : 0;
	if (rc == 0) {
		r->kept = name_of_kept(paths);
		rc = keep_owner(paths->store, new, err) || exchange(paths, new, r->kept, err)
			? -1 : 0;
	}
	close_file(&old);
	remove_all(new);
	umask(mask);
	free(new);
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
