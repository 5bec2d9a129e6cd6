/* store_halving.c - see store_halving.h. */
#include "pollux/store_halving.h"

#include <math.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "sql.h"

/* The text was checked when the group was submitted. One that a newer pollux wrote, and this one
 * cannot read, pauses nothing. */
static void read_halving(sqlite3_stmt *q, int column, struct halving *halving)
{
	char *text = sql_text_or_null(q, column);
	struct err ignored;

	if (!text || halving_parse(text, NAN, halving, &ignored))
		*halving = (struct halving){ .n_rungs = 0 };
	free(text);
}

int store_job_rungs(struct store *s, int64_t job_id, struct job_rungs *rungs, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*rungs = (struct job_rungs){ .rung = 0 };
	if (sql_query(s, &q, err, "SELECT g.halving, j.rung, j.passed_rungs FROM jobs j"
		      " JOIN job_groups g ON g.id = j.group_id WHERE j.id = ?", "i", job_id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1) {
		read_halving(q, 0, &rungs->halving);
		rungs->rung = (int)sql_int(q, 1, 0);
		rungs->passed = (int)sql_int(q, 2, 0);
	}
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

int store_workload_reports_samples(struct store *s, const char *workload, bool *reports,
				   struct err *err)
{
	int64_t any = 0;
	int rc = sql_ask(s, &any, err, "SELECT EXISTS (SELECT 1 FROM runs WHERE workload = ?"
			 " AND last_samples IS NOT NULL AND step_source = 'reports')", "t",
			 workload);

	*reports = rc == 0 && any;
	return rc;
}

int store_rung_add(struct store *s, int64_t job_id, int rung, double samples, double value,
		   struct err *err)
{
	return sql_run(s, NULL, err, "INSERT OR IGNORE INTO rung_results"
		       " (job_id, rung, samples, value) VALUES (?, ?, ?, ?)", "iidd", job_id,
		       (int64_t)rung, samples, value) ||
	       sql_run(s, NULL, err, "UPDATE jobs SET rung = max(rung, ?) WHERE id = ?", "ii",
		       (int64_t)rung, job_id) ? -1 : 0;
}

int store_job_pass_all_rungs(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET passed_rungs = ? WHERE id = ?", "ii",
		       (int64_t)RUNGS_ALL, job_id);
}

/* --- a sweep --- */

static int read_group(struct store *s, int64_t group_id, struct halving *halving, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	if (sql_query(s, &q, err, "SELECT halving FROM job_groups WHERE id = ?", "i", group_id))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		read_halving(q, 0, halving);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}

/* keeps: the job has a run that nobody has asked to stop. */
static enum halving_state state_of(enum job_state state, int rung, int passed, bool keeps)
{
	if (state == JOB_DONE)
		return HALVING_DONE;
	if (state != JOB_QUEUED && state != JOB_RUNNING)
		return HALVING_OUT;
	return rung > passed && !keeps ? HALVING_PAUSED : HALVING_GOING;
}

/* A row for each job and rung, by job: starts a new run, or adds to the last one. */
static void read_row(sqlite3_stmt *q, struct halving_sweep *sweep)
{
	int64_t id = sql_int(q, 0, 0);
	int state = job_state_parse((const char *)sqlite3_column_text(q, 1));
	int rung = (int)sql_int(q, 2, 0), passed = (int)sql_int(q, 3, 0);
	int at = (int)sql_int(q, 5, 0);

	if (rung > sweep->halving.n_rungs)
		rung = sweep->halving.n_rungs;
	if (sweep->n_runs == 0 || sweep->runs[sweep->n_runs - 1].id != id) {
		struct halving_run *run;

		sweep->runs = xgrow(sweep->runs, sweep->n_runs, sizeof(*sweep->runs));
		run = &sweep->runs[sweep->n_runs++];
		*run = (struct halving_run){
			.id = id, .rung = rung,
			.state = state_of(state < 0 ? JOB_FAILED : (enum job_state)state, rung,
					  passed, sql_int(q, 4, 0)),
			.diverged = sql_int(q, 7, 0),
		};
		for (int i = 0; i < HALVING_RUNGS_MAX; i++)
			run->values[i] = (double)NAN;
	}
	if (at > 0 && at <= HALVING_RUNGS_MAX)
		sweep->runs[sweep->n_runs - 1].values[at - 1] = sql_double(q, 6);
}

int store_halving_read(struct store *s, int64_t group_id, struct halving_sweep *sweep,
		       struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*sweep = (struct halving_sweep){ .n_runs = 0 };
	if (read_group(s, group_id, &sweep->halving, err))
		return -1;
	if (sweep->halving.n_rungs == 0)
		return 0;
	if (sql_query(s, &q, err, "SELECT j.id, j.state, j.rung, j.passed_rungs,"
		      " EXISTS (SELECT 1 FROM runs WHERE job_id = j.id AND state <> 'ended'"
		      "  AND coalesce(stop_reason, 'none') = 'none'), r.rung, r.value,"
		      " EXISTS (SELECT 1 FROM job_metrics WHERE job_id = j.id AND name = ?"
		      "  AND coalesce(abs(last), 9e999) = 9e999)"
		      " FROM jobs j LEFT JOIN rung_results r ON r.job_id = j.id"
		      " WHERE j.group_id = ? ORDER BY j.id, r.rung", "ti", sweep->halving.metric,
		      group_id))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1)
		read_row(q, sweep);
	sql_done(q);
	if (rc < 0)
		halving_sweep_release(sweep);
	else
		sweep->over = halving_decide(&sweep->halving, sweep->runs, sweep->n_runs);
	return rc;
}

const struct halving_run *halving_sweep_find(const struct halving_sweep *sweep, int64_t job_id)
{
	for (int low = 0, high = sweep->n_runs; low < high;) {
		int middle = low + (high - low) / 2;

		if (sweep->runs[middle].id == job_id)
			return &sweep->runs[middle];
		if (sweep->runs[middle].id < job_id)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

void halving_sweep_release(struct halving_sweep *sweep)
{
	free(sweep->runs);
	*sweep = (struct halving_sweep){ .n_runs = 0 };
}
