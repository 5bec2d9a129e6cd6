/* sql.c - prepare, bind, step; and SQLite's errors in our words. */
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "database.h"
#include "pollux/mem.h"
#include "sql.h"

static int exit_status_of(int code)
{
	switch (code) {
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

static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };
#define N_SUFFIXES (sizeof(suffixes) / sizeof(suffixes[0]))

/* Looks at the file, and at those that SQLite keeps beside what a link leads to. */
int sql_open(const char *path, int flags, sqlite3 **db, struct err *err)
{
	char *target = realpath(path, NULL);
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < N_SUFFIXES; i++) {
		char *file = xasprintf("%s%s", target ? target : path, suffixes[i]);
		struct stat st;

		if ((i ? lstat(file, &st) : stat(file, &st)) == 0 && !S_ISREG(st.st_mode))
			rc = err_set(err, EX_CANTCREAT, "cannot open '%s': it is %s", file,
				     S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
		free(file);
	}
	free(target);
	if (rc == 0 && sqlite3_open_v2(path, db, flags, NULL) != SQLITE_OK)
		rc = err_set(err, EX_CANTCREAT, "cannot open the store '%s': %s", path,
			     sqlite3_errmsg(*db));
	return rc;
}

void sql_remove(const char *path, bool itself)
{
	for (size_t i = itself ? 0 : 1; i < N_SUFFIXES; i++) {
		char *file = xasprintf("%s%s", path, suffixes[i]);

		unlink(file);
		free(file);
	}
}

/* SQLite says "locking protocol" if it waited for a process that opens the store. */
int sql_error(struct store *s, struct err *err, const char *what)
{
	const char *file = sqlite3_db_filename(s->db, "main");
	int code = sqlite3_extended_errcode(s->db) & 0xff;
	bool locked = code == SQLITE_BUSY || code == SQLITE_PROTOCOL;
	int number = code == SQLITE_IOERR ? sqlite3_system_errno(s->db) : 0;
	struct text why = TEXT_INIT;

	text_add(&why, locked ? "database is locked" : sqlite3_errmsg(s->db));
	if (number == EFBIG)
		text_add(&why, ": the file would grow beyond the limit that 'ulimit -f' shows");
	else if (number)
		text_addf(&why, ": %s", strerror(number));
	if (locked && file)
		store_holder_add(file, &why);
	err_set(err, exit_status_of(code), "cannot %s '%s': %s", what, file ? file : "?", why.data);
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

/* Statements with the text that sql_done put back are used again: a pass asks the same of each of a
 * thousand workloads, and half of the time would go into parsing. */
int sql_vquery(struct store *s, sqlite3_stmt **q, struct err *err, const char *sql,
	       const char *types, va_list *ap)
{
	int rc = SQLITE_OK;

	for (*q = NULL; (*q = sqlite3_next_stmt(s->db, *q));)
		if (!sqlite3_stmt_busy(*q) && !strcmp(sqlite3_sql(*q), sql))
			break;
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

void sql_close(struct store *s)
{
	sql_forget(s);
	sqlite3_close(s->db);
	s->db = NULL;
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

int sql_run(struct store *s, int *changed, struct err *err, const char *sql, const char *types,
	    ...)
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

void sql_chars(sqlite3_stmt *q, int column, char *to, size_t size)
{
	const char *text = (const char *)sqlite3_column_text(q, column);

	snprintf(to, size, "%s", text ? text : "");
}

/* Puts a column of the row (q NULL: what NULL gives) to where the next argument points. */
static void put_result(sqlite3_stmt *q, int i, char type, va_list *ap)
{
	struct strings *list;
	char *chars;
	size_t size;

	switch (type) {
	case 'd': *va_arg(*ap, double *) = q ? sql_double(q, i) : (double)NAN; break;
	case 'i': *va_arg(*ap, int64_t *) = q ? sql_int(q, i, 0) : 0; break;
	case 'n': *va_arg(*ap, int *) = q ? (int)sql_int(q, i, 0) : 0; break;
	case 'b': *va_arg(*ap, bool *) = q && sql_int(q, i, 0); break;
	case 't': *va_arg(*ap, char **) = q ? sql_text_or_null(q, i) : NULL; break;
	case 's':
		list = va_arg(*ap, struct strings *);
		if (q)
			strings_unpack(list, sqlite3_column_blob(q, i),
				       (size_t)sqlite3_column_bytes(q, i));
		break;
	default:
		chars = va_arg(*ap, char *);
		size = va_arg(*ap, size_t);
		if (q)
			sql_chars(q, i, chars, size);
		else
			chars[0] = '\0';
		break;
	}
}

int sql_get(struct store *s, struct err *err, const char *sql, const char *types, ...)
{
	int n = (int)strcspn(types, "<"), rc;
	sqlite3_stmt *q;
	va_list ap, results;

	va_start(ap, types);
	va_copy(results, ap);
	for (int i = 0; i < n; i++)
		put_result(NULL, i, types[i], &ap);
	rc = sql_vquery(s, &q, err, sql, types + n + 1, &ap) ? -1 : sql_row(s, q, err);
	for (int i = 0; rc == 1 && i < n; i++)
		put_result(q, i, types[i], &results);
	va_end(results);
	va_end(ap);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int sql_ids(struct store *s, struct id_list *ids, struct err *err, const char *sql,
	    const char *types, ...)
{
	sqlite3_stmt *q;
	va_list ap;
	int rc;

	*ids = (struct id_list){ 0 };
	va_start(ap, types);
	rc = sql_vquery(s, &q, err, sql, types, &ap);
	va_end(ap);
	while (rc == 0 && (rc = sql_row(s, q, err)) == 1) {
		id_list_add(ids, sql_int(q, 0, 0));
		rc = 0;
	}
	sql_done(q);
	return rc;
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
