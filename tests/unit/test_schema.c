/* test_schema.c - older stores: the oldest that is taken over becomes what a new one is and keeps
 * its rows, one that lacks what the text of schema.c has gets it, and others are refused. */
#include <string.h>
#include <unistd.h>

#include "store/database.h"
#include "store_45.h"
#include "store_fixture.h"

/* Tables without the order of their columns, and the rest by its SQL. */
#define COLUMNS \
	"SELECT group_concat(c, char(10)) FROM (SELECT t.name || '.' || i.name || ' ' || i.type" \
	" || ' ' || i.\"notnull\" || ' ' || ifnull(i.dflt_value, '-') || ' ' || i.pk AS c" \
	" FROM sqlite_schema t JOIN pragma_table_info(t.name) i WHERE t.type = 'table' ORDER BY c)"
#define OTHERS \
	"SELECT group_concat(c, char(10)) FROM (SELECT type || ' ' || tbl_name || ' ' || sql AS c" \
	" FROM sqlite_schema WHERE type <> 'table' AND sql IS NOT NULL ORDER BY c)"
#define KEYS \
	"SELECT group_concat(c, char(10)) FROM (SELECT t.name || ' ' || f.\"from\" || ' ' ||" \
	" f.\"table\" || ' ' || f.on_delete AS c FROM sqlite_schema t" \
	" JOIN pragma_foreign_key_list(t.name) f WHERE t.type = 'table' ORDER BY c)"

/* The first value of the first row; the caller frees it. */
static char *answer(const char *sql)
{
	sqlite3_stmt *q = NULL;
	char *text = NULL;

	if (sqlite3_prepare_v2(store.db, sql, -1, &q, NULL) != SQLITE_OK)
		printf("# %s\n", sqlite3_errmsg(store.db));
	else if (sqlite3_step(q) == SQLITE_ROW && sqlite3_column_text(q, 0))
		text = xstrdup((const char *)sqlite3_column_text(q, 0));
	sqlite3_finalize(q);
	return text ? text : xstrdup("");
}

static void answers(const char *sql, const char *want, const char *what)
{
	autofree char *got = answer(sql);

	is_str(got, want, what);
}

/* A file with these tables and rows takes the place of the store. */
static void make_store(const char *tables, const char *rows)
{
	char *message = NULL;
	sqlite3 *db;

	store_close(&store);
	unlink(paths.store);
	sqlite3_open(paths.store, &db);
	sqlite3_exec(db, tables, NULL, NULL, &message);
	if (!message)
		sqlite3_exec(db, rows, NULL, NULL, &message);
	ok(!message, message ? message : "a store is made");
	sqlite3_free(message);
	sqlite3_close(db);
}

#define SCHEMA "PRAGMA user_version"
#define VERSION_45 "PRAGMA journal_mode = WAL; PRAGMA application_id = 0x706f6c78;" \
	"PRAGMA user_version = 45;"
/* Job 1 ran twice and failed; job 2 waits for it; job 3 has a run that goes on. The environments of
 * two stand where version 20 had them. */
static const char rows_45[] = VERSION_45
	"INSERT INTO jobs (state, name, workload, submit_time_s, min_replicas, max_replicas,"
	" weight, preemption, retries, stop_signal, grace_s, forgiven_runs) VALUES"
	" ('queued', 'n', 'w', 1, 2, 3, 1, 'saved', 7, 15, 60, 1),"
	" ('queued', 'm', 'w', 1, 1, 1, 1, 'saved', 0, 15, 60, 0),"
	" ('running', 'o', 'w', 1, 1, 1, 1, 'saved', 0, 15, 60, 0);"
	"INSERT INTO environments VALUES (1, 5, 0, x'533D73656372657400');"
	"INSERT INTO commands (job_id, program, argv, env, directory, environment_id) VALUES"
	" (1, x'2f78', x'7800', x'', x'2f', 1),"
	" (2, x'2f78', x'7800', x'543D3600', x'2f', NULL),"
	" (3, x'2f78', x'7800', x'543D3600', x'2f', NULL);"
	"INSERT INTO dependencies VALUES (2, 1, 1, 'ok');"
	"INSERT INTO runs (job_id, number, state, replicas, accumulation_steps,"
	" learning_rate_scale, boot_id, assigned_time_s, assigned_boot_s, end_boot_s, outcome,"
	" handle) VALUES (1, 1, 'ended', 2, 3, 1, 'b', 1, 1, 5, 'failed',"
	" CAST('local supervisor=12' AS BLOB)),"
	" (1, 2, 'ended', 2, 3, 1, 'b', 1, 1, 6, 'failed', NULL),"
	" (3, 1, 'running', 1, 1, 1, 'b', 1, 1, NULL, NULL, CAST('local supervisor=13' AS BLOB));"
	"INSERT INTO observations VALUES (1, 'k', 1, 2, 32, 1, 'fast', 5, 2, 0, 0, 1, 0, 1, 0, 9);";

static void has_environment(int64_t id, const char *variable)
{
	scoped(job_command_release) struct job_command c = { 0 };

	if (store_job_command_get(&store, id, &c, &err)) {
		ok(false, err.text);
		return;
	}
	ok(c.env.count == 1 && !strcmp(c.env.items[0], variable), "a job keeps its environment");
}

static void test_oldest(void)
{
	autofree char *columns = answer(COLUMNS), *others = answer(OTHERS), *keys = answer(KEYS);
	autofree char *version = answer(SCHEMA);
	struct job job;

	make_store(store_45, rows_45);
	is_int(store_open(&store, &paths, STORE_WRITE, &err), 0, "a store of version 45 is opened");
	answers(COLUMNS, columns, "an old store gets the columns of a new store");
	answers(OTHERS, others, "an old store gets the indexes and triggers of a new store");
	answers(KEYS, keys, "an old store gets the foreign keys of a new store");
	answers(SCHEMA, version, "an old store gets the version of a new store");
	is_int(store_job_get(&store, 1, &job, &err), 0, "an old store keeps its jobs");
	ok(job.declared.min_replicas == 2 && job.declared.retries == 7 && job.forgiven_runs == 1,
	   "a job of an old store is what it was");
	job_release(&job);
	has_environment(1, "S=secret");
	has_environment(2, "T=6");
	has_environment(3, "T=6");
	answers("SELECT count(*) FROM environments", "2", "jobs share an environment");
	answers("SELECT group_concat(job_id || ' ' || after_id || ' ' || rule) FROM dependencies",
		"2 1 ok", "a job waits for the end that it waited for");
	answers("SELECT group_concat(workload || ' ' || ifnull(CAST(handle AS TEXT), '-'))"
		" FROM runs", "w local supervisor=12,w -,w local supervisor=13",
		"runs are known by their handles");
	answers("SELECT tier || n_steps FROM observations", "fast5",
		"an old store keeps its observations");
	run_sql("UPDATE runs SET freeze_state = 'frozen', frozen_bytes = 7, frozen_pids = '8',"
		" frozen_device = 'GPU-1' WHERE job_id = 3");
	answers("SELECT frozen_bytes FROM runs WHERE job_id = 3", "7",
		"a supervisor of version 45 writes what it wrote");
	answers("PRAGMA integrity_check", "ok", "SQLite finds nothing wrong");
}

/* Version 46 without some of what it has stands for each store that is older than a column. */
static void test_what_is_added(void)
{
	char *columns = answer(COLUMNS), *others = answer(OTHERS);

	make_store(schema_text,
		   "PRAGMA journal_mode = WAL; PRAGMA application_id = 0x706f6c78;"
		   "PRAGMA user_version = 46;"
		   "INSERT INTO jobs (state, name, workload, submit_time_s, min_replicas,"
		   " max_replicas, weight, preemption, retries, stop_signal, grace_s)"
		   " VALUES ('done', 'n', 'w', 1, 1, 1, 1, 'saved', 7, 15, 60);"
		   "DROP INDEX jobs_ended_untold; DROP TRIGGER job_lives_again;"
		   "ALTER TABLE jobs DROP COLUMN end_told; ALTER TABLE jobs DROP COLUMN launch;"
		   "ALTER TABLE freeze_tests ADD COLUMN kind TEXT;"
		   "DROP TABLE rung_results; DROP TABLE events");
	is_int(store_open(&store, &paths, STORE_WRITE, &err), 0,
	       "a store of version 46 that lacks columns is opened");
	answers(COLUMNS, columns, "a store gets the columns and tables that it lacked");
	answers(OTHERS, others, "a store gets the indexes and triggers that it lacked");
	answers("SELECT end_told || ifnull(launch, '-') || retries FROM jobs", "0-7",
		"a row has the default of a new column, and what it had");
	free(columns);
	free(others);
}

static void test_refused(void)
{
	static const char want[] = "has version 44; this pollux takes over those from 45 on: let "
		"'pollux status' of commit " SCHEMA_OLDEST_COMMIT " bring it there first";

	make_store(store_45, VERSION_45 "PRAGMA user_version = 44");
	for (enum store_mode mode = STORE_READ; mode <= STORE_OBSERVE; mode++) {
		is_int(store_open(&store, &paths, mode, &err), -1,
		       "a store that is too old is not opened");
		is_int(err.exit_status, EX_DATAERR, "a store that is too old is an error of data");
		ok(strstr(err.text, want), err.text);
	}
}

int main(void)
{
	open_fixture();
	test_oldest();
	test_what_is_added();
	test_refused();
	return close_fixture();
}
