/* racks_files.c - reads what applications make of GPUs by their distance, and workloads of jobs
 * of a fixed size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"

#define BYTES_PER_GB 1e9

static const char *const distance_names[DISTANCES] = { "machine", "rack", "network" };

static struct rack_application *add_application(struct sim_racks *t, const struct csv *c, int row,
						struct err *err)
{
	const char *name = csv_cell(c, row, 0);

	for (int i = 0; i < t->count; i++)
		if (strcmp(t->applications[i].name, name) == 0) {
			csv_complain(c, row, err, "a second row for '%.60s'", name);
			return NULL;
		}
	t->applications = xreallocarray(t->applications, (size_t)t->count + 1,
					sizeof(*t->applications));
	t->applications[t->count] = (struct rack_application){ .name = xstrdup(name) };
	return &t->applications[t->count++];
}

int sim_racks_read(struct sim_racks *t, const char *path, struct err *err)
{
	static const char *const columns[] = {
		"application|model", "machine", "rack", "network",
	};
	struct csv c;
	int rc = csv_read(&c, path, columns, 4, err);

	if (rc)
		return rc;
	for (int row = 0; row < c.n_rows && rc == 0; row++) {
		struct rack_application *a = add_application(t, &c, row, err);

		rc = a ? 0 : -1;
		for (int k = 0; k < DISTANCES && rc == 0; k++) {
			double most = k ? a->part[k - 1] : 1;

			rc = csv_number(&c, row, 1 + k, (struct csv_range){ 1e-6, 1 },
					&a->part[k], err);
			if (rc == 0 && a->part[k] > most)
				rc = csv_complain(&c, row, err, "%s is above %s", distance_names[k],
						  distance_names[k - 1]);
		}
	}
	csv_release(&c);
	return rc;
}

static int read_link(struct sim_racks *t, const struct csv *c, int row, struct err *err)
{
	struct rack_link link;
	int k = 0;

	while (k < DISTANCES && strcmp(distance_names[k], csv_cell(c, row, 0)) != 0)
		k++;
	if (k == DISTANCES)
		return csv_complain(c, row, err, "no tier '%.32s': machine, rack or network",
				    csv_cell(c, row, 0));
	if (csv_number(c, row, 1, (struct csv_range){ 1e-6, 1e9 }, &link.bytes_per_s, err) ||
	    csv_number(c, row, 2, (struct csv_range){ 0, 1e3 }, &link.latency_s, err) ||
	    csv_number(c, row, 3, (struct csv_range){ 1, 1e6 }, &link.congestion, err))
		return -1;
	if (t->links[k].bytes_per_s > 0)
		return csv_complain(c, row, err, "a second row for '%s'", distance_names[k]);
	link.bytes_per_s *= BYTES_PER_GB;
	t->links[k] = link;
	return 0;
}

static int read_links(struct sim_racks *t, const char *path, struct err *err)
{
	static const char *const columns[] = {
		"tier", "bandwidth_GB_s", "latency_s", "congestion",
	};
	struct csv c;
	int rc = csv_read(&c, path, columns, 4, err);

	if (rc)
		return rc;
	for (int row = 0; row < c.n_rows && rc == 0; row++)
		rc = read_link(t, &c, row, err);
	csv_release(&c);
	for (int k = 0; k < DISTANCES && rc == 0; k++)
		if (t->links[k].bytes_per_s <= 0)
			rc = err_set(err, EX_DATAERR, "%s: no row for '%s'", path,
				     distance_names[k]);
	return rc;
}

static int read_model(struct sim_racks *t, const struct csv *c, int row, struct err *err)
{
	struct rack_application *a = add_application(t, c, row, err);

	if (!a ||
	    csv_number(c, row, 1, (struct csv_range){ 1e-9, 1e6 }, &a->compute_s, err) ||
	    csv_number(c, row, 2, (struct csv_range){ 0, 1e15 }, &a->gradient_bytes, err) ||
	    csv_number(c, row, 3, (struct csv_range){ 0, 1e9 }, &a->messages, err))
		return -1;
	return 0;
}

int sim_racks_read_links(struct sim_racks *t, const char *links, const char *models,
			 struct err *err)
{
	static const char *const columns[] = {
		"application|model", "compute_s", "gradient_bytes", "messages",
	};
	struct csv c;
	int rc = 0;

	t->by_links = true;
	if (read_links(t, links, err) || csv_read(&c, models, columns, 4, err))
		return -1;
	for (int row = 0; row < c.n_rows && rc == 0; row++)
		rc = read_model(t, &c, row, err);
	csv_release(&c);
	return rc;
}

void sim_racks_release(struct sim_racks *t)
{
	for (int i = 0; i < t->count; i++)
		free(t->applications[i].name);
	free(t->applications);
	t->applications = NULL;
	t->count = 0;
}

/* --- the part of the time in which an application computes --- */

/* parts (result): the most GPUs that the job has of a machine, the most machines of a rack, and the
 * racks. */
static void count_parts(const struct rack_cluster *c, const int *held, int *parts)
{
	parts[IN_MACHINE] = parts[IN_RACK] = parts[ANYWHERE] = 0;
	for (int rack = 0; rack < c->racks; rack++) {
		int machines = 0;

		for (int i = 0; i < c->machines_per_rack; i++) {
			int gpus = held[rack * c->machines_per_rack + i];

			machines += gpus > 0;
			if (gpus > parts[IN_MACHINE])
				parts[IN_MACHINE] = gpus;
		}
		if (machines > parts[IN_RACK])
			parts[IN_RACK] = machines;
		parts[ANYWHERE] += machines > 0;
	}
}

static double exchange_s(const struct sim_racks *t, const struct rack_application *a,
			 const int *parts, const int *sharers)
{
	double bytes = a->gradient_bytes, total_s = 0;

	for (int k = 0; k < DISTANCES; k++) {
		const struct rack_link *link = &t->links[k];
		double p = parts[k];

		total_s += 2 * (p - 1) / p * bytes * link->congestion * sharers[k]
				   / link->bytes_per_s
			   + a->messages * 2 * (p - 1) * link->latency_s;
		bytes /= p;
	}
	return total_s;
}

double sim_racks_part(const struct sim_racks *t, const struct rack_application *a, const int *held,
		      const int *sharers)
{
	int parts[DISTANCES];
	enum distance d = racks_distance(&t->cluster, held);

	count_parts(&t->cluster, held, parts);
	if (d == IN_MACHINE && parts[IN_MACHINE] == 1)
		return 1;
	if (t->by_links)
		return a->compute_s / (a->compute_s + exchange_s(t, a, parts, sharers));
	if (sharers[d] <= 1)
		return a->part[d];
	return 1 / (1 + sharers[d] * (1 / a->part[d] - 1));
}

/* --- workloads --- */

enum { GPUS = 2, ITERATIONS, ITERATION_S, APPLICATION, N_COLUMNS };

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

static int read_job(const struct csv *c, int row, struct sim_workload *w, const void *data,
		    struct err *err)
{
	const struct sim_racks *t = data;
	struct rack_workload_job *job = (struct rack_workload_job *)w->own + row;
	int n = racks_machines(&t->cluster) * t->cluster.gpus_per_machine;
	double iterations, iteration_s;
	int64_t gpus;

	if (csv_whole(c, row, GPUS, (struct csv_range){ 1, n }, &gpus, err) ||
	    csv_number(c, row, ITERATIONS, (struct csv_range){ 1, 1e15 }, &iterations, err) ||
	    csv_number(c, row, ITERATION_S, (struct csv_range){ 1e-9, 1e6 }, &iteration_s, err) ||
	    find_application(c, row, t, job, err))
		return -1;
	job->gpus = w->jobs[row].replicas = (int)gpus;
	job->work_s = iterations * iteration_s / job->gpus;
	w->jobs[row].application_name = job->application->name;
	return 0;
}

int sim_racks_workload(const struct sim_racks *t, const char *path, struct sim_workload *w,
		       struct err *err)
{
	static const char *const columns[N_COLUMNS] = {
		"name", "submitted_s", "gpus", "iterations", "time_per_iteration_s",
		"application|model",
	};
	static const struct workload_form form = {
		columns, N_COLUMNS, read_job, sizeof(struct rack_workload_job),
	};

	return workload_read(w, path, &form, t, err);
}
