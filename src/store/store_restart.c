/* store_restart.c - what it has cost the jobs of a workload to be stopped and launched again. */
#include <math.h>
#include <stdlib.h>

#include "sql.h"

#define RESTARTS 20

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of the first column of at most RESTARTS rows; NaN where there is none. */
static int read_median(struct store *s, const char *sql, const char *workload, double *median,
		       struct err *err)
{
	double times[RESTARTS];
	sqlite3_stmt *q;
	int rc = 0, n = 0;

	*median = (double)NAN;
	if (sql_query(s, &q, err, sql, "ti", workload, (int64_t)RESTARTS))
		return -1;
	while (n < RESTARTS && (rc = sql_row(s, q, err)) == 1)
		times[n++] = sql_double(q, 0);
	sql_done(q);
	if (rc < 0 || n == 0)
		return rc < 0 ? -1 : 0;
	qsort(times, (size_t)n, sizeof(*times), compare_times);
	*median = (times[(n - 1) / 2] + times[n / 2]) / 2;
	return 0;
}

/* A stopped run, and the first run of its job after it that got as far as a step. */
static int read_pairs(struct store *s, const char *workload, double *seconds, struct err *err)
{
	static const char pairs[] =
		"SELECT a.stop_duration_s + b.first_step_s FROM runs b CROSS JOIN runs a ON a.id ="
		" (SELECT id FROM runs WHERE job_id = b.job_id AND number < b.number"
		"  AND launch_time_s IS NOT NULL ORDER BY number DESC LIMIT 1)"
		" WHERE b.id IN " SQL_NEWEST_RUNS("?")
		" AND b.first_step_s IS NOT NULL AND a.stop_duration_s IS NOT NULL"
		" ORDER BY b.id DESC LIMIT ?";

	return read_median(s, pairs, workload, seconds, err);
}

int store_restart_cost(struct store *s, const char *workload, double *seconds, struct err *err)
{
	static const char starts[] =
		"SELECT first_step_s FROM runs WHERE id IN " SQL_NEWEST_RUNS("?")
		" AND first_step_s IS NOT NULL"
		" ORDER BY id DESC LIMIT ?";

	if (read_pairs(s, workload, seconds, err))
		return -1;
	return isnan(*seconds) ? read_median(s, starts, workload, seconds, err) : 0;
}

int store_restart_was_timed(struct store *s, const char *workload, bool *timed, struct err *err)
{
	double seconds;
	int rc = read_pairs(s, workload, &seconds, err);

	*timed = rc == 0 && !isnan(seconds);
	return rc;
}
