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

/* Sorts the times. NaN if there are none. */
static double median_of(double *times, int n)
{
	qsort(times, (size_t)n, sizeof(*times), compare_times);
	return n > 0 ? (times[(n - 1) / 2] + times[n / 2]) / 2 : (double)NAN;
}

/* Reads the medians of at most RESTARTS rows: of the first column, and of the second where not
 * NULL. */
static int read_medians(struct store *s, const char *sql, const char *workload, double medians[2],
			struct err *err)
{
	double times[2][RESTARTS];
	sqlite3_stmt *q;
	int rc = 0, n[2] = { 0, 0 };

	if (sql_query(s, &q, err, sql, "ti", workload, (int64_t)RESTARTS))
		return -1;
	while (n[0] < RESTARTS && (rc = sql_row(s, q, err)) == 1) {
		times[0][n[0]++] = sql_double(q, 0);
		times[1][n[1]] = sql_double(q, 1);
		n[1] += !isnan(times[1][n[1]]);
	}
	sql_done(q);
	medians[0] = median_of(times[0], n[0]);
	medians[1] = median_of(times[1], n[1]);
	return rc < 0 ? -1 : 0;
}

/* Reads pairs: a stopped run, and the next run of its job that reported a step. */
static int read_pairs(struct store *s, const char *workload, double *seconds, struct err *err)
{
	static const char pairs[] =
		"SELECT a.stop_duration_s + b.first_step_s, NULL FROM runs b CROSS JOIN runs a"
		" ON a.id ="
		" (SELECT id FROM runs WHERE job_id = b.job_id AND number < b.number"
		"  AND launch_time_s IS NOT NULL ORDER BY number DESC LIMIT 1)"
		" WHERE b.id IN " SQL_NEWEST_RUNS("?")
		" AND b.first_step_s IS NOT NULL AND a.stop_duration_s IS NOT NULL"
		" ORDER BY b.id DESC LIMIT ?";
	double medians[2];

	if (read_medians(s, pairs, workload, medians, err))
		return -1;
	*seconds = medians[0];
	return 0;
}

/* Reads the separate medians of starts and of stops, for a workload without such a pair. */
static int read_halves(struct store *s, const char *workload, double halves[2], struct err *err)
{
	static const char starts[] =
		"SELECT first_step_s, stop_duration_s FROM runs WHERE id IN " SQL_NEWEST_RUNS("?")
		" AND first_step_s IS NOT NULL"
		" ORDER BY id DESC LIMIT ?";

	return read_medians(s, starts, workload, halves, err);
}

int store_restart_cost(struct store *s, const char *workload, double *seconds, struct err *err)
{
	double halves[2];

	if (read_pairs(s, workload, seconds, err))
		return -1;
	if (!isnan(*seconds))
		return 0;
	if (read_halves(s, workload, halves, err))
		return -1;
	*seconds = isnan(halves[1]) ? halves[0] : halves[0] + halves[1];
	return 0;
}

int store_restart_was_timed(struct store *s, const char *workload, bool *timed, struct err *err)
{
	double seconds, halves[2] = { (double)NAN, (double)NAN };
	int rc = read_pairs(s, workload, &seconds, err);

	if (rc == 0 && isnan(seconds))
		rc = read_halves(s, workload, halves, err);
	*timed = rc == 0 && !(isnan(seconds) && isnan(halves[1]));
	return rc;
}
