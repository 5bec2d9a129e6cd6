/* rack_workload.c - reads a workload of jobs of a fixed size. */
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "pollux/mem.h"
#include "pollux/sim_racks.h"
#include "rack_csv.h"

enum column { NAME, TIME, GPUS, ITERATIONS, ITERATION_S, APPLICATION, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {
	"name", "submitted_s", "gpus", "iterations", "time_per_iteration_s", "application",
};
static const char *const other_columns[N_COLUMNS] = {
	"name", "submitted_s", "gpus", "iterations", "time_per_iteration_s", "model",
};

static int find_application(const struct csv *c, int row, const struct sim_racks *t,
			    struct rack_workload_job *job, struct err *err)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->applications[i].name, csv_cell(c, row, APPLICATION)) == 0) {
			job->application = &t->applications[i];
			return 0;
		}
	return csv_complain(c, row, err, "no tiers of the application '%.60s'",
			    csv_cell(c, row, APPLICATION));
}

static int read_job(const struct csv *c, int row, const struct sim_racks *t,
		    struct rack_workload_job *job, struct sim_workload *w, struct err *err)
{
	struct sim_workload_job *spec = &w->jobs[row];
	int n = t->cluster.racks * t->cluster.machines_per_rack * t->cluster.gpus_per_machine;
	double iterations, iteration_s;
	int64_t gpus;

	if (csv_number(c, row, TIME, (struct csv_range){ 0, 1e12 }, &spec->submit_s, err) ||
	    csv_whole(c, row, GPUS, (struct csv_range){ 1, n }, &gpus, err) ||
	    csv_number(c, row, ITERATIONS, (struct csv_range){ 1, 1e15 }, &iterations, err) ||
	    csv_number(c, row, ITERATION_S, (struct csv_range){ 1e-9, 1e6 }, &iteration_s, err) ||
	    find_application(c, row, t, job, err))
		return -1;
	if (row > 0 && spec->submit_s < spec[-1].submit_s)
		return csv_complain(c, row, err, "submitted_s is before that of the row above");
	job->gpus = spec->replicas = (int)gpus;
	spec->application_name = job->application->name;
	job->work_s = iterations * iteration_s / job->gpus;
	spec->name = xstrdup(csv_cell(c, row, NAME));
	w->n_jobs++;
	return 0;
}

int sim_racks_workload(const struct sim_racks *t, const char *path,
		       struct rack_workload_job **jobs, struct sim_workload *workload,
		       struct err *err)
{
	struct csv c;
	int rc = 0;

	*workload = (struct sim_workload){ 0 };
	*jobs = NULL;
	if (rack_csv_read(&c, path, columns, other_columns, N_COLUMNS, err))
		return -1;
	workload->name = csv_base_name(path);
	workload->jobs = xcalloc((size_t)c.n_rows, sizeof(*workload->jobs));
	*jobs = xcalloc((size_t)c.n_rows, sizeof(**jobs));
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_job(&c, i, t, &(*jobs)[i], workload, err);
	csv_release(&c);
	if (rc == 0)
		return 0;
	free(*jobs);
	*jobs = NULL;
	sim_workload_release(workload);
	return rc;
}
