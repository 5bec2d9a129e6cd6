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

static int check_path(const struct paths *paths, const char *path, struct err *err)
{
	char *log = xasprintf("%s-wal", path);
	bool has_log = access(log, F_OK) == 0;
	struct stat st;

	free(log);
	if (file_check_links(path, err))
		return -1;
	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return err_set(err, EX_CANTCREAT, "'%s' is %s", path,
			       S_ISDIR(st.st_mode) ? "a directory" : "no regular file");
	if (file_same(path, paths->store))
		return err_set(err, EX_USAGE, "'%s' is the store itself", path);
	/* SQLite would take this log for that of the copy. */
	if (has_log)
		return err_set(err, EX_USAGE, "'%s' is a store in use: '%s-wal' lies beside it",
			       path, path);
	return 0;
}

static int copy_error(sqlite3 *to, const char *path, struct err *err)
{
	int code = sqlite3_errcode(to) & 0xff;

	return err_set(err, code == SQLITE_CORRUPT || code == SQLITE_NOTADB ? EX_DATAERR : EX_IOERR,
		       "cannot copy the store to '%s': %s", path, sqlite3_errmsg(to));
}

/* Copies all pages in one step: a second step would begin anew after each commit of others. */
static int fill_backup(struct store *s, sqlite3 *to, const char *path, struct err *err)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", s->db, "main");
	sqlite3_stmt *q = NULL;
	int rc = 0;

	if (backup)
		sqlite3_backup_step(backup, -1);
	turn_leave(&s->turn);
	if (!backup || sqlite3_backup_finish(backup) != SQLITE_OK ||
	    sqlite3_prepare_v2(to, "PRAGMA quick_check(1)", -1, &q, NULL) != SQLITE_OK ||
	    sqlite3_step(q) != SQLITE_ROW)
		rc = copy_error(to, path, err);
	else if (strcmp((const char *)sqlite3_column_text(q, 0), "ok") != 0)
		rc = err_set(err, EX_DATAERR, "the store is damaged, and '%s' is left as it was; "
			     "see 'pollux doctor'", path);
	sqlite3_finalize(q);
	return rc;
}

/* --- the file beside the copy --- */

/* The middle of the temporary file's name: six letters or digits follow, and the suffixes of
 * SQLite's journals. */
#define UNFINISHED ".pollux-"
#define RANDOM_LETTERS 6

/* Removes the files of backups to the same path that were killed. One that is at work has its file
 * open; descriptors of other users cannot be seen. */
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
		struct pid_list users;
		struct stat st;
		char *file;

		if (!text_starts_with(name, prefix) || strlen(name) < n ||
		    (name[n] != '\0' && name[n] != '-'))
			continue;
		file = xasprintf("%s/%.*s", at, (int)n, name);
		proc_users_of_file(file, NULL, &users);
		if (stat(file, &st) || (users.count == 0 && st.st_uid == geteuid()))
			sql_remove(file, true);
		pid_list_release(&users);
		free(file);
	}
	if (dir)
		closedir(dir);
	free(prefix);
	free(copy);
	free(parent);
}

/* mkostemp makes the temporary file so that only the owner reads it: the store has the environments
 * of jobs. The open descriptor tells other backups that this one is at work. */
int store_backup(struct store *s, const struct paths *paths, const char *path, struct err *err)
{
	char *temporary;
	sqlite3 *to = NULL;
	int fd, rc;

	if (check_path(paths, path, err))
		return -1;
	remove_unfinished(path);
	temporary = xasprintf("%s" UNFINISHED "XXXXXX", path);
	fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0) {
		free(temporary);
		return err_set(err, EX_CANTCREAT, "cannot create a file beside '%s': %s", path,
			       strerror(errno));
	}
	if (sqlite3_open_v2(temporary, &to, SQLITE_OPEN_READWRITE, NULL) != SQLITE_OK)
		rc = copy_error(to, path, err);
	else
		rc = fill_backup(s, to, path, err);
	if (sqlite3_close(to) != SQLITE_OK && rc == 0)
		rc = err_set(err, EX_IOERR, "cannot close '%s'", temporary);
	if (rc == 0 && rename(temporary, path))
		rc = err_set(err, EX_CANTCREAT, "cannot replace '%s': %s", path, strerror(errno));
	sql_remove(temporary, rc != 0);
	close(fd);	/* not earlier: it would drop SQLite's locks */
	free(temporary);
	return rc;
}
