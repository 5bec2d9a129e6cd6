/* repair_lost.c - what a repaired store says in place of rows that were lost. */
#include "repair_lost.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/open_file.h"
#include "sql.h"

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
