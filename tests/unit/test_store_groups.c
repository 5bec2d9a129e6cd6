/* test_store_groups.c - groups in the store: all of a group or nothing, hostile values, the end of
 * a group with its last job. */
/* link: -Wl,--wrap=sqlite3_step */
#include <string.h>
#include <unistd.h>

#include "pollux/store_groups.h"
#include "store_fixture.h"

static int calls_until_failure;		/* 0: none fails */

int __real_sqlite3_step(sqlite3_stmt *q);
int __wrap_sqlite3_step(sqlite3_stmt *q);

int __wrap_sqlite3_step(sqlite3_stmt *q)
{
	if (calls_until_failure && --calls_until_failure == 0)
		return SQLITE_FULL;
	return __real_sqlite3_step(q);
}

static int64_t ask(const char *sql)
{
	sqlite3_stmt *q;
	int64_t answer = -1;

	if (sqlite3_prepare_v2(store.db, sql, -1, &q, NULL) == SQLITE_OK &&
	    __real_sqlite3_step(q) == SQLITE_ROW)
		answer = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return answer;
}

static const char *const values[] = { "two\nlines", "a=b=c", "-x", "{gpus} 'quoted' \"twice\"", "",
				      "\xc3\xa9 \xff", NULL };

struct wanted {
	int fails_at;			/* -1: none */
};

static int make(void *arg, int i, struct job *job, struct job_command *command, struct err *e)
{
	const struct wanted *w = arg;

	job->declared.name = xasprintf("run %d", i);
	job->declared.workload = xstrdup("w");
	job->submit_time_s = 1;
	job->group_index = i;
	command->program = xstrdup("/bin/true");
	command->directory = xstrdup("/");
	strings_addf(&command->argv, "v=%s", values[i]);
	strings_addf(&job->parameters, "value=%s", values[i]);
	strings_addf(&job->parameters, "value_2=%d", i);
	return i == w->fails_at ? err_set(e, EX_USAGE, "run %d is bad", i) : 0;
}

static int add(int n, int fails_at, struct group_added *added)
{
	struct wanted wanted = { fails_at };
	struct group_jobs jobs = { n, make, &wanted };
	struct dependency_list none = { 0 };
	struct job_group group = { .name = xstrdup("g {value}"), .submit_time_s = 7,
				   .max_running = 2 };
	int rc;

	strings_add(&group.argv, "v={value}");
	strings_add(&group.varied, "value=@file\nof values");
	strings_add(&group.varied, "value_2=0:5");
	err = (struct err){ 0 };
	rc = store_begin(&store, &err) ||
	     store_group_insert(&store, &group, &jobs, &none, added, &err) ? -1 : 0;
	if (rc)
		store_rollback(&store);
	else
		rc = store_commit(&store, &err);
	job_group_release(&group);
	return rc;
}

static void reads_group(int64_t id)
{
	struct job_group g;

	is_int(store_group_get(&store, id, &g, &err), 0, "a group is read");
	ok(g.id == id && g.submit_time_s == 7 && g.max_running == 2, "a group has its numbers");
	is_str(g.name, "g {value}", "a group has its name");
	is_int((long long)g.argv.count, 1, "a group has its command");
	is_str(g.argv.items[0], "v={value}", "the command of a group has its parameters in braces");
	is_int((long long)g.varied.count, 2, "a group has what was varied");
	is_str(g.varied.items[0], "value=@file\nof values",
	       "a group has what was varied as it was asked for");
	job_group_release(&g);
	is_int(store_group_get(&store, id + 1, &g, &err), -1,
	       "a group that is not there is not read");
	ok(err.exit_status == EX_NOINPUT, "a group that is not there is the user's mistake");
}

static void reads_jobs(const struct group_added *added)
{
	struct job_list list;

	is_int(store_group_jobs(&store, added->group_id, &list, &err), 0,
	       "the jobs of a group are read");
	is_int(list.count, 6, "all jobs of a group are read");
	for (int i = 0; i < list.count; i++) {
		const struct job *job = &list.items[i];

		ok(job->id == added->first_job_id + i && job->group_index == i &&
		   job->group_id == added->group_id, "the jobs of a group are in their order");
		is_str(job_parameter(job, "value"), values[i],
		       "a job has the value of its parameter");
		ok(job->parameters.count == 2 && job_parameter(job, "val") == NULL,
		   "a name that begins another one is no parameter");
	}
	is_str(list.count == 6 ? job_parameter(&list.items[5], "value_2") : "", "5",
	       "a job has the value of its second parameter");
	job_list_release(&list);
}

static void test_a_group(void)
{
	struct group_added added = { 0 };
	struct job_group_list groups;

	is_int(add(6, -1, &added), 0, "a group of six jobs is added");
	ok(added.last_job_id == added.first_job_id + 5,
	   "the numbers of the jobs of a group follow each other");
	reads_group(added.group_id);
	reads_jobs(&added);
	is_int(store_groups_list(&store, true, &groups, &err), 0, "active groups are listed");
	ok(groups.count == 1 && groups.items[0].id == added.group_id,
	   "a group whose jobs wait is active");
	job_group_list_release(&groups);
	ask("UPDATE jobs SET state = 'done'");
	store_groups_list(&store, true, &groups, &err);
	is_int(groups.count, 0, "a group whose jobs are done is not active");
	job_group_list_release(&groups);
	store_groups_list(&store, false, &groups, &err);
	is_int(groups.count, 1, "a group whose jobs are done is still listed");
	job_group_list_release(&groups);
	ask("DELETE FROM jobs WHERE id > 1");
	is_int(ask("SELECT count(*) FROM job_groups"), 1, "a group stays with one job");
	ask("DELETE FROM jobs");
	is_int(ask("SELECT count(*) FROM job_groups"), 0, "a group goes with its last job");
}

/* Each statement fails once: nothing is left. */
static void test_all_or_nothing(void)
{
	struct group_added added;
	int n, rc = -1;

	is_int(add(3, 2, &added), -1, "a group whose third job cannot be made is not added");
	is_str(err.text, "run 2 is bad", "the error names the job that cannot be made");
	is_int(ask("SELECT (SELECT count(*) FROM jobs) + (SELECT count(*) FROM job_groups)"), 0,
	       "a group that is not added leaves nothing");
	for (n = 1; rc && n < 200; n++) {
		calls_until_failure = n;
		rc = add(3, -1, &added);
		calls_until_failure = 0;
		if (rc && ask("SELECT (SELECT count(*) FROM jobs)"
			      " + (SELECT count(*) FROM job_groups)"))
			break;
	}
	ok(rc == 0 && n > 10, "a group leaves nothing, whichever statement fails");
	is_int(ask("SELECT count(*) FROM jobs"), 3, "a group is added when no statement fails");
}

int main(void)
{
	open_fixture();
	test_a_group();
	test_all_or_nothing();
	return close_fixture();
}
