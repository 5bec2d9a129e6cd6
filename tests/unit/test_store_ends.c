/* test_store_ends.c - the end of a job is told once, again after the job was queued again, and to
 * nobody where no command is to be told. */
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_ends.h"
#include "pollux/store_jobs.h"
#include "tap.h"

static char root[] = "/tmp/test_ends.XXXXXX";
static struct paths paths;
static struct store store;
static struct err err;

static void run_sql(const char *sql)
{
	if (sqlite3_exec(store.db, sql, NULL, NULL, NULL) != SQLITE_OK)
		printf("# %s\n", sqlite3_errmsg(store.db));
}

static void add_job(const char *on_end, bool profile)
{
	struct dependency_list none = { 0 };
	struct job_command c = { .program = xstrdup("/bin/true"), .directory = xstrdup("/") };
	struct job job;

	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("w");
	job.declared.on_end = on_end ? xstrdup(on_end) : NULL;
	job.submit_time_s = 1;
	job.profile = profile;
	strings_add(&c.argv, "true");
	if (store_job_add(&store, &job, &c, &none, &err))
		printf("# %s\n", err.text);
	job_command_release(&c);
	job_release(&job);
}

/* The job whose end is taken; 0: none is left; -1: it cannot be taken. */
static int64_t taken(bool all)
{
	int64_t id;

	return store_ends_take(&store, all, &id, &err) ? -1 : id;
}

static bool is_left(bool all)
{
	bool left = false;

	return store_ends_left(&store, all, &left, &err) == 0 && left;
}

static void test_ends(void)
{
	add_job(NULL, false);
	add_job("true", false);
	add_job("true", true);
	is_int(is_left(true), 0, "no job has ended");
	is_int(taken(true), 0, "none is taken");
	run_sql("UPDATE jobs SET state = 'done'");
	is_int(is_left(false), 1, "one end has a command of its own");
	is_int(taken(false), 2, "which is no profile's");
	is_int(is_left(true), 0, "the others count as told, too");
	is_int(taken(true), 0, "and are not taken");
	run_sql("UPDATE jobs SET state = 'queued' WHERE id <= 2");
	is_int(is_left(true), 0, "jobs that are queued again have not ended");
	run_sql("UPDATE jobs SET state = 'failed' WHERE id <= 2");
	is_int(is_left(true), 1, "both ends are for a command that is told of all");
	is_int(taken(true), 1, "the first");
	is_int(is_left(true), 1, "one is left");
	is_int(taken(true), 2, "the second");
	is_int(taken(true), 0, "each once");
}

int main(void)
{
	char *command = xasprintf("rm -rf '%s'", mkdtemp(root));

	setenv("POLLUX_DIR", root, 1);
	if (paths_init(&paths, &err) || store_open(&store, &paths, STORE_WRITE, &err)) {
		printf("Bail out! %s\n", err.text);
		return 1;
	}
	test_ends();
	store_close(&store);
	paths_release(&paths);
	if (system(command))
		puts("# not removed");
	free(command);
	return done();
}
