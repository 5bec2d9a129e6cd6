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

/* Number of ends that are taken, and the job of the first one; -1 where they cannot be. */
static int taken(bool all, int64_t *first)
{
	struct id_list ids;
	int n = -1;

	if (store_ends_take(&store, all, &ids, &err))
		return -1;
	n = (int)ids.count;
	*first = n ? ids.items[0] : 0;
	id_list_release(&ids);
	return n;
}

static void test_ends(void)
{
	int64_t first = 0;

	add_job(NULL, false);
	add_job("true", false);
	add_job("true", true);
	is_int(taken(true, &first), 0, "no job has ended");
	run_sql("UPDATE jobs SET state = 'done'");
	is_int(taken(false, &first), 1, "one end has a command of its own");
	is_int(first, 2, "which is no profile's");
	is_int(taken(true, &first), 0, "the others count as told, too");
	run_sql("UPDATE jobs SET state = 'queued' WHERE id <= 2");
	is_int(taken(true, &first), 0, "jobs that are queued again have not ended");
	run_sql("UPDATE jobs SET state = 'failed' WHERE id <= 2");
	is_int(taken(true, &first), 2, "both ends are for a command that is told of all");
	is_int(taken(true, &first), 0, "once");
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
