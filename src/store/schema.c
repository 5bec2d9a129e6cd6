/* schema.c - the tables as one text, and how older stores get there.
 *
 * A store of an older version first gets the changes of each version after its own (changes[]),
 * then the tables, columns, indexes and triggers of the text that it lacks. So a new column is a
 * line here, beside its line in a table of columns (store_columns.c), and a new version. What else
 * a version changes (a column that goes, rows that move) is an entry of changes[].
 *
 * A supervisor that was started before goes on with the statements of its own version until its run
 * ends: a version removes no column that such a statement writes.
 *
 * Times ending in _time_s are wall clock (for people); _boot_s are readings of the boot clock and
 * mean something only beside the boot_id of the same row. NULL is "unknown". */
#include "database.h"

#include <stdlib.h>

#include "pollux/text.h"
#include "sql.h"

#define VERSION 59
#define STAMP "PRAGMA application_id = " SQL_NUMBER(STORE_APPLICATION_ID) ";" \
	"PRAGMA user_version = " SQL_NUMBER(VERSION) ";"

const char schema_text[] =
	/* --- jobs --- */
	"CREATE TABLE jobs ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" state TEXT NOT NULL CHECK (state IN ('queued', 'held', 'running', 'done', 'failed',"
	"  'cancelled', 'timeout')),"
	" name TEXT NOT NULL, workload TEXT NOT NULL,"
	" profile INTEGER NOT NULL DEFAULT 0, interactive INTEGER NOT NULL DEFAULT 0,"
	/* held: a person holds it with its run suspended; its state is 'running' then */
	" held INTEGER NOT NULL DEFAULT 0,"
	" reason TEXT NOT NULL DEFAULT '', next_start_time_s REAL,"
	/* last_end: when the job last gave up its devices, or was released or requeued. */
	" submit_time_s REAL NOT NULL, start_time_s REAL, end_time_s REAL, last_end_time_s REAL,"
	/* cleared: out of sight, since it ended */
	" end_told INTEGER NOT NULL DEFAULT 0, cleared INTEGER NOT NULL DEFAULT 0,"
	" cancelled_for INTEGER,"
	" group_id INTEGER, group_index INTEGER, parameters BLOB, key TEXT,"
	" rung INTEGER NOT NULL DEFAULT 0, passed_rungs INTEGER NOT NULL DEFAULT 0,"
	" tier_wait_since_s REAL, waiting_for_tier_until REAL,"
	/* what was asked of it: declaration.c */
	" min_replicas INTEGER NOT NULL, max_replicas INTEGER NOT NULL, cpu_cores INTEGER,"
	" batch_size INTEGER, min_batch_size INTEGER, max_batch_size INTEGER,"
	" max_local_batch_size INTEGER, accumulates INTEGER NOT NULL DEFAULT 0,"
	" learning_rate REAL, learning_rate_rule TEXT, noise_scale REAL,"
	" kind TEXT, not_kind TEXT, worst_tier TEXT, plans TEXT, guarantee TEXT,"
	" slurm_args TEXT, launch TEXT,"
	" total_samples REAL, total_steps REAL, passes_steps INTEGER NOT NULL DEFAULT 0,"
	" weight REAL NOT NULL, begin_s REAL, first_rank INTEGER NOT NULL DEFAULT 0,"
	" time_limit_s REAL, retries INTEGER NOT NULL, stop_nan INTEGER,"
	" stop_signal INTEGER NOT NULL, grace_s REAL NOT NULL,"
	" preemption TEXT NOT NULL CHECK (preemption IN ('always', 'saved', 'never')),"
	" suspend TEXT, gpu_memory_bytes REAL, memory_limit_bytes REAL,"
	" share INTEGER NOT NULL DEFAULT 0,"
	" snapshot INTEGER NOT NULL DEFAULT 0, log_limit_bytes REAL, on_end TEXT, torch TEXT,"
	/* where it stands: struct progress */
	" samples REAL, steps REAL, position_is_least INTEGER NOT NULL DEFAULT 0,"
	" epoch REAL, loss REAL, loss_is_nan INTEGER NOT NULL DEFAULT 0,"
	" status_text TEXT, printed_total_steps REAL, reported_total_samples REAL,"
	" reported_total_steps REAL, total_epochs REAL, ends_by TEXT, optimizer TEXT,"
	" resumes INTEGER NOT NULL DEFAULT 0, saves_when_asked INTEGER,"
	" saved_nothing INTEGER NOT NULL DEFAULT 0, checkpoint_samples REAL,"
	" position_doubt INTEGER NOT NULL DEFAULT 0,"
	" lost_samples REAL NOT NULL DEFAULT 0, lost_s REAL NOT NULL DEFAULT 0,"
	" run_time_s REAL NOT NULL DEFAULT 0, attained_service_device_s REAL NOT NULL DEFAULT 0,"
	/* runs: launches whose command was started; launches: also those that took their devices
	 * and started no command; forgiven_runs: the last run that a person forgave by asking for
	 * another try. */
	" runs INTEGER NOT NULL DEFAULT 0, launches INTEGER NOT NULL DEFAULT 0,"
	" preemptions INTEGER NOT NULL DEFAULT 0, failures INTEGER NOT NULL DEFAULT 0,"
	" forgiven_runs INTEGER NOT NULL DEFAULT 0, exit_code INTEGER, term_signal INTEGER,"
	" plan TEXT"
	") STRICT;"
	"CREATE INDEX jobs_by_state ON jobs (state);"
	"CREATE INDEX jobs_done_by_workload ON jobs (workload)"
	" WHERE state = 'done' AND profile = 0 AND samples > 0;"
	"CREATE INDEX jobs_by_group ON jobs (group_id, group_index) WHERE group_id IS NOT NULL;"
	"CREATE INDEX jobs_by_key ON jobs (key) WHERE key IS NOT NULL;"
	"CREATE INDEX jobs_ended_untold ON jobs (id)"
	" WHERE end_told = 0 AND state IN ('done', 'failed', 'cancelled', 'timeout');"
	"CREATE INDEX jobs_interactive ON jobs (id) WHERE interactive = 1;"
	"CREATE INDEX jobs_with_plans ON jobs (workload) WHERE plans IS NOT NULL;"
	"CREATE TRIGGER job_lives_again AFTER UPDATE OF state ON jobs"
	" WHEN OLD.end_told = 1 AND NEW.state IN ('queued', 'held', 'running') BEGIN"
	" UPDATE jobs SET end_told = 0 WHERE id = NEW.id; END;"

	/* Lists of strings (argv, env, ...): each string and a NUL. */
	"CREATE TABLE commands ("
	" job_id INTEGER PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,"
	" program BLOB NOT NULL, argv BLOB NOT NULL, environment_id INTEGER,"
	" env_templates BLOB, name_template TEXT, checkpoint_template BLOB,"
	" directory BLOB NOT NULL, snapshot_dir BLOB, checkpoint_dir BLOB, checkpoint_glob BLOB,"
	" resume_args BLOB, step_regex BLOB, metric_regexes BLOB, limits TEXT,"
	" git_commit TEXT, git_dirty INTEGER, git_tree TEXT, repository BLOB,"
	" first_commit TEXT, first_tree TEXT"
	") STRICT;"
	"CREATE INDEX commands_by_environment ON commands (environment_id);"

	/* Jobs with the same environment share one row, which goes with the last of them.
	 * names_only: the values were forgotten; secrets: there may be values of credentials. */
	"CREATE TABLE environments ("
	" id INTEGER PRIMARY KEY, hash INTEGER, names_only INTEGER NOT NULL DEFAULT 0,"
	" secrets INTEGER NOT NULL DEFAULT 1, env BLOB NOT NULL"
	") STRICT;"
	"CREATE INDEX environments_by_hash ON environments (hash);"
	"CREATE INDEX environments_with_values ON environments (id) WHERE names_only = 0;"
	"CREATE INDEX environments_with_secrets ON environments (id) WHERE secrets = 1;"
	"CREATE TRIGGER command_leaves_environment AFTER DELETE ON commands BEGIN"
	" DELETE FROM environments WHERE id = OLD.environment_id AND NOT EXISTS"
	"  (SELECT 1 FROM commands WHERE environment_id = OLD.environment_id); END;"
	"CREATE TRIGGER command_changes_environment AFTER UPDATE OF environment_id ON commands"
	" BEGIN"
	" DELETE FROM environments WHERE id = OLD.environment_id AND NOT EXISTS"
	"  (SELECT 1 FROM commands WHERE environment_id = OLD.environment_id); END;"

	/* rule: which event in the other job this one waits for, as in after_rule_names */
	"CREATE TABLE dependencies ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" after_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" rule TEXT NOT NULL DEFAULT 'end',"
	" PRIMARY KEY (job_id, after_id)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX dependencies_by_after ON dependencies (after_id);"

	/* Jobs that were submitted by one command. A group goes with its last job. halving: as in
	 * halving_format. split: how the workload was split, in words; empty: not yet; NULL: it is
	 * not to be split. held_for, held_time_s: the job of the run, and the end of the run, for
	 * which the group was last held: store_failing.c. */
	"CREATE TABLE job_groups ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, submit_time_s REAL NOT NULL,"
	" max_running INTEGER, argv BLOB NOT NULL, varied BLOB NOT NULL, halving TEXT, split TEXT,"
	" held_for INTEGER, held_time_s REAL, hold_told INTEGER NOT NULL DEFAULT 1"
	") STRICT;"
	"CREATE TRIGGER job_leaves_group AFTER DELETE ON jobs WHEN OLD.group_id IS NOT NULL BEGIN"
	" DELETE FROM job_groups WHERE id = OLD.group_id AND NOT EXISTS"
	"  (SELECT 1 FROM jobs WHERE group_id = OLD.group_id); END;"
	"CREATE TABLE rung_results ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" rung INTEGER NOT NULL, samples REAL, value REAL,"
	" PRIMARY KEY (job_id, rung)"
	") STRICT, WITHOUT ROWID;"

	/* --- runs --- */
	/* workload: that of its job and, under a plan, execution_plan_workload()'s, kept by
	 * triggers, so that queries about a workload's newest runs take no longer with every run
	 * that it ever had. handle: how its engine knows it. wanted_...: another configuration for
	 * a run that goes on, wanted by a pass (version 0: never); takes_configs: its reports say
	 * that it can change without a relaunch. frozen_device: written by the supervisors of
	 * version 45 alone. */
	"CREATE TABLE runs ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" number INTEGER NOT NULL, workload TEXT NOT NULL DEFAULT '',"
	" state TEXT NOT NULL CHECK (state IN ('assigned', 'running', 'stopping', 'ended')),"
	" handle BLOB, boot_id TEXT NOT NULL,"
	" replicas INTEGER NOT NULL, batch_size INTEGER, local_batch_size INTEGER,"
	" accumulation_steps INTEGER NOT NULL, learning_rate_scale REAL NOT NULL,"
	" share INTEGER NOT NULL DEFAULT 0, width INTEGER, tier TEXT, cores TEXT,"
	" measured_cores INTEGER, plan TEXT, plan_hash TEXT,"
	" larger_kind INTEGER NOT NULL DEFAULT 0, other_plan INTEGER NOT NULL DEFAULT 0,"
	" takes_configs INTEGER NOT NULL DEFAULT 0, config_version INTEGER NOT NULL DEFAULT 0,"
	" wanted_version INTEGER NOT NULL DEFAULT 0, wanted_batch_size INTEGER,"
	" wanted_local_batch_size INTEGER, wanted_accumulation_steps INTEGER,"
	" wanted_learning_rate_scale REAL, wanted_boot_s REAL,"
	" assigned_time_s REAL NOT NULL, assigned_boot_s REAL NOT NULL,"
	" launch_time_s REAL, launch_boot_s REAL, end_time_s REAL, end_boot_s REAL,"
	" duration_s REAL NOT NULL DEFAULT 0,"
	" stop_reason TEXT, stop_boot_s REAL, stop_duration_s REAL, outcome TEXT,"
	" exit_code INTEGER, term_signal INTEGER, diagnosis TEXT,"
	" out_of_memory INTEGER NOT NULL DEFAULT 0, forgotten INTEGER NOT NULL DEFAULT 0,"
	" first_samples REAL, last_samples REAL, checkpoint_samples REAL, checkpoint_boot_s REAL,"
	" checkpoint_path BLOB, resumed_from BLOB, former_checkpoint INTEGER NOT NULL DEFAULT 0,"
	" saves_when_asked INTEGER, saved_nothing INTEGER NOT NULL DEFAULT 0,"
	" lost_samples REAL NOT NULL DEFAULT 0, lost_s REAL NOT NULL DEFAULT 0,"
	" step_time_s REAL, first_step_s REAL,"
	" step_source TEXT,"			/* "reports", or "log:" and the pattern */
	" stage INTEGER, stage_first_steps REAL, framework TEXT, helper TEXT,"
	" wandb_url TEXT, tensorboard_url TEXT,"
	" reports INTEGER NOT NULL DEFAULT 0, malformed_reports INTEGER NOT NULL DEFAULT 0,"
	" refused_reports INTEGER NOT NULL DEFAULT 0, refusal TEXT, journal_bytes INTEGER,"
	" peak_memory_bytes INTEGER, peak_device_memory_bytes INTEGER,"
	" peak_allocated_bytes INTEGER, device_memory_bytes INTEGER, cpu_time_s REAL,"
	" energy_j REAL,"
	/* what it took of its devices: struct run_use */
	" watched_s REAL NOT NULL DEFAULT 0, used_device_memory_bytes INTEGER,"
	" mean_device_memory_bytes REAL, mean_utilization REAL, max_temperature_c REAL,"
	" suspension TEXT, suspended_boot_s REAL, suspended_s REAL NOT NULL DEFAULT 0,"
	" resumed_boot_s REAL, kept_memory_bytes INTEGER, freezes INTEGER NOT NULL DEFAULT 0,"
	" freeze_state TEXT, frozen_bytes INTEGER, frozen_pids TEXT, frozen_device TEXT,"
	" code_commit TEXT, code_tree TEXT,"
	" UNIQUE (job_id, number)"
	") STRICT;"
	"CREATE INDEX runs_active ON runs (state) WHERE state <> 'ended';"
	/* No job runs twice at the same time, whatever the processes do ... */
	"CREATE UNIQUE INDEX one_live_run ON runs (job_id) WHERE state IN ('running', 'stopping');"
	"CREATE UNIQUE INDEX one_assigned_run ON runs (job_id) WHERE state = 'assigned';"
	"CREATE INDEX runs_by_workload ON runs (workload);"
	"CREATE INDEX runs_out_of_memory ON runs (workload) WHERE out_of_memory = 1;"
	"CREATE TRIGGER run_has_workload AFTER INSERT ON runs BEGIN"
	" UPDATE runs SET workload = (SELECT jobs.workload FROM jobs WHERE jobs.id = NEW.job_id)"
	"  || coalesce(char(31) || NEW.plan || '#' || NEW.plan_hash, '') WHERE id = NEW.id; END;"
	/* supervisors of older versions know of no job that is held beside its run */
	"CREATE TRIGGER run_cannot_be_held AFTER UPDATE OF suspension ON runs"
	" WHEN OLD.suspension = 'asked' AND NEW.suspension IS NULL BEGIN"
	" UPDATE jobs SET held = 0, reason = '' WHERE id = NEW.job_id AND held; END;"
	"CREATE TRIGGER job_changes_workload AFTER UPDATE OF workload ON jobs BEGIN"
	" UPDATE runs SET workload = NEW.workload || coalesce(char(31) || plan || '#' || plan_hash,"
	"  '') WHERE job_id = NEW.id; END;"

	/* A device is on a node; '': on this machine. Runs that share a device have a seat each. A
	 * run with seat 0 has the device alone: */
	"CREATE TABLE run_devices ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" position INTEGER NOT NULL, node TEXT NOT NULL DEFAULT '', device TEXT NOT NULL,"
	" kind TEXT NOT NULL, binding TEXT NOT NULL, cores INTEGER NOT NULL,"
	" seat INTEGER NOT NULL DEFAULT 0, in_use INTEGER NOT NULL DEFAULT 0,"
	" PRIMARY KEY (run_id, position)"
	") STRICT, WITHOUT ROWID;"
	/* ... the index keeps it from others with seat 0, the trigger from those that share. */
	"CREATE UNIQUE INDEX one_user ON run_devices (node, device, seat) WHERE in_use = 1;"
	"CREATE TRIGGER one_user_or_sharers BEFORE UPDATE OF in_use ON run_devices"
	" WHEN NEW.in_use = 1 AND EXISTS (SELECT 1 FROM run_devices used"
	"  WHERE used.node = NEW.node AND used.device = NEW.device AND used.in_use = 1"
	"  AND used.run_id <> NEW.run_id AND (used.seat = 0 OR NEW.seat = 0)) BEGIN"
	" SELECT raise(ABORT, 'the device has another user'); END;"

	/* Devices of a profile, whose own process assigns the runs of its job. */
	"CREATE TABLE reserved_devices ("
	" device TEXT PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" kind TEXT NOT NULL, binding TEXT NOT NULL, cores INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX reserved_devices_by_job ON reserved_devices (job_id);"

	/* --- what was measured --- */
	/* update: wall clock of the last write. A run that goes on on devices of another tier has
	 * step times for each; a tier that is not known is ''. */
	"CREATE TABLE observations ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" device_kind TEXT NOT NULL, nodes INTEGER NOT NULL, replicas INTEGER NOT NULL,"
	" local_batch_size INTEGER NOT NULL, accumulation_steps INTEGER NOT NULL,"
	/* not last: to SQLite 3.40's integrity check a key that ends the table is a fault */
	" tier TEXT NOT NULL ON CONFLICT REPLACE DEFAULT '',"
	" n_steps INTEGER NOT NULL, n_windows INTEGER NOT NULL,"
	" n_dropped INTEGER NOT NULL, n_outliers INTEGER NOT NULL,"
	" step_time_s REAL NOT NULL, step_time_sd_s REAL, step_time_min_s REAL,"
	" sync_time_s REAL, update_time_s REAL NOT NULL,"
	" PRIMARY KEY (run_id, replicas, local_batch_size, accumulation_steps, tier)"
	") STRICT, WITHOUT ROWID;"

	/* accumulation_steps: passes per update while the window was open; NULL: the run's. m2_...:
	 * sums of squared deviations from the window's means; NULL: the window is one entry. */
	"CREATE TABLE gradient_statistics ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" window INTEGER NOT NULL, batch_size INTEGER, accumulation_steps INTEGER,"
	" first_samples REAL, last_samples REAL, n INTEGER NOT NULL, entries INTEGER,"
	" sum_grad_sqr REAL NOT NULL, sum_grad_var REAL NOT NULL,"
	" m2_grad_sqr REAL, m2_grad_var REAL, cross_grad REAL,"
	" n_losses INTEGER NOT NULL DEFAULT 0, mean_loss REAL NOT NULL DEFAULT 0,"
	" mean_loss_x REAL NOT NULL DEFAULT 0, m2_loss REAL NOT NULL DEFAULT 0,"
	" m2_loss_x REAL NOT NULL DEFAULT 0, cross_loss REAL NOT NULL DEFAULT 0,"
	" PRIMARY KEY (run_id, window)"
	") STRICT, WITHOUT ROWID;"

	/* The fit to the observations of all jobs of a workload on one kind of device. basis: of
	 * the seven parameters, a letter each: d(ata), p(enalty), t(ied). While observations_key is
	 * the same there is nothing new to fit. */
	"CREATE TABLE models ("
	" workload TEXT NOT NULL, device_kind TEXT NOT NULL,"
	" alpha_grad REAL NOT NULL, beta_grad REAL NOT NULL,"
	" alpha_sync_local REAL NOT NULL, beta_sync_local REAL NOT NULL,"
	" alpha_sync_node REAL NOT NULL, beta_sync_node REAL NOT NULL, gamma REAL NOT NULL,"
	" basis TEXT NOT NULL, stop TEXT NOT NULL, objective REAL NOT NULL,"
	" rmse_grad REAL NOT NULL, rmse_step REAL NOT NULL,"
	" n_observations INTEGER NOT NULL, n_steps INTEGER NOT NULL,"
	" max_replicas INTEGER NOT NULL, max_local_batch_size INTEGER NOT NULL,"
	" observations_key TEXT NOT NULL, fit_time_s REAL NOT NULL,"
	" max_nodes INTEGER NOT NULL DEFAULT 0,"
	" ln_tier_fast REAL NOT NULL DEFAULT 0, ln_tier_switch REAL NOT NULL DEFAULT 0,"
	" ln_tier_numa REAL NOT NULL DEFAULT 0, ln_tier_machine REAL NOT NULL DEFAULT 0,"
	" PRIMARY KEY (workload, device_kind)"
	") STRICT, WITHOUT ROWID;"
	/* never_suspend: a run of it ended as if its clocks had gone on during a suspension. */
	"CREATE TABLE workloads ("
	" workload TEXT PRIMARY KEY, parameters REAL, never_suspend INTEGER NOT NULL DEFAULT 0"
	") STRICT, WITHOUT ROWID;"

	/* How fast kinds of devices are; measured: wall clock. */
	"CREATE TABLE device_measurements ("
	" device_kind TEXT NOT NULL, what TEXT NOT NULL, variant TEXT NOT NULL,"
	" devices INTEGER NOT NULL, m INTEGER NOT NULL, n INTEGER NOT NULL, k INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, time_s REAL NOT NULL, time_sd_s REAL,"
	" repetitions INTEGER NOT NULL, steady INTEGER NOT NULL, measured_time_s REAL NOT NULL,"
	" PRIMARY KEY (device_kind, what, variant, devices, m, n, k, bytes)"
	") STRICT, WITHOUT ROWID;"

	/* Devices whose memory pollux has moved to the host's and back; freeze_s and thaw_s are the
	 * times for bytes. */
	"CREATE TABLE freeze_tests ("
	" device TEXT NOT NULL, driver TEXT NOT NULL, time_s REAL NOT NULL,"
	" passed INTEGER NOT NULL, reason TEXT NOT NULL,"
	" bytes INTEGER NOT NULL, freeze_s REAL, thaw_s REAL,"
	" PRIMARY KEY (device, driver)"
	") STRICT, WITHOUT ROWID;"

	/* Step times of a run while one other run was on its device; beside: its workload. */
	"CREATE TABLE steps_beside ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE, beside TEXT NOT NULL,"
	" local_batch_size INTEGER NOT NULL, accumulation_steps INTEGER NOT NULL,"
	" n_steps INTEGER NOT NULL, n_windows INTEGER NOT NULL, step_time_s REAL NOT NULL,"
	" PRIMARY KEY (run_id, beside, local_batch_size, accumulation_steps)"
	") STRICT, WITHOUT ROWID;"
	/* Pairs of workloads of which one ran out of memory beside the other. */
	"CREATE TABLE apart ("
	" workload TEXT NOT NULL, beside TEXT NOT NULL, device_kind TEXT NOT NULL,"
	" time_s REAL NOT NULL,"
	" PRIMARY KEY (workload, beside, device_kind)"
	") STRICT, WITHOUT ROWID;"

	/* How long jobs waited for devices of a tier; wall clock. */
	"CREATE TABLE locality_waits ("
	" time_s REAL NOT NULL, replicas INTEGER NOT NULL, tier TEXT NOT NULL,"
	" wait_s REAL NOT NULL"
	") STRICT;"

	/* --- what is told --- */
	/* What programs report for people; samples: where the job stood. A row says that there is a
	 * value: NULL is NaN. lowest and highest are of finite values only. */
	"CREATE TABLE job_metrics ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, name TEXT NOT NULL,"
	" last REAL, samples REAL, time_s REAL NOT NULL, lowest REAL, lowest_samples REAL,"
	" highest REAL, highest_samples REAL, PRIMARY KEY (job_id, name)"
	") STRICT, WITHOUT ROWID;"
	/* Metrics, throughput and batch size over time. */
	"CREATE TABLE curve_points ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, name TEXT NOT NULL,"
	" time_s REAL NOT NULL, samples REAL, value REAL, PRIMARY KEY (job_id, name, time_s)"
	") STRICT, WITHOUT ROWID;"
	/* devices: those that a suspended run left, or came back to; with commas between them. */
	"CREATE TABLE events ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, time_s REAL NOT NULL,"
	" job_id INTEGER REFERENCES jobs (id) ON DELETE CASCADE, run_id INTEGER,"
	" kind TEXT NOT NULL, text TEXT NOT NULL, devices TEXT"
	") STRICT;"
	"CREATE INDEX events_by_job ON events (job_id);"
	"CREATE TABLE decisions ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, time_s REAL NOT NULL, policy TEXT NOT NULL,"
	" devices INTEGER NOT NULL"
	") STRICT;"
	"CREATE TABLE decision_jobs ("
	" decision_id INTEGER NOT NULL REFERENCES decisions (id) ON DELETE CASCADE,"
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" replicas INTEGER NOT NULL, reason TEXT NOT NULL,"
	" PRIMARY KEY (decision_id, job_id)"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX decision_jobs_by_job ON decision_jobs (job_id);"

	/* --- the machine --- */
	/* Processes of others that may stay on a GPU. */
	"CREATE TABLE ignored_processes ("
	" pid INTEGER PRIMARY KEY, start_ticks INTEGER NOT NULL, boot_id TEXT NOT NULL,"
	" ignored_time_s REAL NOT NULL"
	") STRICT;"
	/* The settings of the last pass that a person or cron ran. Passes that supervisors run use
	 * them. */
	"CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"
	STAMP;

/* --- older stores --- */

/* What a version changes beside what it adds, in order; SCHEMA_OLDEST is the first that is taken
 * over. */
static const struct change {
	int version;
	const char *sql;
} changes[] = {
	/* Environments of jobs that a supervisor of before version 21 ran stood in commands.env. */
	{ 46,
	  "INSERT INTO environments (env) SELECT DISTINCT env FROM commands"
	  " WHERE environment_id IS NULL;"
	  "UPDATE commands SET environment_id = (SELECT max(e.id) FROM environments e"
	  " WHERE e.hash IS NULL AND e.env = commands.env) WHERE environment_id IS NULL;"
	  "ALTER TABLE commands DROP COLUMN env;"
	  "DROP TRIGGER run_has_handle;"
	  "ALTER TABLE runs DROP COLUMN supervisor_pid; ALTER TABLE runs DROP COLUMN leader_pid;"
	  "ALTER TABLE runs DROP COLUMN leader_start_ticks;"
	  "ALTER TABLE runs DROP COLUMN socket_path;"
	  "ALTER TABLE dependencies DROP COLUMN must_succeed;" },
	/* nothing read it */
	{ 50, "ALTER TABLE freeze_tests DROP COLUMN kind;" },
};

int schema_version(void)
{
	return VERSION;
}

int schema_takes(int64_t version, const char *path, struct err *err)
{
	if (version > VERSION)
		return err_set(err, EX_DATAERR,
			       "the store '%s' has version %d, written by a newer pollux; this one "
			       "knows up to %d", path, (int)version, VERSION);
	if (version > 0 && version < SCHEMA_OLDEST)
		return err_set(err, EX_DATAERR,
			       "the store '%s' has version %d; this pollux takes over those from "
			       "%d on: let 'pollux status' of commit " SCHEMA_OLDEST_COMMIT
			       " bring it there first", path, (int)version, SCHEMA_OLDEST);
	return 0;
}

int schema_fresh(struct store *fresh, struct err *err)
{
	*fresh = (struct store){ .turn = TURN_NONE };
	if (sqlite3_open(":memory:", &fresh->db) == SQLITE_OK &&
	    sqlite3_exec(fresh->db, schema_text, NULL, NULL, NULL) == SQLITE_OK)
		return 0;
	err_set(err, EX_OSERR, "cannot make a store to compare with: %s",
		sqlite3_errmsg(fresh->db));
	sql_close(fresh);
	return -1;
}

int schema_compare(struct store *one, struct store *other, const char *list, const char *question,
		   struct strings *found, struct err *err)
{
	sqlite3_stmt *q;
	bool has;
	int rc = sql_query(one, &q, err, list, "");

	while (rc == 0 && (rc = sql_row(one, q, err)) == 1) {
		char *text = sql_text(q, 0), *of = sql_text(q, 1), *name = sql_text(q, 2);

		rc = sql_get(other, err, question, "b<tt", &has, of, name);
		if (rc == 0 && !has)
			strings_add(found, text);
		free(text);
		free(of);
		free(name);
	}
	sql_done(q);
	return rc;
}

int schema_bring_up(struct store *s, int version, struct err *err)
{
	struct strings script = { 0 };
	struct store fresh;
	int rc = SQLITE_OK;

	for (size_t i = 0; rc == SQLITE_OK && i < sizeof(changes) / sizeof(changes[0]); i++)
		if (changes[i].version > version)
			rc = sqlite3_exec(s->db, changes[i].sql, NULL, NULL, NULL);
	if (rc != SQLITE_OK)
		return sql_error(s, err, "bring the store up to date");
	if (schema_fresh(&fresh, err))
		return -1;
	rc = schema_compare(&fresh, s, "SELECT 'ALTER TABLE ' || t.name || ' ADD COLUMN ' || c.name"
			    " || ' ' || c.type || iif(c.\"notnull\", ' NOT NULL', '')"
			    " || coalesce(' DEFAULT ' || c.dflt_value, ''), t.name, c.name"
			    " FROM sqlite_schema AS t, pragma_table_info(t.name) AS c"
			    " WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'"
			    " ORDER BY t.rowid, c.cid",
			    "SELECT NOT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = ?1)"
			    " OR EXISTS (SELECT 1 FROM pragma_table_info(?1) WHERE name = ?2)",
			    &script, err) ||
	     schema_compare(&fresh, s, "SELECT sql, '', name FROM sqlite_schema"
			    " WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite_%' ORDER BY rowid",
			    SCHEMA_HAS_NAME, &script, err) ? -1 : 0;
	strings_add(&script, STAMP);
	for (size_t i = 0; rc == 0 && i < script.count; i++)
		if (sqlite3_exec(s->db, script.items[i], NULL, NULL, NULL) != SQLITE_OK)
			rc = sql_error(s, err, "bring the store up to date");
	sql_close(&fresh);
	strings_release(&script);
	return rc;
}
