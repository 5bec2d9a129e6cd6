/* store_backup.c - copies the store page by page into a new file, then renames the file. */
#include "pollux/store.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"
#include "sql.h"

/* Refuses a path with a write-ahead log beside it: SQLite would take this log for the log of the
 * copy. */
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

	if (file_check_links(path, err))
		return -1;
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

/* Copies all pages in one step: a second step would begin anew after each commit of others. */
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

static int fill_backup(struct store *s, const char *temporary, const char *path, struct err *err)
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

/* --- the file beside the copy --- */

/* The middle of the temporary file's name: six letters or digits follow, and the suffixes of
 * SQLite's journals. */
#define UNFINISHED ".pollux-"
#define RANDOM_LETTERS 6

static void remove_with(const char *path, const char *suffix)
{
	char *file = xasprintf("%s%s", path, suffix);

	unlink(file);
	free(file);
}

static void remove_journals(const char *path)
{
	remove_with(path, "-wal");
	remove_with(path, "-shm");
	remove_with(path, "-journal");
}

/* True if the backup that made the file has not ended. It keeps the file open. */
static bool is_at_work(const char *path)
{
	struct pid_list users;
	struct stat st;
	bool is;

	if (stat(path, &st))
		return false;
	proc_users_of_file(path, &users);
	is = users.count > 0 || st.st_uid != geteuid();	/* others' descriptors cannot be seen */
	pid_list_release(&users);
	return is;
}

/* Removes the files of backups to the same path that were killed. */
static void remove_unfinished(const char *path)
{
	char *copy = xstrdup(path), *prefix = xasprintf("%s" UNFINISHED, basename(copy));
	char *parent = xstrdup(path);
	const char *at = dirname(parent);
	DIR *dir = opendir(at);
	const struct dirent *entry;

	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		size_t n = strlen(prefix) + RANDOM_LETTERS;
		char *file;

		if (!text_starts_with(name, prefix) || strlen(name) < n ||
		    (name[n] != '\0' && name[n] != '-'))
			continue;
		file = xasprintf("%s/%.*s", at, (int)n, name);
		if (!is_at_work(file)) {
			unlink(file);
			remove_journals(file);
		}
		free(file);
	}
	if (dir)
		closedir(dir);
	free(prefix);
	free(copy);
	free(parent);
}

/* Makes the temporary file by mkstemp, which lets only the owner read it: the store has the
 * environments of jobs. The open descriptor that is returned tells other backups that this one is
 * at work. */
static int make_beside(char *temporary, const char *path, struct err *err)
{
	int fd = mkostemp(temporary, O_CLOEXEC);

	return fd >= 0 ? fd : err_set(err, EX_CANTCREAT, "cannot create a file beside '%s': %s",
				      path, strerror(errno));
}

int store_backup(struct store *s, const struct paths *paths, const char *path, struct err *err)
{
	char *temporary;
	int fd, rc = -1;

	if (check_path(paths, path, err))
		return -1;
	remove_unfinished(path);
	temporary = xasprintf("%s" UNFINISHED "XXXXXX", path);
	fd = make_beside(temporary, path, err);
	if (fd >= 0) {
		rc = fill_backup(s, temporary, path, err);
		if (rc == 0 && rename(temporary, path))
			rc = err_set(err, EX_CANTCREAT, "cannot replace '%s': %s", path,
				     strerror(errno));
		if (rc)
			unlink(temporary);
		remove_journals(temporary);
		close(fd);	/* not earlier: it would drop SQLite's locks */
	}
	free(temporary);
	return rc;
}
