/* sim_profiles.c - reads directories of applications, with the trainings and the tables of
 * restarts and slowdowns, and workloads of their jobs. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "pollux/text.h"

/* --- trainings: validation-B.csv for each batch size B --- */

static int read_epoch(const struct csv *c, int row, struct validation *v, struct err *err)
{
	static const struct csv_range updates = { 0, 1e15 }, squares = { 0, 1e300 };

	if (csv_number(c, row, 0, updates, &v->progress[row], err) ||
	    csv_number(c, row, 1, updates, &v->iteration[row], err) ||
	    csv_number(c, row, 2, squares, &v->grad_sqr[row], err) ||
	    csv_number(c, row, 3, squares, &v->grad_var[row], err))
		return -1;
	if (!(v->grad_sqr[row] + v->grad_var[row] > 0))
		return csv_complain(c, row, err, "grad_sqr and grad_var are both 0");
	if (row > 0 && v->progress[row] < v->progress[row - 1])
		return csv_complain(c, row, err, "progress falls from one epoch to the next");
	return 0;
}

static int read_validation(struct application *a, const char *path, int64_t batch_size,
			   struct err *err)
{
	static const char *const columns[] = { "progress", "iteration", "grad_sqr", "grad_var" };
	struct validation *v = &a->validations[a->n_validations];
	struct csv c;
	int rc = 0;

	if (csv_read(&c, path, columns, 4, err))
		return -1;
	*v = (struct validation){ .batch_size = batch_size };
	v->progress = xcalloc((size_t)c.n_rows * 4, sizeof(*v->progress));
	v->iteration = v->progress + c.n_rows;
	v->grad_sqr = v->iteration + c.n_rows;
	v->grad_var = v->grad_sqr + c.n_rows;
	a->n_validations++;
	for (int i = 0; i < c.n_rows && rc == 0; i++)
		rc = read_epoch(&c, i, v, err);
	if (rc == 0 && a->n_epochs && a->n_epochs != c.n_rows)
		rc = csv_complain(&c, c.n_rows - 1, err,
				  "%d epochs, where other validations have %d", c.n_rows,
				  a->n_epochs);
	a->n_epochs = c.n_rows;
	csv_release(&c);
	return rc;
}

/* Returns B of "validation-B.csv"; 0 for any other name; -1 if B is no number or is not written in
 * its usual form. */
static int64_t validation_batch_size(const char *name)
{
	static const char prefix[] = "validation-", suffix[] = ".csv";
	size_t n = strlen(name), head = sizeof(prefix) - 1, tail = sizeof(suffix) - 1;
	char usual[64];
	long long size;

	if (n < head + tail || !text_starts_with(name, prefix) ||
	    strcmp(name + n - tail, suffix) != 0)
		return 0;
	size = strtoll(name + head, NULL, 10);
	snprintf(usual, sizeof(usual), "validation-%lld.csv", size);
	return strcmp(name, usual) == 0 && size >= 1 && size <= BATCH_SIZE_MAX ? size : -1;
}

int application_read_validations(struct application *a, const char *directory, struct err *err)
{
	struct dirent **names;
	/* By version, so that the batch sizes ascend. */
	int n = scandir(directory, &names, NULL, versionsort), rc = 0;

	if (n < 0)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", directory, strerror(errno));
	for (int i = 0; i < n && rc == 0; i++)
		if (validation_batch_size(names[i]->d_name) < 0)
			rc = err_set(err, EX_DATAERR,
				     "'%s/%s': its name is not 'validation-B.csv' of a batch "
				     "size B", directory, names[i]->d_name);
	a->validations = xcalloc((size_t)n, sizeof(*a->validations));
	for (int i = 0; i < n; i++) {
		int64_t size = validation_batch_size(names[i]->d_name);
		char *path = xasprintf("%s/%s", directory, names[i]->d_name);

		if (rc == 0 && size)
			rc = read_validation(a, path, size, err);
		free(path);
		free(names[i]);
	}
	free(names);
	if (rc == 0 && !a->n_validations)
		rc = err_set(err, EX_DATAERR, "no 'validation-B.csv' in '%s'", directory);
	if (rc)
		return -1;
	a->initial_batch_size = a->validations[0].batch_size;
	a->max_batch_size = a->validations[a->n_validations - 1].batch_size;
	/* The progress at the end of an epoch is the least of all trainings. */
	a->progress = xcalloc((size_t)a->n_epochs + 1, sizeof(*a->progress));
	for (int e = 0; e < a->n_epochs; e++) {
		a->progress[e + 1] = a->validations[0].progress[e];
		for (int i = 1; i < a->n_validations; i++)
			a->progress[e + 1] =
				fmin(a->progress[e + 1], a->validations[i].progress[e]);
	}
	return 0;
}

/* --- restarts and slowdowns --- */

const struct application *sim_profiles_find(const struct sim_profiles *p, const char *name)
{
	for (int i = 0; i < p->count; i++)
		if (strcmp(p->items[i].name, name) == 0)
			return &p->items[i];
	return NULL;
}

/* Restarts and slowdowns of the artifact of Jayaram Subramanya et al., "Sia", SOSP 2023, where
 * applications run on several kinds. The restarts that the policy is told are not the real ones. */
static const struct entry {
	const char *name;
	double restart_s, told_restart_s, slowdown;
} entries[] = {
	{ "cifar10", 50, 30, 1.8 },
	{ "deepspeech2", 25, 25, 1.2 },
	{ "bert", 120, 120, 1.2 },
	{ "yolov3", 80, 45, 1.2 },
	{ "imagenet", 250, 250, 1.2 },
	{ "ncf", 15, 30, 1.5 },
};

/* The application that a row of a table names; NULL: the profiles have none. */
static struct application *named_in(const struct csv *c, int row, const struct sim_profiles *p,
				    struct err *err)
{
	const char *name = csv_cell(c, row, 0);
	const struct application *a = sim_profiles_find(p, name);

	if (!a)
		csv_complain(c, row, err, "the profiles have no application '%.60s'", name);
	return a ? &p->items[a - p->items] : NULL;
}

static int read_restart(const struct csv *c, int row, void *profiles, struct err *err)
{
	struct application *a = named_in(c, row, profiles, err);

	if (!a || csv_number(c, row, 1, (struct csv_range){ 0, 86400 }, &a->restart_s, err))
		return -1;
	a->told_restart_s = a->restart_s;
	return 0;
}

static int read_slowdown(const struct csv *c, int row, void *profiles, struct err *err)
{
	struct application *a = named_in(c, row, profiles, err);

	return a ? csv_number(c, row, 1, (struct csv_range){ 0.01, 1000 }, &a->slowdown, err) : -1;
}

int sim_profiles_read_restarts(struct sim_profiles *p, const char *path, struct err *err)
{
	static const char *const columns[] = { "application", "seconds" };

	return csv_rows(path, columns, 2, read_restart, p, err);
}

int sim_profiles_read_slowdowns(struct sim_profiles *p, const char *path, struct err *err)
{
	static const char *const columns[] = { "application", "factor" };

	return csv_rows(path, columns, 2, read_slowdown, p, err);
}

/* --- directories --- */

/* kinds: the ends of the names of files, such as "-t4". */
static int read_applications(struct sim_profiles *p, char *const *kinds, struct err *err)
{
	struct dirent **names;
	int n = scandir(p->directory, &names, NULL, alphasort), rc = 0;

	if (n < 0)
		return err_set(err, EX_NOINPUT, "cannot read '%s': %s", p->directory,
			       strerror(errno));
	p->items = xcalloc((size_t)n, sizeof(*p->items));
	for (int i = 0; i < n; i++) {
		const char *name = names[i]->d_name;
		char *path = xasprintf("%s/%s/placements%s.csv", p->directory, name, kinds[0]);

		if (rc == 0 && *name != '.' && access(path, F_OK) == 0) {
			rc = application_read(&p->items[p->count], p->directory, name, kinds,
					      p->n_kinds, err);
			p->count += rc == 0;
		}
		free(path);
		free(names[i]);
	}
	free(names);
	if (rc == 0 && !p->count)
		rc = err_set(err, EX_NOINPUT,
			     "no application in '%s': a directory of each, with a "
			     "'placements%s.csv'", p->directory, kinds[0]);
	return rc;
}

int sim_profiles_read_kinds(struct sim_profiles *p, const char *directory,
			    const char *const *kinds, int n_kinds, struct err *err)
{
	char **suffixes = xcalloc((size_t)n_kinds, sizeof(*suffixes));
	int rc;

	*p = (struct sim_profiles){ .directory = xstrdup(directory), .n_kinds = n_kinds };
	for (int k = 0; k < n_kinds; k++)
		suffixes[k] = kinds ? xasprintf("-%s", kinds[k]) : xstrdup("");
	rc = read_applications(p, suffixes, err);
	for (size_t k = 0; kinds && k < sizeof(entries) / sizeof(entries[0]); k++)
		for (struct application *a = p->items; a < p->items + p->count; a++)
			if (strcmp(a->name, entries[k].name) == 0) {
				a->restart_s = entries[k].restart_s;
				a->told_restart_s = entries[k].told_restart_s;
				a->slowdown = entries[k].slowdown;
			}
	for (int k = 0; k < n_kinds; k++)
		free(suffixes[k]);
	free(suffixes);
	if (rc)
		sim_profiles_release(p);
	return rc;
}

int sim_profiles_read(struct sim_profiles *p, const char *directory, struct err *err)
{
	return sim_profiles_read_kinds(p, directory, NULL, 1, err);
}

void sim_profiles_release(struct sim_profiles *p)
{
	for (int i = 0; i < p->count; i++)
		application_release(&p->items[i]);
	free(p->items);
	free(p->directory);
	*p = (struct sim_profiles){ 0 };
}

/* --- workloads --- */

#define REPLICAS_MAX 1000000

/* The columns of a workload, after name and time. */
enum { APPLICATION = 2, REPLICAS, BATCH_SIZE, N_COLUMNS };

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

static int read_job(const struct csv *c, int row, struct sim_workload *w, const void *data,
		    struct err *err)
{
	const struct sim_profiles *profiles = data;
	struct sim_workload_job *job = &w->jobs[row];
	int64_t replicas;

	if (csv_whole(c, row, REPLICAS, (struct csv_range){ 1, REPLICAS_MAX }, &replicas, err))
		return -1;
	job->replicas = (int)replicas;
	if (!*csv_cell(c, row, WORKLOAD_NAME))
		return csv_complain(c, row, err, "a job without a name");
	job->application = sim_profiles_find(profiles, csv_cell(c, row, APPLICATION));
	if (!job->application)
		return no_profiles(c, row, profiles, err);
	job->application_name = job->application->name;
	if (csv_whole(c, row, BATCH_SIZE, (struct csv_range){ 1, 1e15 }, &job->batch_size, err))
		return -1;
	if (job->batch_size < job->application->initial_batch_size ||
	    job->batch_size > job->application->max_batch_size)
		return csv_complain(c, row, err,
				    "batch_size %lld of '%s', which was validated from %lld "
				    "to %lld", (long long)job->batch_size, job->application_name,
				    (long long)job->application->initial_batch_size,
				    (long long)job->application->max_batch_size);
	return 0;
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

static int check_names(const struct sim_workload *w, const char *path, struct err *err)
{
	struct name *names = xcalloc((size_t)w->n_jobs, sizeof(*names));
	int rc = 0;

	for (int i = 0; i < w->n_jobs; i++)
		names[i] = (struct name){ w->jobs[i].name, i };
	qsort(names, (size_t)w->n_jobs, sizeof(*names), by_name);
	for (int i = 1; i < w->n_jobs && rc == 0; i++)
		if (strcmp(names[i].text, names[i - 1].text) == 0)
			rc = err_set(err, EX_DATAERR,
				     "%s:%d: a second job '%.60s'; the first is on line %d", path,
				     csv_line(names[i].row), names[i].text,
				     csv_line(names[i - 1].row));
	free(names);
	return rc;
}

int workload_read(struct sim_workload *w, const char *path, const struct workload_form *form,
		  const void *data, struct err *err)
{
	struct csv c;
	int rc = 0;

	*w = (struct sim_workload){ 0 };
	if (csv_read(&c, path, form->columns, form->n_columns, err))
		return -1;
	w->name = csv_base_name(path);
	w->jobs = xcalloc((size_t)c.n_rows, sizeof(*w->jobs));
	w->own = xcalloc((size_t)c.n_rows, form->own_size);
	for (int i = 0; i < c.n_rows && rc == 0; i++) {
		struct sim_workload_job *job = &w->jobs[i];

		w->n_jobs++;
		job->name = xstrdup(csv_cell(&c, i, WORKLOAD_NAME));
		rc = csv_number(&c, i, WORKLOAD_TIME, (struct csv_range){ 0, 1e12 },
				&job->submit_s, err);
		if (rc == 0 && i > 0 && job->submit_s < job[-1].submit_s)
			rc = csv_complain(&c, i, err,
					  "%s %.15g is before that of the row above, %.15g",
					  form->columns[WORKLOAD_TIME], job->submit_s,
					  job[-1].submit_s);
		if (rc == 0)
			rc = form->read(&c, i, w, data, err);
	}
	csv_release(&c);
	if (rc)
		sim_workload_release(w);
	return rc;
}

int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err)
{
	static const char *const columns[N_COLUMNS] = {
		"name", "time", "application", "num_replicas", "batch_size",
	};
	static const struct workload_form form = { columns, N_COLUMNS, read_job, 0 };

	if (workload_read(w, path, &form, profiles, err))
		return -1;
	if (check_names(w, path, err) == 0)
		return 0;
	sim_workload_release(w);
	return -1;
}

void sim_workload_release(struct sim_workload *w)
{
	free(w->name);
	for (int i = 0; i < w->n_jobs; i++)
		free(w->jobs[i].name);
	free(w->jobs);
	free(w->own);
	*w = (struct sim_workload){ 0 };
}
