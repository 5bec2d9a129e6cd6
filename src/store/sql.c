/* sql.c - prepare, bind, step; and SQLite's errors in our words. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "database.h"
#include "pollux/mem.h"
#include "sql.h"

static int exit_status_of(int code)
{
	switch (code & 0xff) {
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return EX_TEMPFAIL;
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_AUTH:
		return EX_NOPERM;
	case SQLITE_CANTOPEN:
		return EX_CANTCREAT;
	case SQLITE_NOTADB:
	case SQLITE_CORRUPT:
	case SQLITE_ERROR:	/* a table or column is missing, or is there already */
		return EX_DATAERR;
	case SQLITE_FULL:
	case SQLITE_IOERR:
		return EX_IOERR;
	default:
		return EX_SOFTWARE;
	}
}

/* Adds the reason. SQLite says "locking protocol" if it waited for a process that opens the
 * store. */
static void add_why(struct store *s, const char *file, struct text *t)
{
	int code = sqlite3_extended_errcode(s->db) & 0xff;
	bool locked = code == SQLITE_BUSY || code == SQLITE_PROTOCOL;
	int why = code == SQLITE_IOERR ? sqlite3_system_errno(s->db) : 0;

	text_add(t, locked ? "database is locked" : sqlite3_errmsg(s->db));
	if (why == EFBIG)
		text_add(t, ": the file would grow beyond the limit that 'ulimit -f' shows");
	else if (why)
		text_addf(t, ": %s", strerror(why));
	if (locked && file)
		store_holder_add(file, t);
}

/* The file, and those that SQLite keeps beside what a link leads to. */
static int check_kind(const char *path, struct err *err)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
	char *target = realpath(path, NULL);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
		char *file = xasprintf("%s%s", target ? target : path, suffixes[i]);
		struct stat st;

		if ((i ? lstat(file, &st) : stat(file, &st)) == 0 && !S_ISREG(st.st_mode))
			rc = err_set(err, EX_CANTCREAT, "cannot open '%s': it is %s", file,
				     S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
		free(file);
	}
	free(target);
	return rc;
}

int sql_open(const char *path, int flags, sqlite3 **db, struct err *err)
{
	if (check_kind(path, err))
		return -1;
	if (sqlite3_open_v2(path, db, flags, NULL) == SQLITE_OK)
		return 0;
	return err_set(err, EX_CANTCREAT, "cannot open the store '%s': %s", path,
		       sqlite3_errmsg(*db));
}

int sql_error(struct store *s, struct err *err, const char *what)
{
	const char *file = sqlite3_db_filename(s->db, "main");
	int status = exit_status_of(sqlite3_extended_errcode(s->db));
	struct text why = TEXT_INIT;

	add_why(s, file, &why);
	err_set(err, status, "cannot %s '%s': %s", what, file ? file : "?", why.data);
	text_release(&why);
	return -1;
}

static int bind_one(sqlite3_stmt *q, int i, char type, va_list *ap)
{
	const void *p;
	int64_t n;
	double d;

	switch (type) {
	case 'd':
		d = va_arg(*ap, double);
		return sqlite3_bind_double(q, i, d);
	case 't':
		return sqlite3_bind_text(q, i, va_arg(*ap, const char *), -1, SQLITE_STATIC);
	case 'b':
		p = va_arg(*ap, const void *);
		n = (int64_t)va_arg(*ap, size_t);
		return sqlite3_bind_blob64(q, i, p, (sqlite3_uint64)n, SQLITE_STATIC);
	default:
		n = va_arg(*ap, int64_t);
		if ((type == 'n' && n == 0) || (type == 'm' && n < 0))
			return sqlite3_bind_null(q, i);
		return sqlite3_bind_int64(q, i, n);
	}
}

/* Finds a statement with this text that sql_done put back. Statements are used again, because a
 * pass asks the same of each of a thousand workloads, and half of the time would go into parsing.
 * NULL: there is none, or it is in use. */
static sqlite3_stmt *find_prepared(struct store *s, const char *sql)
{
	sqlite3_stmt *q = NULL;

	while ((q = sqlite3_next_stmt(s->db, q)))
		if (!sqlite3_stmt_busy(q) && !strcmp(sqlite3_sql(q), sql))
			return q;
	return NULL;
}

int sql_vquery(struct store *s, sqlite3_stmt **q, struct err *err, const char *sql,
	       const char *types, va_list *ap)
{
	int rc = SQLITE_OK;

	*q = find_prepared(s, sql);
	if (!*q)
		rc = sqlite3_prepare_v2(s->db, sql, -1, q, NULL);
	for (int i = 0; rc == SQLITE_OK && types[i]; i++)
		rc = bind_one(*q, i + 1, types[i], ap);
	if (rc == SQLITE_OK)
		return 0;
	sql_error(s, err, "use the store");
	sqlite3_finalize(*q);
	*q = NULL;
	return -1;
}

int sql_query(struct store *s, sqlite3_stmt **q, struct err *err, const char *sql,
	      const char *types, ...)
{
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = sql_vquery(s, q, err, sql, types, &ap);
	va_end(ap);
	return rc;
}

void sql_done(sqlite3_stmt *q)
{
	if (!q)
		return;
	sqlite3_reset(q);
	sqlite3_clear_bindings(q);
}

void sql_forget(struct store *s)
{
	sqlite3_stmt *q;

	while (s->db && (q = sqlite3_next_stmt(s->db, NULL)))
		sqlite3_finalize(q);
}

int sql_row(struct store *s, sqlite3_stmt *q, struct err *err)
{
	int rc = sqlite3_step(q);

	turn_leave(&s->turn);
	switch (rc) {
	case SQLITE_ROW:
		return 1;
	case SQLITE_DONE:
		return 0;
	default:
		return sql_error(s, err, "use the store");
	}
}

int sql_run(struct store *s, int *changed, struct err *err, const char *sql, const char *types, ...)
{
	sqlite3_stmt *q;
	va_list ap;
	int rc;

	va_start(ap, types);
	rc = sql_vquery(s, &q, err, sql, types, &ap);
	va_end(ap);
	if (rc)
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		;
	sql_done(q);
	if (changed)
		*changed = sqlite3_changes(s->db);
	return rc;
}

int sql_ask(struct store *s, int64_t *answer, struct err *err, const char *sql, const char *types,
	    ...)
{
	sqlite3_stmt *q;
	va_list ap;
	int rc;

	*answer = 0;
	va_start(ap, types);
	rc = sql_vquery(s, &q, err, sql, types, &ap);
	va_end(ap);
	if (rc)
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*answer = sqlite3_column_int64(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

char *sql_text_or_null(sqlite3_stmt *q, int column)
{
	sqlite3_value *value = sqlite3_column_value(q, column);
	const void *bytes = sqlite3_value_blob(value);
	size_t n = (size_t)sqlite3_value_bytes(value);
	char *s;

	if (sqlite3_value_type(value) == SQLITE_NULL)
		return NULL;
	s = xmalloc(n + 1);
	if (n)
		memcpy(s, bytes, n);
	s[n] = '\0';
	return s;
}

char *sql_text(sqlite3_stmt *q, int column)
{
	char *s = sql_text_or_null(q, column);

	return s ? s : xstrdup("");
}

double sql_double(sqlite3_stmt *q, int column)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? (double)NAN
							     : sqlite3_column_double(q, column);
}

int64_t sql_int(sqlite3_stmt *q, int column, int64_t if_null)
{
	return sqlite3_column_type(q, column) == SQLITE_NULL ? if_null
							     : sqlite3_column_int64(q, column);
}
