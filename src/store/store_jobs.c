/* store_jobs.c - jobs, their commands, and what they wait for. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "sql.h"

#define JOB_COLUMNS \
	"id, state, name, workload, reason, next_start_time_s, submit_time_s, start_time_s," \
	" end_time_s, min_replicas, max_replicas, batch_size, min_batch_size, max_batch_size," \
	" max_local_batch_size, learning_rate, learning_rate_rule, noise_scale, total_samples," \
	" total_steps, weight, preemption, time_limit_s, retries, stop_signal, grace_s, samples," \
	" steps, checkpoint_samples, lost_samples, lost_s, attained_service_device_s, run_time_s," \
	" runs, preemptions, failures, loss, epoch, status_text, exit_code, term_signal," \
	" last_end_time_s, accumulates, profile, printed_total_steps, launches"

static void read_declared(sqlite3_stmt *q, int c, struct job *job)
{
	int preemption;

	job->declared.min_replicas = (int)sql_int(q, c++, 1);
	job->declared.max_replicas = (int)sql_int(q, c++, 0);
	job->declared.batch_size = sql_int(q, c++, 0);
	job->declared.min_batch_size = sql_int(q, c++, 0);
	job->declared.max_batch_size = sql_int(q, c++, 0);
	job->declared.max_local_batch_size = sql_int(q, c++, 0);
	job->declared.learning_rate = sql_double(q, c++);
	job->declared.learning_rate_rule = sql_text(q, c++);
	job->declared.noise_scale = sql_double(q, c++);
	job->declared.total_samples = sql_double(q, c++);
	job->declared.total_steps = sql_double(q, c++);
	job->declared.weight = sql_double(q, c++);
	preemption = preemption_parse((const char *)sqlite3_column_text(q, c++));
	job->declared.preemption = preemption < 0 ? PREEMPT_NEVER : (enum preemption)preemption;
	job->declared.time_limit_s = sql_double(q, c++);
	job->declared.retries = (int)sql_int(q, c++, 0);
	job->declared.stop_signal = (int)sql_int(q, c++, 0);
	job->declared.grace_s = sql_double(q, c++);
}

static void read_observed(sqlite3_stmt *q, int c, struct job *job)
{
	job->progress.samples = sql_double(q, c++);
	job->progress.steps = sql_double(q, c++);
	job->progress.checkpoint_samples = sql_double(q, c++);
	job->progress.lost_samples = sql_double(q, c++);
	job->progress.lost_s = sql_double(q, c++);
	job->progress.attained_service_device_s = sql_double(q, c++);
	job->progress.run_time_s = sql_double(q, c++);
	job->progress.runs = (int)sql_int(q, c++, 0);
	job->progress.preemptions = (int)sql_int(q, c++, 0);
	job->progress.failures = (int)sql_int(q, c++, 0);
	job->progress.loss = sql_double(q, c++);
	job->progress.epoch = sql_double(q, c++);
	job->progress.status_text = sql_text(q, c++);
	job->progress.exit_code = (int)sql_int(q, c++, -1);
	job->progress.term_signal = (int)sql_int(q, c++, -1);
	job->progress.last_end_time_s = sql_double(q, c++);
	job->declared.accumulates = sql_int(q, c++, 0) != 0;
	job->profile = sql_int(q, c++, 0) != 0;
	job->progress.printed_total_steps = sql_double(q, c++);
	job->progress.launches = (int)sql_int(q, c++, 0);
}

static void read_job(sqlite3_stmt *q, struct job *job)
{
	int state = job_state_parse((const char *)sqlite3_column_text(q, 1));

	job_init(job);
	job->id = sql_int(q, 0, 0);
	job->state = state < 0 ? JOB_FAILED : (enum job_state)state;
	job->declared.name = sql_text(q, 2);
	job->declared.workload = sql_text(q, 3);
	job->reason = sql_text(q, 4);
	job->next_start_s = sql_double(q, 5);
	job->submit_time_s = sql_double(q, 6);
	job->start_time_s = sql_double(q, 7);
	job->end_time_s = sql_double(q, 8);
	read_declared(q, 9, job);
	read_observed(q, 26, job);
}

int store_job_get(struct store *s, int64_t id, struct job *job, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT " JOB_COLUMNS " FROM jobs WHERE id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		read_job(q, job);
	sql_done(q);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such job: %lld", (long long)id);
	return rc == 1 ? 0 : -1;
}

int store_jobs_list(struct store *s, enum job_filter filter, double since_wall_s,
		    struct job_list *list, struct err *err)
{
	/* By way of ids alone: sorting whole rows costs more than reading them. */
	static const char *const sql[] = {
		[JOBS_ALL] = "SELECT " JOB_COLUMNS " FROM jobs ORDER BY id",
		[JOBS_ACTIVE] = "SELECT " JOB_COLUMNS " FROM jobs WHERE id IN"
			" (SELECT id FROM jobs WHERE state IN ('queued', 'held', 'running'))"
			" ORDER BY id",
		[JOBS_RECENT] = "SELECT " JOB_COLUMNS " FROM jobs"
			" WHERE state IN ('queued', 'held', 'running') OR end_time_s >= ?"
			" ORDER BY id",
		[JOBS_SCHEDULABLE] = "SELECT " JOB_COLUMNS " FROM jobs WHERE id IN"
			" (SELECT id FROM jobs WHERE state IN ('queued', 'running') AND profile = 0)"
			" ORDER BY id",
	};
	sqlite3_stmt *q;
	int rc, capacity = 0;

	*list = (struct job_list){ 0 };
	if (sql_query(s, &q, err, sql[filter], filter == JOBS_RECENT ? "d" : "", since_wall_s))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		if (list->count == capacity) {
			capacity = capacity ? 2 * capacity : 64;
			list->items = xreallocarray(list->items, (size_t)capacity,
						    sizeof(*list->items));
		}
		read_job(q, &list->items[list->count++]);
	}
	sql_done(q);
	if (rc < 0)
		job_list_release(list);
	return rc;
}

int store_has_work(struct store *s, bool *has, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued', 'running'))"
		      " OR EXISTS (SELECT 1 FROM runs WHERE state <> 'ended')", ""))
		return -1;
	rc = sql_row(s, q, err);
	*has = rc == 1 && sqlite3_column_int(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_has_schedulable(struct store *s, bool *has, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued', 'running')"
		      " AND profile = 0)", ""))
		return -1;
	rc = sql_row(s, q, err);
	*has = rc == 1 && sqlite3_column_int(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

void job_list_release(struct job_list *list)
{
	for (int i = 0; i < list->count; i++)
		job_release(&list->items[i]);
	free(list->items);
	*list = (struct job_list){ 0 };
}

static int add_command(struct store *s, int64_t id, const struct job_command *c, struct err *err)
{
	struct text argv = TEXT_INIT, env = TEXT_INIT;
	int rc;

	strings_pack(&c->argv, &argv);
	strings_pack(&c->env, &env);
	rc = sql_run(s, NULL, err,
		     "INSERT INTO commands (job_id, program, argv, env, directory, checkpoint_dir,"
		     " resume_args, git_commit, git_dirty, step_regex)"
		     " VALUES (?, CAST(? AS BLOB), ?, ?, CAST(? AS BLOB), CAST(? AS BLOB),"
		     " CAST(? AS BLOB), ?, ?, CAST(? AS BLOB))",
		     "itbbttttmt", id, c->program, argv.data, argv.length, env.data, env.length,
		     c->directory, c->checkpoint_dir, c->resume_args, c->git_commit,
		     c->git_commit ? (int64_t)c->git_dirty : (int64_t)-1, c->step_regex);
	text_release(&argv);
	text_release(&env);
	return rc;
}

static int add_dependencies(struct store *s, int64_t id, const struct dependency_list *after,
			    struct err *err)
{
	struct job other;

	for (int i = 0; i < after->count; i++) {
		if (store_job_get(s, after->items[i].after_id, &other, err))
			return err_prefix(err, "option '--after'");
		job_release(&other);
		if (sql_run(s, NULL, err, "INSERT OR REPLACE INTO dependencies VALUES (?, ?, ?)",
			    "iii", id, after->items[i].after_id,
			    (int64_t)after->items[i].must_succeed))
			return -1;
	}
	return 0;
}

static int add_row(struct store *s, struct job *job, struct err *err)
{
	if (sql_run(s, NULL, err,
		    "INSERT INTO jobs (state, name, workload, reason, submit_time_s, min_replicas,"
		    " max_replicas, batch_size, min_batch_size, max_batch_size,"
		    " max_local_batch_size, learning_rate, learning_rate_rule, noise_scale,"
		    " total_samples, total_steps, weight, preemption, time_limit_s, retries,"
		    " stop_signal, grace_s, accumulates, profile)"
		    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
		    "ttttdiinnnndtddddtdiidii", job_state_name(job->state), job->declared.name, job->declared.workload,
		    job->reason ? job->reason : "", job->submit_time_s, (int64_t)job->declared.min_replicas,
		    (int64_t)job->declared.max_replicas, job->declared.batch_size, job->declared.min_batch_size,
		    job->declared.max_batch_size, job->declared.max_local_batch_size, job->declared.learning_rate,
		    job->declared.learning_rate_rule, job->declared.noise_scale, job->declared.total_samples,
		    job->declared.total_steps, job->declared.weight, preemption_name(job->declared.preemption),
		    job->declared.time_limit_s, (int64_t)job->declared.retries, (int64_t)job->declared.stop_signal, job->declared.grace_s,
		    (int64_t)job->declared.accumulates, (int64_t)job->profile))
		return -1;
	job->id = sqlite3_last_insert_rowid(s->db);
	return 0;
}

int store_job_insert(struct store *s, struct job *job, const struct job_command *command,
		     const struct dependency_list *after, struct err *err)
{
	if (add_row(s, job, err) || add_command(s, job->id, command, err) ||
	    add_dependencies(s, job->id, after, err))
		return -1;
	return store_event_add(s, job->id, 0, "submitted", job->declared.name, err);
}

int store_job_add(struct store *s, struct job *job, const struct job_command *command,
		  const struct dependency_list *after, struct err *err)
{
	if (store_begin(s, err))
		return -1;
	if (store_job_insert(s, job, command, after, err)) {
		store_rollback(s);
		return -1;
	}
	return store_commit(s, err);
}

int store_job_command_get(struct store *s, int64_t id, struct job_command *c, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*c = (struct job_command){ 0 };
	if (sql_query(s, &q, err, "SELECT program, argv, env, directory, checkpoint_dir,"
		      " resume_args, git_commit, git_dirty, step_regex FROM commands WHERE job_id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		c->program = sql_text(q, 0);
		strings_unpack(&c->argv, sqlite3_column_blob(q, 1),
			       (size_t)sqlite3_column_bytes(q, 1));
		strings_unpack(&c->env, sqlite3_column_blob(q, 2),
			       (size_t)sqlite3_column_bytes(q, 2));
		c->directory = sql_text(q, 3);
		c->checkpoint_dir = sql_text_or_null(q, 4);
		c->resume_args = sql_text_or_null(q, 5);
		c->git_commit = sql_text_or_null(q, 6);
		c->git_dirty = sql_int(q, 7, 0) != 0;
		c->step_regex = sql_text_or_null(q, 8);
	}
	sql_done(q);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such job: %lld", (long long)id);
	return rc == 1 ? 0 : -1;
}

static int compare_dependencies(const void *a, const void *b)
{
	const struct dependency *x = a, *y = b;

	if (x->job_id != y->job_id)
		return x->job_id < y->job_id ? -1 : 1;
	return (x->after_id > y->after_id) - (x->after_id < y->after_id);
}

#define DEPENDENCIES \
	"SELECT j.id, d.after_id, d.must_succeed, a.state, a.end_time_s FROM jobs j" \
	" CROSS JOIN dependencies d ON d.job_id = j.id" \
	" CROSS JOIN jobs a ON a.id = d.after_id"

static int list_dependencies(struct store *s, const char *sql, struct dependency_list *list, struct err *err)
{
	sqlite3_stmt *q;
	int rc, capacity = 0;

	*list = (struct dependency_list){ 0 };
	if (sql_query(s, &q, err, sql, ""))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		struct dependency *d;

		if (list->count == capacity) {
			capacity = capacity ? 2 * capacity : 16;
			list->items = xreallocarray(list->items, (size_t)capacity, sizeof(*d));
		}
		d = &list->items[list->count++];
		d->job_id = sql_int(q, 0, 0);
		d->after_id = sql_int(q, 1, 0);
		d->must_succeed = sql_int(q, 2, 0) != 0;
		d->after_state = (enum job_state)job_state_parse(
			(const char *)sqlite3_column_text(q, 3));
		d->after_end_time_s = sql_double(q, 4);
	}
	sql_done(q);
	if (list->count)
		qsort(list->items, (size_t)list->count, sizeof(*list->items), compare_dependencies);
	return rc;
}

/* CROSS JOIN keeps SQLite from reading what ended jobs once waited for. */
int store_dependencies_list(struct store *s, struct dependency_list *list, struct err *err)
{
	return list_dependencies(s, DEPENDENCIES " WHERE j.state IN ('queued', 'held')", list, err);
}

int store_dependencies_all(struct store *s, struct dependency_list *list, struct err *err)
{
	return list_dependencies(s, DEPENDENCIES, list, err);
}

void dependency_list_release(struct dependency_list *list)
{
	free(list->items);
	*list = (struct dependency_list){ 0 };
}

int store_job_set_state(struct store *s, int64_t id, enum job_state state, const char *reason,
			struct err *err)
{
	double now = clock_wall_s();

	if (job_has_ended(state) && store_devices_release(s, id, err))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET state = ?1, reason = ?2, next_start_time_s = NULL,"
		       " end_time_s = ?3, last_end_time_s = CASE"
		       "  WHEN state = 'held' AND ?1 = 'queued' THEN ?4 ELSE last_end_time_s END"
		       " WHERE id = ?5", "ttddi", job_state_name(state), reason,
		       job_has_ended(state) ? now : (double)NAN, now, id);
}

int store_job_requeue(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET state = 'queued', reason = 'requeued',"
		       "  failures = 0, end_time_s = NULL, exit_code = NULL, term_signal = NULL,"
		       " run_time_s = CASE state WHEN 'timeout' THEN 0 ELSE run_time_s END,"
		       " last_end_time_s = ? WHERE id = ?", "di", clock_wall_s(), id);
}

int store_job_set_reason(struct store *s, int64_t id, const char *reason, double next_start_s,
			 struct err *err)
{
	return sql_run(s, NULL, err,
		       "UPDATE jobs SET reason = ?2, next_start_time_s = ?3 WHERE id = ?1"
		       " AND (reason IS NOT ?2 OR next_start_time_s IS NOT ?3)", "itd", id, reason,
		       next_start_s);
}

static bool is_setback(sqlite3_stmt *q, bool *failed)
{
	int outcome = run_outcome_parse((const char *)sqlite3_column_text(q, 0));
	int reason = stop_reason_parse((const char *)sqlite3_column_text(q, 1));

	*failed = outcome == OUTCOME_FAILED;
	return *failed || (outcome == OUTCOME_NOT_STARTED && reason <= STOP_NONE);
}

/* Only runs that ended since a person last said to requeue it: that wipes the slate. */
int store_job_setback(struct store *s, int64_t job_id, const char *boot_id, struct setback *setback,
		      struct err *err)
{
	sqlite3_stmt *q;
	bool failed;
	int rc;

	*setback = (struct setback){ 0 };
	if (sql_query(s, &q, err, "SELECT outcome, stop_reason, end_boot_s, diagnosis FROM runs"
		      " WHERE job_id = ?1 AND boot_id = ?2 AND state = 'ended' AND end_boot_s IS NOT NULL"
		      " AND id IN (SELECT run_id FROM events WHERE job_id = ?1 AND kind = 'ended' AND id >"
		      "  (SELECT coalesce(max(id), 0) FROM events WHERE job_id = ?1 AND kind = 'requeue'))"
		      " ORDER BY number DESC LIMIT 12", "it", job_id, boot_id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1 && is_setback(q, &failed)) {
		if (setback->n++ > 0)
			continue;
		setback->failed = failed;
		setback->end_boot_s = sql_double(q, 2);
		snprintf(setback->diagnosis, sizeof(setback->diagnosis), "%s",
			 sqlite3_column_text(q, 3) ? (const char *)sqlite3_column_text(q, 3) : "");
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}
