/* schema.c - the tables, one step per version of the store.
 *
 * A step is never edited once released: a change is a new step. PRAGMA user_version counts the
 * steps that were taken. A new column needs no step: its line in a table of columns
 * (store_columns.h) says since which version it is there, and the step to that version adds it
 * first.
 *
 * A supervisor that was started before a step goes on with the statements of its own version until
 * its run ends: a step removes no column that such a statement writes.
 *
 * Times ending in _time_s are wall clock (for people); _boot_s are readings of the boot clock and
 * mean something only beside the boot_id of the same row. NULL is "unknown". */
#include "schema.h"

/* Step i takes version i to i + 1; NULL: it adds columns alone. */
static const char *const steps[] = {
	/* 1 */
	"CREATE TABLE jobs ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" state TEXT NOT NULL CHECK (state IN ('queued', 'held', 'running', 'done', 'failed',"
	"  'cancelled', 'timeout')),"
	" name TEXT NOT NULL, workload TEXT NOT NULL,"
	" reason TEXT NOT NULL DEFAULT '', next_start_time_s REAL,"
	" submit_time_s REAL NOT NULL, start_time_s REAL, end_time_s REAL,"
	" min_replicas INTEGER NOT NULL, max_replicas INTEGER NOT NULL,"
	" batch_size INTEGER, min_batch_size INTEGER, max_batch_size INTEGER,"
	" max_local_batch_size INTEGER, learning_rate REAL, learning_rate_rule TEXT,"
	" noise_scale REAL, total_samples REAL, total_steps REAL,"
	" weight REAL NOT NULL, time_limit_s REAL,"
	" preemption TEXT NOT NULL CHECK (preemption IN ('always', 'saved', 'never')),"
	" retries INTEGER NOT NULL, stop_signal INTEGER NOT NULL, grace_s REAL NOT NULL,"
	" samples REAL, steps REAL, checkpoint_samples REAL,"
	" lost_samples REAL NOT NULL DEFAULT 0, lost_s REAL NOT NULL DEFAULT 0,"
	" attained_service_device_s REAL NOT NULL DEFAULT 0,"
	" run_time_s REAL NOT NULL DEFAULT 0,"
	" runs INTEGER NOT NULL DEFAULT 0, preemptions INTEGER NOT NULL DEFAULT 0,"
	" failures INTEGER NOT NULL DEFAULT 0,"
	" loss REAL, epoch REAL, status_text TEXT, exit_code INTEGER, term_signal INTEGER"
	") STRICT;"
	"CREATE INDEX jobs_by_state ON jobs (state);"

	"CREATE TABLE commands ("
	" job_id INTEGER PRIMARY KEY REFERENCES jobs (id) ON DELETE CASCADE,"
	/* each string + NUL */
	" program BLOB NOT NULL, argv BLOB NOT NULL, env BLOB NOT NULL,"
	" directory BLOB NOT NULL, checkpoint_dir BLOB, resume_args BLOB,"
	" git_commit TEXT, git_dirty INTEGER"
	") STRICT;"

	"CREATE TABLE dependencies ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" after_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" must_succeed INTEGER NOT NULL,"
	" PRIMARY KEY (job_id, after_id)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE runs ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT,"
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" number INTEGER NOT NULL,"
	" state TEXT NOT NULL CHECK (state IN ('assigned', 'running', 'stopping', 'ended')),"
	" replicas INTEGER NOT NULL, accumulation_steps INTEGER NOT NULL,"
	" batch_size INTEGER, local_batch_size INTEGER, learning_rate_scale REAL NOT NULL,"
	" boot_id TEXT NOT NULL,"
	" assigned_time_s REAL NOT NULL, assigned_boot_s REAL NOT NULL,"
	" launch_time_s REAL, launch_boot_s REAL, end_time_s REAL, end_boot_s REAL,"
	" duration_s REAL NOT NULL DEFAULT 0,"
	" supervisor_pid INTEGER, leader_pid INTEGER, leader_start_ticks INTEGER,"
	" socket_path BLOB,"
	" stop_reason TEXT, stop_boot_s REAL, outcome TEXT,"
	" exit_code INTEGER, term_signal INTEGER, diagnosis TEXT,"
	" first_samples REAL, last_samples REAL, checkpoint_samples REAL, checkpoint_boot_s REAL,"
	" step_time_s REAL, first_step_s REAL, stop_duration_s REAL,"
	" lost_samples REAL NOT NULL DEFAULT 0, lost_s REAL NOT NULL DEFAULT 0,"
	" reports INTEGER NOT NULL DEFAULT 0, malformed_reports INTEGER NOT NULL DEFAULT 0,"
	" UNIQUE (job_id, number)"
	") STRICT;"
	"CREATE INDEX runs_active ON runs (state) WHERE state <> 'ended';"
	/* No job runs twice at the same time, whatever the processes do ... */
	"CREATE UNIQUE INDEX one_live_run ON runs (job_id) WHERE state IN ('running', 'stopping');"
	"CREATE UNIQUE INDEX one_assigned_run ON runs (job_id) WHERE state = 'assigned';"

	"CREATE TABLE run_devices ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" position INTEGER NOT NULL,"
	" device TEXT NOT NULL, kind TEXT NOT NULL, binding TEXT NOT NULL, cores INTEGER NOT NULL,"
	" in_use INTEGER NOT NULL DEFAULT 0,"
	" PRIMARY KEY (run_id, position)"
	") STRICT, WITHOUT ROWID;"
	/* ... and no device is used by two. */
	"CREATE UNIQUE INDEX one_user ON run_devices (device) WHERE in_use = 1;"

	"CREATE TABLE observations ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" device_kind TEXT NOT NULL, nodes INTEGER NOT NULL, replicas INTEGER NOT NULL,"
	" local_batch_size INTEGER NOT NULL, accumulation_steps INTEGER NOT NULL,"
	" n_steps INTEGER NOT NULL, n_windows INTEGER NOT NULL,"
	" n_dropped INTEGER NOT NULL, n_outliers INTEGER NOT NULL,"
	" step_time_s REAL NOT NULL, step_time_sd_s REAL, step_time_min_s REAL,"
	/* update: wall clock of the last write */
	" sync_time_s REAL, update_time_s REAL NOT NULL,"
	" PRIMARY KEY (run_id, replicas, local_batch_size, accumulation_steps)"
	") STRICT, WITHOUT ROWID;"

	"CREATE TABLE gradient_statistics ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" window INTEGER NOT NULL, batch_size INTEGER,"
	" first_samples REAL, last_samples REAL,"
	" n INTEGER NOT NULL, sum_grad_sqr REAL NOT NULL, sum_grad_var REAL NOT NULL,"
	" PRIMARY KEY (run_id, window)"
	") STRICT, WITHOUT ROWID;"

	/* The settings of the last pass that a person or cron ran. Passes that supervisors run
	 * use them. */
	"CREATE TABLE settings (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;"

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

	"CREATE TABLE events ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, time_s REAL NOT NULL,"
	" job_id INTEGER REFERENCES jobs (id) ON DELETE CASCADE, run_id INTEGER,"
	" kind TEXT NOT NULL, text TEXT NOT NULL"
	") STRICT;"
	"CREATE INDEX events_by_job ON events (job_id);",

	/* 2 */
	"ALTER TABLE jobs ADD COLUMN accumulates INTEGER NOT NULL DEFAULT 0;"
	/* When the job last gave up its devices, or was released or requeued. */
	"ALTER TABLE jobs ADD COLUMN last_end_time_s REAL;"
	"UPDATE jobs SET last_end_time_s = (SELECT max(end_time_s) FROM runs"
	" WHERE job_id = jobs.id AND launch_time_s IS NOT NULL);"
	"CREATE INDEX jobs_by_workload ON jobs (workload);"
	"CREATE INDEX decision_jobs_by_job ON decision_jobs (job_id);"
	/* Another configuration for a run that goes on: wanted by a pass (version 0: never), in
	 * use by the run's reports. takes_configs: its reports say that it can change without a
	 * relaunch. */
	"ALTER TABLE runs ADD COLUMN takes_configs INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN config_version INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN wanted_version INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE runs ADD COLUMN wanted_batch_size INTEGER;"
	"ALTER TABLE runs ADD COLUMN wanted_local_batch_size INTEGER;"
	"ALTER TABLE runs ADD COLUMN wanted_accumulation_steps INTEGER;"
	"ALTER TABLE runs ADD COLUMN wanted_learning_rate_scale REAL;"
	/* Passes per update while the window was open; NULL: the run's. */
	"ALTER TABLE gradient_statistics ADD COLUMN accumulation_steps INTEGER;"
	/* Sums of squared deviations from the window's means; NULL: unknown, the window is one
	 * entry. */
	"ALTER TABLE gradient_statistics ADD COLUMN m2_grad_sqr REAL;"
	"ALTER TABLE gradient_statistics ADD COLUMN m2_grad_var REAL;"
	/* The fit to the observations of all jobs of a workload on one kind of device. */
	"CREATE TABLE models ("
	" workload TEXT NOT NULL, device_kind TEXT NOT NULL,"
	" alpha_grad REAL NOT NULL, beta_grad REAL NOT NULL,"
	" alpha_sync_local REAL NOT NULL, beta_sync_local REAL NOT NULL,"
	" alpha_sync_node REAL NOT NULL, beta_sync_node REAL NOT NULL, gamma REAL NOT NULL,"
	" basis TEXT NOT NULL,"		/* of the seven, a letter each: d(ata), p(enalty), t(ied) */
	" stop TEXT NOT NULL, objective REAL NOT NULL, rmse_grad REAL NOT NULL, rmse_step REAL"
	" NOT NULL,"
	" n_observations INTEGER NOT NULL, n_steps INTEGER NOT NULL, max_replicas INTEGER NOT NULL,"
	" max_local_batch_size INTEGER NOT NULL,"
	/* while it is the same, there is nothing new to fit */
	" observations_key TEXT NOT NULL,"
	" fit_time_s REAL NOT NULL,"
	" PRIMARY KEY (workload, device_kind)"
	") STRICT, WITHOUT ROWID;",

	/* 3: profiles. A profile is a job whose runs are assigned by its own process, on devices
	 * that are reserved for the profile meanwhile. */
	"ALTER TABLE jobs ADD COLUMN profile INTEGER NOT NULL DEFAULT 0;"
	"CREATE TABLE reserved_devices ("
	" device TEXT PRIMARY KEY, job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" kind TEXT NOT NULL, binding TEXT NOT NULL, cores INTEGER NOT NULL"
	") STRICT, WITHOUT ROWID;"
	"CREATE INDEX reserved_devices_by_job ON reserved_devices (job_id);"
	"ALTER TABLE runs ADD COLUMN peak_memory_bytes INTEGER;"
	"ALTER TABLE runs ADD COLUMN peak_device_memory_bytes INTEGER;"
	"ALTER TABLE runs ADD COLUMN cpu_time_s REAL;"
	"ALTER TABLE runs ADD COLUMN out_of_memory INTEGER NOT NULL DEFAULT 0;"
	"UPDATE runs SET out_of_memory = 1 WHERE diagnosis LIKE '%out of memory%';"
	"CREATE INDEX runs_out_of_memory ON runs (job_id) WHERE out_of_memory = 1;",

	/* 4: how fast kinds of devices are, and the number of parameters of a workload's model,
	 * from which its step times are expected. */
	"CREATE TABLE device_measurements ("
	" device_kind TEXT NOT NULL,"
	" what TEXT NOT NULL, variant TEXT NOT NULL, devices INTEGER NOT NULL,"
	" m INTEGER NOT NULL, n INTEGER NOT NULL, k INTEGER NOT NULL, bytes INTEGER NOT NULL,"
	" time_s REAL NOT NULL, time_sd_s REAL, repetitions INTEGER NOT NULL, steady INTEGER NOT"
	" NULL,"
	" measured_time_s REAL NOT NULL,"	/* wall clock */
	" PRIMARY KEY (device_kind, what, variant, devices, m, n, k, bytes)"
	") STRICT, WITHOUT ROWID;"
	"CREATE TABLE workloads (workload TEXT PRIMARY KEY, parameters REAL) STRICT, WITHOUT"
	" ROWID;",

	/* 5: processes of others that may stay on a GPU. */
	"CREATE TABLE ignored_processes ("
	" pid INTEGER PRIMARY KEY, start_ticks INTEGER NOT NULL, boot_id TEXT NOT NULL,"
	" ignored_time_s REAL NOT NULL"		/* wall clock */
	") STRICT;",

	/* 6: when a pass wanted the configuration, by the boot clock: a program that has not
	 * changed for long never will. */
	"ALTER TABLE runs ADD COLUMN wanted_boot_s REAL;",

	/* 7: steps that are recognised in the log. */
	"ALTER TABLE commands ADD COLUMN step_regex BLOB;"
	"ALTER TABLE jobs ADD COLUMN printed_total_steps REAL;"
	/* "reports", or "log:" and the pattern */
	"ALTER TABLE runs ADD COLUMN step_source TEXT;",

	/* 8: queries about a workload's newest runs must not take longer with every run that it
	 * ever had. So each run has its job's workload, which triggers keep up to date. */
	"ALTER TABLE runs ADD COLUMN workload TEXT NOT NULL DEFAULT '';"
	"UPDATE runs SET workload = (SELECT jobs.workload FROM jobs WHERE jobs.id = runs.job_id);"
	"CREATE TRIGGER run_has_workload AFTER INSERT ON runs BEGIN"
	" UPDATE runs SET workload = (SELECT jobs.workload FROM jobs WHERE jobs.id = NEW.job_id)"
	"  WHERE id = NEW.id; END;"
	"CREATE TRIGGER job_changes_workload AFTER UPDATE OF workload ON jobs BEGIN"
	" UPDATE runs SET workload = NEW.workload WHERE job_id = NEW.id; END;"
	"CREATE INDEX runs_by_workload ON runs (workload);"
	"DROP INDEX runs_out_of_memory;"
	"CREATE INDEX runs_out_of_memory ON runs (workload) WHERE out_of_memory = 1;"
	"DROP INDEX jobs_by_workload;"
	"CREATE INDEX jobs_done_by_workload ON jobs (workload)"
	" WHERE state = 'done' AND profile = 0 AND samples > 0;",

	/* 9: runs counts launches whose command was started; launches also counts those that took
	 * their devices and started no command. */
	"ALTER TABLE jobs ADD COLUMN launches INTEGER NOT NULL DEFAULT 0;"
	"UPDATE jobs SET launches = runs;"
	"WITH refused AS MATERIALIZED (SELECT job_id, count(*) AS n FROM runs"
	"  WHERE outcome = 'not-started' AND launch_time_s IS NOT NULL GROUP BY job_id)"
	" UPDATE jobs SET runs = runs - refused.n, start_time_s ="
	"  (SELECT min(launch_time_s) FROM runs WHERE job_id = jobs.id AND outcome IS NOT"
	" 'not-started')"
	" FROM refused WHERE refused.job_id = jobs.id AND jobs.runs >= refused.n;",

	/* 10: a run is known by a text of its engine, its handle. Supervisors started before this
	 * step still write the four columns. So the columns stay, although nobody reads them, and
	 * the trigger makes the handle from what such a supervisor writes. */
	"ALTER TABLE runs ADD COLUMN handle BLOB;"
	"CREATE TRIGGER run_has_handle"
	" AFTER UPDATE OF supervisor_pid, leader_pid, leader_start_ticks, socket_path ON runs BEGIN"
	" UPDATE runs SET handle = CAST('local'"
	" || coalesce(' supervisor=' || nullif(supervisor_pid, 0), '')"
	" || coalesce(' leader=' || nullif(leader_pid, 0), '')"
	" || coalesce(' start=' || nullif(leader_start_ticks, 0), '')"
	" || coalesce(' socket=' || nullif(CAST(socket_path AS TEXT), ''), '') AS BLOB)"
	" WHERE id = NEW.id; END;"
	"UPDATE runs SET supervisor_pid = supervisor_pid WHERE supervisor_pid IS NOT NULL;",

	/* 11: the last run that a person forgave by asking for another try; taken from the events
	 * for older runs. */
	"UPDATE jobs SET forgiven_runs = coalesce((SELECT max(r.number) FROM runs r JOIN events e"
	"  ON e.run_id = r.id AND e.job_id = r.job_id AND e.kind = 'ended' WHERE r.job_id = jobs.id"
	"  AND e.id < (SELECT max(id) FROM events WHERE job_id = jobs.id AND kind = 'requeue')),"
	" 0);",

	/* 12: a device is on a node; '': on this machine. */
	"ALTER TABLE run_devices ADD COLUMN node TEXT NOT NULL DEFAULT '';"
	"DROP INDEX one_user;"
	"CREATE UNIQUE INDEX one_user ON run_devices (node, device) WHERE in_use = 1;",

	/* 13 */
	NULL,

	/* 14: devices whose memory pollux has moved to the host's and back; freeze_s and thaw_s are
	 * the times for bytes. */
	"CREATE TABLE freeze_tests ("
	" device TEXT NOT NULL, driver TEXT NOT NULL, kind TEXT NOT NULL, time_s REAL NOT NULL,"
	" passed INTEGER NOT NULL, reason TEXT NOT NULL,"
	" bytes INTEGER NOT NULL, freeze_s REAL, thaw_s REAL,"
	" PRIMARY KEY (device, driver)"
	") STRICT, WITHOUT ROWID;",

	/* 15 to 20 */
	NULL, NULL, NULL, NULL, NULL, NULL,

	/* 21: jobs with the same environment share one row. A supervisor of a former version reads
	 * commands.env once, at its start, and never writes it. So the jobs of live runs keep
	 * their environments there; store_environments_forget moves these when the runs have
	 * ended. Rows that are made here have no hash (store_environments.c): no later job is
	 * given them. */
	"CREATE TABLE environments ("
	" id INTEGER PRIMARY KEY, hash INTEGER,"
	" names_only INTEGER NOT NULL DEFAULT 0,"	/* the values were forgotten */
	" env BLOB NOT NULL"				/* each string + NUL */
	") STRICT;"
	"CREATE INDEX commands_by_environment ON commands (environment_id);"
	"CREATE INDEX made_environments ON environments (env);"
	"INSERT INTO environments (env) SELECT DISTINCT env FROM commands"
	" WHERE job_id NOT IN (SELECT job_id FROM runs WHERE state <> 'ended');"
	"UPDATE commands SET env = x'', environment_id ="
	"  (SELECT e.id FROM environments e WHERE e.env = commands.env)"
	" WHERE job_id NOT IN (SELECT job_id FROM runs WHERE state <> 'ended');"
	"DROP INDEX made_environments;"
	/* The pages of commands are half empty now: store_wipe_deleted. */
	"INSERT OR REPLACE INTO settings (name, value) SELECT 'vacuum', 'due'"
	" WHERE EXISTS (SELECT 1 FROM commands);"
	"CREATE INDEX environments_by_hash ON environments (hash);"
	"CREATE INDEX environments_with_values ON environments (id) WHERE names_only = 0;"
	/* An environment goes with the last job that has it. */
	"CREATE TRIGGER command_leaves_environment AFTER DELETE ON commands BEGIN"
	" DELETE FROM environments WHERE id = OLD.environment_id AND NOT EXISTS"
	"  (SELECT 1 FROM commands WHERE environment_id = OLD.environment_id); END;"
	"CREATE TRIGGER command_changes_environment AFTER UPDATE OF environment_id ON commands"
	" BEGIN"
	" DELETE FROM environments WHERE id = OLD.environment_id AND NOT EXISTS"
	"  (SELECT 1 FROM commands WHERE environment_id = OLD.environment_id); END;",

	/* 22: what programs report for people; samples: where the job stood. */
	"CREATE TABLE job_metrics ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" name TEXT NOT NULL, last REAL NOT NULL, samples REAL, time_s REAL NOT NULL,"
	" PRIMARY KEY (job_id, name)"
	") STRICT, WITHOUT ROWID;",

	/* 23 */
	NULL,

	/* 24: jobs that were submitted by one command. A group goes with its last job. */
	"CREATE TABLE job_groups ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL, submit_time_s REAL NOT NULL,"
	" max_running INTEGER,"
	" argv BLOB NOT NULL, varied BLOB NOT NULL"	/* each string + NUL */
	") STRICT;"
	"CREATE INDEX jobs_by_group ON jobs (group_id, group_index) WHERE group_id IS NOT NULL;"
	"CREATE TRIGGER job_leaves_group AFTER DELETE ON jobs WHEN OLD.group_id IS NOT NULL BEGIN"
	" DELETE FROM job_groups WHERE id = OLD.group_id AND NOT EXISTS"
	"  (SELECT 1 FROM jobs WHERE group_id = OLD.group_id); END;",

	/* 25: the lowest and the highest value of each metric */
	"ALTER TABLE job_metrics ADD COLUMN lowest REAL;"
	"ALTER TABLE job_metrics ADD COLUMN lowest_samples REAL;"
	"ALTER TABLE job_metrics ADD COLUMN highest REAL;"
	"ALTER TABLE job_metrics ADD COLUMN highest_samples REAL;"
	"UPDATE job_metrics SET lowest = last, lowest_samples = samples,"
	" highest = last, highest_samples = samples;",

	/* 26: which event in another job a job waits for, as in after_rule_names. */
	"ALTER TABLE dependencies ADD COLUMN rule TEXT NOT NULL DEFAULT 'end';"
	"UPDATE dependencies SET rule = 'ok' WHERE must_succeed = 1;",

	/* 27: whether the end of a job was told (store_ends.c); earlier ends count as told */
	"ALTER TABLE jobs ADD COLUMN end_told INTEGER NOT NULL DEFAULT 0;"
	"UPDATE jobs SET end_told = 1 WHERE state IN ('done', 'failed', 'cancelled', 'timeout');"
	"CREATE INDEX jobs_ended_untold ON jobs (id)"
	" WHERE end_told = 0 AND state IN ('done', 'failed', 'cancelled', 'timeout');"
	"CREATE TRIGGER job_lives_again AFTER UPDATE OF state ON jobs"
	" WHEN OLD.end_told = 1 AND NEW.state IN ('queued', 'held', 'running') BEGIN"
	" UPDATE jobs SET end_told = 0 WHERE id = NEW.id; END;",

	/* 28: curves of a job: metrics, throughput and batch size over time */
	"CREATE TABLE curve_points ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" name TEXT NOT NULL, time_s REAL NOT NULL, samples REAL, value REAL NOT NULL,"
	" PRIMARY KEY (job_id, name, time_s)"
	") STRICT, WITHOUT ROWID;",

	/* 29: an index to find the few interactive jobs among many */
	"CREATE INDEX jobs_interactive ON jobs (id) WHERE interactive = 1;",

	/* 30 */
	NULL,

	/* 31: sweeps whose runs are paused at rungs, as in halving_format; the metric at each
	 * rung. */
	"ALTER TABLE job_groups ADD COLUMN halving TEXT;"
	"CREATE TABLE rung_results ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,"
	" rung INTEGER NOT NULL, samples REAL, value REAL,"
	" PRIMARY KEY (job_id, rung)"
	") STRICT, WITHOUT ROWID;",

	/* 32: runs that share a device have a seat each. A run with seat 0 has the device alone:
	 * the index keeps it from others with seat 0, the trigger from those that share. */
	"ALTER TABLE run_devices ADD COLUMN seat INTEGER NOT NULL DEFAULT 0;"
	"DROP INDEX one_user;"
	"CREATE UNIQUE INDEX one_user ON run_devices (node, device, seat) WHERE in_use = 1;"
	"CREATE TRIGGER one_user_or_sharers BEFORE UPDATE OF in_use ON run_devices"
	" WHEN NEW.in_use = 1 AND EXISTS (SELECT 1 FROM run_devices used"
	"  WHERE used.node = NEW.node AND used.device = NEW.device AND used.in_use = 1"
	"  AND used.run_id <> NEW.run_id AND (used.seat = 0 OR NEW.seat = 0)) BEGIN"
	" SELECT raise(ABORT, 'the device has another user'); END;"
	/* Step times of a run while one other run was on its device. */
	"CREATE TABLE steps_beside ("
	" run_id INTEGER NOT NULL REFERENCES runs (id) ON DELETE CASCADE,"
	" beside TEXT NOT NULL,"	/* the other's workload */
	" local_batch_size INTEGER NOT NULL, accumulation_steps INTEGER NOT NULL,"
	" n_steps INTEGER NOT NULL, n_windows INTEGER NOT NULL, step_time_s REAL NOT NULL,"
	" PRIMARY KEY (run_id, beside, local_batch_size, accumulation_steps)"
	") STRICT, WITHOUT ROWID;"
	/* Pairs of workloads of which one ran out of memory beside the other. */
	"CREATE TABLE apart ("
	" workload TEXT NOT NULL, beside TEXT NOT NULL, device_kind TEXT NOT NULL,"
	" time_s REAL NOT NULL,"
	" PRIMARY KEY (workload, beside, device_kind)"
	") STRICT, WITHOUT ROWID;",

	/* 33: how the workload of a sweep was split, in words; empty: not yet; NULL: it is not to
	 * be split */
	"ALTER TABLE job_groups ADD COLUMN split TEXT;",

	/* 34: what is known of a workload is kept for each plan: the workload of a run under a plan
	 * is the name of execution_plan_workload(). */
	"DROP TRIGGER run_has_workload; DROP TRIGGER job_changes_workload;"
	"CREATE TRIGGER run_has_workload AFTER INSERT ON runs BEGIN"
	" UPDATE runs SET workload = (SELECT jobs.workload FROM jobs WHERE jobs.id = NEW.job_id)"
	"  || coalesce(char(31) || NEW.plan || '#' || NEW.plan_hash, '') WHERE id = NEW.id; END;"
	"CREATE TRIGGER job_changes_workload AFTER UPDATE OF workload ON jobs BEGIN"
	" UPDATE runs SET workload = NEW.workload || coalesce(char(31) || plan || '#' || plan_hash,"
	"  '') WHERE job_id = NEW.id; END;"
	"CREATE INDEX jobs_with_plans ON jobs (workload) WHERE plans IS NOT NULL;",

	/* 35 */
	NULL,

	/* 36: how long jobs waited for devices of a tier; wall clock */
	"CREATE TABLE locality_waits ("
	" time_s REAL NOT NULL, replicas INTEGER NOT NULL, tier TEXT NOT NULL,"
	" wait_s REAL NOT NULL"
	") STRICT;",

	/* 37: a run that goes on on devices of another tier has step times for each. A supervisor
	 * of a former version writes no tier or NULL where the tier is not known; both become
	 * ''. */
	"CREATE TABLE observations_by_tier ("
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
	"INSERT INTO observations_by_tier SELECT run_id, device_kind, nodes, replicas,"
	" local_batch_size, accumulation_steps, tier, n_steps, n_windows, n_dropped, n_outliers,"
	" step_time_s, step_time_sd_s, step_time_min_s, sync_time_s, update_time_s"
	" FROM observations;"
	"DROP TABLE observations;"
	"ALTER TABLE observations_by_tier RENAME TO observations;",

	/* 38 */
	NULL,

	/* 39: who waits for a job */
	"CREATE INDEX dependencies_by_after ON dependencies (after_id);",

	/* 40, 41 */
	NULL, NULL,

	/* 42: values that are not finite. NULL is NaN: a row says that there is a value. lowest and
	 * highest are of finite values only. */
	"CREATE TABLE job_metrics_now ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, name TEXT NOT NULL,"
	" last REAL, samples REAL, time_s REAL NOT NULL, lowest REAL, lowest_samples REAL,"
	" highest REAL, highest_samples REAL, PRIMARY KEY (job_id, name)"
	") STRICT, WITHOUT ROWID;"
	"INSERT INTO job_metrics_now SELECT * FROM job_metrics;"
	"DROP TABLE job_metrics; ALTER TABLE job_metrics_now RENAME TO job_metrics;"
	"CREATE TABLE curve_points_now ("
	" job_id INTEGER NOT NULL REFERENCES jobs (id) ON DELETE CASCADE, name TEXT NOT NULL,"
	" time_s REAL NOT NULL, samples REAL, value REAL, PRIMARY KEY (job_id, name, time_s)"
	") STRICT, WITHOUT ROWID;"
	"INSERT INTO curve_points_now SELECT * FROM curve_points;"
	"DROP TABLE curve_points; ALTER TABLE curve_points_now RENAME TO curve_points;",
};

#define N_STEPS (int)(sizeof(steps) / sizeof(steps[0]))

int schema_version(void)
{
	int columns = schema_columns_version();

	return columns > N_STEPS ? columns : N_STEPS;
}

char *schema_step(int version)
{
	struct text sql = TEXT_INIT;

	schema_add_columns(version, &sql);
	if (version <= N_STEPS && steps[version - 1])
		text_add(&sql, steps[version - 1]);
	return text_detach(&sql);
}
