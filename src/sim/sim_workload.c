/* sim_workload.c - reads a workload's file. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "csv.h"
#include "pollux/mem.h"
#include "pollux/sim_workload.h"

#define REPLICAS_MAX 1000000

enum column { NAME, TIME, APPLICATION, REPLICAS, BATCH_SIZE, N_COLUMNS };

static const char *const columns[N_COLUMNS] = {
	"name", "time", "application", "num_replicas", "batch_size",
};

static int read_batch_size(const struct csv *c, int row, const struct application *a,
			   struct sim_workload_job *job, struct err *err)
{
	if (csv_whole(c, row, BATCH_SIZE, (struct csv_range){ 1, 1e15 }, &job->batch_size, err))
		return -1;
	if (job->batch_size < a->initial_batch_size || job->batch_size > a->max_batch_size)
		return csv_complain(c, row, err,
				    "batch_size %lld of '%s', which was validated from %lld "
				    "to %lld",
				    (long long)job->batch_size, a->name,
				    (long long)a->initial_batch_size, (long long)a->max_batch_size);
	return 0;
}

/* The error for an application without profiles; it tells if a directory of that name exists. */
static int no_profiles(const struct csv *c, int row, const struct sim_profiles *profiles,
		       struct err *err)
{
	const char *name = csv_cell(c, row, APPLICATION);
	char *directory = xasprintf("%s/%s", profiles->directory, name);
	bool there = *name && !strchr(name, '/') && access(directory, F_OK) == 0;

	csv_complain(c, row, err, "no profiles of the application '%.60s'%s%.300s%s", name,
		     there ? ": '" : "", there ? directory : "",
		     there ? "' has no placements.csv" : "");
	free(directory);
	return -1;
}

static int read_job(const struct csv *c, int row, const struct sim_profiles *profiles,
		    struct sim_workload *w, struct err *err)
{
	struct sim_workload_job *job = &w->jobs[row];
	int64_t replicas;

	if (csv_number(c, row, TIME, (struct csv_range){ 0, 1e12 }, &job->submit_s, err) ||
	    csv_whole(c, row, REPLICAS, (struct csv_range){ 1, REPLICAS_MAX }, &replicas, err))
		return -1;
	job->replicas = (int)replicas;
	if (!*csv_cell(c, row, NAME))
		return csv_complain(c, row, err, "a job without a name");
	if (row > 0 && job->submit_s < job[-1].submit_s)
		return csv_complain(c, row, err,
				    "time %.15g is before that of the row above, %.15g",
				    job->submit_s, job[-1].submit_s);
	job->application = sim_profiles_find(profiles, csv_cell(c, row, APPLICATION));
	if (!job->application)
		return no_profiles(c, row, profiles, err);
	job->application_name = job->application->name;
	job->name = xstrdup(csv_cell(c, row, NAME));
	w->n_jobs++;
	return read_batch_size(c, row, job->application, job, err);
}

/* A name and its row. */
struct name {
	const char *text;
	int row;
};

static int by_name(const void *a, const void *b)
{
	const struct name *x = a, *y = b;
	int order = strcmp(x->text, y->text);

	return order ? order : x->row - y->row;
}

static int check_names(const struct csv *c, const struct sim_workload *w, struct err *err)
{
	struct name *names = xcalloc((size_t)w->n_jobs, sizeof(*names));
	int rc = 0;

	for (int i = 0; i < w->n_jobs; i++)
		names[i] = (struct name){ w->jobs[i].name, i };
	qsort(names, (size_t)w->n_jobs, sizeof(*names), by_name);
	for (int i = 1; i < w->n_jobs && rc == 0; i++)
		if (strcmp(names[i].text, names[i - 1].text) == 0)
			rc = csv_complain(c, names[i].row, err,
					  "a second job '%.60s'; the first is on line %d",
					  names[i].text, csv_line(names[i - 1].row));
	free(names);
	return rc;
}

int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err)
{
	struct csv c;
	int rc = 0;

	*w = (struct sim_workload){ 0 };
	if (csv_read(&c, path, columns, N_COLUMNS, err))
		return -1;
	w->name = csv_base_name(path);
	w->jobs = xcalloc((size_t)c.n_rows, sizeof(*w->jobs));
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_job(&c, i, profiles, w, err);
	if (rc == 0)
		rc = check_names(&c, w, err);
	csv_release(&c);
	if (rc)
		sim_workload_release(w);
	return rc;
}

void sim_workload_release(struct sim_workload *w)
{
	free(w->name);
	for (int i = 0; i < w->n_jobs; i++)
		free(w->jobs[i].name);
	free(w->jobs);
	*w = (struct sim_workload){ 0 };
}
