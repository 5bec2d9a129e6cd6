/* store_jobs.c - jobs and their commands. */
#include <math.h>
#include <stdlib.h>

#include "rows.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"
#include "sql.h"

int store_job_get(struct store *s, int64_t id, struct job *job, struct err *err)
{
	int rc;

	job_init(job);
	rc = rows_get(s, ALL_OF(jobs_table), job, err, "WHERE id = ?", "i", id);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such job: %lld", (long long)id);
	return rc == 1 ? 0 : -1;
}

int store_job_by_key(struct store *s, const char *key, struct keyed_job *job, struct err *err)
{
	char *state = NULL;
	int rc = 0;

	*job = (struct keyed_job){ .id = 0 };
	if (key && s->db)
		rc = sql_get(s, err, "SELECT id, group_id, state, " SQL_IS_SET_ASIDE("jobs")
			     " FROM jobs WHERE key = ? AND state IN ('queued', 'held', 'running',"
			     " 'done') ORDER BY id DESC LIMIT 1", "iitb<t", &job->id,
			     &job->group_id, &state, &job->set_aside, key);
	if (state)
		job->state = (enum job_state)job_state_parse(state);
	free(state);
	return rc;
}

static int by_id(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return x->id < y->id ? -1 : x->id > y->id;
}

int store_jobs_list(struct store *s, enum job_filter filter, double since_wall_s,
		    struct job_list *list, struct err *err)
{
	/* Active jobs come in the order of an index and are sorted by this program, since SQLite
	 * would sort whole rows, which is slower. */
	static const char *const which[] = {
		[JOBS_ALL] = "ORDER BY id",
		[JOBS_ACTIVE] = "WHERE state IN ('queued', 'held', 'running')",
		[JOBS_RECENT] = ("WHERE state IN ('queued', 'held', 'running')"
				 " OR end_time_s >= ? ORDER BY id"),
		[JOBS_SHOWN] = ("WHERE state IN ('queued', 'held', 'running')"
				" OR (end_time_s >= ? AND NOT cleared) ORDER BY id"),
		[JOBS_SCHEDULABLE] = "WHERE state IN ('queued', 'running') AND profile = 0",
	};
	struct job initial;
	struct row_columns columns = {
		.table = &jobs_table, .without = filter == JOBS_SCHEDULABLE ? COLUMN_ASIDE : 0,
		.initial = &initial,
	};
	int rc;

	job_init(&initial);
	rc = rows_list(s, columns, list, err, which[filter],
		       filter == JOBS_RECENT || filter == JOBS_SHOWN ? "d" : "", since_wall_s);
	if (list->count && (filter == JOBS_ACTIVE || filter == JOBS_SCHEDULABLE))
		qsort(list->items, (size_t)list->count, sizeof(*list->items), by_id);
	return rc;
}

int store_has_work(struct store *s, bool *has, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued',"
		       " 'running')) OR EXISTS (SELECT 1 FROM runs WHERE state <> 'ended')", "b<",
		       has);
}

int store_has_schedulable(struct store *s, bool *has, struct err *err)
{
	return sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('queued',"
		       " 'running') AND profile = 0)", "b<", has);
}

int store_jobs_get(struct store *s, const int64_t *ids, int n, struct job_list *list,
		   struct err *err)
{
	*list = (struct job_list){ .items = xcalloc((size_t)n, sizeof(*list->items)) };
	for (; list->count < n; list->count++)
		if (store_job_get(s, ids[list->count], &list->items[list->count], err)) {
			job_list_release(list);
			return -1;
		}
	return 0;
}

void job_list_release(struct job_list *list)
{
	for (int i = 0; i < list->count; i++)
		job_release(&list->items[i]);
	free(list->items);
	*list = (struct job_list){ 0 };
}

/* The row of the command shares its texts. The environment has a table of its own. */
int store_job_insert(struct store *s, struct job *job, const struct job_command *command,
		     const struct dependency_list *after, struct err *err)
{
	struct job_command row = *command;
	char *directory = NULL;
	int rc;

	if (dependencies_exist(s, after, err) || rows_insert(s, &jobs_table, job, err))
		return -1;
	job->id = row.job_id = sqlite3_last_insert_rowid(s->db);
	if (command->name_template) {
		free(job->declared.name);
		job->declared.name = braces_put_job(command->name_template, job->id);
		if (sql_run(s, NULL, err, "UPDATE jobs SET name = ? WHERE id = ?", "ti",
			    job->declared.name, job->id))
			return -1;
	}
	if (command->checkpoint_template)
		row.checkpoint_dir = directory = braces_put_job(command->checkpoint_template,
								job->id);
	rc = environment_put(s, &command->env, &row.environment_id, err) ||
	     rows_insert(s, &commands_table, &row, err) ||
	     dependencies_add(s, job->id, after, err) ||
	     (job->state == JOB_HELD && store_job_hold(s, job->id, job->reason, err)) ||
	     store_event_add(s, job->id, 0, "submitted", job->declared.name, err) ||
	     store_job_heed_suspensions(s, job, err);
	free(directory);
	return rc ? -1 : 0;
}

int store_job_command_get(struct store *s, int64_t id, struct job_command *c, struct err *err)
{
	int rc;

	*c = (struct job_command){ 0 };
	rc = rows_get(s, ALL_OF(commands_table), c, err, "WHERE job_id = ?", "i", id);
	if (rc == 0)
		return err_set(err, EX_NOINPUT, "no such job: %lld", (long long)id);
	return rc == 1 ? environment_read(s, c, err) : -1;
}

int store_job_line_get(struct store *s, int64_t id, struct job_line *line, struct err *err)
{
	*line = (struct job_line){ 0 };
	if (sql_get(s, err, "SELECT directory, argv FROM commands WHERE job_id = ?", "ts<i",
		    &line->directory, &line->argv, id))
		return -1;
	if (!line->directory)
		line->directory = xstrdup("");
	return 0;
}

void job_line_release(struct job_line *line)
{
	strings_release(&line->argv);
	free(line->directory);
	*line = (struct job_line){ 0 };
}

int store_job_set_state(struct store *s, int64_t id, enum job_state state, const char *reason,
			struct err *err)
{
	double now = clock_wall_s();

	if (job_has_ended(state) && store_devices_release(s, id, err))
		return -1;
	return sql_run(s, NULL, err, "UPDATE jobs SET state = ?1, held = 0, reason = ?2,"
		       " next_start_time_s = NULL, tier_wait_since_s = NULL,"
		       " waiting_for_tier_until = NULL, end_time_s = ?3,"
		       " last_end_time_s = CASE"
		       "  WHEN state = 'held' AND ?1 = 'queued' THEN ?4 ELSE last_end_time_s END"
		       " WHERE id = ?5", "ttddi", job_state_name(state), reason,
		       job_has_ended(state) ? now : (double)NAN, now, id);
}

int store_job_hold(struct store *s, int64_t id, const char *how, struct err *err)
{
	char *reason = xasprintf(HELD_REASON, how, (long long)id);
	int rc = store_job_set_state(s, id, JOB_HELD, reason, err);

	free(reason);
	return rc;
}

int store_job_set_cancelled_for(struct store *s, int64_t id, int64_t other, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET cancelled_for = ? WHERE id = ?", "ni", other,
		       id);
}

int store_job_set_declared(struct store *s, const struct job *job, struct err *err)
{
	return rows_update(s, SOME_OF(jobs_table, COLUMN_DECLARED), job, job->id, "1", err) < 0
		? -1 : 0;
}

/* The first of n jobs gets a rank that leaves room for the others below, and above all others. */
int store_job_put_first(struct store *s, int64_t id, int n, int *rank, struct err *err)
{
	int64_t largest = 0;

	if (!*rank && sql_get(s, err, "SELECT max(first_rank) FROM jobs"
			      " WHERE state IN ('queued', 'held', 'running')", "i<", &largest))
		return -1;
	*rank = *rank ? *rank - 1 : (int)largest + n;
	return sql_run(s, NULL, err, "UPDATE jobs SET first_rank = ?, reason = CASE"
		       " WHEN state = 'queued' AND begin_s IS NULL THEN 'first in line'"
		       " ELSE reason END"
		       " WHERE id = ?", "ii", (int64_t)*rank, id);
}

/* A job that was done begins at its last checkpoint, or at 0: the position that the job had reached
 * does not tell what remains. */
int store_job_requeue(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET state = 'queued', reason = 'requeued',"
		       " samples = CASE state WHEN 'done' THEN checkpoint_samples ELSE samples END,"
		       " steps = CASE WHEN state = 'done' AND checkpoint_samples IS NULL THEN NULL"
		       "  ELSE steps END,"
		       "  cleared = 0, failures = 0, cancelled_for = NULL, end_time_s = NULL,"
		       " exit_code = NULL, "
		       "term_signal = NULL, run_time_s = CASE state WHEN 'timeout' THEN 0 ELSE "
		       "run_time_s END, last_end_time_s = ? WHERE id = ?", "di", clock_wall_s(),
		       id);
}

int store_job_clear(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET cleared = 1 WHERE id = ?", "i", id);
}

int store_job_set_reason(struct store *s, int64_t id, const char *reason, double next_start_s,
			 struct err *err)
{
	return sql_run(s, NULL, err,
		       "UPDATE jobs SET reason = ?2, next_start_time_s = ?3 WHERE id = ?1"
		       " AND (reason IS NOT ?2 OR next_start_time_s IS NOT ?3)", "itd", id, reason,
		       next_start_s);
}

int store_job_forgive(struct store *s, int64_t id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET saved_nothing = 0, forgiven_runs = (SELECT"
		       " coalesce(max(number), 0)"
		       " FROM runs WHERE job_id = jobs.id AND state = 'ended') WHERE id = ?", "i",
		       id);
}

/* A run that lost its supervisor and had not reported a checkpoint. */
#define LOST_ITS_SUPERVISOR \
	"((outcome = 'lost' OR (outcome = 'stopped' AND stop_reason = 'orphan'))" \
	" AND NOT coalesce(checkpoint_boot_s > launch_boot_s, 0))"
/* Runs of this boot that ended and were not forgiven, the last one first. The job of one that could
 * not resume goes on at once, from the checkpoint before. */
#define LAST_RUNS \
	" FROM runs WHERE job_id = ?1 AND boot_id = ?2 AND state = 'ended'" \
	" AND end_boot_s IS NOT NULL AND NOT former_checkpoint" \
	" AND number > (SELECT forgiven_runs FROM jobs WHERE id = ?1)" \
	" ORDER BY number DESC"

int store_job_supervisor_losses(struct store *s, int64_t job_id, int *n, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*n = 0;
	if (sql_query(s, &q, err, "SELECT " LOST_ITS_SUPERVISOR LAST_RUNS, "it", job_id,
		      clock_boot_id()))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1 && sql_int(q, 0, 0))
		++*n;
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

#define LAST_TURNS 20

int store_interactive_rest(struct store *s, double *boot_s, struct err *err)
{
	int rc = sql_get(s, err, "SELECT max(r.end_boot_s + r.duration_s) FROM"
			 " (SELECT id FROM jobs WHERE interactive = 1 ORDER BY id DESC LIMIT ?) j"
			 " JOIN runs r ON r.job_id = j.id WHERE r.state = 'ended'"
			 " AND r.boot_id = ?", "d<it", boot_s, (int64_t)LAST_TURNS,
			 clock_boot_id());

	if (!isfinite(*boot_s))
		*boot_s = -HUGE_VAL;
	return rc;
}

int store_brief_service(struct store *s, double since_wall_s, double slice_s, int most,
			double *device_s, struct err *err)
{
	return sql_get(s, err, "SELECT total(attained_service_device_s) FROM"
		       " (SELECT * FROM jobs WHERE state IN"
		       "   ('done', 'failed', 'cancelled', 'timeout')"
		       "  AND profile = 0 AND interactive = 0 AND min_replicas > 0"
		       "  ORDER BY id DESC LIMIT ?)"
		       " WHERE end_time_s > ? AND (time_limit_s BETWEEN 1e-9 AND ?"
		       "  OR attained_service_device_s <= ? * min_replicas)", "d<iddd", device_s,
		       (int64_t)most, since_wall_s, slice_s, slice_s);
}

#define OF_FAMILY "workload, name, coalesce(CAST(c.directory AS TEXT), '')"

/* The first three columns. *workload: the number of its name. */
static int64_t read_family(sqlite3_stmt *q, int64_t *workload)
{
	char *texts[3];
	int64_t family;

	for (int i = 0; i < 3; i++)
		texts[i] = sql_text(q, i);
	*workload = text_number(texts[0]);
	family = job_family(texts[0], texts[1], texts[2]);
	for (int i = 0; i < 3; i++)
		free(texts[i]);
	return family;
}

int store_ended_jobs(struct store *s, struct ended_job *list, int most, struct err *err)
{
	sqlite3_stmt *q;
	int n = 0, rc = 0;

	if (sql_query(s, &q, err, "SELECT " OF_FAMILY ", attained_service_device_s, samples"
		      " FROM jobs LEFT JOIN commands c ON c.job_id = id"
		      " WHERE state = 'done' AND profile = 0 AND interactive = 0"
		      " AND attained_service_device_s > 0"
		      " ORDER BY id DESC LIMIT ?", "i", (int64_t)most))
		return -1;
	while (n < most && (rc = sql_row(s, q, err)) == 1) {
		int64_t workload, family = read_family(q, &workload);

		list[n++] = (struct ended_job){
			workload, family, sql_double(q, 3), sql_double(q, 4),
		};
	}
	sql_done(q);
	return rc < 0 ? -1 : n;
}

int store_job_family(struct store *s, int64_t id, int64_t *family, struct err *err)
{
	int64_t workload;
	sqlite3_stmt *q;
	int rc;

	*family = 0;
	if (sql_query(s, &q, err, "SELECT " OF_FAMILY " FROM jobs LEFT JOIN commands c"
		      " ON c.job_id = id WHERE id = ?", "i", id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*family = read_family(q, &workload);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_job_setback(struct store *s, int64_t job_id, struct setback *setback, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*setback = (struct setback){ 0 };
	if (sql_query(s, &q, err, "SELECT outcome, stop_reason, end_boot_s, diagnosis, "
		      LOST_ITS_SUPERVISOR LAST_RUNS, "it", job_id, clock_boot_id()))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		int outcome = run_outcome_parse((const char *)sqlite3_column_text(q, 0));
		int reason = stop_reason_parse((const char *)sqlite3_column_text(q, 1));
		bool lost = sql_int(q, 4, 0) != 0;

		if (!lost && outcome != OUTCOME_FAILED &&
		    (outcome != OUTCOME_NOT_STARTED || reason > STOP_NONE))
			break;
		setback->n_lost += lost && setback->n_lost == setback->n;
		if (setback->n++ > 0)
			continue;
		setback->kind = lost ? SETBACK_LOST : outcome == OUTCOME_FAILED
			? SETBACK_FAILED : SETBACK_NOT_STARTED;
		setback->end_boot_s = sql_double(q, 2);
		sql_chars(q, 3, setback->diagnosis, sizeof(setback->diagnosis));
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

/* --- ends to tell --- */

#define UNTOLD \
	" end_told = 0 AND state IN ('done', 'failed', 'cancelled', 'timeout')"
#define WANTED " (profile = 0 AND (?1 OR on_end IS NOT NULL))"

int store_ends_left(struct store *s, bool all, bool *left, struct err *err)
{
	bool others;

	if (sql_get(s, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE" UNTOLD " AND" WANTED "),"
		    " EXISTS (SELECT 1 FROM jobs WHERE" UNTOLD " AND NOT" WANTED ")", "bb<i", left,
		    &others, (int64_t)all))
		return -1;
	return !others ? 0 : sql_run(s, NULL, err, "UPDATE jobs SET end_told = 1 WHERE" UNTOLD
				     " AND NOT" WANTED, "i", (int64_t)all);
}

int store_ends_take(struct store *s, bool all, int64_t *id, struct err *err)
{
	*id = 0;
	if (store_begin(s, err))
		return -1;
	return store_finish(s, sql_get(s, err, "SELECT min(id) FROM jobs WHERE" UNTOLD " AND"
				       WANTED, "i<i", id, (int64_t)all) ||
			    sql_run(s, NULL, err, "UPDATE jobs SET end_told = 1 WHERE id = ?", "i",
				    *id), err);
}
