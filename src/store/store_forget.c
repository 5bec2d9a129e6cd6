/* store_forget.c - takes back what is known of a workload: deletes rows, and marks runs whose
 * outcome told something about sizes. */
#include "rows.h"
#include "pollux/store_forget.h"

/* The runs of a job, or of all jobs of a workload. */
#define OF_RUNS \
	"(SELECT id FROM runs WHERE (?1 = 0 AND workload = ?2) OR job_id = ?1 OR (?1 = 0 AND " \
	SQL_OF_PLANS("workload", "?2") "))"

static int change_rows(struct store *s, const struct forget *f, const char *sql, int64_t *n,
		       struct err *err)
{
	int changed = 0;
	int rc = sql_run(s, &changed, err, sql, "it", f->job_id, f->workload);

	*n += changed;
	return rc;
}

/* Deletes the model, too, because it rests on the observations of all jobs. The next pass fits a
 * new model to the observations that are left. */
static int forget_times(struct store *s, const struct forget *f, struct forgotten *n,
			struct err *err)
{
	int64_t ignored = 0;

	return change_rows(s, f, "UPDATE runs SET forgotten = forgotten | 1 WHERE state = 'ended'"
			   " AND id IN " OF_RUNS, &ignored, err) ||
	       change_rows(s, f, "DELETE FROM observations WHERE run_id IN " OF_RUNS,
			   &n->observations, err) ||
	       change_rows(s, f, "DELETE FROM steps_beside WHERE run_id IN " OF_RUNS, &ignored,
			   err) ||
	       change_rows(s, f, "DELETE FROM models WHERE (workload = ?2 OR "
			   SQL_OF_PLANS("workload", "?2") ") AND ?1 = ?1", &n->models, err)
		? -1 : 0;
}

static int forget_memory(struct store *s, const struct forget *f, struct forgotten *n,
			 struct err *err)
{
	int64_t ignored = 0;

	return change_rows(s, f, "DELETE FROM apart WHERE ?2 IN (workload, beside) AND ?1 = ?1",
			   &ignored, err) ||
	       change_rows(s, f, "UPDATE runs SET forgotten = forgotten WHERE out_of_memory = 1"
			   " AND state = 'ended' AND (forgotten & 2) = 0 AND id IN " OF_RUNS,
			   &n->out_of_memory, err) ||
	       change_rows(s, f, "UPDATE runs SET forgotten = forgotten | 2 WHERE state = 'ended'"
			   " AND id IN " OF_RUNS, &ignored, err) ? -1 : 0;
}

int store_forget(struct store *s, const struct forget *f, struct forgotten *n, struct err *err)
{
	*n = (struct forgotten){ 0 };
	if (f->gradients &&
	    change_rows(s, f, "DELETE FROM gradient_statistics WHERE run_id IN " OF_RUNS,
			&n->windows, err))
		return -1;
	if (f->times && forget_times(s, f, n, err))
		return -1;
	return f->memory ? forget_memory(s, f, n, err) : 0;
}

int store_workload_has_jobs(struct store *s, const char *workload, bool *has, struct err *err)
{
	int64_t n;
	int rc = sql_ask(s, &n, err, "SELECT EXISTS (SELECT 1 FROM jobs WHERE workload = ?)", "t",
			 workload);

	*has = rc == 0 && n > 0;
	return rc;
}
