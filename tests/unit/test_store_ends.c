/* test_store_ends.c - the end of a job is told once, again after the job was queued again, and to
 * nobody where no command is to be told. */
#include "pollux/store_ends.h"
#include "store_fixture.h"

static void add_job(const char *on_end, bool profile)
{
	struct job job;

	job_init(&job);
	job.declared.on_end = on_end ? xstrdup(on_end) : NULL;
	job.profile = profile;
	add_to_fixture(&job, "w");
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
	open_fixture();
	test_ends();
	return close_fixture();
}
