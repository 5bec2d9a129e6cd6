/* sql.h - statements in one line each; private to the store.
 *
 * Values are bound by a string of letters, one for each '?':
 *	i int64_t	n int64_t, 0 is NULL	m int64_t, negative is NULL
 *	d double, NaN is NULL	t const char *, NULL is NULL	b const void *, size_t (a blob)
 * Texts and blobs are not copied: the caller keeps them until the statement is done.
 *
 * No two threads use the store, so the result of one call of sqlite3_column_value may be asked for
 * its type and its content. */
#ifndef POLLUX_STORE_SQL_H
#define POLLUX_STORE_SQL_H

#include <sqlite3.h>
#include <stdarg.h>

#include "pollux/store_jobs.h"
#include "pollux/store_measurements.h"

/* Opens a file of SQLite; *db is to be closed, also after an error. Refuses a FIFO, a device and a
 * directory in its place, or in that of its journals: SQLite would wait there for ever. */
int sql_open(const char *path, int flags, sqlite3 **db, struct err *err);

/* Removes what SQLite keeps beside the file at path, and the file itself. */
void sql_remove(const char *path, bool itself);

/* Fill *err from the connection's last error: "cannot WHAT: ...". Returns -1. */
int sql_error(struct store *s, struct err *err, const char *what);

/* Run to the end, results thrown away. *changed (may be NULL): rows written. */
int sql_run(struct store *s, int *changed, struct err *err, const char *sql, const char *types,
	    ...);

/* Prepares and binds; step by sql_row, then sql_done. Two statements of one text may be in use if
 * the first was stepped before the second is asked for. */
int sql_query(struct store *s, sqlite3_stmt **q, struct err *err, const char *sql,
	      const char *types,
	      ...);
int sql_vquery(struct store *s, sqlite3_stmt **q, struct err *err, const char *sql,
	       const char *types, va_list *ap);
/* Reads the first row of a query. types: a letter for each column, '<', and those of the values
 * that are bound. The arguments are in this order; a column goes to where its argument points:
 *	i int64_t	n int	b bool	d double	t char *, owned	c char *, size_t
 *	s struct strings, which is empty
 * NULL gives 0, false, NaN, NULL and ""; and so does a row that is not there, or an error. */
int sql_get(struct store *s, struct err *err, const char *sql, const char *types, ...);
int sql_row(struct store *s, sqlite3_stmt *q, struct err *err);	/* 1 a row, 0 no more, -1 */
/* keeps the statement for another query of the same text; NULL is harmless */
void sql_done(sqlite3_stmt *q);
void sql_forget(struct store *s);	/* all statements that were prepared */
void sql_close(struct store *s);	/* also where it was not opened */

/* The newest STORE_RUNS_MAX runs of a workload. Only the end of an index is read for them. Rows of
 * other tables are found by IN: SQLite takes them in order, so that a LIMIT ends the search without
 * sorting the rest. */
#define SQL_TEXT(number) #number
#define SQL_NUMBER(number) SQL_TEXT(number)
#define SQL_NEWEST_RUNS(workload) \
	"(SELECT newest.id FROM runs newest WHERE newest.workload = " workload \
	" ORDER BY newest.id DESC LIMIT " SQL_NUMBER(STORE_RUNS_MAX) ")"

/* True for the names of a workload under its plans (execution_plan.h), by an index; the workload in
 * such a name. */
#define SQL_OF_PLANS(name, workload) \
	name " > " workload " || char(31) AND " name " < " workload " || char(32)"
#define SQL_BASE(name) "iif(instr(" name ", char(31)), substr(" name ", 1, instr(" name \
	", char(31)) - 1), " name ")"

/* The state of a job, as people are told. */
#define SQL_STATE(job) "iif(" job ".held, 'held', " job ".state)"
/* True of a running job whose run is suspended, or on its way there or back, as people are told,
 * if nobody holds it; and of a queued job that is paused at a rung. By the condition of two states
 * SQLite takes the index one_live_run. */
#define SQL_IS_SET_ASIDE(job) \
	"(" job ".state = 'queued' AND " job ".rung > " job ".passed_rungs OR " \
	"NOT " job ".held AND " SQL_IS_SUSPENDED(job ".id") ")"
#define SQL_IS_SUSPENDED(job) \
	"EXISTS (SELECT 1 FROM runs live WHERE live.job_id = " job " AND live.state IN" \
	" ('running', 'stopping') AND live.state = 'running' AND live.stop_reason = 'none'" \
	" AND live.suspension IN ('asked', 'suspended', 'resuming'))"

/* Copies the text, cut to the size; "" for NULL. */
void sql_chars(sqlite3_stmt *q, int column, char *to, size_t size);
/* Adds the first column of all rows to the list, which is empty before. */
int sql_ids(struct store *s, struct id_list *ids, struct err *err, const char *sql,
	    const char *types, ...);

char *sql_text(sqlite3_stmt *q, int column);		/* a copy; "" for NULL */
char *sql_text_or_null(sqlite3_stmt *q, int column);
double sql_double(sqlite3_stmt *q, int column);		/* NaN for NULL */
int64_t sql_int(sqlite3_stmt *q, int column, int64_t if_null);

#endif
