/* racks_files.c - reads what applications make of GPUs by their distance, and workloads of jobs
 * of a fixed size. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "application.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "world.h"

#define BYTES_PER_GB 1e9

static const char *const distance_names[DISTANCES] = { "machine", "rack", "network" };

static struct rack_application *application_of(const struct sim_racks *t, const char *name)
{
	for (int i = 0; i < t->count; i++)
		if (strcmp(t->applications[i].name, name) == 0)
			return &t->applications[i];
	return NULL;
}

static int take_tiers(const struct csv *c, int row, struct rack_application *a, struct err *err)
{
	for (int k = 0; k < DISTANCES; k++) {
		a->part[k] = csv_value(c, row, 1 + k);
		if (k && a->part[k] > a->part[k - 1])
			return csv_complain(c, row, err, "%s is above %s", distance_names[k],
					    distance_names[k - 1]);
	}
	return 0;
}

/* Reads the applications, of tiers.csv or of models.csv. */
static int read_applications(struct sim_racks *t, const char *path, struct err *err)
{
	static const struct csv_column tiers[] = {
		{ "application|model", CSV_TEXT, 0, 0 }, { "machine", CSV_NUMBER, 1e-6, 1 },
		{ "rack", CSV_NUMBER, 1e-6, 1 }, { "network", CSV_NUMBER, 1e-6, 1 },
	};
	static const struct csv_column models[] = {
		{ "application|model", CSV_TEXT, 0, 0 }, { "compute_s", CSV_NUMBER, 1e-9, 1e6 },
		{ "gradient_bytes", CSV_NUMBER, 0, 1e15 }, { "messages", CSV_NUMBER, 0, 1e9 },
	};
	scoped(csv_release) struct csv c = { 0 };
	int rc = csv_read(&c, path, t->by_links ? models : tiers, 4, err);

	t->applications = xcalloc((size_t)c.n_rows, sizeof(*t->applications));
	for (int row = 0; rc == 0 && row < c.n_rows; row++) {
		const char *name = csv_text(&c, row, 0);
		struct rack_application *a = &t->applications[t->count];

		if (application_of(t, name)) {
			rc = csv_complain(&c, row, err, "a second row for '%.60s'", name);
			break;
		}
		t->count++;
		a->name = xstrdup(name);
		if (t->by_links) {
			a->compute_s = csv_value(&c, row, 1);
			a->gradient_bytes = csv_value(&c, row, 2);
			a->messages = csv_value(&c, row, 3);
		} else {
			rc = take_tiers(&c, row, a, err);
		}
	}
	return rc;
}

static int take_link(const struct csv *c, int row, struct sim_racks *t, struct err *err)
{
	int k = 0;

	while (k < DISTANCES && strcmp(distance_names[k], csv_text(c, row, 0)) != 0)
		k++;
	if (k == DISTANCES)
		return csv_complain(c, row, err, "no tier '%.32s': machine, rack or network",
				    csv_text(c, row, 0));
	if (t->links[k].bytes_per_s > 0)
		return csv_complain(c, row, err, "a second row for '%s'", distance_names[k]);
	t->links[k] = (struct rack_link){
		.bytes_per_s = csv_value(c, row, 1) * BYTES_PER_GB,
		.latency_s = csv_value(c, row, 2), .congestion = csv_value(c, row, 3),
	};
	return 0;
}

static int read_links(struct sim_racks *t, const char *path, struct err *err)
{
	static const struct csv_column columns[] = {
		{ "tier", CSV_TEXT, 0, 0 }, { "bandwidth_GB_s", CSV_NUMBER, 1e-6, 1e9 },
		{ "latency_s", CSV_NUMBER, 0, 1e3 }, { "congestion", CSV_NUMBER, 1, 1e6 },
	};
	struct csv c;
	int rc = csv_read(&c, path, columns, 4, err);

	for (int row = 0; rc == 0 && row < c.n_rows; row++)
		rc = take_link(&c, row, t, err);
	csv_release(&c);
	for (int k = 0; rc == 0 && k < DISTANCES; k++)
		if (t->links[k].bytes_per_s <= 0)
			rc = err_set(err, EX_DATAERR, "%s: no row for '%s'", path,
				     distance_names[k]);
	return rc;
}

int sim_racks_read(struct sim_racks *t, const char *tiers, const char *links, const char *models,
		   struct err *err)
{
	t->by_links = !tiers;
	if (t->by_links && read_links(t, links, err))
		return -1;
	return read_applications(t, t->by_links ? models : tiers, err);
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

double sim_racks_part(const struct sim_racks *t, const struct rack_application *a, const int *held,
		      const int *sharers)
{
	int parts[DISTANCES];
	enum distance d = racks_distance(&t->cluster, held);
	double bytes = a->gradient_bytes, exchange_s = 0;

	count_parts(&t->cluster, held, parts);
	if (d == IN_MACHINE && parts[IN_MACHINE] == 1)
		return 1;
	for (int k = 0; t->by_links && k < DISTANCES; k++) {
		const struct rack_link *link = &t->links[k];
		double p = parts[k];

		exchange_s += 2 * (p - 1) / p * bytes * link->congestion * sharers[k]
				      / link->bytes_per_s
			      + a->messages * 2 * (p - 1) * link->latency_s;
		bytes /= p;
	}
	if (t->by_links)
		return a->compute_s / (a->compute_s + exchange_s);
	if (sharers[d] <= 1)
		return a->part[d];
	return 1 / (1 + sharers[d] * (1 / a->part[d] - 1));
}

/* --- workloads --- */

enum { GPUS = 2, ITERATIONS, ITERATION_S, APPLICATION, N_COLUMNS };

static int take_job(const struct csv *c, int row, struct sim_workload *w, const void *data,
		    struct err *err)
{
	const struct sim_racks *t = data;
	struct rack_workload_job *job = (struct rack_workload_job *)w->own + row;
	int n = racks_machines(&t->cluster) * t->cluster.gpus_per_machine;

	if (csv_check(c, row, GPUS, 1, n, err))
		return -1;
	job->application = application_of(t, csv_text(c, row, APPLICATION));
	if (!job->application)
		return csv_complain(c, row, err, "no tiers of the application '%.60s'",
				    csv_text(c, row, APPLICATION));
	w->jobs[row].replicas = (int)csv_value(c, row, GPUS);
	job->work_s = csv_value(c, row, ITERATIONS) * csv_value(c, row, ITERATION_S) /
		      w->jobs[row].replicas;
	w->jobs[row].application_name = job->application->name;
	return 0;
}

int sim_racks_workload(const struct sim_racks *t, const char *path, struct sim_workload *w,
		       struct err *err)
{
	static const struct csv_column columns[N_COLUMNS] = {
		{ "name", CSV_TEXT, 0, 0 }, { "submitted_s", CSV_NUMBER, 0, WORKLOAD_TIME_MAX },
		{ "gpus", CSV_WHOLE, -HUGE_VAL, HUGE_VAL }, { "iterations", CSV_NUMBER, 1, 1e15 },
		{ "time_per_iteration_s", CSV_NUMBER, 1e-9, 1e6 },
		{ "application|model", CSV_TEXT, 0, 0 },
	};
	static const struct workload_form form = {
		columns, N_COLUMNS, take_job, sizeof(struct rack_workload_job),
	};

	return workload_read(w, path, &form, t, err);
}

/* --- whether a state is legal: at GPUs and leases only, not at how a policy came to them --- */

#define ROUNDING 1e-9

static int check_run(const struct rack_run *j, int n_machines, double lease_s,
			 struct err *err)
{
	size_t bytes = (size_t)n_machines * sizeof(*j->held);
	int gpus = 0;

	for (int m = 0; m < n_machines; m++)
		gpus += j->held[m];
	if (gpus != (j->runs ? j->told.gpus : 0))
		return err_set(err, EX_SOFTWARE, "job '%s' of %d GPUs %s with %d", j->name,
			       j->told.gpus, j->runs ? "runs" : "waits", gpus);
	if (j->ran && !j->ended && (!j->runs || memcmp(j->held, j->held_before, bytes) != 0))
		return err_set(err, EX_SOFTWARE, "job '%s' lost GPUs within its lease", j->name);
	if (j->runs && j->ends_s - j->begun_s > lease_s + SIM_RACKS_CHECKPOINT_S + ROUNDING)
		return err_set(err, EX_SOFTWARE, "job '%s' has a lease of %g s", j->name,
			       j->ends_s - j->begun_s);
	if (j->runs && (j->part <= 0 || j->part > j->part_most * (1 + ROUNDING)))
		return err_set(err, EX_SOFTWARE, "job '%s' computes for %g of its time, not %g",
			       j->name, j->part, j->part_most);
	return 0;
}

int rack_check(const struct sim_racks *t, const int *free, const struct rack_run *runs, int n,
	       double lease_s, struct err *err)
{
	int n_machines = racks_machines(&t->cluster);

	for (int m = 0; m < n_machines; m++) {
		int held = 0;

		for (int i = 0; i < n; i++) {
			if (runs[i].held[m] < 0)
				return err_set(err, EX_SOFTWARE, "job '%s' has %d GPUs",
					       runs[i].name, runs[i].held[m]);
			held += runs[i].held[m];
		}
		if (free[m] < 0 || held + free[m] != t->cluster.gpus_per_machine)
			return err_set(err, EX_SOFTWARE,
				       "machine %d has %d GPUs, of which %d are held and %d free",
				       m, t->cluster.gpus_per_machine, held, free[m]);
	}
	for (int i = 0; i < n; i++)
		if (check_run(&runs[i], n_machines, lease_s, err))
			return -1;
	return 0;
}
