/* store.h - the store: one SQLite file. What it holds is in headers of their own: store_jobs.h,
 * store_runs.h, store_measurements.h and the other store_*.h.
 *
 *	struct store store;
 *	if (store_open(&store, &paths, STORE_WRITE, err)) return -1;
 *	if (store_begin(&store, err)) ...
 *	... reads and writes ...
 *	if (store_commit(&store, err)) ...		// or store_rollback(&store)
 *	store_close(&store);
 *
 * Every function returns 0, or -1 with *err (EX_IOERR for the disk, EX_TEMPFAIL if the store stays
 * locked, EX_DATAERR for a file that is no store). A write outside begin/commit is its own
 * transaction. Strings in results are owned by the result; release it. */
#ifndef POLLUX_STORE_H
#define POLLUX_STORE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/config.h"
#include "pollux/err.h"
#include "pollux/lock.h"
#include "pollux/paths.h"
#include "pollux/text.h"

struct sqlite3;

struct store {
	struct sqlite3 *db;
	/* while another process writes; store_session.c */
	struct turn turn;
	double queue_until_s, first_until_s, try_s;	/* boot clock */
	bool is_observer;
	bool is_anothers;	/* another user's, which is only read */
	bool no_secrets;	/* the values of credentials are not written */
	unsigned opened;		/* another number for each store that this process opens */
	/* greatest number of a job whose files were there when store_open made the store; else 0 */
	int64_t left_by_another;
};

enum store_mode {
	STORE_READ,		/* no store yet is EX_NOINPUT */
	STORE_WRITE,		/* created, and migrated, where needed; commits reach the disk */
	STORE_OBSERVE,		/* as WRITE, but what is measured may be lost with the power */
};

int store_open(struct store *s, const struct paths *paths, enum store_mode mode, struct err *err);
void store_close(struct store *s);
/* True if the file that was opened still has its name: nobody has removed it or put another store
 * in its place. */
bool store_is_there(const struct store *s);
int store_begin(struct store *s, struct err *err);	/* takes the write lock at once;
						 * EX_TEMPFAIL if another file is the store now */
/* Takes no lock that anybody waits for: what is read until the commit is the store as it was at
 * the first read. */
int store_begin_read(struct store *s, struct err *err);
int store_commit(struct store *s, struct err *err);
void store_rollback(struct store *s);			/* harmless outside a transaction */
/* Commits if rc is 0, else rolls back. Returns 0 only for what was committed. */
int store_finish(struct store *s, int rc, struct err *err);
/* Inside a transaction: begins a part of it that can be taken back; keeps the part, or takes it
 * back. */
int store_begin_part(struct store *s, struct err *err);
int store_end_part(struct store *s, bool keep, struct err *err);
/* Where another process writes, a store opened to OBSERVE waits half a second, and from here on as
 * long as one opened to WRITE, or half a second again. */
void store_wait_patiently(struct store *s, bool patiently);
/* From here on a commit reaches the disk, also of a store opened to OBSERVE. */
int store_make_durable(struct store *s, struct err *err);
/* *version changes with each commit of another connection: while it is the same, no other
 * connection has written. */
int store_data_version(struct store *s, int64_t *version, struct err *err);
/* Leaves no deleted content in the write-ahead log, and gives back the space in the file if most of
 * it is unused. What others prevent at the moment is left undone; *wiped tells of the log. */
int store_wipe_deleted(struct store *s, bool *wiped, struct err *err);

/* The devices of the last pass: outlook_describe_devices(). */
#define DEVICES_SETTING "devices"
/* The settings of the last pass: written only where they differ. The value is the caller's to
 * free, NULL where there is none. */
int store_setting_set(struct store *s, const char *name, const char *value, struct err *err);
int store_setting_get(struct store *s, const char *name, char **value, struct err *err);

/* The store's own name, 32 hexadecimal digits, made when it is first asked for. The caller
 * frees. */
int store_identity(struct store *s, char **id, struct err *err);

/* --- what nearly every command begins with: the paths, and the open store --- */

struct session {
	struct paths paths;
	struct store store;
};

/* Find the paths and open the store in this mode. On failure nothing is left open. */
int session_open(struct session *s, enum store_mode mode, struct err *err);
void session_close(struct session *s);

/* Slots, slice and policy of the last pass; as configured if no pass has run. */
int session_settings(struct session *s, struct config *config, struct err *err);

/* --- a copy of the store in one file, made while others write --- */

/* Writes the store as it is at one moment to the file at path, which is replaced only by a whole
 * and sound copy. Writers go on meanwhile. Refused: a path that is no regular file (EX_CANTCREAT),
 * and the path of a store (EX_USAGE), this one or another, whose write-ahead log lies beside it. A
 * damaged store gives no copy (EX_DATAERR). Files of an earlier backup to the same path that was
 * killed, "PATH.pollux-XXXXXX", are removed. */
int store_backup(struct store *s, const struct paths *paths, const char *path, struct err *err);

/* --- whether the store is sound --- */

/* Adds a line for each fault that SQLite's quick_check finds, and for each table, index, trigger
 * and column that a store of this version has and this one lacks; 20 lines at most. */
int store_check(struct store *s, struct strings *faults, struct err *err);
/* True if the file is of another program, or of a newer pollux: nothing is to be repaired there. */
bool store_is_foreign(const struct paths *paths);
int store_has_job(struct store *s, int64_t id, bool *has, struct err *err);
/* The last number that the store has given to a job, or found in the directory when it was made. */
int store_last_job(struct store *s, int64_t *id, struct err *err);
int store_count_jobs(struct store *s, int64_t *n, struct err *err);

/* --- a new store from what can be read of a damaged one --- */

struct repaired_table {
	char *name;		/* owned */
	int64_t copied;		/* rows */
	int64_t unread;		/* rows that could not be read; -1: nobody knows how many */
	int64_t orphans;	/* rows that were dropped, because their job or run is lost */
};

/* Where the new store's name is from. A log or a checkpoint of another name is not used. */
enum repaired_identity { IDENTITY_COPIED, IDENTITY_FROM_LOGS, IDENTITY_NEW };

struct store_repair {
	struct repaired_table *items;	/* owned */
	int count;
	enum repaired_identity identity;
	char *kept;			/* owned: the new name of the damaged store */
};

/* Copies what SQLite can read, table by table and from both sides of the damage, into a new store
 * that takes the place of the old one; the old one is kept. What is below a damaged inner page of a
 * table is lost. EX_TEMPFAIL: a process uses the store, or a run has a supervisor. EX_DATAERR: the
 * file is no store, or of a newer pollux. After an error the store is as it was. The old store is
 * locked until the new one has its place: a process that came meanwhile gets EX_TEMPFAIL from
 * store_begin. */
int store_repair(const struct paths *paths, struct store_repair *r, struct err *err);
void store_repair_release(struct store_repair *r);
/* True if a repair that was killed left its new store beside the old one. */
bool store_repair_left_files(const struct paths *paths);
/* Removes that new store. The next repair does so, too. */
void store_repair_remove_files(const struct paths *paths);

#endif
