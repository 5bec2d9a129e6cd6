/* test_store_journal.c - what a supervisor writes into the store of its run comes into the store of
 * the passes by records: once and exactly, whoever is killed, and whatever the texts are. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "old_journal.h"
#include "pollux/file.h"
#include "pollux/store_groups.h"
#include "pollux/store_journal.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "store/journal.h"
#include "store_fixture.h"

#define HOSTILE "it's; 'x'\n#00000000\nend stop_reason=cancel #12345678\n%0a \"?1\");" \
		" DROP TABLE jobs--"

#define JOURNAL_MAX 65536

static char own_root[] = "/tmp/test_journal.XXXXXX";
static struct store own;	/* the supervisor's */
static struct run run;
static char journal[200];	/* the file */
static struct strings unknown;	/* of the last call of take_at */

static int64_t ask(struct store *s, const char *sql)
{
	sqlite3_stmt *q;
	int64_t n = -1;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) == SQLITE_OK &&
	    sqlite3_step(q) == SQLITE_ROW)
		n = sqlite3_column_int64(q, 0);
	sqlite3_finalize(q);
	return n;
}

static void add_run(void)
{
	struct job job;
	int64_t id;

	job_init(&job);
	id = add_to_fixture(&job, "w");
	run_init(&run);
	run.job_id = id;
	run.configuration = (struct configuration){ .replicas = 1, .nodes = 1,
						    .local_batch_size = 32,
						    .accumulation_steps = 1 };
	run.learning_rate_scale = 1;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "slurm:n1:0");
	snprintf(run.devices[0].node, sizeof(run.devices[0].node), "n1");
	run.devices[0].cores = 1;
	ok(store_run_add(&store, &run, &err) == 0, "a run is added");
	ok(store_run_set_handle(&store, run.id, "slurm job=5", &err) == 0, "a run has a handle");
}

static void open_own(void)
{
	scoped(text_release) struct text rows = TEXT_INIT;
	struct paths own_paths;

	ok(store_run_rows(&store, run.id, &rows, &err) == 0, "the rows of a run are read");
	ok(rows.length < 300000, "the rows of a run fit into a small file");
	ok(mkdtemp(own_root) != NULL, "a directory for the other store is made");
	setenv("POLLUX_DIR", own_root, 1);
	ok(paths_init(&own_paths, &err) == 0 &&
	   store_open_rows(&own, &own_paths, rows.data, rows.length, &err) == 0,
	   "a store of these rows alone is opened");
	is_int(ask(&own, "SELECT count(*) FROM jobs JOIN runs ON job_id = jobs.id"), 1,
	       "the store of a run's rows has the job and its run");
	is_int(ask(&own, "SELECT count(*) FROM jobs JOIN commands ON job_id = jobs.id"), 1,
	       "the store of a run's rows has no other job");
	is_int(ask(&own, "PRAGMA foreign_key_check"), -1,
	       "no row in the store of a run's rows misses another");
	paths_release(&own_paths);
	snprintf(journal, sizeof(journal), "%s/journal", own_root);
	store_journal_to(open(journal, O_WRONLY | O_CREAT | O_APPEND, 0600));
}

/* --- taking --- */

/* Takes n bytes at a place of the run's journal, as another process does: this one tells nothing of
 * that. */
static int take_bytes(struct store *s, int64_t place, const char *bytes, size_t n)
{
	int rc;

	strings_release(&unknown);
	journal_pause(true);
	rc = store_journal_take(s, run.id, &(struct journal_part){ place, bytes, n }, &unknown,
				&err);
	journal_pause(false);
	return rc;
}

static int64_t place_in(struct store *s)
{
	int64_t at = -1;

	store_journal_place(s, run.id, &at, &err);
	return at;
}

static size_t read_journal(char bytes[JOURNAL_MAX])
{
	int fd = open(journal, O_RDONLY);
	ssize_t n = read(fd, bytes, JOURNAL_MAX);

	close(fd);
	return n > 0 ? (size_t)n : 0;
}

/* Takes what is left, up to a place. Returns the bytes that the store has taken of it; -1. */
static int take_until(size_t end)
{
	static char bytes[JOURNAL_MAX];
	size_t n = read_journal(bytes);
	int64_t begin = place_in(&store);
	int rc = take_bytes(&store, begin, bytes + begin, (n < end ? n : end) - (size_t)begin);

	return rc ? -1 : (int)(place_in(&store) - begin);
}

static int take(void)
{
	return take_until(JOURNAL_MAX);
}

/* --- what a store has --- */

static void add_rows(struct store *s, const char *sql, struct text *t)
{
	sqlite3_stmt *q;

	if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK)
		text_addf(t, "%s: %s\n", sql, sqlite3_errmsg(s->db));
	while (q && sqlite3_step(q) == SQLITE_ROW) {
		for (int i = 0; i < sqlite3_column_count(q); i++) {
			const char *name = sqlite3_column_name(q, i);
			const char *value = (const char *)sqlite3_column_text(q, i);

			if (sqlite3_column_type(q, i) == SQLITE_FLOAT)
				text_addf(t, "%s=%a ", name, sqlite3_column_double(q, i));
			else if (strcmp(name, "handle") != 0 && strcmp(name, "journal_bytes") != 0)
				text_addf(t, "%s=%s ", name, value ? value : "NULL");
		}
		text_add(t, "\n");
	}
	sqlite3_finalize(q);
}

/* All that records may change. Passes find out themselves when they learn that a run has ended. The
 * caller frees. */
static char *content(struct store *s)
{
	static const char *const queries[] = {
		"SELECT * FROM runs", "SELECT * FROM run_devices",
		"SELECT * FROM observations ORDER BY 1, 2, 3, 4, 5",
		"SELECT * FROM gradient_statistics ORDER BY window",
		"SELECT * FROM job_metrics ORDER BY name",
		"SELECT * FROM curve_points ORDER BY name, time_s", "SELECT * FROM rung_results",
		("SELECT kind, text, job_id, run_id, iif(kind = 'ended', 0, time_s) FROM events"
		 " WHERE run_id > 0 ORDER BY id"),
		"SELECT first_commit, first_tree FROM commands", "SELECT parameters FROM workloads",
		("SELECT state, reason, samples, steps, loss, loss_is_nan, epoch, status_text,"
		 " checkpoint_samples, printed_total_steps, reported_total_samples,"
		 " reported_total_steps, total_epochs, ends_by, optimizer, resumes,"
		 " saves_when_asked, saved_nothing, runs, launches, start_time_s, run_time_s,"
		 " attained_service_device_s, preemptions, failures, lost_samples, lost_s,"
		 " exit_code, term_signal, rung FROM jobs"),
	};
	struct text t = TEXT_INIT;

	for (size_t i = 0; i < sizeof(queries) / sizeof(queries[0]); i++)
		add_rows(s, queries[i], &t);
	return text_detach(&t);
}

static void same_content(const char *what)
{
	autofree char *a = content(&store), *b = content(&own);

	is_str(a, b, what);
}

/* --- news comes over --- */

static void test_claim(void)
{
	bool claimed;

	ok(store_run_claim(&own, run.id, "local supervisor=1", 7.25, &claimed, &err) == 0 &&
	   claimed, "the run is claimed in the other store");
	is_int(take_until(30), (long long)strlen(JOURNAL_NAME "1\n"),
	       "of the first line and a part of a record the line is taken");
	is_int(ask(&store, "SELECT state = 'assigned' FROM runs"), 1,
	       "a part of a record writes nothing");
	ok(take() > 0, "a whole record is taken");
	is_int(ask(&store, "SELECT state = 'running' AND launch_boot_s = 7.25 FROM runs"), 1,
	       "a claim is taken as it was written");
	is_int(ask(&store, "SELECT CAST(handle AS TEXT) = 'slurm job=5' FROM runs"), 1,
	       "a claim that is taken leaves the handle as it was");
	is_int(ask(&store, "SELECT runs FROM jobs"), 1, "a claim that is taken counts a start");
	is_int(take(), 0, "a record is taken only once");
	same_content("both stores have the same after a claim");
}

/* A pass that had asked for the place before another pass took the record. */
static void test_again(void)
{
	char bytes[JOURNAL_MAX];
	size_t n = read_journal(bytes);

	ok(take_bytes(&store, 0, bytes, n) == 0,
	   "a pass that comes late with the same bytes is no error");
	is_int(ask(&store, "SELECT runs FROM jobs"), 1,
	       "a claim that comes twice counts one start");
}

/* Writes news of each kind but claim and end. */
static void tell_all(void)
{
	struct observation o;
	struct gradient_window g = {
		.configuration = run.configuration, .first_samples = 32,
		.last_samples = (double)NAN, .n = 20, .entries = 20, .sum_grad_sqr = 0.1,
		.sum_grad_var = 1.25, .m2_grad_sqr = (double)NAN, .m2_grad_var = 3,
		.cross_grad = -0.3,
	};
	struct job_metric m = {
		.name = "loss", .last = (double)NAN, .samples = 640, .lowest = 0.1,
		.lowest_samples = 640, .highest = 1e300, .highest_samples = 32,
	};
	struct run_update p = {
		.run = &run, .steps = 0.1, .has_loss = true, .loss = (double)INFINITY,
		.epoch = (double)NAN, .printed_total_steps = (double)NAN,
		.total_samples = (double)NAN, .total_steps = 1e9, .total_epochs = (double)NAN,
		.resumes = -1, .saves_when_asked = -1, .end = END_EPOCHS, .optimizer = "",
		.status_text = HOSTILE, .parameters = 1000, .observation = &o, .gradient = &g,
	};

	observation_init(&o);
	o.n_steps = INT64_C(1) << 53;
	o.n_windows = 3;
	o.step_time_s = 0.1;
	run.state = RUN_RUNNING;
	run.last_samples = 1e15 + 1;
	xreplace(&run.checkpoint_path, "/a b/\xff\xfe%20");
	snprintf(run.code.commit, sizeof(run.code.commit), "c0ffee");
	snprintf(run.code.tree, sizeof(run.code.tree), "7ree");
	ok(store_run_set_code(&own, &run, &err) == 0 && store_run_update(&own, &p, &err) == 0 &&
	   store_metric_set(&own, run.job_id, &m, &err) == 0 &&
	   store_curve_add(&own, run.job_id, "loss", 640, (double)NAN, &err) == 0 &&
	   store_rung_add(&own, run.job_id, 1, 640, 0.5, &err) == 0 &&
	   store_event_add(&own, run.job_id, run.id, "config", HOSTILE, &err) == 0 &&
	   store_run_set_diagnosis(&own, run.id, HOSTILE, &err) == 0 &&
	   store_run_request_stop(&own, run.id, STOP_SHUTDOWN, 9, &err) == 0 &&
	   store_run_set_stopping(&own, run.id, &err) == 0, "news of all kinds is written");
}

static void test_exact(void)
{
	tell_all();
	ok(take() > 0, "news of all kinds comes over");
	same_content("news comes over with every bit of its numbers and texts");
	is_int(ask(&store, "SELECT count(*) FROM jobs"), 1, "a hostile text is a text");
	store_begin(&own, &err);
	store_event_add(&own, run.job_id, run.id, "x", "rolled back", &err);
	store_rollback(&own);
	is_int(take(), 0, "what was rolled back leaves no record");
}

static void test_end(void)
{
	run.outcome = OUTCOME_STOPPED;
	run.stop_reason = STOP_SHUTDOWN;
	run.launch_boot_s = 7.25;
	run.duration_s = 3;
	run.stands_at_samples = 320;	/* of a program that saves and does not say so */
	journal_pause(true);
	store_run_request_stop(&store, run.id, STOP_HOLD, 9, &err);
	journal_pause(false);
	ok(store_run_end(&own, &run, &err) == 0 && take() > 0, "an end comes over");
	is_int(ask(&store, "SELECT state = 'ended' AND stop_reason = 'hold' FROM runs"), 1,
	       "a run ends by the reason that the store has");
	is_int(ask(&store, "SELECT state = 'held' FROM jobs"), 1,
	       "the store's reason decides what becomes of the job");
	is_int(ask(&store, "SELECT samples FROM jobs"), 320,
	       "an end brings over where the job stands");
	is_int(ask(&store, "SELECT count(*) FROM run_devices WHERE in_use = 1"), 0,
	       "an end that came over frees the devices");
	is_int(ask(&store, "SELECT count(*) FROM events WHERE kind = 'ended'"), 1,
	       "a run ends only once");
	is_int(take(), 0, "nothing is left of a journal that was taken");
}

/* --- kills: each in a copy of the store as it was before anything was taken --- */

static char copy_root[] = "/tmp/test_journal.XXXXXX";
static struct text before = TEXT_INIT;		/* that store */

static void keep_store(void)
{
	sqlite3_int64 n;
	unsigned char *bytes = sqlite3_serialize(store.db, "main", &n, 0);

	text_add_bytes(&before, bytes, (size_t)n);
	sqlite3_free(bytes);
	ok(mkdtemp(copy_root) != NULL && before.length > 0, "the store is kept as it is");
}

static void open_copy(struct store *s, bool anew)
{
	scoped(paths_release) struct paths at = { 0 };
	char name[200];

	setenv("POLLUX_DIR", copy_root, 1);
	for (int i = 0; anew && i < 2; i++) {
		snprintf(name, sizeof(name), "%s/pollux.db-%s", copy_root, i ? "wal" : "shm");
		unlink(name);
	}
	if (paths_init(&at, &err) ||
	    (anew && file_replace(at.store, before.data, before.length, &err)) ||
	    store_open(s, &at, STORE_WRITE, &err))
		printf("Bail out! %s\n", err.text);
}

/* The writer may be killed after any byte, and a pass then reads what is there. */
static void test_writer_killed(const char *wanted)
{
	static char bytes[JOURNAL_MAX];
	size_t n = read_journal(bytes);
	struct store copy;
	int failed = 0;
	autofree char *got = NULL;

	open_copy(&copy, true);
	for (size_t end = 0; end <= n; end++) {
		int64_t at = place_in(&copy);

		failed += take_bytes(&copy, at, bytes + at, end - (size_t)at) != 0;
	}
	is_int(failed, 0, "a journal is taken that ends after any of its bytes");
	is_int(place_in(&copy), (long long)n,
	       "a journal that is taken byte by byte is taken to its end");
	got = content(&copy);
	is_str(got, wanted, "a journal that is taken byte by byte is taken once");
	store_close(&copy);
}

static int n_writes, killed_at;

static void count_write(void *arg, int what, const char *database, const char *table,
			sqlite3_int64 row)
{
	(void)arg;
	(void)what;
	(void)database;
	(void)table;
	(void)row;
	if (++n_writes == killed_at)
		kill(getpid(), SIGKILL);
}

static int count_commit(void *arg)
{
	count_write(arg, 0, NULL, NULL, 0);
	return 0;
}

/* Takes the journal in a process that is killed at the nth write. True: it was. */
static bool take_and_die(int n, const char *bytes, size_t length)
{
	struct store copy;
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		open_copy(&copy, true);
		killed_at = n;
		sqlite3_update_hook(copy.db, count_write, NULL);
		sqlite3_commit_hook(copy.db, count_commit, NULL);
		_exit(take_bytes(&copy, 0, bytes, length) != 0);
	}
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status);
}

static void test_pass_killed(const char *wanted)
{
	static char bytes[JOURNAL_MAX];
	size_t n = read_journal(bytes);
	int rounds = 0, wrong = 0;

	while (rounds < 1000 && take_and_die(rounds + 1, bytes, n)) {
		struct store copy;
		int64_t at;
		autofree char *got = NULL;

		open_copy(&copy, false);
		at = place_in(&copy);
		take_bytes(&copy, at, bytes + at, n - (size_t)at);
		got = content(&copy);
		wrong += strcmp(got, wanted) != 0;
		store_close(&copy);
		rounds++;
	}
	ok(rounds > 20, "a pass is killed at each of its writes");
	is_int(wrong, 0, "after a killed pass the next takes what is left, once");
}

static void test_kills(void)
{
	autofree char *wanted = NULL;
	struct store copy;
	char bytes[JOURNAL_MAX];
	size_t n = read_journal(bytes);

	open_copy(&copy, true);
	ok(take_bytes(&copy, 0, bytes, n) == 0, "the journal is taken in one piece");
	wanted = content(&copy);
	store_close(&copy);
	ok(strstr(wanted, "state=ended") != NULL,
	   "a journal taken in one piece reaches the end of the run");
	test_writer_killed(wanted);
	test_pass_killed(wanted);
}

/* --- what is no record of this pollux --- */

static struct text lines = TEXT_INIT;

static void add_line(const char *record)
{
	text_addf(&lines, "%s #%08x\n", record, journal_hash(record, strlen(record)));
}

static void test_unknown(void)
{
	struct store copy;

	open_copy(&copy, true);
	text_add(&lines, JOURNAL_NAME "1\n");
	add_line("claim launch_time_s=0x1p+3 launch_boot_s=0x1p+2 novelty=1");
	add_line("novelty a=1");
	add_line("novelty a=2");
	add_line("diagnosis diagnosis=later");
	ok(take_bytes(&copy, 0, lines.data, lines.length) == 0,
	   "a record of an unknown kind is no error");
	is_int(ask(&copy, "SELECT diagnosis = 'later' AND launch_boot_s = 4 FROM runs"), 1,
	       "unknown records and fields are passed over, those around are taken");
	is_int((long long)unknown.count, 1, "an unknown kind of record is named once");
	is_str(unknown.items[0], "novelty", "an unknown record is named by its kind");
	store_close(&copy);
}

/* The store refuses the line, in these words, and takes nothing of it. */
static void refuses(const char *text, const char *words, const char *what)
{
	struct store copy;

	open_copy(&copy, true);
	ok(take_bytes(&copy, 0, text, strlen(text)) == -1, what);
	is_str(err.text, words, "a refused line is refused in words");
	is_int(ask(&copy, "SELECT state = 'assigned' AND journal_bytes IS NULL FROM runs"), 1,
	       "a refused line writes nothing");
	store_close(&copy);
}

static void refuses_record(const char *record, const char *what)
{
	text_clear(&lines);
	add_line(record);
	refuses(lines.data, "the journal of the run is malformed", what);
}

static void test_damage(void)
{
	static const char malformed[] = "the journal of the run is malformed";

	refuses("claim launch_boot_s=0x1p+2 #00000000\n", malformed,
		"a record with another hash is refused");
	refuses("\n", malformed, "an empty line is refused");
	refuses_record("claim launch_boot_s=soon", "a number that is none is refused");
	refuses_record("rung rung=99999999999", "a number that is too large is refused");
	refuses_record("rung rung=-9223372036854775808", "the least number is refused");
	refuses_record("progress parameters=-9223372036854775808",
		       "the least number is refused in the place of a greater one, too");
	refuses_record("diagnosis diagnosis=%00", "a text that ends early is refused");
	refuses("pollux journal 2\nx", "the run's journal is of version 2, and this pollux reads"
		" version 1: a newer pollux takes it", "a journal of a newer pollux is refused");
	refuses("J 00000004 00000000\nabcd", malformed,
		"a record of an older pollux with another hash is refused");
	text_clear(&lines);
	text_addf(&lines, "J 00000015 %08x\ns0,12:DROP TABLE j0:\n",
		  journal_hash("s0,12:DROP TABLE j0:\n", 21));
	refuses(lines.data, "the journal of the run, of an older pollux, is malformed",
		"an old record with a statement that writes no row is refused");
}

/* --- what pollux 0.2.0 left --- */

static void test_old(void)
{
	scoped(paths_release) struct paths at = { 0 };
	struct store old;

	setenv("POLLUX_DIR", copy_root, 1);
	remove_tree(copy_root);
	mkdir(copy_root, 0700);
	ok(paths_init(&at, &err) == 0 &&
	   store_open_rows(&old, &at, old_rows, sizeof(old_rows) - 1, &err) == 0,
	   "the rows of an older pollux are taken");
	is_int(ask(&old, "SELECT count(*) FROM jobs JOIN runs ON job_id = jobs.id"
			 " JOIN run_devices ON run_id = runs.id WHERE device = 'slurm:n1:0'"), 1,
	       "all rows of an older pollux are taken");
	for (size_t end = 0; end < sizeof(old_journal); end++) {
		int64_t begin = place_in(&old);

		if (take_bytes(&old, begin, old_journal + begin, end - (size_t)begin))
			printf("# %s\n", err.text);
	}
	is_int(place_in(&old), sizeof(old_journal) - 1,
	       "the journal of an older pollux is taken, cut anywhere");
	is_int(ask(&old, "SELECT state = 'ended' AND outcome = 'stopped' AND end_boot_s = 10.25"
			 " AND stop_reason = 'time-limit' AND diagnosis = 'a diagnosis'"
			 " AND code_tree = '7ree' AND handle = CAST('slurm job=5' AS BLOB)"
			 " FROM runs"), 1, "the journal of an older pollux ends its run");
	is_int(ask(&old, "SELECT state = 'timeout' AND samples = 320 AND loss = 9e999 AND runs = 1"
			 " AND status_text = 'it''s; ''x''' || char(10) || '?1' FROM jobs"), 1,
	       "the journal of an older pollux says where the job stands");
	is_int(ask(&old, "SELECT (SELECT count(*) FROM observations) ||"
			 " (SELECT count(*) FROM gradient_statistics) ||"
			 " (SELECT count(*) FROM job_metrics) ||"
			 " (SELECT count(*) FROM curve_points) ||"
			 " (SELECT count(*) FROM rung_results) ||"
			 " (SELECT count(*) FROM events)"), 111112,
	       "the journal of an older pollux has what was measured, once");
	store_close(&old);
}

int main(void)
{
	open_fixture();
	add_run();
	keep_store();
	open_own();
	test_claim();
	test_again();
	test_exact();
	test_end();
	test_kills();
	test_unknown();
	test_damage();
	test_old();
	store_close(&own);
	remove_tree(own_root);
	remove_tree(copy_root);
	strings_release(&unknown);
	text_release(&before);
	text_release(&lines);
	run_release(&run);
	return close_fixture();
}
