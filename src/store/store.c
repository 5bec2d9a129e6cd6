/* store.c - open, create, migrate; transactions. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "database.h"
#include "journal.h"
#include "sql.h"

#define WAL_WAIT_MS 10000
#define WAL_PAUSE_MS 10

#define LOG_KEPT_BYTES 524288	/* twice what the first command writes */

/* Version 0 with tables in it is somebody else's database; so is a foreign application id. A store
 * that another process is just making has its id as soon as it has tables, so the tables are looked
 * for before the id is. */
static int check_identity(struct store *s, const char *path, int64_t *version, struct err *err)
{
	int64_t application, tables = 0;

	if (sql_get(s, err, "PRAGMA application_id", "i<", &application) ||
	    sql_get(s, err, "PRAGMA user_version", "i<", version))
		return -1;
	if (application != STORE_APPLICATION_ID &&
	    (sql_get(s, err, "SELECT count(*) FROM sqlite_schema", "i<", &tables) ||
	     sql_get(s, err, "PRAGMA application_id", "i<", &application)))
		return -1;
	if (tables && application != STORE_APPLICATION_ID)
		return err_set(err, EX_DATAERR, "'%s' is a SQLite file, but not a pollux store",
			       path);
	return schema_takes(*version, path, err);
}

static int run_script(struct store *s, const char *sql, struct err *err)
{
	int rc = sqlite3_exec(s->db, sql, NULL, NULL, NULL);

	turn_leave(&s->turn);
	return rc == SQLITE_OK ? 0 : sql_error(s, err, "use the store");
}

/* Switches to the write-ahead log. While another process does so, SQLite does not wait as usual,
 * but says "busy" at once. After "locking protocol" (SQLITE_PROTOCOL) there is no other try: SQLite
 * itself has then tried a hundred times in ten seconds, the same time as WAL_WAIT_MS. */
static int use_wal(struct store *s, struct err *err)
{
	const struct timespec pause = { .tv_nsec = WAL_PAUSE_MS * 1000000L };

	for (int waited_ms = 0; run_script(s, "PRAGMA journal_mode = WAL", err);
	     waited_ms += WAL_PAUSE_MS) {
		if ((sqlite3_extended_errcode(s->db) & 0xff) != SQLITE_BUSY ||
		    waited_ms >= WAL_WAIT_MS)
			return -1;
		nanosleep(&pause, NULL);
	}
	return 0;
}

/* All in one transaction; a second process that wants to migrate waits and finds it done. A store
 * gets its identity before anybody can make a backup: the backup has the same. */
static int migrate(struct store *s, const struct paths *paths, struct err *err)
{
	char *id = NULL;
	int64_t version;
	int rc;

	if (use_wal(s, err) || store_begin(s, err))
		return -1;
	rc = check_identity(s, paths->store, &version, err) ||
	     (version == 0 && run_script(s, schema_text, err)) ||
	     (version > 0 && version < schema_version() &&
	      schema_bring_up(s, (int)version, err)) ||
	     store_identity(s, &id, err) ||
	     (version == 0 && store_number_past_leftovers(s, paths, err));
	free(id);
	return store_finish(s, rc, err);
}

/* A supervisor, too, waits as long as a command does while it opens the store: the last process
 * that closes the store locks it until the disk has the write-ahead log. */
static int prepare_connection(struct store *s, const struct paths *paths, enum store_mode mode,
			      struct err *err)
{
	int flags = s->is_anothers ? SQLITE_OPEN_READONLY
		: SQLITE_OPEN_READWRITE | (mode == STORE_READ ? 0 : SQLITE_OPEN_CREATE);
	int64_t version;

	/* refused after the first connection, and in force by then */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	if (mode == STORE_READ && access(paths->store, R_OK) && errno != ENOENT)
		return err_set(err, EX_NOPERM, "cannot read the store '%s': %s", paths->store,
			       strerror(errno));
	if (sql_open(paths->store, flags, &s->db, err))
		return -1;
	sqlite3_extended_result_codes(s->db, 1);
	store_wait_set(s, STORE_WRITE);
	if (check_identity(s, paths->store, &version, err))
		return -1;
	if (version < schema_version() && s->is_anothers)
		return err_set(err, EX_NOPERM, "the store '%s' is of an older pollux, and of "
			       "another user: that user brings it up to date by any command",
			       paths->store);
	if (version < schema_version() && migrate(s, paths, err))
		return -1;
	if (run_script(s, mode == STORE_OBSERVE
		       ? "PRAGMA foreign_keys = ON; PRAGMA synchronous = NORMAL"
		       : "PRAGMA foreign_keys = ON; PRAGMA synchronous = FULL;"
			 "PRAGMA secure_delete = ON", err))
		return -1;
	store_wait_set(s, mode);
	return 0;
}

int store_open(struct store *s, const struct paths *paths, enum store_mode mode, struct err *err)
{
	struct stat st;
	static unsigned n_opened;
	bool there = true;
	mode_t old;
	int rc;

	*s = (struct store){ .turn = TURN_NONE };
	/* root may look at another user's store, and writes nothing there */
	s->is_anothers = mode == STORE_READ && stat(paths->dir, &st) == 0 &&
			 st.st_uid != geteuid();
	s->opened = ++n_opened;
	if (mode == STORE_READ ? paths_have_store(paths, &there, err) : paths_create(paths, err))
		return -1;
	if (!there)
		return err_set(err, EX_NOINPUT, "no store at '%s' yet; 'pollux submit' makes one",
			       paths->store);
	old = umask(0077);
	rc = prepare_connection(s, paths, mode, err);
	umask(old);
	if (rc)
		store_close(s);
	return rc;
}

/* A short write-ahead log is not copied into the file when the last connection is closed: the copy
 * would wait for the disk four times as long as a commit, and the next process reads a short log in
 * less time. */
void store_close(struct store *s)
{
	const char *file = s->db ? sqlite3_db_filename(s->db, "main") : NULL;
	struct stat st;

	if (file && *file && stat(sqlite3_filename_wal(file), &st) == 0 &&
	    st.st_size < LOG_KEPT_BYTES)
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	sql_close(s);
}

bool store_is_there(const struct store *s)
{
	int has_moved = 0;

	return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) !=
	       SQLITE_OK || !has_moved;
}

int store_begin(struct store *s, struct err *err)
{
	const char *file = sqlite3_db_filename(s->db, "main");

	if (run_script(s, "BEGIN IMMEDIATE", err))
		return -1;
	/* 'pollux doctor --repair' may have put another file in the place of the store. Supervisors
	 * may go on writing into the old file: a run that outlives its store ends. */
	if (s->is_observer || !file || access(file, F_OK) || store_is_there(s))
		return 0;
	store_rollback(s);
	return err_set(err, EX_TEMPFAIL, "another file took the place of the store '%s': try again",
		       file);
}

int store_begin_read(struct store *s, struct err *err)
{
	return run_script(s, "BEGIN", err);
}

int store_commit(struct store *s, struct err *err)
{
	if (run_script(s, "COMMIT", err) == 0) {
		journal_committed();
		return 0;
	}
	store_rollback(s);
	return -1;
}

void store_rollback(struct store *s)
{
	journal_rolled_back();
	if (!sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
}

int store_finish(struct store *s, int rc, struct err *err)
{
	if (rc == 0)
		return store_commit(s, err);
	store_rollback(s);
	return -1;
}

int store_begin_part(struct store *s, struct err *err)
{
	return run_script(s, "SAVEPOINT part", err);
}

int store_end_part(struct store *s, bool keep, struct err *err)
{
	return run_script(s, keep ? "RELEASE part" : "ROLLBACK TO part; RELEASE part", err);
}

int store_make_durable(struct store *s, struct err *err)
{
	return run_script(s, "PRAGMA synchronous = FULL", err);
}

int store_data_version(struct store *s, int64_t *version, struct err *err)
{
	return sql_get(s, err, "PRAGMA data_version", "i<", version);
}
