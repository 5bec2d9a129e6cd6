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

	if (sql_ask(s, &application, err, "PRAGMA application_id", "") ||
	    sql_ask(s, version, err, "PRAGMA user_version", ""))
		return -1;
	if (application != STORE_APPLICATION_ID &&
	    (sql_ask(s, &tables, err, "SELECT count(*) FROM sqlite_schema", "") ||
	     sql_ask(s, &application, err, "PRAGMA application_id", "")))
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

/* A store gets its identity before anybody can make a backup: the backup has the same. */
static int set_identity(struct store *s, struct err *err)
{
	char *id = NULL;
	int rc = store_identity(s, &id, err);

	free(id);
	return rc;
}

/* All in one transaction; a second process that wants to migrate waits and finds it done. */
static int migrate(struct store *s, const struct paths *paths, struct err *err)
{
	char sql[128];
	int64_t version;

	sqlite3_snprintf(sizeof(sql), sql, "PRAGMA application_id = %d; PRAGMA user_version = %d",
			 STORE_APPLICATION_ID, schema_version());
	if (use_wal(s, err) || store_begin(s, err))
		return -1;
	if (check_identity(s, paths->store, &version, err) ||
	    (version == 0 && run_script(s, schema_text, err)) ||
	    (version > 0 && version < schema_version() && schema_bring_up(s, (int)version, err)) ||
	    set_identity(s, err) ||
	    (version == 0 && store_number_past_leftovers(s, paths, err)) ||
	    run_script(s, sql, err)) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

static int open_file(struct store *s, const char *path, enum store_mode mode, struct err *err)
{
	int flags = s->is_anothers ? SQLITE_OPEN_READONLY
		: SQLITE_OPEN_READWRITE | (mode == STORE_READ ? 0 : SQLITE_OPEN_CREATE);

	/* refused after the first connection, and in force by then */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	if (mode == STORE_READ && access(path, R_OK) && errno != ENOENT)
		return err_set(err, EX_NOPERM, "cannot read the store '%s': %s", path,
			       strerror(errno));
	if (sql_open(path, flags, &s->db, err))
		return -1;
	sqlite3_extended_result_codes(s->db, 1);
	return 0;
}

/* A supervisor, too, waits as long as a command does while it opens the store: the last process
 * that closes the store locks it until the disk has the write-ahead log. */
static int prepare_connection(struct store *s, const struct paths *paths, enum store_mode mode,
			      struct err *err)
{
	int64_t version;

	if (open_file(s, paths->store, mode, err))
		return -1;
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

static int check_there(const struct paths *paths, struct err *err)
{
	bool there;

	if (paths_have_store(paths, &there, err))
		return -1;
	if (!there)
		return err_set(err, EX_NOINPUT, "no store at '%s' yet; 'pollux submit' makes one",
			       paths->store);
	return 0;
}

int store_open(struct store *s, const struct paths *paths, enum store_mode mode, struct err *err)
{
	struct stat st;
	static unsigned n_opened;
	mode_t old;
	int rc;

	*s = (struct store){ .turn = TURN_NONE };
	/* root may look at another user's store, and writes nothing there */
	s->is_anothers = mode == STORE_READ && stat(paths->dir, &st) == 0 &&
			 st.st_uid != geteuid();
	s->opened = ++n_opened;
	if (mode == STORE_READ ? check_there(paths, err) : paths_create(paths, err))
		return -1;
	old = umask(0077);
	rc = prepare_connection(s, paths, mode, err);
	umask(old);
	if (rc)
		store_close(s);
	return rc;
}

/* Keeps SQLite from copying the write-ahead log into the file when the last connection is closed,
 * if the log is short. The copy would wait for the disk four times as long as a commit, and the
 * next process reads a short log in less time. */
static void keep_short_log(struct store *s)
{
	const char *file = sqlite3_db_filename(s->db, "main");
	struct stat st;

	if (file && *file && stat(sqlite3_filename_wal(file), &st) == 0 &&
	    st.st_size < LOG_KEPT_BYTES)
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
}

void store_close(struct store *s)
{
	if (s->db)
		keep_short_log(s);
	sql_forget(s);
	sqlite3_close(s->db);
	s->db = NULL;
}

bool store_is_there(const struct store *s)
{
	int has_moved = 0;

	return sqlite3_file_control(s->db, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved) !=
	       SQLITE_OK || !has_moved;
}

/* True if 'pollux doctor --repair' put another file in the place of the store. Supervisors may go
 * on writing into the old file: a run that outlives its store ends. */
static bool was_replaced(const struct store *s)
{
	const char *file = sqlite3_db_filename(s->db, "main");

	return !s->is_observer && file && access(file, F_OK) == 0 && !store_is_there(s);
}

int store_begin(struct store *s, struct err *err)
{
	if (run_script(s, "BEGIN IMMEDIATE", err))
		return -1;
	if (!was_replaced(s))
		return 0;
	store_rollback(s);
	return err_set(err, EX_TEMPFAIL, "another file took the place of the store '%s': try again",
		       sqlite3_db_filename(s->db, "main"));
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
	return sql_ask(s, version, err, "PRAGMA data_version", "");
}
