/* sim_profiles.c - reads directories of applications, with the trainings and the tables of
 * restarts and slowdowns, and workloads of their jobs. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "pollux/mem.h"
#include "pollux/random_numbers.h"
#include "pollux/simulate.h"
#include "pollux/text.h"

/* --- trainings: validation-B.csv for each batch size B --- */

static int read_validation(struct application *a, const char *path, int64_t batch_size,
			   struct err *err)
{
	static const struct csv_column columns[] = {
		{ "progress", CSV_NUMBER, 0, 1e15 }, { "iteration", CSV_NUMBER, 0, 1e15 },
		{ "grad_sqr", CSV_NUMBER, 0, 1e300 }, { "grad_var", CSV_NUMBER, 0, 1e300 },
	};
	struct validation *v = &a->validations[a->n_validations];
	scoped(csv_release) struct csv c = { 0 };
	int rc = 0;

	if (csv_read(&c, path, columns, 4, err))
		return -1;
	*v = (struct validation){
		.batch_size = batch_size, .epochs = xcalloc((size_t)c.n_rows, sizeof(*v->epochs)),
	};
	a->n_validations++;
	for (int row = 0; row < c.n_rows && rc == 0; row++) {
		struct epoch *e = &v->epochs[row];

		*e = (struct epoch){
			.progress = csv_value(&c, row, 0), .iteration = csv_value(&c, row, 1),
			.gradients = { csv_value(&c, row, 2), csv_value(&c, row, 3) },
		};
		if (!(e->gradients.sqr + e->gradients.var > 0))
			rc = csv_complain(&c, row, err, "grad_sqr and grad_var are both 0");
		else if (row > 0 && e->progress < e[-1].progress)
			rc = csv_complain(&c, row, err,
					  "progress falls from one epoch to the next");
	}
	if (rc == 0 && a->n_epochs && a->n_epochs != c.n_rows)
		rc = csv_complain(&c, c.n_rows - 1, err,
				  "%d epochs, where other validations have %d", c.n_rows,
				  a->n_epochs);
	a->n_epochs = c.n_rows;
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
	scoped(strings_release) struct strings names = { 0 };
	/* By version, so that the batch sizes ascend. */
	int rc = directory_names(&names, directory, versionsort, err);

	a->validations = xcalloc(names.count, sizeof(*a->validations));
	for (size_t i = 0; i < names.count && rc == 0; i++) {
		int64_t size = validation_batch_size(names.items[i]);
		autofree char *path = xasprintf("%s/%s", directory, names.items[i]);

		if (size < 0)
			rc = err_set(err, EX_DATAERR,
				     "'%s': its name is not 'validation-B.csv' of a batch size B",
				     path);
		else if (size)
			rc = read_validation(a, path, size, err);
	}
	if (rc == 0 && !a->n_validations)
		rc = err_set(err, EX_DATAERR, "no 'validation-B.csv' in '%s'", directory);
	if (rc)
		return -1;
	a->initial_batch_size = a->validations[0].batch_size;
	a->max_batch_size = a->validations[a->n_validations - 1].batch_size;
	/* The progress at the end of an epoch is the least of all trainings. */
	a->progress = xcalloc((size_t)a->n_epochs + 1, sizeof(*a->progress));
	for (int e = 0; e < a->n_epochs; e++) {
		a->progress[e + 1] = a->validations[0].epochs[e].progress;
		for (int i = 1; i < a->n_validations; i++)
			a->progress[e + 1] = fmin(a->progress[e + 1],
						  a->validations[i].epochs[e].progress);
	}
	return 0;
}

/* --- restarts and slowdowns --- */

struct application *sim_profiles_find(const struct sim_profiles *p, const char *name)
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

int sim_profiles_read_table(struct sim_profiles *p, const char *path, bool restarts,
			    struct err *err)
{
	const struct csv_column columns[] = {
		{ "application", CSV_TEXT, 0, 0 },
		restarts ? (struct csv_column){ "seconds", CSV_NUMBER, 0, 86400 }
			 : (struct csv_column){ "factor", CSV_NUMBER, 0.01, 1000 },
	};
	scoped(csv_release) struct csv c = { 0 };
	int rc = csv_read(&c, path, columns, 2, err);

	for (int row = 0; rc == 0 && row < c.n_rows; row++) {
		const char *name = csv_text(&c, row, 0);
		struct application *a = sim_profiles_find(p, name);

		if (!a)
			rc = csv_complain(&c, row, err,
					  "the profiles have no application '%.60s'", name);
		else if (restarts)
			a->restart_s = a->told_restart_s = csv_value(&c, row, 1);
		else
			a->slowdown = csv_value(&c, row, 1);
	}
	return rc;
}

/* --- directories --- */

/* kinds: the ends of the names of files, such as "-t4". */
static int read_applications(struct sim_profiles *p, char *const *kinds, struct err *err)
{
	scoped(strings_release) struct strings names = { 0 };
	int rc = directory_names(&names, p->directory, alphasort, err);

	p->items = xcalloc(names.count, sizeof(*p->items));
	for (size_t i = 0; i < names.count && rc == 0; i++) {
		const char *name = names.items[i];
		autofree char *path =
			xasprintf("%s/%s/placements%s.csv", p->directory, name, kinds[0]);

		if (*name != '.' && access(path, F_OK) == 0) {
			rc = application_read(&p->items[p->count], p->directory, name, kinds,
					      p->n_kinds, err);
			p->count += rc == 0;
		}
	}
	if (rc == 0 && !p->count)
		rc = err_set(err, EX_NOINPUT,
			     "no application in '%s': a directory of each, with a "
			     "'placements%s.csv'", p->directory, kinds[0]);
	return rc;
}

int sim_profiles_read(struct sim_profiles *p, const char *directory, const char *const *kinds,
		      int n_kinds, struct err *err)
{
	scoped(strings_release) struct strings suffixes = { 0 };
	int rc;

	*p = (struct sim_profiles){ .directory = xstrdup(directory), .n_kinds = 1 };
	if (n_kinds)
		p->n_kinds = n_kinds;
	else
		strings_add(&suffixes, "");
	for (int k = 0; k < n_kinds; k++)
		strings_addf(&suffixes, "-%s", kinds[k]);
	rc = read_applications(p, suffixes.items, err);
	for (size_t k = 0; n_kinds && k < sizeof(entries) / sizeof(entries[0]); k++) {
		struct application *a = sim_profiles_find(p, entries[k].name);

		if (!a)
			continue;
		a->restart_s = entries[k].restart_s;
		a->told_restart_s = entries[k].told_restart_s;
		a->slowdown = entries[k].slowdown;
	}
	if (rc)
		sim_profiles_release(p);
	return rc;
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
enum { APPLICATION = 2, REPLICAS, BATCH_SIZE, DURATION, TIME_LIMIT, N_COLUMNS };

/* The error for an application without profiles; it tells if a directory of that name exists. */
static int no_profiles(const struct csv *c, int row, const struct sim_profiles *profiles,
		       struct err *err)
{
	const char *name = csv_text(c, row, APPLICATION);
	autofree char *directory = xasprintf("%s/%s", profiles->directory, name);
	bool there = *name && !strchr(name, '/') && access(directory, F_OK) == 0;

	return csv_complain(c, row, err, "no profiles of the application '%.60s'%s%.300s%s", name,
			    there ? ": '" : "", there ? directory : "",
			    there ? "' has no placements.csv" : "");
}

static int take_job(const struct csv *c, int row, struct sim_workload *w, const void *data,
		    struct err *err)
{
	struct sim_workload_job *job = &w->jobs[row];
	const struct application *a = sim_profiles_find(data, csv_text(c, row, APPLICATION));

	if (!*csv_text(c, row, WORKLOAD_NAME))
		return csv_complain(c, row, err, "a job without a name");
	if (!a)
		return no_profiles(c, row, data, err);
	job->application = a;
	job->application_name = a->name;
	job->replicas = (int)csv_value(c, row, REPLICAS);
	job->batch_size = (int64_t)csv_value(c, row, BATCH_SIZE);
	job->duration_s = csv_value(c, row, DURATION);
	job->time_limit_s = csv_value(c, row, TIME_LIMIT);
	if (job->batch_size < a->initial_batch_size || job->batch_size > a->max_batch_size)
		return csv_complain(c, row, err,
				    "batch_size %lld of '%s', which was validated from %lld "
				    "to %lld", (long long)job->batch_size, a->name,
				    (long long)a->initial_batch_size,
				    (long long)a->max_batch_size);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	const struct sim_workload_job *x = *(struct sim_workload_job *const *)a;
	const struct sim_workload_job *y = *(struct sim_workload_job *const *)b;
	int order = strcmp(x->name, y->name);

	return order ? order : (x > y) - (x < y);
}

static int check_names(const struct sim_workload *w, const char *path, struct err *err)
{
	struct sim_workload_job **jobs =
		xcalloc((size_t)w->n_jobs, sizeof(struct sim_workload_job *));
	int rc = 0;

	for (int i = 0; i < w->n_jobs; i++)
		jobs[i] = &w->jobs[i];
	qsort(jobs, (size_t)w->n_jobs, sizeof(struct sim_workload_job *), by_name);
	for (int i = 1; i < w->n_jobs && rc == 0; i++)
		if (strcmp(jobs[i]->name, jobs[i - 1]->name) == 0)
			rc = err_set(err, EX_DATAERR,
				     "%s:%d: a second job '%.60s'; the first is on line %d", path,
				     csv_line((int)(jobs[i] - w->jobs)), jobs[i]->name,
				     csv_line((int)(jobs[i - 1] - w->jobs)));
	free(jobs);
	return rc;
}

/* The name of the file without its folder and without ".csv"; to be freed. */
static char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	char *name = xstrdup(slash ? slash + 1 : path);
	size_t n = strlen(name);

	if (n > 4 && strcmp(name + n - 4, ".csv") == 0)
		name[n - 4] = '\0';
	return name;
}

int workload_read(struct sim_workload *w, const char *path, const struct workload_form *form,
		  const void *data, struct err *err)
{
	struct csv c;
	int rc = 0;

	*w = (struct sim_workload){ 0 };
	if (csv_read(&c, path, form->columns, form->n_columns, err))
		return -1;
	w->name = base_name(path);
	w->jobs = xcalloc((size_t)c.n_rows, sizeof(*w->jobs));
	w->own = xcalloc((size_t)c.n_rows, form->own_size);
	for (int i = 0; i < c.n_rows && rc == 0; i++) {
		struct sim_workload_job *job = &w->jobs[i];

		w->n_jobs++;
		job->name = xstrdup(csv_text(&c, i, WORKLOAD_NAME));
		job->submit_s = csv_value(&c, i, WORKLOAD_TIME);
		if (i > 0 && job->submit_s < job[-1].submit_s)
			rc = csv_complain(&c, i, err,
					  "%s %.15g is before that of the row above, %.15g",
					  form->columns[WORKLOAD_TIME].names, job->submit_s,
					  job[-1].submit_s);
		else
			rc = form->take(&c, i, w, data, err);
	}
	csv_release(&c);
	if (rc)
		sim_workload_release(w);
	return rc;
}

int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err)
{
	static const struct csv_column columns[N_COLUMNS] = {
		{ "name", CSV_TEXT, 0, 0 }, { "time", CSV_NUMBER, 0, WORKLOAD_TIME_MAX },
		{ "application", CSV_TEXT, 0, 0 },
		{ "num_replicas", CSV_WHOLE, 1, REPLICAS_MAX },
		{ "batch_size", CSV_WHOLE, 1, 1e15 },
		{ "duration_s", CSV_OPTIONAL, 1, WORKLOAD_TIME_MAX },
		{ "time_limit_s", CSV_OPTIONAL, 1, 1e12 },
	};
	static const struct workload_form form = { columns, N_COLUMNS, take_job, 0 };

	if (workload_read(w, path, &form, profiles, err))
		return -1;
	if (check_names(w, path, err) == 0)
		return 0;
	sim_workload_release(w);
	return -1;
}

void sim_workload_draw(const struct sim_workload *w, uint64_t seed, int number,
		       struct sim_workload *draw)
{
	uint64_t random = random_bits(&seed) + (uint64_t)number;
	double at_s = w->n_jobs ? w->jobs[0].submit_s : 0;

	random_add_name(&random, w->name);
	*draw = *w;
	draw->jobs = xcalloc((size_t)w->n_jobs, sizeof(*draw->jobs));
	for (int i = 0; i < w->n_jobs; i++) {
		draw->jobs[i] = w->jobs[i];
		if (i)
			at_s += random_exponential(&random, w->jobs[i].submit_s -
							    w->jobs[i - 1].submit_s);
		draw->jobs[i].submit_s = at_s;
	}
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
