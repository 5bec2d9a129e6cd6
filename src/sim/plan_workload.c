/* plan_workload.c - reads a workload of jobs with execution plans. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "pollux/mem.h"
#include "pollux/sim_plans.h"

enum column { NAME, TIME, APPLICATION, GPUS, CPUS, PLAN, STEPS, SLA, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {
	"name", "submission_time", "application", "num_gpus", "num_cpus", "exec_plan", "steps",
	"is_sla",
};

static const struct plan_application *find_plan_application(const struct sim_plans *p,
							    const char *name)
{
	for (int i = 0; i < p->count; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	return NULL;
}

/* The time of the fastest row on this many GPUs, of one plan or (NULL) of all; infinite: none. */
static double row_s(const struct plan_application *a, const char *plan, int gpus)
{
	for (int i = 0; i < a->n_rows; i++)
		if (a->rows[i].gpus == gpus && (!plan || strcmp(a->rows[i].plan, plan) == 0))
			return a->rows[i].iteration_s;
	return HUGE_VAL;
}

/* The least number of GPUs that can be given and on which an iteration takes no longer than
 * this. */
static int least_gpus(const struct sim_plans *p, const struct plan_application *a, double at_most_s)
{
	for (int r = 1; r <= p->n_gpus; r++)
		if (a->best[r] && a->best[r]->iteration_s <= at_most_s)
			return r;
	return 0;
}

static int set_terms(const struct csv *c, int row, const struct sim_plans *p, struct plan_job *job,
		     int gpus, struct err *err)
{
	const struct plan_application *a = job->application;

	job->owner_s = row_s(a, csv_cell(c, row, PLAN), gpus);
	for (int r = gpus; r > 0 && !isfinite(job->reference_s); r--)
		job->reference_s = row_s(a, NULL, r);
	if (!isfinite(job->reference_s))
		job->reference_s = a->best[a->least_gpus]->iteration_s;
	if (job->guaranteed && !isfinite(job->owner_s))
		return csv_complain(c, row, err,
				    "a guarantee for %d GPUs with plan '%.32s', without "
				    "measurement", gpus, csv_cell(c, row, PLAN));
	job->min_gpus = job->guaranteed ? least_gpus(p, a, job->owner_s) : a->least_gpus;
	if (!job->min_gpus)
		return csv_complain(c, row, err, "no placement here keeps the guarantee");
	return 0;
}

static int read_job(const struct csv *c, int row, const struct sim_plans *p, struct plan_job *job,
		    struct sim_workload *w, struct err *err)
{
	struct sim_workload_job *spec = &w->jobs[row];
	int64_t gpus, cpus, steps, sla;

	if (csv_number(c, row, TIME, (struct csv_range){ 0, 1e12 }, &spec->submit_s, err) ||
	    csv_whole(c, row, GPUS, (struct csv_range){ 1, p->n_gpus }, &gpus, err) ||
	    csv_whole(c, row, CPUS, (struct csv_range){ 0, 1e6 }, &cpus, err) ||
	    csv_whole(c, row, STEPS, (struct csv_range){ 0, 1e12 }, &steps, err) ||
	    csv_whole(c, row, SLA, (struct csv_range){ 0, 1 }, &sla, err))
		return -1;
	if (row > 0 && spec->submit_s < spec[-1].submit_s)
		return csv_complain(c, row, err, "submission_time is before that of the row above");
	*job = (struct plan_job){
		.application = find_plan_application(p, csv_cell(c, row, APPLICATION)),
		.iterations = (double)steps + 1,
		.cores = fmin((double)cpus / (double)gpus, PLAN_CORES_PER_GPU),
		.guaranteed = sla, .reference_s = HUGE_VAL,
	};
	if (!job->application || !job->application->least_gpus)
		return csv_complain(c, row, err, "no measurements of the application '%.60s' here",
				    csv_cell(c, row, APPLICATION));
	spec->application_name = job->application->name;
	spec->replicas = (int)gpus;
	spec->name = xstrdup(csv_cell(c, row, NAME));
	w->n_jobs++;
	return set_terms(c, row, p, job, (int)gpus, err);
}

int sim_plans_workload(const struct sim_plans *p, const char *path, struct plan_job **jobs,
		       struct sim_workload *workload, struct err *err)
{
	struct csv c;
	int rc = 0;

	*workload = (struct sim_workload){ 0 };
	*jobs = NULL;
	if (csv_read(&c, path, columns, N_COLUMNS, err))
		return -1;
	workload->name = csv_base_name(path);
	workload->jobs = xcalloc((size_t)c.n_rows, sizeof(*workload->jobs));
	*jobs = xcalloc((size_t)c.n_rows, sizeof(**jobs));
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_job(&c, i, p, &(*jobs)[i], workload, err);
	csv_release(&c);
	if (rc == 0)
		return 0;
	free(*jobs);
	*jobs = NULL;
	sim_workload_release(workload);
	return rc;
}
