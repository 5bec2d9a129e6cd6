/* simulate_csv.c - jobs and decisions of simulations as comma-separated values (RFC 4180). */
#include <math.h>

#include "pollux/file.h"
#include "pollux/report.h"
#include "pollux/simulations.h"

int simulations_write_jobs(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "name,submit,start,finish,restarts,workload,application,gpu_hours,rho\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->workloads[w].n_jobs; i++) {
			const struct sim_job_result *job = &s->results[w].jobs[i];

			csv_add(&t, job->name);
			text_addf(&t, ",%.15g,%.15g,%.15g,%d,", job->submit_s, job->start_s,
				  job->finish_s, job->restarts);
			csv_add(&t, s->workloads[w].name);
			text_add(&t, ",");
			csv_add(&t, job->application);
			text_addf(&t, ",%.15g,%.15g\n", job->gpu_hours, job->fairness);
		}
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}

int simulations_write_timeline(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "time,running,waiting,gpus,restarts,workload\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->results[w].n_rounds; i++) {
			const struct sim_round *r = &s->results[w].rounds[i];

			text_addf(&t, "%.15g,%d,%d,%d,%d,", r->time_s, r->running, r->waiting,
				  r->gpus, r->restarts);
			csv_add(&t, s->workloads[w].name);
			text_add(&t, "\n");
		}
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}

static void add_end(struct text *t, const struct simulations *s, int w, int i, int k)
{
	const struct sim_job_result *job = &s->results[w].jobs[i];
	const struct sim_end *end = &job->ends[k];
	const double numbers[] = { end->part, end->time_s, end->from_s, end->middle_s, end->to_s,
				   job->finish_s };

	csv_add(t, job->name);
	for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]); n++) {
		text_add(t, ",");
		csv_add_number(t, numbers[n]);
	}
	text_add(t, ",");
	csv_add(t, s->workloads[w].name);
	text_add(t, "\n");
}

int simulations_write_ends(const struct simulations *s, const char *path, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc;

	text_add(&t, "name,part,time,from,middle,to,finish,workload\n");
	for (int w = 0; w < s->n; w++)
		for (int i = 0; i < s->workloads[w].n_jobs; i++)
			for (int k = 0; s->results[w].jobs[i].ends && k < SIM_ENDS; k++)
				if (!isnan(s->results[w].jobs[i].ends[k].time_s))
					add_end(&t, s, w, i, k);
	rc = file_replace(path, t.data, t.length, err);
	text_release(&t);
	return rc;
}
