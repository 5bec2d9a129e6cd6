/* store_identity.c - which store this is, and where its numbers begin. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/number.h"
#include "sql.h"
#include "store_identity.h"

int store_identity(struct store *s, char **id, struct err *err)
{
	if (store_setting_get(s, "store_id", id, err))
		return -1;
	if (*id)
		return 0;
	if (sql_run(s, NULL, err, "INSERT OR IGNORE INTO settings (name, value)"
		    " VALUES ('store_id', lower(hex(randomblob(16))))", ""))
		return -1;
	return store_setting_get(s, "store_id", id, err);
}

/* Returns the number at the start of a name such as "12", "12.log" or "12.log.of-1a2b3c4d"; else
 * 0. */
static int64_t job_of_name(const char *name)
{
	char digits[20] = "";
	size_t n = strspn(name, "0123456789");
	int64_t id = 0;

	if (n == 0 || n >= sizeof(digits) || (name[n] && name[n] != '.'))
		return 0;
	memcpy(digits, name, n);
	return number_parse_int(digits, &id) == 0 ? id : 0;
}

static int64_t greatest_job_in(const struct paths *paths, const char *part)
{
	char *path = xasprintf("%s/%s", paths->dir, part);
	DIR *dir = opendir(path);
	const struct dirent *entry;
	int64_t greatest = 0;

	while (dir && (entry = readdir(dir))) {
		int64_t id = job_of_name(entry->d_name);

		greatest = id > greatest ? id : greatest;
	}
	if (dir)
		closedir(dir);
	free(path);
	return greatest;
}

int store_raise_number(struct store *s, const char *table, int64_t number, struct err *err)
{
	int n = 0;

	if (sql_run(s, &n, err, "UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?", "it",
		    number, table))
		return -1;
	return n ? 0 : sql_run(s, NULL, err, "INSERT INTO sqlite_sequence (name, seq)"
			       " VALUES (?, ?)", "ti", table, number);
}

int store_number_past_leftovers(struct store *s, const struct paths *paths, struct err *err)
{
	int64_t logs = greatest_job_in(paths, "logs");
	int64_t checkpoints = greatest_job_in(paths, "checkpoints");

	s->left_by_another = logs > checkpoints ? logs : checkpoints;
	return s->left_by_another ? store_raise_number(s, "jobs", s->left_by_another, err) : 0;
}
