/* store_backup.c - copy the store page by page into a new file, then give that its name. */
#include "pollux/store_backup.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "sql.h"

/* The write-ahead log of a store holds what its file lacks, and would be taken for the copy's. */
static int refuse_store(const struct paths *paths, const char *path, struct err *err)
{
	char *log = xasprintf("%s-wal", path);
	bool is_store = access(log, F_OK) == 0;

	free(log);
	if (file_same(path, paths->store))
		return err_set(err, EX_USAGE, "'%s' is the store itself", path);
	if (is_store)
		return err_set(err, EX_USAGE, "'%s' is a store in use: '%s-wal' lies beside it",
			       path, path);
	return 0;
}

static int check_path(const struct paths *paths, const char *path, struct err *err)
{
	struct stat st;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, EX_CANTCREAT, "'%s' is %s", path,
			       S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
	return refuse_store(paths, path, err);
}

static int copy_error(sqlite3 *to, const char *path, struct err *err)
{
	int code = sqlite3_errcode(to) & 0xff;

	return err_set(err, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? EX_DATAERR : EX_IOERR,
		       "cannot copy the store to '%s': %s", path, sqlite3_errmsg(to));
}

/* All pages in one step: a second one would begin anew after each commit of others. */
static int copy_pages(struct store *s, sqlite3 *to, const char *path, struct err *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", s->db, "main");

	if (backup)
		sqlite3_backup_step(backup, -1);
	turn_leave(&s->turn);
	if (!backup || sqlite3_backup_finish(backup) != SQLITE_OK)
		return copy_error(to, path, err);
	return 0;
}

static int check_copy(sqlite3 *to, const char *path, struct err *err)
{
	sqlite3_stmt *q = NULL;
	int rc = 0;

	if (sqlite3_prepare_v2(to, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK ||
	    sqlite3_step(q) != SQLITE_ROW)
		rc = copy_error(to, path, err);
	else if (strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
		rc = err_set(err, EX_DATAERR, "the store is damaged, and '%s' is left as it was; "
			     "see 'pollux doctor'", path);
	sqlite3_finalize(q);
	return rc;
}

static int fill(struct store *s, const char *temporary, const char *path, struct err *err)
{
	sqlite3 *to = NULL;
	int rc;

	if (sqlite3_open_v2(temporary, &to, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		rc = copy_error(to, path, err);
	else
		rc = copy_pages(s, to, path, err) || check_copy(to, path, err) ? -1 : 0;
	if (sqlite3_close(to) != SQLITE_OK && rc == 0)
		rc = err_set(err, EX_IOERR, "cannot close '%s'", temporary);
	return rc;
}

static void remove_with(const char *path, const char *suffix)
{
	char *file = xasprintf("%s%s", path, suffix);

	unlink(file);
	free(file);
}

/* mkstemp makes a file that only its owner may read: environments of jobs are in the store. */
static int make_beside(char *temporary, const char *path, struct err *err)
{
	int fd = mkstemp(temporary);

	if (fd < 0)
		return err_set(err, EX_CANTCREAT, "cannot create a file beside '%s': %s", path,
			       strerror(errno));
	close(fd);
	return 0;
}

int store_backup(struct store *s, const struct paths *paths, const char *path, struct err *err)
{
	char *temporary;
	int rc;

	if (check_path(paths, path, err))
		return -1;
	temporary = xasprintf("%s.XXXXXX", path);
	rc = make_beside(temporary, path, err);
	if (rc == 0) {
		rc = fill(s, temporary, path, err);
		if (rc == 0 && rename(temporary, path))
			rc = err_set(err, EX_CANTCREAT, "cannot replace '%s': %s", path,
				     strerror(errno));
		if (rc)
			unlink(temporary);
		remove_with(temporary, "-wal");
		remove_with(temporary, "-shm");
		remove_with(temporary, "-journal");
	}
	free(temporary);
	return rc;
}
