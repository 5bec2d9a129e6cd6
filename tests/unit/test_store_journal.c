/* test_store_journal.c - what one store writes comes into another, once and exactly. */
#include <fcntl.h>
#include <unistd.h>

#include "pollux/file.h"
#include "pollux/store_journal.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "store/sql.h"
#include "store_fixture.h"

static char own_root[] = "/tmp/test_journal.XXXXXX";
static struct store own;	/* the supervisor's */
static struct run run;
static char journal[200];

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
						    .accumulation_steps = 1 };
	run.learning_rate_scale = 1;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "slurm:n1:0");
	snprintf(run.devices[0].node, sizeof(run.devices[0].node), "n1");
	run.devices[0].cores = 1;
	ok(store_run_add(&store, &run, &err) == 0, "a run is added");
	ok(store_run_set_handle(&store, run.id, "slurm job=5", &err) == 0, "it has a handle");
}

static void open_own(void)
{
	struct text rows = TEXT_INIT;
	struct paths own_paths;

	ok(store_run_rows(&store, run.id, &rows, &err) == 0, "its rows");
	ok(mkdtemp(own_root) != NULL, "a directory");
	setenv("POLLUX_DIR", own_root, 1);
	ok(paths_init(&own_paths, &err) == 0 &&
	   store_open(&own, &own_paths, STORE_OBSERVE, &err) == 0, "another store");
	ok(store_rows_put(&own, rows.data, rows.length, &err) == 0, "takes the rows");
	ok(store_rows_put(&own, rows.data, rows.length - 1, &err) == -1, "but not a part of them");
	is_int(ask(&own, "SELECT count(*) FROM jobs JOIN runs ON job_id = jobs.id"), 1,
	       "and has them");
	paths_release(&own_paths);
	text_release(&rows);
	snprintf(journal, sizeof(journal), "%s/journal", own_root);
	store_journal_to(open(journal, O_WRONLY | O_CREAT | O_APPEND, 0600));
}

/* Takes at most `most` bytes of the journal at a place. Returns the bytes taken; -1. */
static int take_at(int64_t place, size_t most)
{
	char bytes[65536];
	int fd = open(journal, O_RDONLY), rc;
	size_t taken = 0;
	ssize_t n;

	store_journal_pause(true);
	n = pread(fd, bytes, most < sizeof(bytes) ? most : sizeof(bytes), place);
	close(fd);
	rc = store_journal_take(&store, run.id, &(struct journal_part){ place, bytes,
				n > 0 ? (size_t)n : 0 }, &taken, &err);
	store_journal_pause(false);
	return rc ? -1 : (int)taken;
}

/* ... of what is left. */
static int take(size_t most)
{
	int64_t place = 0;

	store_journal_place(&store, run.id, &place, &err);
	return take_at(place, most);
}

static void test_claim(void)
{
	bool claimed;

	ok(store_run_claim(&own, run.id, "local supervisor=1", 7.25, &claimed, &err) == 0 &&
	   claimed, "the other store's run is claimed");
	is_int(take(30), 0, "a record that is not whole is left");
	is_int(ask(&store, "SELECT state = 'assigned' FROM runs"), 1, "... and nothing is written");
	ok(take(65536) > 0, "a whole one is taken");
	is_int(ask(&store, "SELECT state = 'running' AND launch_boot_s = 7.25 FROM runs"), 1,
	       "... as it was written");
	is_int(ask(&store, "SELECT CAST(handle AS TEXT) = 'slurm job=5' FROM runs"), 1,
	       "... but for the handle");
	is_int(ask(&store, "SELECT runs FROM jobs"), 1, "... which counts a start");
	is_int(take(65536), 0, "and only once");
	is_int(take_at(0, 65536), 0, "nor again by a pass that had asked for the place before");
	is_int(ask(&store, "SELECT runs FROM jobs"), 1, "... so that the start counts once");
}

static void test_exact(void)
{
	struct run_update p = {
		.run = &run, .steps = 0.1, .has_loss = true, .loss = INFINITY, .epoch = NAN,
		.printed_total_steps = NAN, .total_samples = NAN, .total_steps = NAN,
		.total_epochs = NAN, .resumes = -1, .saves_when_asked = -1,
		.status_text = "it's; 'x'\n?1",
	};

	run.state = RUN_RUNNING;
	run.last_samples = 1e15 + 1;
	ok(store_run_update(&own, &p, &err) == 0 && take(65536) > 0, "an update comes over");
	is_int(ask(&store, "SELECT steps = 0.1 AND loss = 9e999 AND samples = 1000000000000001.0"
			   " AND status_text = 'it''s; ''x''' || char(10) || '?1' FROM jobs"), 1,
	       "with every bit of its numbers and texts");
	store_begin(&own, &err);
	store_event_add(&own, run.job_id, run.id, "x", "rolled back", &err);
	store_rollback(&own);
	is_int(take(65536), 0, "what was rolled back leaves no record");
}

/* More values than any statement has. */
static void test_many_values(void)
{
	struct text sql = TEXT_INIT;
	sqlite3_stmt *q = NULL;

	text_add(&sql, "INSERT INTO settings (name, value) VALUES ('many', ''");
	for (int i = 0; i < 300; i++)
		text_add(&sql, " || ?");
	text_add(&sql, ")");
	ok(sql_query(&own, &q, &err, sql.data, "") == 0, "a statement of 300 values");
	for (int i = 1; i <= 300; i++)
		sql_bind_integer(q, i, i % 10);
	ok(sql_row(&own, q, &err) == 0 && take(65536) > 0, "comes over");
	sql_done(q);
	is_int(ask(&store, "SELECT length(value) = 300 AND value LIKE '%890' FROM settings"
			   " WHERE name = 'many'"), 1, "with all of them");
	text_release(&sql);
}

static void test_end(void)
{
	run.outcome = OUTCOME_STOPPED;
	run.stop_reason = STOP_SHUTDOWN;
	run.launch_boot_s = 7.25;
	run.duration_s = 3;
	run.last_samples = 640;
	run.stands_at_samples = 320;	/* of a program that saves and does not say so */
	store_journal_pause(true);
	store_run_request_stop(&store, run.id, STOP_HOLD, 9, &err);
	store_journal_pause(false);
	ok(store_run_end(&own, &run, &err) == 0 && take(65536) > 0, "the end comes over");
	is_int(ask(&store, "SELECT state = 'ended' AND stop_reason = 'hold' FROM runs"), 1,
	       "by the reason that the store has");
	is_int(ask(&store, "SELECT state = 'held' FROM jobs"), 1,
	       "which decides what becomes of the job");
	is_int(ask(&store, "SELECT samples FROM jobs"), 320, "where the job stands comes over");
	is_int(ask(&store, "SELECT count(*) FROM run_devices WHERE in_use = 1"), 0,
	       "its devices are free");
	is_int(ask(&store, "SELECT count(*) FROM events WHERE kind = 'ended'"), 1, "it ended once");
	is_int(take(65536), 0, "and nothing is left");
}

static void test_damage(void)
{
	int fd = open(journal, O_WRONLY | O_APPEND);

	ok(file_write_all(fd, "J 00000004 00000000\nabcdJ", 25) == 0, "a record with another hash");
	close(fd);
	is_int(take(65536), -1, "is refused");
	ok(!strcmp(err.text, "the journal of the run is malformed"), "... in words");
}

int main(void)
{
	open_fixture();
	add_run();
	open_own();
	test_claim();
	test_exact();
	test_many_values();
	test_end();
	test_damage();
	store_close(&own);
	remove_tree(own_root);
	run_release(&run);
	return close_fixture();
}
