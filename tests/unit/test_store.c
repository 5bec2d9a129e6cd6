/* test_store.c - the store: what comes back, what is refused, what an end adds up to; and that each
 * write that fails at any of its statements has written nothing. */
/* link: -Wl,--wrap=sqlite3_step,--wrap=sqlite3_exec */
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/store_columns.h"
#include "pollux/store_jobs.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "store/database.h"
#include "store_fixture.h"

#define UNKNOWN ((double)NAN)

/* --- the Nth call fails --- */

static int calls_until_failure;		/* 0: none fails */
static int64_t machine_steps;		/* of SQLite's, for the calls that did not */

int __real_sqlite3_step(sqlite3_stmt *q);
int __wrap_sqlite3_step(sqlite3_stmt *q);
int __real_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
			void *arg, char **message);
int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
			void *arg, char **message);

int __wrap_sqlite3_step(sqlite3_stmt *q)
{
	if (calls_until_failure && --calls_until_failure == 0)
		return SQLITE_FULL;
	int rc = __real_sqlite3_step(q);

	machine_steps += sqlite3_stmt_status(q, SQLITE_STMTSTATUS_VM_STEP, 1);
	return rc;
}

int __wrap_sqlite3_exec(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **),
			void *arg, char **message)
{
	/* A ROLLBACK is what comes after a failure; it is not to fail as well. */
	if (strcmp(sql, "ROLLBACK") != 0 && calls_until_failure && --calls_until_failure == 0)
		return SQLITE_FULL;
	return __real_sqlite3_exec(db, sql, row, arg, message);
}

/* --- helpers --- */

/* The first column of the first row, as text; "" for none. Valid until the next call. */
static const char *query(const char *sql)
{
	static char text[256];
	sqlite3_stmt *q;

	text[0] = '\0';
	if (sqlite3_prepare_v2(store.db, sql, -1, &q, NULL) != SQLITE_OK)
		return sqlite3_errmsg(store.db);
	if (__real_sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0))
		snprintf(text, sizeof(text), "%s", (const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	return text;
}

static void new_store(void)
{
	static int n;
	char *dir = xasprintf("%s/%d", root, ++n);

	store_close(&store);
	paths_release(&paths);
	setenv("POLLUX_DIR", dir, 1);
	free(dir);
	err = (struct err){ 0 };
	if (paths_init(&paths, &err) || store_open(&store, &paths, STORE_WRITE, &err)) {
		printf("Bail out! %s\n", err.text);
		exit(1);
	}
}

static void fill_command(struct job_command *c)
{
	*c = (struct job_command){ 0 };
	c->program = xstrdup("/bin/true");
	c->directory = xstrdup("/");
	strings_add(&c->argv, "true");
}

static int64_t add_job(int retries)
{
	struct job job;

	job_init(&job);
	job.declared.stop_signal = 15;
	job.declared.grace_s = 60;
	job.declared.retries = retries;
	job.declared.batch.accumulates = retries > 0;
	return add_to_fixture(&job, "x");
}

/* A run of n devices from the first on, as a pass would add it. -1 with err. */
static int try_add_run(struct run *run, int64_t job_id, int first, int n)
{
	run_init(run);
	run->job_id = job_id;
	run->configuration.replicas = n;
	run->configuration.accumulation_steps = 1;
	run->assigned_time_s = 1;
	run->assigned_boot_s = 1;
	run->devices = xcalloc((size_t)n, sizeof(*run->devices));
	for (int i = 0; i < n; i++) {
		snprintf(run->devices[i].id, sizeof(run->devices[i].id), "cpu:%d", first + i);
		snprintf(run->devices[i].binding, sizeof(run->devices[i].binding), "%d", first + i);
		run->devices[i].cores = 1;
	}
	return store_run_add(&store, run, &err);
}

static int64_t add_run(int64_t job_id, int first, int n)
{
	struct run run;
	int64_t id;

	if (try_add_run(&run, job_id, first, n))
		printf("# %s\n", err.text);
	id = run.id;
	run_release(&run);
	return id;
}

static bool claim(int64_t run_id)
{
	bool claimed = false;

	if (store_run_claim(&store, run_id, "local supervisor=100", 5, &claimed, &err))
		printf("# %s\n", err.text);
	return claimed;
}

static int64_t add_claimed_run(int64_t job_id, int first, int n)
{
	int64_t id = add_run(job_id, first, n);

	if (!claim(id))
		puts("# not claimed");
	return id;
}

struct end {
	enum run_outcome outcome;
	enum stop_reason reason;
	double duration_s, last, checkpoint, lost, lost_s;
	int exit_code;
};

static int end_run(int64_t run_id, const struct end *e)
{
	struct run run;
	int rc;

	if (store_run_get(&store, run_id, &run, &err))
		return -1;
	run.outcome = e->outcome;
	run.stop_reason = e->reason;
	run.duration_s = e->duration_s;
	run.last_samples = e->last;
	run.checkpoint_samples = e->checkpoint;
	run.lost_samples = e->lost;
	run.lost_s = e->lost_s;
	run.exit_code = e->exit_code;
	rc = store_run_end(&store, &run, &err);
	run_release(&run);
	return rc;
}

static const char *state_of(int64_t job_id)
{
	char *sql = xasprintf("SELECT state FROM jobs WHERE id = %lld", (long long)job_id);
	const char *state = query(sql);

	free(sql);
	return state;
}

static void is_query(const char *sql, const char *want, const char *what)
{
	is_str(query(sql), want, what);
}

/* --- opening --- */

static int mode_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? -1 : (int)(st.st_mode & 07777);
}

static void test_open(void)
{
	static const char schema[] = "SELECT group_concat(sql, ';') FROM sqlite_schema";
	char first[sizeof(err.text)], *dir = xasprintf("%s/none", root);
	struct store other = { 0 };

	setenv("POLLUX_DIR", dir, 1);
	free(dir);
	paths_init(&paths, &err);
	is_int(store_open(&store, &paths, STORE_READ, &err), -1,
	       "a store that is not there cannot be opened to read");
	is_int(err.exit_status, EX_NOINPUT, "a store that is not there is no input");
	ok(access(paths.dir, F_OK) != 0, "opening a store to read makes none");
	ok(store.db == NULL, "a store that was not opened has no database");
	umask(0);
	new_store();
	is_int(mode_of(paths.dir), 0700, "a new store's directory is private");
	is_int(mode_of(paths.store), 0600, "a new store's file is private");
	is_query("PRAGMA journal_mode", "wal", "a store is in WAL mode");
	is_query("PRAGMA foreign_keys", "1", "a store has foreign keys");
	is_query("PRAGMA synchronous", "2", "writes of a store reach the disk");
	is_int(strtol(query("PRAGMA user_version"), NULL, 10), schema_version(),
	       "a new store has the version of the schema");
	snprintf(first, sizeof(first), "%s", query(schema));
	add_job(0);
	is_int(store_open(&other, &paths, STORE_OBSERVE, &err), 0,
	       "a store can be opened again to observe");
	store_close(&other);
	is_int(store_open(&other, &paths, STORE_READ, &err), 0,
	       "a store can be opened again to read");
	store_close(&other);
	is_query(schema, first, "opening a store again leaves its schema as it was");
	is_query("SELECT count(*) FROM jobs", "1",
		 "opening a store again leaves its jobs as they were");
	umask(022);
}

/* Eight processes want a store that is not there yet: one makes it, all have it. */
static void test_open_at_once(void)
{
	char *dir = xasprintf("%s/crowd", root);
	int n_failed = 0, status;

	store_close(&store);
	paths_release(&paths);
	setenv("POLLUX_DIR", dir, 1);
	free(dir);
	paths_init(&paths, &err);
	for (int i = 0; i < 8; i++) {
		if (fork() == 0) {
			int rc = store_open(&store, &paths, STORE_WRITE, &err);

			if (rc == 0 && add_job(0) == 0)
				rc = -1;
			store_close(&store);
			paths_release(&paths);
			_exit(rc != 0);
		}
	}
	while (wait(&status) > 0)
		n_failed += status != 0;
	is_int(n_failed, 0, "eight processes open a store that is not there yet");
	is_int(store_open(&store, &paths, STORE_READ, &err), 0,
	       "the store that eight processes made can be read");
	is_query("SELECT count(*) FROM jobs", "8",
		 "the store has a job of each of the eight processes");
	is_query("PRAGMA integrity_check", "ok", "the store that eight processes made is whole");
}

static void test_refused(void)
{
	static const struct {
		const char *what, *sql;
	} cases[] = {
		{ "a newer store is not opened", "PRAGMA user_version = 1000000" },
		{ "a store with another application id is not opened",
		  "PRAGMA application_id = 1" },
		{ "a store without an application id is not opened", "PRAGMA application_id = 0" },
	};
	struct store other = { 0 };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		new_store();
		add_job(0);
		query(cases[i].sql);
		for (enum store_mode mode = STORE_READ; mode <= STORE_OBSERVE; mode++) {
			is_int(store_open(&other, &paths, mode, &err), -1, cases[i].what);
			is_int(err.exit_status, EX_DATAERR,
			       "a store that is refused is an error of data");
			ok(other.db == NULL, "a store that is refused is closed");
		}
		is_query("SELECT count(*) FROM jobs", "1",
			 "nothing was done to a store that was refused");
	}
}

/* --- jobs --- */

static void test_job(void)
{
	struct dependency_list after = { 0 };
	struct job_command c, read_c;
	struct job job, got;

	new_store();
	is_int(add_job(0), 1, "the first job is number 1");
	job_init(&job);
	job.state = JOB_HELD;
	job.declared.name = xstrdup("n\xff\n'\"");
	job.declared.workload = xstrdup("w");
	job.reason = xstrdup("r");
	job.submit_time_s = 1.5;
	job.declared.min_replicas = 2;
	job.declared.max_replicas = 0;
	job.declared.batch.size = 256;
	job.declared.batch.min = 128;
	job.declared.batch.max = 4096;
	job.declared.batch.max_local = 64;
	job.declared.learning_rate = 0.1;
	job.declared.learning_rate_rule = xstrdup("sqrt");
	job.declared.noise_scale = 1e4;
	job.declared.total_samples = 1e6;
	job.declared.total_steps = 5e3;
	job.declared.weight = 2.5;
	job.declared.preemption = PREEMPT_NEVER;
	job.declared.time_limit_s = 90;
	job.declared.retries = 3;
	job.declared.stop_signal = 10;
	job.declared.grace_s = 0.5;
	fill_command(&c);
	strings_add(&c.argv, "");
	strings_add(&c.argv, "two\nlines");
	strings_add(&c.argv, "\xff\xfe");
	strings_add(&c.env, "A=1");
	c.checkpoint_dir = xstrdup("/c");
	c.resume_args = xstrdup("--resume");
	c.step_regex = xstrdup("u=([0-9]+)");
	c.git_commit = xstrdup("0123456789abcdef0123456789abcdef01234567");
	c.git_dirty = true;
	is_int(commit_job(&job, &c, &after), 0,
	       "a job with everything declared is added");
	is_int(store_job_get(&store, job.id, &got, &err), 0,
	       "a job with everything declared is read back");
	is_int(got.id, 2, "the id of a job is read back");
	is_int(got.state, JOB_HELD, "the state of a job is read back");
	is_str(got.declared.name, "n\xff\n'\"",
	       "the name of a job is read back, whatever bytes it has");
	is_str(got.reason, "r; 'pollux release 2' lets it go",
	       "the reason of a held job says what lets it go");
	is_int(got.declared.min_replicas, 2, "the fewest replicas of a job are read back");
	is_int(got.declared.max_replicas, 0, "the most replicas of a job are read back");
	is_int(got.declared.batch.size, 256, "the batch size of a job is read back");
	is_int(got.declared.batch.min, 128, "the smallest batch size of a job is read back");
	is_int(got.declared.batch.max, 4096, "the largest batch size of a job is read back");
	is_int(got.declared.batch.max_local, 64,
	       "the largest local batch size of a job is read back");
	near(got.declared.learning_rate, 0.1, 0, "the learning rate of a job is read back");
	is_str(got.declared.learning_rate_rule, "sqrt", "the learning rate's rule is read back");
	near(got.declared.noise_scale, 1e4, 0, "the noise scale of a job is read back");
	near(got.declared.total_samples, 1e6, 0, "the total samples of a job are read back");
	near(got.declared.total_steps, 5e3, 0, "the total steps of a job are read back");
	near(got.declared.weight, 2.5, 0, "the weight of a job is read back");
	is_int(got.declared.preemption, PREEMPT_NEVER, "the preemption of a job is read back");
	near(got.declared.time_limit_s, 90, 0, "the time limit of a job is read back");
	is_int(got.declared.retries, 3, "the retries of a job are read back");
	is_int(got.declared.stop_signal, 10, "the stop signal of a job is read back");
	near(got.declared.grace_s, 0.5, 0, "the grace of a job is read back");
	ok(isnan(got.progress.samples) && isnan(got.progress.steps) && isnan(got.progress.loss) &&
	   isnan(got.progress.epoch) && isnan(got.start_time_s) && isnan(got.end_time_s) &&
	   isnan(got.progress.checkpoint_samples),
	   "what was not observed is unknown, not zero");
	is_int(got.progress.exit_code, -1, "a job that never ended has no exit status");
	job_release(&got);
	is_int(store_job_command_get(&store, job.id, &read_c, &err), 0,
	       "the command of a job is read back");
	is_int((long long)read_c.argv.count, 4, "the command keeps all its arguments");
	is_str(read_c.argv.items[1], "", "an empty argument is read back");
	is_str(read_c.argv.items[2], "two\nlines", "an argument of two lines is read back");
	is_str(read_c.argv.items[3], "\xff\xfe", "an argument that is no text is read back");
	is_str(read_c.env.items[0], "A=1", "the environment of a command is read back");
	is_str(read_c.checkpoint_dir, "/c", "the checkpoint directory is read back");
	is_str(read_c.resume_args, "--resume", "the arguments to resume are read back");
	is_str(read_c.step_regex, "u=([0-9]+)", "the pattern of steps is read back");
	is_str(read_c.git_commit, c.git_commit, "the commit is read back");
	ok(read_c.git_dirty, "that the work tree was dirty is read back");
	job_command_release(&read_c);
	job_command_release(&c);
	job_release(&job);

	is_int(store_job_get(&store, 1, &got, &err), 0, "a job with nothing declared is read back");
	ok(got.declared.batch.size == 0 && got.declared.batch.max == 0 &&
	   isnan(got.declared.learning_rate) && isnan(got.declared.total_samples) &&
	   isnan(got.declared.time_limit_s),
	   "a job with nothing declared has no batch, rate, samples or limit");
	job_release(&got);
	is_int(store_job_get(&store, 99, &got, &err), -1, "a job that is not there is not read");
	is_int(err.exit_status, EX_NOINPUT, "a job that is not there is no input");
	is_str(err.text, "no such job: 99", "the error names the job that is not there");
}

static void test_dependencies(void)
{
	struct dependency items[] = { { .after_id = 1 }, { .after_id = 2, .rule = AFTER_OK } };
	struct dependency_list after = { items, 2 }, got;
	struct job_command c;
	struct job job;

	new_store();
	add_job(0);
	add_job(0);
	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("x");
	job.submit_time_s = 1;
	fill_command(&c);
	is_int(commit_job(&job, &c, &after), 0, "a job after two others is added");
	store_job_set_state(&store, 2, JOB_FAILED, "", &err);
	is_int(store_dependencies_list(&store, &got, &err), 0, "the dependencies are listed");
	is_int(got.count, 2, "a job after two others has two dependencies");
	ok(got.count == 2 && got.items[0].after_id == 1 && got.items[0].rule == AFTER_END &&
	   got.items[0].after_state == JOB_QUEUED,
	   "the first dependency is on the end of a queued job");
	ok(got.count == 2 && got.items[1].after_id == 2 && got.items[1].rule == AFTER_OK &&
	   got.items[1].after_state == JOB_FAILED,
	   "the second dependency is on the success of a failed job");
	dependency_list_release(&got);
	items[1].after_id = 77;
	is_int(commit_job(&job, &c, &after), -1,
	       "a job after one that is not there is not added");
	is_int(err.exit_status, EX_NOINPUT, "a dependency on a job that is not there is no input");
	is_str(err.text, "option '--after': no such job: 77",
	       "the error names the option and the job that is not there");
	is_query("SELECT count(*) FROM jobs", "3", "no job is left of one that was not added");
	is_query("SELECT count(*) FROM commands", "3",
		 "no command is left of a job that was not added");
	is_query("SELECT count(*) FROM dependencies", "2",
		 "no dependency is left of a job that was not added");
	job_command_release(&c);
	job_release(&job);
}

static void test_lists(void)
{
	static const struct {
		enum job_filter filter;
		double since_s;
		const char *what;
		int want[N_JOB_STATES + 1];	/* ends with 0 */
	} cases[] = {
		{ JOBS_ALL, 0, "all jobs are listed", { 1, 2, 3, 4, 5, 6, 7 } },
		{ JOBS_ACTIVE, 0, "the jobs that have not ended are listed", { 1, 2, 3 } },
		{ JOBS_SCHEDULABLE, 0, "the queued and running jobs are listed", { 1, 3 } },
		{ JOBS_RECENT, 1e12,
		  "jobs that ended before the time are not listed as recent", { 1, 2, 3 } },
		{ JOBS_RECENT, 0,
		  "jobs that ended since the time are listed as recent", { 1, 2, 3, 4, 5, 6, 7 } },
	};

	new_store();
	for (int s = 0; s < N_JOB_STATES; s++)
		store_job_set_state(&store, add_job(0), (enum job_state)s, "", &err);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct job_list list;
		int n = 0, same = 1;

		store_jobs_list(&store, cases[i].filter, cases[i].since_s, &list, &err);
		for (; cases[i].want[n]; n++)
			same &= n < list.count && list.items[n].id == cases[i].want[n];
		ok(same && n == list.count, cases[i].what);
		job_list_release(&list);
	}
}

/* Sets the numbers of the job in the store to 1, and the texts to "1". */
static void set_all_columns(void)
{
	struct column_walk w = { .table = &jobs_table, .without = COLUMN_GIVEN };
	struct text sql = TEXT_INIT;
	const char *separator = "UPDATE jobs SET ";

	while (column_next(&w))
		if (w.column->field.type != FIELD_NAME &&
		    strcmp(w.column->field.name, "profile") != 0 &&
		    strcmp(w.column->field.name, "group_id") != 0 &&
		    w.column->field.type != FIELD_STRINGS) {
			text_addf(&sql, "%s%s = 1", separator, w.column->field.name);
			separator = ", ";
		}
	if (sqlite3_exec(store.db, sql.data, NULL, NULL, NULL) != SQLITE_OK)
		printf("# %s\n", sqlite3_errmsg(store.db));
	text_release(&sql);
}

/* A pass is given a job without the columns that are aside, and every other one. */
static void test_aside(void)
{
	static const size_t sizes[] = {
		[FIELD_INT] = sizeof(int), [FIELD_INT64] = 8, [FIELD_BOOL] = sizeof(bool),
		[FIELD_DOUBLE] = 8, [FIELD_NAME] = sizeof(int), [FIELD_SIGNAL] = sizeof(int),
	};
	struct column_walk w = { .table = &jobs_table, .without = COLUMN_ASIDE };
	struct job_list whole, passed;
	int n = 0, n_other = 0;

	new_store();
	add_job(0);
	set_all_columns();
	store_jobs_list(&store, JOBS_ACTIVE, 0, &whole, &err);
	store_jobs_list(&store, JOBS_SCHEDULABLE, 0, &passed, &err);
	is_int(whole.count + passed.count, 2, "both lists have the one job");
	for (; column_next(&w); n++) {
		const void *a = (const char *)whole.items + w.offset;
		const void *b = (const char *)passed.items + w.offset;
		enum field_type type = w.column->field.type;

		if (type == FIELD_TEXT)
			n_other += strcmp(*(char *const *)a, *(char *const *)b) != 0;
		else if (type < sizeof(sizes) / sizeof(sizes[0]) && sizes[type])
			n_other += memcmp(a, b, sizes[type]) != 0;
	}
	ok(n > 40, "a pass is given most columns");
	is_int(n_other, 0, "a pass is given the columns as they are in the store");
	is_int(whole.items[0].progress.preemptions, 1, "the columns aside were set in the store");
	is_int(passed.items[0].progress.preemptions, 0, "a pass does not read the columns aside");
	job_list_release(&whole);
	job_list_release(&passed);
}

static void test_requeue(void)
{
	int64_t job, run;

	new_store();
	job = add_job(0);
	run = add_claimed_run(job, 0, 1);
	end_run(run, &(struct end){ OUTCOME_FAILED, STOP_NONE, 5, 100, 80, 20, 2, 3 });
	is_query("SELECT state || failures || exit_code FROM jobs", "failed13",
		 "a job whose run failed has failed");
	is_int(store_job_requeue(&store, job, &err), 0, "a failed job is requeued");
	is_query("SELECT state || failures || (end_time_s IS NULL) || (exit_code IS NULL)"
		 " FROM jobs", "queued011", "a requeued job has no failures, end or exit status");
	is_query("SELECT printf('%g %g', samples, run_time_s) FROM jobs", "80 5",
		 "a requeued job keeps where it stands and what it used");
}

/* --- runs --- */

static void test_claims(void)
{
	int64_t a, b, run_a, run_b, next;
	struct run run;

	new_store();
	a = add_job(0);
	b = add_job(0);
	run_a = add_run(a, 0, 2);
	is_str(state_of(a), "running", "a job with a run is running");
	is_int(try_add_run(&run, a, 3, 1), -1, "a job has one run to come at most");
	run_release(&run);
	run_b = add_run(b, 1, 1);
	ok(claim(run_a), "a run whose devices are free is claimed");
	ok(!claim(run_a), "a run is claimed only once");
	ok(!claim(run_b), "a device in use is not claimed by another run");
	is_query("SELECT runs || ' ' || (start_time_s IS NOT NULL) FROM jobs WHERE id = 1", "1 1",
		 "a claim counts as a launch");
	is_query("SELECT runs FROM jobs WHERE id = 2", "0",
		 "a refused claim does not count as a launch");
	next = add_run(a, 2, 1);
	ok(!claim(next), "a job does not run twice, on free devices either");
	store_run_request_stop(&store, run_a, STOP_PREEMPT, 9, &err);
	store_run_set_stopping(&store, run_a, &err);
	ok(!claim(next), "a job's next run is not claimed while its run is being stopped");
	end_run(run_a,
		&(struct end){ OUTCOME_STOPPED, STOP_PREEMPT, 10, UNKNOWN, UNKNOWN, 0, 0, 0 });
	ok(claim(next), "a job's next run is claimed after the end of its run");
	ok(claim(run_b), "a device is free for another run after the end of a run");
	is_int(store_run_get(&store, next, &run, &err), 0, "a claimed run is read back");
	is_int(run.number, 2, "the next run is the job's second");
	is_int(run.state, RUN_RUNNING, "a claimed run is running");
	is_str(run.handle, "local supervisor=100", "a claimed run has its supervisor's handle");
	is_str(run.devices[0].id, "cpu:2", "the device of a run is read back");
	is_str(run.devices[0].binding, "2", "the binding of a device is read back");
	run_release(&run);
	ok(!claim(12345), "a run that is not there cannot be claimed");
	is_int(store_run_get(&store, 12345, &run, &err), -1,
	       "a run that is not there cannot be read");

	run_b = add_run(add_job(0), 5, 1);
	store_run_request_stop(&store, run_b, STOP_CANCEL, 9, &err);
	ok(!claim(run_b), "a run that was called off is not claimed");
}

/* Many processes claim the same run: exactly one has it. */
static void test_claims_at_once(void)
{
	int n_claimed = 0, n_failed = 0, status;
	int64_t run;

	new_store();
	run = add_run(add_job(0), 0, 1);
	for (int i = 0; i < 8; i++) {
		if (fork() == 0) {
			bool claimed = false;
			int rc;

			store_close(&store);
			rc = store_open(&store, &paths, STORE_WRITE, &err) ||
			     store_run_claim(&store, run, "local", 5, &claimed, &err);
			store_close(&store);
			paths_release(&paths);
			_exit(rc ? 2 : claimed);
		}
	}
	while (wait(&status) > 0) {
		n_claimed += WEXITSTATUS(status) == 1;
		n_failed += WEXITSTATUS(status) != 1 && WEXITSTATUS(status) != 0;
	}
	is_int(n_claimed, 1, "of eight claims at once one succeeds");
	is_int(n_failed, 0, "of eight claims at once none is an error");
	is_query("SELECT runs FROM jobs", "1", "eight claims at once are one launch");
}

static void test_nodes(void)
{
	int64_t here, there;
	struct run run;

	new_store();
	here = add_run(add_job(0), 0, 1);
	there = add_run(add_job(0), 0, 1);
	ok(claim(here) && !claim(there), "a device of one node is used once");
	query("UPDATE run_devices SET node = 'b' WHERE run_id = 2");
	ok(claim(there), "a device of the same name on another node is another device");
	store_run_get(&store, there, &run, &err);
	is_str(run.devices[0].node, "b", "the node of a device is read back");
	run_release(&run);
	store_run_get(&store, here, &run, &err);
	is_str(run.devices[0].node, "", "this machine has no name");
	run_release(&run);
}

/* Cancel over time limit and divergence over hold over requeue over all others; equal ones stay. */
static void test_stop_reasons(void)
{
	static const int weight[N_STOP_REASONS] = {
		[STOP_NONE] = 0, [STOP_PREEMPT] = 1, [STOP_ORPHAN] = 1, [STOP_SHUTDOWN] = 1,
		[STOP_MEASURED] = 1,
		[STOP_RUNG] = 2, [STOP_REQUEUE] = 2, [STOP_SUSPENSION] = 2,
		[STOP_HOLD] = 3, [STOP_TIME_LIMIT] = 4,
		[STOP_DIVERGED] = 4,
		[STOP_CANCEL] = 5,
	};
	enum stop_reason reason;
	enum run_state state;
	int64_t run;
	int wrong = 0;

	new_store();
	run = add_claimed_run(add_job(0), 0, 1);
	is_int(store_run_stop_reason(&store, run, &reason, &state, &err), 0,
	       "the reason to stop a run is read");
	is_int(reason, STOP_NONE, "a new run has no reason to stop");
	is_int(state, RUN_RUNNING, "the state of a run is read with its reason to stop");
	for (int first = STOP_PREEMPT; first < N_STOP_REASONS; first++)
		for (int second = STOP_PREEMPT; second < N_STOP_REASONS; second++) {
			enum stop_reason want = (enum stop_reason)(weight[second] > weight[first]
								   ? second : first);

			query("UPDATE runs SET stop_reason = NULL, stop_boot_s = NULL");
			store_run_request_stop(&store, run, (enum stop_reason)first, 10, &err);
			store_run_request_stop(&store, run, (enum stop_reason)second, 20, &err);
			store_run_stop_reason(&store, run, &reason, &state, &err);
			if (reason != want) {
				wrong++;
				printf("# %s, then %s: %s\n",
				       stop_reason_name((enum stop_reason)first),
				       stop_reason_name((enum stop_reason)second),
				       stop_reason_name(reason));
			}
		}
	is_int(wrong, 0, "of two reasons to stop the weightier stays");
	is_query("SELECT stop_boot_s FROM runs", "10.0",
		 "a second reason to stop keeps the time of the first");
	query("UPDATE runs SET stop_reason = NULL");
	end_run(run, &(struct end){ OUTCOME_STOPPED, STOP_SHUTDOWN, 1, UNKNOWN, UNKNOWN, 0, 0, 0 });
	store_run_request_stop(&store, run, STOP_CANCEL, 30, &err);
	store_run_stop_reason(&store, run, &reason, &state, &err);
	is_int(reason, STOP_SHUTDOWN, "an ended run gets no other reason to stop");
	is_int(state, RUN_ENDED, "the state of an ended run says that it has ended");
}

static void test_adopt(void)
{
	int64_t run;
	bool adopted;

	new_store();
	run = add_run(add_job(0), 0, 1);
	store_run_adopt(&store, run, "local supervisor=7", 9, &adopted, &err);
	ok(!adopted, "a run that was not claimed is not adopted");
	claim(run);
	is_int(store_run_adopt(&store, run, "local supervisor=7", 9, &adopted, &err), 0,
	       "the adoption of a running run is no error");
	ok(adopted, "a running run is adopted");
	is_query("SELECT state || ' ' || stop_reason || ' ' || handle FROM runs",
		 "stopping orphan local supervisor=7",
		 "an adopted run is to be stopped as an orphan");
	store_run_adopt(&store, run, "local supervisor=8", 11, &adopted, &err);
	ok(adopted, "a run is adopted again when its next supervisor dies");
	query("UPDATE runs SET stop_reason = 'hold'");
	store_run_adopt(&store, run, "local supervisor=9", 12, &adopted, &err);
	is_query("SELECT stop_reason FROM runs", "hold",
		 "an adopted run keeps the stop that a person asked for");
	end_run(run, &(struct end){ OUTCOME_LOST, STOP_HOLD, 1, UNKNOWN, UNKNOWN, 0, 0, -1 });
	store_run_adopt(&store, run, "local supervisor=9", 12, &adopted, &err);
	ok(!adopted, "an ended run is not adopted");
}

/* --- what an end adds up to --- */

static void test_totals(void)
{
	int64_t job;

	new_store();
	job = add_job(0);
	/* 10 s on 2 devices, preempted at 500 samples, saved at 480. */
	end_run(add_claimed_run(job, 0, 2),
		&(struct end){ OUTCOME_STOPPED, STOP_PREEMPT, 10, 500, 480, 20, 0.5, 75 });
	is_str(state_of(job), "queued", "a preempted job waits");
	is_query("SELECT printf('%g %g', attained_service_device_s, run_time_s) FROM jobs", "20 10",
		 "2 devices for 10 s are 20 device-seconds");
	is_query("SELECT preemptions || ' ' || failures FROM jobs", "1 0",
		 "a preemption is counted and is no failure");
	is_query("SELECT printf('%g %g %g', samples, lost_samples, lost_s) FROM jobs", "480 20 0.5",
		 "a preempted job stands at its checkpoint; the rest is lost");
	/* 3 s on 1 device, requeued by a person at 600, saved there. */
	end_run(add_claimed_run(job, 0, 1),
		&(struct end){ OUTCOME_STOPPED, STOP_REQUEUE, 3, 600, 600, 0, 0, 75 });
	is_query("SELECT printf('%g %g', attained_service_device_s, run_time_s) FROM jobs", "23 13",
		 "the next run adds its 3 s to the job");
	is_query("SELECT preemptions FROM jobs", "2", "a requeue is a preemption");
	/* 4 s, its supervisor died. */
	end_run(add_claimed_run(job, 0, 1),
		&(struct end){ OUTCOME_LOST, STOP_ORPHAN, 4, 700, 600, 100, 4, -1 });
	is_str(state_of(job), "queued", "a job whose run was lost waits");
	is_query("SELECT preemptions || ' ' || failures FROM jobs", "2 0",
		 "a lost run is neither a preemption nor a failure");
	/* called off before it began */
	end_run(add_run(job, 0, 2),
		&(struct end){ OUTCOME_NOT_STARTED, STOP_NONE, 0, UNKNOWN, UNKNOWN, 0, 0, -1 });
	is_query("SELECT printf('%g %g %d', attained_service_device_s, run_time_s, runs) FROM jobs",
		 "27 17 3", "a run that did not start adds nothing");
	/* 2 s, finished: not saved after 900 */
	end_run(add_claimed_run(job, 0, 1),
		&(struct end){ OUTCOME_COMPLETED, STOP_NONE, 2, 1000, 900, 0, 0, 0 });
	is_str(state_of(job), "done", "a completed job is done");
	is_query("SELECT printf('%g %g %g', samples, lost_samples, lost_s) FROM jobs",
		 "1000 120 4.5", "a completed job has all its samples");
	is_query("SELECT (end_time_s IS NOT NULL) || ' ' || exit_code FROM jobs", "1 0",
		 "a completed job has an end and an exit status");
	is_query("SELECT count(*) FROM run_devices WHERE in_use", "0",
		 "a completed job's devices are not in use");
}

/* The state a job has after each end, with and without retries. */
static void test_states(void)
{
	static const struct {
		enum run_outcome outcome;
		enum stop_reason reason;
		int retries;
		const char *want;
	} cases[] = {
		{ OUTCOME_COMPLETED, STOP_NONE, 0, "done" },
		{ OUTCOME_COMPLETED, STOP_PREEMPT, 0, "done" },
		{ OUTCOME_FAILED, STOP_NONE, 0, "failed" },
		{ OUTCOME_FAILED, STOP_NONE, 1, "queued" },
		{ OUTCOME_FAILED, STOP_PREEMPT, 0, "queued" },	/* it may have been the stop */
		{ OUTCOME_FAILED, STOP_CANCEL, 1, "cancelled" },
		{ OUTCOME_FAILED, STOP_HOLD, 1, "held" },
		{ OUTCOME_STOPPED, STOP_PREEMPT, 0, "queued" },
		{ OUTCOME_STOPPED, STOP_REQUEUE, 0, "queued" },
		{ OUTCOME_STOPPED, STOP_HOLD, 0, "held" },
		{ OUTCOME_STOPPED, STOP_CANCEL, 0, "cancelled" },
		{ OUTCOME_STOPPED, STOP_CANCEL, 5, "cancelled" },
		{ OUTCOME_STOPPED, STOP_TIME_LIMIT, 5, "timeout" },
		{ OUTCOME_STOPPED, STOP_SHUTDOWN, 0, "queued" },
		{ OUTCOME_LOST, STOP_ORPHAN, 0, "queued" },
		{ OUTCOME_LOST, STOP_NONE, 0, "queued" },
		{ OUTCOME_LOST, STOP_CANCEL, 0, "cancelled" },
		{ OUTCOME_NOT_STARTED, STOP_NONE, 0, "queued" },
		{ OUTCOME_NOT_STARTED, STOP_HOLD, 0, "held" },
		{ OUTCOME_NOT_STARTED, STOP_CANCEL, 0, "cancelled" },
	};

	new_store();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t job = add_job(cases[i].retries), run;
		char *what = xasprintf("end '%s', stop '%s', %d retries: the job is %s",
				       run_outcome_name(cases[i].outcome),
				       stop_reason_name(cases[i].reason), cases[i].retries,
				       cases[i].want);

		run = add_claimed_run(job, 0, 1);
		if (cases[i].reason == STOP_HOLD)	/* the store has every hold */
			store_run_request_stop(&store, run, STOP_HOLD, 1, &err);
		end_run(run, &(struct end){ cases[i].outcome, cases[i].reason, 1, UNKNOWN, UNKNOWN,
					    0, 0, 1 });
		is_str(state_of(job), cases[i].want, what);
		free(what);
	}
}

/* A stop that was asked for when the supervisor was past looking counts all the same. */
static void test_late_reasons(void)
{
	static const struct {
		enum run_outcome outcome;
		enum stop_reason known, asked;
		const char *want_state, *want_reason;
	} cases[] = {
		{ OUTCOME_STOPPED, STOP_HOLD, STOP_CANCEL, "cancelled", "cancel" },
		{ OUTCOME_STOPPED, STOP_CANCEL, STOP_HOLD, "cancelled", "cancel" },
		{ OUTCOME_STOPPED, STOP_PREEMPT, STOP_HOLD, "held", "hold" },
		{ OUTCOME_STOPPED, STOP_SHUTDOWN, STOP_PREEMPT, "queued", "preempt" },
		{ OUTCOME_FAILED, STOP_NONE, STOP_CANCEL, "cancelled", "cancel" },
		{ OUTCOME_COMPLETED, STOP_NONE, STOP_CANCEL, "done", "cancel" },
	};

	new_store();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int64_t job = add_job(3), run = add_claimed_run(job, 0, 1);
		char *sql =
			xasprintf("SELECT stop_reason FROM runs WHERE id = %lld", (long long)run);

		store_run_request_stop(&store, run, cases[i].asked, 9, &err);
		end_run(run, &(struct end){ cases[i].outcome, cases[i].known, 1, UNKNOWN, UNKNOWN,
					    0, 0, 0 });
		is_str(state_of(job), cases[i].want_state,
		       "the weightier reason to stop, even if late, decides the state");
		is_query(sql, cases[i].want_reason,
			 "the weightier reason to stop, even if late, is kept");
		free(sql);
	}
}

static void test_retries(void)
{
	struct end failure = { OUTCOME_FAILED, STOP_NONE, 1, UNKNOWN, UNKNOWN, 0, 0, 1 };
	struct end impeded = { OUTCOME_NOT_STARTED, STOP_NONE, 0, UNKNOWN, UNKNOWN, 0, 0, -1 };
	struct setback setback;
	double before_s = clock_boot_s();
	int64_t job;

	new_store();
	job = add_job(2);
	store_job_setback(&store, job, &setback, &err);
	is_int(setback.n, 0, "a job that never failed has no setback");
	end_run(add_claimed_run(job, 0, 1), &failure);
	is_str(state_of(job), "queued", "a job is queued after the first failure of two allowed");
	end_run(add_claimed_run(job, 0, 1), &failure);
	is_str(state_of(job), "queued", "a job is queued after the second failure of two allowed");
	end_run(add_claimed_run(job, 0, 1), &failure);
	is_str(state_of(job), "failed", "a job has failed after the third failure of two allowed");
	is_query("SELECT reason FROM jobs", "failed: exit status 1; after 2 of 2 retries",
		 "a job that had its retries says so");
	is_query("SELECT group_concat(text, '|') FROM events WHERE kind = 'ended'",
		 "failed: exit status 1|failed: exit status 1|"
		 "failed: exit status 1; after 2 of 2 retries", "and so does its last event");
	is_query("SELECT failures FROM jobs", "3", "all failures of a job are counted");
	store_job_setback(&store, job, &setback, &err);
	is_int(setback.n, 3, "failures in a row are as many setbacks");
	ok(setback.kind == SETBACK_FAILED && setback.end_boot_s >= before_s &&
	   setback.end_boot_s <= clock_boot_s(),
	   "a setback tells when the job failed last, by the boot clock");
	query("UPDATE runs SET boot_id = 'before ' || boot_id");
	store_job_setback(&store, job, &setback, &err);
	is_int(setback.n, 0, "setbacks mean nothing after a reboot");
	query("UPDATE runs SET boot_id = substr(boot_id, 8)");
	query("UPDATE jobs SET state = 'queued'");
	end_run(add_claimed_run(job, 0, 1), &impeded);
	store_job_setback(&store, job, &setback, &err);
	ok(setback.n == 4 && setback.kind == SETBACK_NOT_STARTED,
		"a run that could not be started is a setback too");
	is_str(state_of(job), "queued", "a run that could not be started is not the job's failure");
	is_int(store_job_forgive(&store, job, &err), 0, "a person may forgive a job its setbacks");
	store_job_setback(&store, job, &setback, &err);
	is_int(setback.n, 0, "a forgiven job has no setback");
	query("UPDATE jobs SET state = 'queued'");
	end_run(add_claimed_run(job, 0, 1), &failure);
	store_job_setback(&store, job, &setback, &err);
	is_int(setback.n, 1, "a forgiven job's setbacks count anew");
	query("UPDATE jobs SET state = 'queued', retries = 0");
	end_run(add_claimed_run(job, 0, 1), &failure);
	is_query("SELECT reason FROM jobs", "failed: exit status 1",
		 "a job without retries says nothing of them");
}

/* A job with many retries may lose its supervisor as often, and no more. */
static void test_losses(void)
{
	struct end loss = { OUTCOME_LOST, STOP_ORPHAN, 1, UNKNOWN, UNKNOWN, 0, 0, -1 };
	struct setback setback;
	const int retries = 14;
	int64_t job;

	new_store();
	job = add_job(retries);
	for (int i = 0; i < retries; i++)
		end_run(add_claimed_run(job, 0, 1), &loss);
	is_str(state_of(job), "queued",
		"a job that lost its supervisor as often as it has retries waits");
	store_job_setback(&store, job, &setback, &err);
	is_int(setback.n, retries, "each lost supervisor is a setback");
	end_run(add_claimed_run(job, 0, 1), &loss);
	is_str(state_of(job), "failed", "a job that lost its supervisor once more has failed");
}

/* A preempted run ends while the next one is assigned: the job stays running, unless it is over. */
static void test_next_run(void)
{
	struct end preempted = { OUTCOME_STOPPED, STOP_PREEMPT, 1, UNKNOWN, UNKNOWN, 0, 0, 0 };
	struct end cancelled = { OUTCOME_STOPPED, STOP_CANCEL, 1, UNKNOWN, UNKNOWN, 0, 0, 0 };
	struct end completed = { OUTCOME_COMPLETED, STOP_NONE, 1, UNKNOWN, UNKNOWN, 0, 0, 0 };
	const struct end *ends[] = { &preempted, &cancelled, &completed };
	static const char *const states[] = { "running", "cancelled", "done" };
	static const char *const nexts[] = { "assigned", "ended", "ended" };

	for (int i = 0; i < 3; i++) {
		int64_t job, first;

		new_store();
		job = add_job(0);
		first = add_claimed_run(job, 0, 1);
		store_run_request_stop(&store, first, STOP_PREEMPT, 9, &err);
		add_run(job, 1, 1);
		is_int(end_run(first, ends[i]), 0, "a run that has a successor ends");
		is_str(state_of(job), states[i],
		       "a job stays running after a preemption, and ends otherwise");
		is_query("SELECT state FROM runs WHERE number = 2", nexts[i],
			 "a successor stays assigned after a preemption, and ends otherwise");
		is_int(end_run(first, ends[i]), -1, "a run does not end twice");
		is_int(err.exit_status, EX_SOFTWARE,
		       "a second end of a run is an error of the software");
		is_query("SELECT printf('%g', run_time_s) FROM jobs", "1",
			 "a second end of a run adds no time");
	}
}

/* It has its devices, and then its command is not started: not even the first time is it a run. */
static void test_refused_launch(void)
{
	static const struct end refused = {
		OUTCOME_NOT_STARTED, STOP_NONE, 0, UNKNOWN, UNKNOWN, 0, 0, -1
	};
	int64_t job;

	new_store();
	job = add_job(0);
	end_run(add_claimed_run(job, 0, 1), &refused);
	is_query("SELECT runs || ' ' || launches || ' ' || (start_time_s IS NULL) FROM jobs",
		 "0 1 1", "a launch that was refused is no run, and no start");
	end_run(add_run(job, 0, 1), &refused);
	is_query("SELECT runs || ' ' || launches FROM jobs", "0 1",
		 "a run that was called off is neither a run nor a launch");
	end_run(add_claimed_run(job, 0, 1),
		&(struct end){ OUTCOME_STOPPED, STOP_PREEMPT, 9, 1, 1, 0, 0, 0 });
	is_query("SELECT runs || ' ' || launches || ' ' || (start_time_s ="
		 " (SELECT launch_time_s FROM runs WHERE number = 3)) FROM jobs",
		 "1 2 1", "the first run after a refused launch starts the job");
	query("UPDATE jobs SET start_time_s = 7");
	end_run(add_claimed_run(job, 0, 1), &refused);
	is_query("SELECT runs || ' ' || launches || ' ' || start_time_s FROM jobs", "1 3 7.0",
		 "a later launch that is refused keeps the runs and the start");
}

/* --- measurements --- */

static void test_progress(void)
{
	struct observation o;
	struct gradient_window g = { .window = 0, .first_samples = 0, .last_samples = 640, .n = 10,
				     .configuration = configuration_make(1, 64, 1),
				     .sum_grad_sqr = 2, .sum_grad_var = 3,
				     .m2_grad_sqr = 0.5, .m2_grad_var = 0.25 };
	struct observation_list list;
	struct run_update p;
	struct run run;
	struct job job;

	new_store();
	add_claimed_run(add_job(0), 0, 1);
	store_run_get(&store, 1, &run, &err);
	observation_init(&o);
	o.n_steps = 10;
	o.n_windows = 2;
	o.step_time_s = 0.25;
	run.last_samples = 640;
	run.first_samples = 64;
	run.checkpoint_samples = 600;
	run.duration_s = 7;
	run.reports = 10;
	run.malformed_reports = 1;
	snprintf(run.step_source, sizeof(run.step_source), "log:nanogpt");
	p = (struct run_update){ .run = &run, .steps = 10, .has_loss = true, .loss = 0.5,
				 .epoch = UNKNOWN,
				 .printed_total_steps = 500, .status_text = "ok",
				 .observation = &o, .gradient = &g };
	is_int(store_run_update(&store, &p, &err), 0, "progress is written");
	o.n_windows = 3;
	g.n = 20;
	p.has_loss = false;
	p.printed_total_steps = UNKNOWN;
	p.status_text = NULL;
	is_int(store_run_update(&store, &p, &err), 0, "progress is written again");
	is_query("SELECT count(*) FROM observations", "1",
		 "an observation of the same window is replaced");
	is_query("PRAGMA quick_check", "ok", "a store with step times counts as sound");
	is_query("SELECT count(*) || ' ' || n FROM gradient_statistics", "1 20",
		 "gradient statistics of the same window are replaced");
	store_job_get(&store, 1, &job, &err);
	near(job.progress.samples, 640, 0, "progress tells where the job stands");
	near(job.progress.checkpoint_samples, 600, 0, "progress tells what is saved");
	near(job.progress.loss, 0.5, 0, "a loss that was not said again stays");
	near(job.progress.printed_total_steps, 500, 0, "the total steps that a log said stay");
	is_query("SELECT step_source FROM runs", "log:nanogpt",
		 "a run keeps where its steps are from");
	is_str(job.progress.status_text, "ok", "a status that was not said again stays");
	ok(isnan(job.progress.epoch), "an epoch that was never said is unknown");
	job_release(&job);
	is_int(store_observations_of_job(&store, 1, &list, &err), 0,
	       "the observations of a job are read back");
	ok(list.count == 1 && list.items[0].n_windows == 3 &&
	   list.items[0].step_time_s == 0.25 &&
	   isnan(list.items[0].sync_time_s),
	   "the observations of a job are read back as they were");
	observation_list_release(&list);
	end_run(1, &(struct end){ OUTCOME_STOPPED, STOP_PREEMPT, 8, 700, 700, 0, 0, 0 });
	run.last_samples = 650;
	store_run_update(&store, &p, &err);
	is_query("SELECT printf('%g', last_samples) FROM runs", "700",
		 "an ended run is not written to");
	run_release(&run);
}

/* --- what the jobs of a workload have in common --- */

/* A job of the workload; a run of it on as many devices, running. */
static int64_t run_of_workload(const char *workload, int devices)
{
	int64_t id = add_job(0), run;
	char *sql = xasprintf("UPDATE jobs SET workload = '%s' WHERE id = %lld", workload,
			      (long long)id);

	query(sql);
	free(sql);
	run = add_claimed_run(id, (int)id * 10, devices);
	sql = xasprintf("UPDATE run_devices SET kind = 'fast' WHERE run_id = %lld", (long long)run);
	query(sql);
	free(sql);
	return run;
}

static void observe(int64_t run_id, int64_t local_batch_size, double step_time_s, int window)
{
	struct gradient_window g = { .window = window,
				     .configuration =
					configuration_make(1, local_batch_size / 2, 2),
				     .first_samples = UNKNOWN,
				     .last_samples = UNKNOWN, .n = 3, .sum_grad_sqr = 6,
				     .sum_grad_var = 9, .m2_grad_sqr = UNKNOWN,
				     .m2_grad_var = 1.5 };
	struct run_update p = {
		.steps = UNKNOWN, .epoch = UNKNOWN, .gradient = &g
	};
	struct observation o;
	struct run run;

	observation_init(&o);
	o.n_windows = 2;
	o.n_steps = 20;
	o.step_time_s = step_time_s;
	store_run_get(&store, run_id, &run, &err);
	run.configuration.local_batch_size = local_batch_size;
	p.observation = &o;
	p.run = &run;
	if (store_run_update(&store, &p, &err))
		printf("# %s\n", err.text);
	run_release(&run);
}

static void test_families(void)
{
	ok(job_family("/home/a/./train.py --lr 0.1", "train.py", "/p") > 0 &&
	   job_family("/home/a/./train.py --lr 0.1", "train.py", "/p") ==
		   job_family("'/usr/bin/python3' train.py --lr 1", "train.py", "/p"),
	   "jobs of one script are a family, by whatever it is run");
	ok(job_family("'/usr/bin/python3' train.py", "train.py", "/q") !=
		   job_family("'/usr/bin/python3' train.py", "train.py", "/p"),
	   "scripts of one name in two directories are none");
	ok(!job_family("/usr/bin/sh -c 'sleep 1'", "sh", "/p") &&
	   !job_family("/root/.pyenv/shims/python3 -m train", "python3", "/p") &&
	   !job_family("'/opt/my env/bin/python3' -c pass", "python3", "/p") &&
	   !job_family("/usr/sbin/x", "x", "/p") &&
	   !job_family("/opt/conda/condabin/conda", "conda", "/p"),
	   "the name of an installed program tells nothing");
	ok(job_family("/usr/bin/sh -c 'sleep 1'", "tuning", "/p") > 0 &&
	   job_family("/home/a/train", "train", "/p") > 0 &&
	   job_family("/usr/bin/xsh", "sh", "/p") > 0,
	   "a name that was given does, and that of a program of one's own");
	ok(!job_family("resnet", "train.py", "/p") && !job_family("", "", "/p") &&
	   !job_family("'", "a", "/p"),
	   "a workload that was given has no family");
}

static void test_workload(void)
{
	struct observation_list list;
	struct gradient_list gradients;
	int64_t first, other, second;

	new_store();
	first = run_of_workload("a", 1);
	other = run_of_workload("b", 1);
	second = run_of_workload("a", 2);
	observe(first, 32, 0.25, 0);
	observe(first, 64, 0.5, 1);
	observe(other, 32, 9, 0);
	observe(second, 32, 0.75, 0);
	is_int(store_observations_of_workload(&store, "a", "fast", &list, &err), 0,
	       "the observations of a workload are read");
	is_int(list.count, 3, "a workload's observations are of all its jobs, of no other");
	ok(list.items[0].run_id == second && list.items[0].job_id == 3 &&
	   list.items[0].configuration.replicas == 2 && list.items[1].run_id == first &&
	   list.items[1].job_id == 1, "observations are listed newest run first, with its job");
	ok(list.items[1].configuration.local_batch_size +
	   list.items[2].configuration.local_batch_size == 96 &&
	   list.items[1].update_time_s > 1e9,
	   "each configuration has an observation, with its time");
	observation_list_release(&list);
	store_observations_of_workload(&store, "a", "slow", &list, &err);
	is_int(list.count, 0, "a workload has no observations on another kind of device");
	observation_list_release(&list);

	is_int(store_gradients_of_workload(&store, "a", &gradients, &err), 0,
	       "the gradient statistics of a workload are read");
	is_int(gradients.count, 3, "a workload's gradients are of all its jobs, of no other");
	ok(gradients.items[0].run_id == first && gradients.items[0].window.window == 0 &&
	   gradients.items[1].window.window == 1 && gradients.items[2].run_id == second &&
	   gradients.items[2].job_id == 3 &&
	   gradients.items[2].window.configuration.replicas == 2,
	   "gradient statistics are listed newest run last");
	ok(configuration_batch_size(&gradients.items[1].window.configuration) == 64 &&
	   gradients.items[1].window.n == 3 &&
	   gradients.items[1].window.sum_grad_sqr == 6 &&
	   gradients.items[1].window.sum_grad_var == 9 &&
	   gradients.items[1].window.configuration.accumulation_steps == 2,
	   "gradient statistics have their sums and their configuration");
	ok(isnan(gradients.items[1].window.m2_grad_sqr) &&
	   isnan(gradients.items[1].window.first_samples) &&
	   gradients.items[1].window.m2_grad_var == 1.5,
	   "gradient statistics that are not known are not 0");
	gradient_list_release(&gradients);
	query("UPDATE gradient_statistics SET accumulation_steps = NULL");
	store_gradients_of_workload(&store, "a", &gradients, &err);
	is_int(gradients.items[0].window.configuration.accumulation_steps, 1,
	       "gradients of a version before have the run's accumulation");
	gradient_list_release(&gradients);

	query("WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 3000)"
	      " INSERT INTO gradient_statistics (run_id, window, n, sum_grad_sqr, sum_grad_var)"
	      " SELECT 1, i, 1, 1, 1 FROM n");
	query("WITH RECURSIVE n (i) AS (SELECT 100 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)"
	      " INSERT INTO observations SELECT run_id, device_kind, nodes, replicas, i,"
	      " accumulation_steps, NULL, 1, 1, 0, 0, 1, NULL, NULL, NULL, i FROM observations, n"
	      " WHERE run_id = 1 AND local_batch_size = 32");
	store_gradients_of_workload(&store, "a", &gradients, &err);
	ok(gradients.count == STORE_GRADIENTS_MAX && gradients.items[0].window.window == 1002 &&
	   gradients.items[STORE_GRADIENTS_MAX - 1].run_id == second,
	   "the newest windows of gradients are read, no more");
	gradient_list_release(&gradients);
	store_observations_of_workload(&store, "a", "fast", &list, &err);
	ok(list.count == STORE_OBSERVATIONS_MAX && list.items[0].run_id == second,
	   "the newest observations are read, no more");
	observation_list_release(&list);
}

/* Adds a run of job 1: the time to its first step, and the time it took to stop (NaN: failed). */
static void restart(double first_step_s, double stop_duration_s)
{
	int64_t id = add_claimed_run(1, 0, 1);
	struct run_update p = { .steps = UNKNOWN, .epoch = UNKNOWN };
	struct run run;

	store_run_get(&store, id, &run, &err);
	run.first_step_s = first_step_s;
	run.stop_duration_s = stop_duration_s;
	run.stop_reason = isnan(stop_duration_s) ? STOP_NONE : STOP_PREEMPT;
	run.outcome = isnan(stop_duration_s) ? OUTCOME_FAILED : OUTCOME_STOPPED;
	p.run = &run;
	store_run_update(&store, &p, &err);
	store_run_end(&store, &run, &err);
	run_release(&run);
}

static double restart_cost(const char *workload)
{
	double seconds;

	if (store_restart_cost(&store, workload, &seconds, &err))
		printf("# %s\n", err.text);
	return seconds;
}

static bool restart_was_timed(const char *workload)
{
	bool timed;

	if (store_restart_was_timed(&store, workload, &timed, &err))
		printf("# %s\n", err.text);
	return timed;
}

static void test_restart_cost(void)
{
	int64_t off;

	new_store();
	add_job(100);
	ok(isnan(restart_cost("x")), "the restart cost of a workload that never ran is unknown");
	restart(8, UNKNOWN);
	near(restart_cost("x"), 8, 0,
	     "the restart cost before any stop is the time to the first step");
	ok(!restart_was_timed("x"), "a first start alone is no timed restart");
	restart(4, 2);
	near(restart_cost("x"), 8, 0, "a stop without a run after it counts in the restart cost");
	ok(restart_was_timed("x"), "a stop without a run after it is a timed restart");
	off = add_run(1, 0, 1);
	end_run(off,
		&(struct end){ OUTCOME_NOT_STARTED, STOP_NONE, 0, UNKNOWN, UNKNOWN, 0, 0, -1 });
	restart(10, UNKNOWN);
	near(restart_cost("x"), 12, 0,
	     "a restart is a stop and the next launch, not one called off");
	ok(restart_was_timed("x"), "a stop and the next launch are a timed restart");
	restart(1, 3);
	near(restart_cost("x"), 12, 0, "a run after a failure is no restart");
	restart(2, UNKNOWN);
	near(restart_cost("x"), (12 + 5) / 2.0, 0, "the restart cost is the median of the pairs");
	for (int i = 0; i < 46; i++)
		restart(i < 25 ? 4 : 100, 1);
	near(restart_cost("x"), 101, 0, "the restart cost is of the newest restarts");
	ok(isnan(restart_cost("y")), "the restart cost is of this workload alone");
}

/* --- a long history --- */

static void fill_history(void)
{
	query("WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
	      " INSERT INTO runs (job_id, number, state, replicas, accumulation_steps,"
	      " learning_rate_scale, boot_id, assigned_time_s, assigned_boot_s, launch_time_s,"
	      " first_step_s, stop_duration_s)"
	      " SELECT 1, i, 'ended', 1, 1, 1, 'b', 1, 1, 2, 3, 4 FROM n");
	query("INSERT INTO observations SELECT id, 'fast', 1, 1, 32, 1, NULL, 100, 9, 0, 0, 1,"
	      " 0, 1, 0, 9 FROM runs");
	query("WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 4)"
	      " INSERT INTO gradient_statistics (run_id, window, n, sum_grad_sqr, sum_grad_var)"
	      " SELECT id, i, 1, 1, 1 FROM runs, n");
	query("INSERT INTO decisions SELECT id, 1, 'p', 1 FROM runs");
	query("INSERT INTO decision_jobs SELECT id, 2 - (id = 7), 1, 'r' FROM decisions");
}

/* True if SQLite's machine made at most so many steps since the last call. Passing over one of the
 * 5,000 runs takes some ten steps. */
static bool costs(const char *what, int most)
{
	int64_t steps = machine_steps;

	machine_steps = 0;
	printf("# %s: %lld steps\n", what, (long long)steps);
	return steps > 0 && steps < most;
}

static void test_long_history(void)
{
	struct workload_stamp_list stamps;
	struct observation_list list;
	struct gradient_list gradients;
	struct decision_row decision;

	new_store();
	add_job(1);
	add_job(1);
	query("UPDATE jobs SET workload = 'y' WHERE id = 2");
	fill_history();
	machine_steps = 0;
	store_observations_of_workload(&store, "x", "fast", &list, &err);
	ok(costs("observations", 60000), "observations of a long history are read in few steps");
	ok(list.count == STORE_RUNS_MAX && list.items[0].run_id == 5000,
	   "the observations of a long history are of the newest runs");
	observation_list_release(&list);
	store_gradients_of_workload(&store, "x", &gradients, &err);
	ok(costs("gradients", 100000), "gradients of a long history are read in few steps");
	ok(gradients.count == STORE_GRADIENTS_MAX && gradients.items[0].run_id == 4601,
	   "the gradients of a long history are of the newest runs");
	gradient_list_release(&gradients);
	machine_steps = 0;
	near(restart_cost("x"), 7, 0, "a long history has a restart cost");
	ok(costs("restart", 20000), "the restart cost of a long history is read in few steps");
	store_workload_stamps(&store, "fast", true, NULL, &stamps, &err);
	ok(costs("stamps", 40000), "the stamps of a long history are read in few steps");
	ok(stamps.count == 1 && !strcmp(stamps.items[0].workload, "x"),
	   "there is something to learn of the one workload only");
	workload_stamp_list_release(&stamps);
	machine_steps = 0;
	store_decision_of_job(&store, 1, &decision, &err);
	ok(costs("decision", 1000) && decision.policy,
	   "the decision on a job is read in few steps of a long history");
	decision_row_release(&decision);
}

/* As many jobs of one workload with a run each; little is known of them. */
static void fill_workload(void)
{
	query("WITH RECURSIVE n (i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
	      " INSERT INTO jobs (id, state, name, workload, submit_time_s, min_replicas,"
	      " max_replicas, weight, preemption, retries, stop_signal, grace_s)"
	      " SELECT i, 'failed', 'x', 'x', 1, 1, 1, 1, 'saved', 0, 15, 60 FROM n");
	query("UPDATE jobs SET state = 'done', samples = 64 WHERE id = 1");
	query("INSERT INTO runs (job_id, number, state, replicas, accumulation_steps,"
	      " learning_rate_scale, boot_id, assigned_time_s, assigned_boot_s, first_step_s)"
	      " SELECT id, 1, 'ended', 1, 1, 1, 'b', 1, 1, 3 FROM jobs");
	query("UPDATE runs SET local_batch_size = 96, out_of_memory = 1 WHERE id = 2");
	query("INSERT INTO run_devices (run_id, position, device, kind, binding, cores)"
	      " SELECT id, 0, 'cpu:0', 'fast', '0', 1 FROM runs");
	query("INSERT INTO observations SELECT id, 'fast', 1, 1, 32, 1, NULL, 100, 9, 0, 0, 1,"
	      " 0, 1, 0, 9 FROM runs WHERE id = 1 OR id > 4990");
	query("INSERT INTO gradient_statistics (run_id, window, n, sum_grad_sqr, sum_grad_var)"
	      " SELECT run_id, 0, 1, 1, 1 FROM observations");
}

static void test_large_workload(void)
{
	struct observation_list list;
	struct gradient_list gradients;
	struct memory_bounds bounds;
	struct observation_list times;
	struct failed_sizes failed;
	double samples;
	int n_jobs;

	new_store();
	add_job(0);
	fill_workload();
	machine_steps = 0;
	store_observations_of_workload(&store, "x", "fast", &list, &err);
	ok(costs("observations of a workload", 9000),
	   "observations of a large workload are read in few steps");
	is_int(list.count, 10, "the observations of a large workload are of the newest runs");
	observation_list_release(&list);
	machine_steps = 0;
	store_gradients_of_workload(&store, "x", &gradients, &err);
	ok(costs("gradients of a workload", 9000),
	   "gradients of a large workload are read in few steps");
	gradient_list_release(&gradients);
	machine_steps = 0;
	near(restart_cost("x"), 3, 0, "a large workload has a restart cost");
	ok(costs("restarts of a workload", 20000),
	   "the restart cost of a large workload is read in few steps");
	store_memory_bounds(&store, "x", "fast", &bounds, &err);
	ok(costs("memory of a workload", 20000),
	   "the memory of a large workload is read in few steps");
	machine_steps = 0;
	store_failed_sizes(&store, "x", "fast", &failed, &err);
	ok(costs("failures of a workload", 20000),
	   "the failures of a large workload are read in few steps");
	is_int(failed.n_failed, 0, "no size failed in a profile of a large workload");
	failed_sizes_release(&failed);
	is_int(memory_too_large(&bounds, 1), 96,
	       "a run that is not among the newest bounds the memory");
	memory_bounds_release(&bounds);
	machine_steps = 0;
	store_typical_samples(&store, "x", &samples, &n_jobs, &err);
	ok(costs("samples of a workload", 300),
	   "the samples of a large workload are read in few steps");
	near(samples, 64, 1e-12, "the typical samples are of the only job that is done");
	machine_steps = 0;
	store_step_times(&store, "x", "fast", &times, &err);
	ok(costs("step times of a workload", 20000),
	   "the step times of a large workload are read in few steps");
	observation_list_release(&times);
}

static const char *stamp(void)
{
	static char key[sizeof(((struct workload_stamp *)NULL)->observations_key)];
	struct workload_stamp_list stamps;

	store_workload_stamps(&store, "fast", true, NULL, &stamps, &err);
	snprintf(key, sizeof(key), "%s", stamps.count == 1 ? stamps.items[0].observations_key : "");
	workload_stamp_list_release(&stamps);
	return key;
}

static void test_stamps(void)
{
	char first[64];
	int64_t run;

	new_store();
	run = run_of_workload("a", 1);
	is_str(stamp(), "", "a workload without observations has nothing to learn");
	observe(run, 32, 0.25, 0);
	snprintf(first, sizeof(first), "%s", stamp());
	query("UPDATE observations SET update_time_s = update_time_s + 3600");
	is_str(stamp(), first, "the time of writing does not change a stamp");
	query("UPDATE observations SET n_steps = n_steps + 1");
	ok(strcmp(stamp(), first) != 0, "more steps change a stamp");
	query("UPDATE observations SET n_steps = n_steps - 1, n_windows = n_windows + 1");
	ok(strcmp(stamp(), first) != 0, "more windows change a stamp");
}

static double typical_samples(void)
{
	double samples;
	int n_jobs;

	if (store_typical_samples(&store, "x", &samples, &n_jobs, &err))
		printf("# %s\n", err.text);
	return samples;
}

static void test_typical_samples(void)
{
	new_store();
	ok(isnan(typical_samples()), "the typical samples of a workload without jobs are unknown");
	add_job(100);
	query("UPDATE jobs SET samples = 400");
	ok(isnan(typical_samples()), "the typical samples are unknown while no job is done");
	query("UPDATE jobs SET state = 'done'");
	near(typical_samples(), 400, 1e-12,
	     "the typical samples are those of the first job that is done");
	add_job(100);
	query("UPDATE jobs SET state = 'done', samples = 600 WHERE id = 2");
	near(typical_samples(), sqrt(400 * 600), 1e-12,
	     "the typical samples of two jobs are their geometric mean");
	query("UPDATE jobs SET samples = 4000 WHERE id = 2");
	ok(isnan(typical_samples()), "the typical samples are unknown where jobs differ much");
	for (int i = 0; i < 20; i++)
		add_job(100);
	query("UPDATE jobs SET state = 'done', samples = 50 WHERE id > 2");
	near(typical_samples(), 50, 1e-12, "the typical samples are of the newest twenty jobs");
}

static void test_step_times(void)
{
	struct observation_list list;
	int64_t first, other, second;

	new_store();
	first = run_of_workload("a", 1);
	other = run_of_workload("b", 1);
	second = run_of_workload("a", 2);
	observe(first, 0, 0.25, 0);
	observe(other, 0, 9, 0);
	observe(second, 32, 0.75, 0);
	is_int(store_step_times(&store, "a", "fast", &list, &err), 0,
	       "the step times without a batch size are read");
	ok(list.count == 1 && list.items[0].job_id == 1 &&
	   list.items[0].configuration.replicas == 1,
	   "step times are of the workload, of none with a batch size");
	near(list.items[0].step_time_s, 0.25, 0, "step times are in seconds");
	observation_list_release(&list);
	observe(second, 0, 0.5, 1);
	query("INSERT INTO runs (job_id, number, state, replicas, accumulation_steps, "
	      "learning_rate_scale, boot_id,"
	      " assigned_time_s, assigned_boot_s) VALUES (1, 2, 'ended', 1, 1, 1, 'b', 1, 1)");
	query("INSERT INTO observations SELECT max(id), 'fast', 1, 1, 0, 1, NULL, 60, 9, 0, 0, "
	      "0.45, 0, 0.45, 0, 9 FROM runs");
	store_step_times(&store, "a", "fast", &list, &err);
	ok(list.count == 2 && list.items[0].job_id == 1 && list.items[1].job_id == 3,
	   "step times are listed newest run first");
	near(list.items[0].step_time_s, 0.4, 1e-12,
	     "20 steps of 0.25 s and 60 of 0.45 s have their mean");
	is_int(list.items[1].configuration.replicas, 2, "step times are told by devices");
	observation_list_release(&list);
	store_step_times(&store, "a", "slow", &list, &err);
	is_int(list.count, 0, "step times are told by the kind of device");
}

static void test_last_end(void)
{
	struct job job;
	int64_t id;

	new_store();
	add_job(0);
	store_job_get(&store, 1, &job, &err);
	ok(isnan(job.progress.last_end_time_s) && !job.declared.batch.accumulates,
	   "a job that never ran never gave up devices");
	job_release(&job);
	id = add_run(1, 0, 1);
	end_run(id, &(struct end){ OUTCOME_NOT_STARTED, STOP_NONE, 0, UNKNOWN, UNKNOWN, 0, 0, -1 });
	store_job_get(&store, 1, &job, &err);
	ok(isnan(job.progress.last_end_time_s),
	   "a job whose run was called off never gave up devices");
	job_release(&job);
	end_run(add_claimed_run(1, 0, 1),
		&(struct end){ OUTCOME_STOPPED, STOP_PREEMPT, 1, 2, 2, 0, 0, -1 });
	store_job_get(&store, 1, &job, &err);
	near(job.progress.last_end_time_s, clock_wall_s(), 1e-6,
	     "a job's last end is that of a run that had devices");
	job_release(&job);
	add_job(3);
	store_job_get(&store, 2, &job, &err);
	ok(job.declared.batch.accumulates, "that a job accumulates is kept");
	job_release(&job);
}

/* --- another configuration --- */

static void test_wanted(void)
{
	struct configuration c = configuration_make(1, 64, 4), two = configuration_make(2, 64, 2);
	struct run_update p = { .steps = UNKNOWN, .epoch = UNKNOWN };
	struct run run;
	int64_t id;

	new_store();
	add_job(0);
	id = add_run(1, 0, 1);
	store_run_set_wanted(&store, id, &c, 1.5, &err);
	is_query("SELECT wanted_version FROM runs", "0",
		 "a run that is not running yet gets no configuration");
	claim(id);
	store_run_get(&store, id, &run, &err);
	ok(run.wanted_version == 0 && run.config_version == 0 && !run.takes_configs,
	   "a run has no wanted configuration at launch");
	is_int(store_run_set_wanted(&store, id, &c, 1.5, &err), 0,
	       "a running run gets a wanted configuration");
	store_run_set_wanted(&store, id, &two, 1.5, &err);
	is_int(store_run_read_wanted(&store, &run, &err), 0, "a wanted configuration is read");
	ok(run.wanted_version == 1 && run.wanted.replicas == 1 &&
	   configuration_batch_size(&run.wanted) == 256 &&
	   run.wanted.local_batch_size == 64 && run.wanted.accumulation_steps == 4 &&
	   run.wanted_learning_rate_scale == 1.5,
	   "the wanted one is as given; one for other replicas is refused");
	ok(configuration_batch_size(&run.configuration) == 0 && run.config_version == 0,
	   "a wanted configuration is not in use yet");
	store_run_set_cores(&store, id, "0-1", &err);
	store_run_read_wanted(&store, &run, &err);
	is_str(run.cores, "0-1", "a run's processors come with its wanted configuration");
	store_run_set_cores(&store, id, "", &err);
	store_run_read_wanted(&store, &run, &err);
	is_str(run.cores, "", "that a run has no processors any more is read too");
	run.takes_configs = true;
	run.config_version = 1;
	run.configuration.local_batch_size = 64;
	run.configuration.accumulation_steps = 4;
	run.learning_rate_scale = 1.5;
	p.run = &run;
	is_int(store_run_update(&store, &p, &err), 0,
	       "progress with a configuration in use is written");
	run_release(&run);
	store_run_get(&store, id, &run, &err);
	ok(run.takes_configs && run.config_version == 1 &&
	   configuration_batch_size(&run.configuration) == 256 &&
	   run.configuration.local_batch_size == 64 &&
	   run.configuration.accumulation_steps == 4 && run.learning_rate_scale == 1.5,
	   "the configuration in use is read back");
	run_release(&run);
	store_run_request_stop(&store, id, STOP_PREEMPT, 9, &err);
	store_run_set_stopping(&store, id, &err);
	store_run_set_wanted(&store, id, &c, 2, &err);
	is_query("SELECT wanted_version FROM runs", "1",
		 "a run that is being stopped gets no other configuration");
}

/* --- environments --- */

static void has_environment(int64_t id, size_t n, const char *variable)
{
	struct job_command c;

	if (store_job_command_get(&store, id, &c, &err)) {
		ok(false, err.text);
		return;
	}
	ok(c.env.count == n && (n == 0 || !strcmp(c.env.items[0], variable)),
	   "a job keeps its environment");
	job_command_release(&c);
}

static int64_t add_job_with(const char *variable)
{
	struct dependency_list none = { 0 };
	struct job_command c;
	struct job job;
	int64_t id;

	job_init(&job);
	job.declared.name = xstrdup("e");
	job.declared.workload = xstrdup("e");
	job.submit_time_s = 1;
	fill_command(&c);
	strings_add(&c.env, variable);
	strings_add(&c.env, "PATH=/bin");
	is_int(commit_job(&job, &c, &none), 0, variable);
	id = job.id;
	job_command_release(&c);
	job_release(&job);
	return id;
}

#define DAY_S 86400.0

static int forgotten_at(double now_s)
{
	int n = -1;

	is_int(store_environments_forget(&store, now_s, DAY_S, &n, &err), 0,
	       "a clean-up of environments is no error");
	return n;
}

static void test_environments(void)
{
	struct strings other = { 0 };
	struct job_command c;

	new_store();
	add_job_with("KEY=one");
	add_job_with("KEY=one");
	add_job_with("KEY=two");
	is_query("SELECT count(*) FROM environments", "2", "the same environment is stored once");
	query("UPDATE environments SET hash = 1");
	add_job_with("KEY=one");
	query("UPDATE environments SET hash = (SELECT hash FROM environments WHERE id = 3)");
	add_job_with("KEY=three");
	query("UPDATE environments SET hash = (SELECT hash FROM environments WHERE id = 4)");
	add_job_with("KEY=three");
	is_query("SELECT count(*) FROM environments", "4",
		 "the content of environments counts, not the hash alone");
	has_environment(2, 2, "KEY=one");
	has_environment(3, 2, "KEY=two");
	has_environment(6, 2, "KEY=three");

	query("UPDATE jobs SET state = 'done', end_time_s = 1000000 WHERE id IN (1, 3)");
	is_int(forgotten_at(1000000 + DAY_S - 1), 0, "within a day no environment is forgotten");
	is_int(forgotten_at(1000000 + DAY_S + 1), 1,
	       "after a day an environment that no other job has is forgotten");
	has_environment(1, 2, "KEY=one");
	has_environment(3, 2, "KEY");
	store_job_command_get(&store, 3, &c, &err);
	ok(c.env_names_only, "a job says that only the names of its environment are kept");
	job_command_release(&c);
	is_int(forgotten_at(1000000 + 2 * DAY_S), 0, "an environment is forgotten only once");
	query("UPDATE jobs SET state = 'failed', end_time_s = 9000000 WHERE id = 2");
	is_int(forgotten_at(1000000 + 2 * DAY_S), 1, "an end in the future is an old one");

	strings_add(&other, "KEY=four");
	is_int(store_environment_replace(&store, 3, &other, false, &err), 0,
	       "a job's environment is replaced");
	has_environment(3, 1, "KEY=four");
	is_query("SELECT count(*) FROM environments", "4", "an environment that was replaced goes");
	query("DELETE FROM jobs WHERE id = 5");
	is_query("SELECT count(*) FROM environments", "4",
		 "an environment that another job has stays");
	query("DELETE FROM jobs WHERE id = 6");
	is_query("SELECT count(*) FROM environments", "3",
		 "the last job takes its environment away");
	strings_release(&other);
}

static void test_reason(void)
{
	int64_t before, after;
	struct store other = { 0 };

	new_store();
	add_job(0);
	store_job_set_reason(&store, 1, "waits", 100, &err);
	store_open(&other, &paths, STORE_READ, &err);
	store_data_version(&other, &before, &err);
	store_job_set_reason(&store, 1, "waits", 100, &err);
	store_data_version(&other, &after, &err);
	is_int(after, before, "the same reason is not written again");
	store_job_set_reason(&store, 1, "waits", UNKNOWN, &err);
	store_data_version(&other, &after, &err);
	ok(after != before, "a reason with another time is written");
	store_close(&other);
}

static void test_events(void)
{
	struct decision_entry entries[] = { { 1, 2, "first" }, { 2, 0, "waits" } };
	struct decision_entry later = { 1, 3, "later" };
	struct decision_row decision;
	struct event_list list;

	new_store();
	add_job(0);
	add_job(0);
	is_int(store_decision_add(&store, "las", 4, entries, 2, &err), 0, "a decision is kept");
	is_query("SELECT group_concat(job_id || replicas || reason) FROM decision_jobs",
		 "12first,20waits", "a decision is kept with its reasons");
	store_decision_add(&store, "goodput", 5, &later, 1, &err);
	store_decision_of_job(&store, 1, &decision, &err);
	ok(!strcmp(decision.policy, "goodput") && !strcmp(decision.reason, "later") &&
	   decision.n_devices == 5 && decision.replicas == 3 && decision.time_s > 1e9,
	   "the last decision on a job is read");
	decision_row_release(&decision);
	store_decision_of_job(&store, 2, &decision, &err);
	ok(!strcmp(decision.policy, "las") && !strcmp(decision.reason, "waits"),
	   "a job's last decision is not always the last there was");
	decision_row_release(&decision);
	is_int(store_decision_of_job(&store, 3, &decision, &err), 0,
	       "a job without a decision is no error");
	ok(!decision.policy && isnan(decision.time_s),
	   "the decision on a job without one is unknown");
	store_event_add(&store, 1, 0, "cancel", "asked", &err);
	store_events_of_job(&store, 1, &list, &err);
	ok(list.count == 2 && !strcmp(list.items[0].kind, "submitted") &&
	   !strcmp(list.items[1].kind, "cancel") && list.items[1].run_id == 0,
	   "the events of a job are read");
	event_list_release(&list);
}

/* --- no half-done writes --- */

static char *dump(void)
{
	static const char *const tables[] = {
		"jobs", "commands", "dependencies", "runs", "run_devices", "observations",
		"gradient_statistics", "events", "decisions"
	};
	struct text t = TEXT_INIT;

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		char *sql = xasprintf("SELECT * FROM %s", tables[i]);
		sqlite3_stmt *q;

		sqlite3_prepare_v2(store.db, sql, -1, &q, NULL);
		while (__real_sqlite3_step(q) == SQLITE_ROW)
			for (int c = 0; c < sqlite3_column_count(q); c++)
				text_addf(&t, "%s|", sqlite3_column_text(q, c)
					  ? (const char *)sqlite3_column_text(q, c) : "NULL");
		sqlite3_finalize(q);
		free(sql);
	}
	return text_detach(&t);
}

static int write_job(void)
{
	struct dependency items[] = { { .after_id = 1 } };
	struct dependency_list after = { items, 1 };
	struct job_command c;
	struct job job;
	int rc;

	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("x");
	job.submit_time_s = 1;
	fill_command(&c);
	rc = commit_job(&job, &c, &after);
	job_command_release(&c);
	job_release(&job);
	return rc;
}

static int write_claim(void)
{
	bool claimed;
	int rc = store_run_claim(&store, 2, "local", 5, &claimed, &err);

	return rc == 0 && !claimed ? -2 : rc;
}

static int write_end(void)
{
	struct end e = { OUTCOME_STOPPED, STOP_CANCEL, 10, 500, 480, 20, 1, 75 };
	int calls = calls_until_failure, rc;
	struct run run;

	calls_until_failure = 0;	/* reading it is not what is tried */
	store_run_get(&store, 1, &run, &err);
	run.outcome = e.outcome;
	run.stop_reason = e.reason;
	run.duration_s = e.duration_s;
	run.lost_samples = e.lost;
	calls_until_failure = calls;
	rc = store_run_end(&store, &run, &err);
	run_release(&run);
	return rc;
}

static int write_progress(void)
{
	struct observation o;
	struct gradient_window g = { .n = 1 };
	int calls = calls_until_failure, rc;
	struct run_update p;
	struct run run;

	calls_until_failure = 0;
	observation_init(&o);
	o.step_time_s = 1;
	store_run_get(&store, 1, &run, &err);
	run.last_samples = 640;
	calls_until_failure = calls;
	p = (struct run_update){ .run = &run, .steps = 10, .has_loss = true, .loss = 0.5,
				 .epoch = 1,
				 .status_text = "ok", .observation = &o, .gradient = &g };
	rc = store_run_update(&store, &p, &err);
	run_release(&run);
	return rc;
}

static void fails_cleanly(const char *what, int (*write)(void))
{
	char *before, *after;
	int n, unclean = 0, rc = -1;

	new_store();
	add_claimed_run(add_job(0), 0, 1);	/* run 1, of job 1 */
	add_run(add_job(0), 1, 1);		/* run 2, assigned */
	for (n = 1; n < 100; n++) {
		before = dump();
		calls_until_failure = n;
		rc = write();
		if (calls_until_failure) {
			calls_until_failure = 0;
			free(before);
			break;
		}
		after = dump();
		if (rc != -1 || strcmp(before, after) != 0 || !sqlite3_get_autocommit(store.db)) {
			unclean++;
			printf("# call %d: returned %d, %s\n", n, rc,
			       strcmp(before, after) ? "something was written" : "");
		}
		free(before);
		free(after);
	}
	is_int(unclean, 0, what);
	is_int(rc, 0, "a write succeeds after its failures at each statement");
	ok(n > 3 && n < 100, "a write takes several statements");
	printf("# %d statements\n", n - 1);
}

int main(void)
{
	if (!mkdtemp(root))
		return 1;
	test_open();
	test_open_at_once();
	test_refused();
	test_job();
	test_dependencies();
	test_lists();
	test_aside();
	test_requeue();
	test_claims();
	test_nodes();
	test_claims_at_once();
	test_stop_reasons();
	test_adopt();
	test_totals();
	test_states();
	test_late_reasons();
	test_retries();
	test_losses();
	test_next_run();
	test_refused_launch();
	test_progress();
	test_workload();
	test_families();
	test_restart_cost();
	test_long_history();
	test_large_workload();
	test_stamps();
	test_typical_samples();
	test_step_times();
	test_last_end();
	test_wanted();
	test_environments();
	test_reason();
	test_events();
	fails_cleanly("a submission that fails at any statement writes nothing", write_job);
	fails_cleanly("a claim that fails at any statement writes nothing", write_claim);
	fails_cleanly("an end that fails at any statement writes nothing", write_end);
	fails_cleanly("progress that fails at any statement writes nothing", write_progress);
	return close_fixture();
}
