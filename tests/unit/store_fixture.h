/* store_fixture.h - a new store in a directory of its own, for unit tests that write into one.
 *
 *	int main(void)
 *	{
 *		open_fixture();
 *		... tests that use `store` and `err` ...
 *		return close_fixture();
 *	}
 */
#ifndef STORE_FIXTURE_H
#define STORE_FIXTURE_H

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "tap.h"

static char root[] = "/tmp/test_store.XXXXXX";
static struct paths paths;
static struct store store;
static struct err err;

static inline void open_fixture(void)
{
	if (!mkdtemp(root)) {
		puts("Bail out! no directory");
		exit(1);
	}
	setenv("POLLUX_DIR", root, 1);
	if (paths_init(&paths, &err) || store_open(&store, &paths, STORE_WRITE, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

/* Returns the exit status of the test. */
static inline int close_fixture(void)
{
	store_close(&store);
	paths_release(&paths);
	remove_tree(root);
	return done();
}

static inline void run_sql(const char *sql)
{
	if (sqlite3_exec(store.db, sql, NULL, NULL, NULL) != SQLITE_OK)
		printf("# %s\n", sqlite3_errmsg(store.db));
}

/* Adds a job in a transaction of its own. */
static inline int commit_job(struct job *job, const struct job_command *c,
			     const struct dependency_list *after)
{
	if (store_begin(&store, &err))
		return -1;
	return store_finish(&store, store_job_insert(&store, job, c, after, &err), &err);
}

/* Adds a job that was initialised, with the command `true`, and releases it. Returns its number. */
static inline int64_t add_to_fixture(struct job *job, const char *workload)
{
	struct dependency_list none = { 0 };
	struct job_command c = { .program = xstrdup("/bin/true"), .directory = xstrdup("/") };
	int64_t id;

	job->declared.name = xstrdup("x");
	job->declared.workload = xstrdup(workload);
	job->submit_time_s = 1;
	strings_add(&c.argv, "true");
	if (commit_job(job, &c, &none))
		printf("# %s\n", err.text);
	id = job->id;
	job_command_release(&c);
	job_release(job);
	return id;
}

#endif
