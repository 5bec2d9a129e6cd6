/* sim_plans.c - the world of execution plans, and the files from which it is read. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "application.h"
#include "pollux/assign.h"
#include "pollux/mem.h"
#include "pollux/simulate.h"
#include "world.h"

/* The row of a plan (NULL: of the fastest plan) on a placement; NULL: there is no row. digits is
 * rotated to its canonical form. */
static const struct plan_row *plan_row_find(const struct plan_application *a, const char *plan,
					    const char *digits)
{
	char wanted[PLAN_DIGITS + 1];

	if (strlen(digits) > PLAN_DIGITS)
		return NULL;
	placement_canonical(digits, wanted);
	for (int i = 0; i < a->n_rows; i++)
		if (strcmp(a->rows[i].digits, wanted) == 0 &&
		    (!plan || strcmp(a->rows[i].plan, plan) == 0))
			return &a->rows[i];
	return NULL;
}

/* Adds a row, unless it did not run. */
static int add_row(struct plan_application *a, const struct csv *c, int i, struct err *err)
{
	const char *digits = csv_text(c, i, 1);
	struct plan_row *row;

	if (!*digits || strlen(digits) > PLAN_DIGITS || strspn(digits, "123456789") !=
							   strlen(digits))
		return csv_complain(c, i, err, "placement '%.60s' is not digits from 1 to 9",
				    digits);
	if (csv_value(c, i, 2) <= 0)
		return 0;
	a->rows = xgrow(a->rows, a->n_rows, sizeof(*a->rows));
	row = &a->rows[a->n_rows++];
	*row = (struct plan_row){
		.plan = xstrdup(csv_text(c, i, 0)), .iteration_s = csv_value(c, i, 2),
	};
	placement_canonical(digits, row->digits);
	for (; *digits; digits++)
		row->gpus += *digits - '0';
	return 0;
}

/* Orders rows by time. Rows of equal times are ordered by plan, so that the order of the file does
 * not matter. */
static int by_time(const void *a, const void *b)
{
	const struct plan_row *x = a, *y = b;

	if (x->iteration_s != y->iteration_s)
		return x->iteration_s < y->iteration_s ? -1 : 1;
	return strcmp(x->plan, y->plan);
}

static int read_application(struct sim_plans *p, const char *path, const char *name,
			    struct err *err)
{
	static const struct csv_column columns[] = {
		{ "exec_plan", CSV_TEXT, 0, 0 }, { "placement", CSV_TEXT, 0, 0 },
		{ "iter_time", CSV_NUMBER, 0, 1e9 },
	};
	struct plan_application *a = &p->items[p->count++];
	int size = p->gpus_per_node;
	struct csv c;
	int rc = csv_read(&c, path, columns, 3, err);

	*a = (struct plan_application){ .name = xstrdup(name) };
	for (int i = 0; rc == 0 && i < c.n_rows; i++)
		rc = add_row(a, &c, i, err);
	csv_release(&c);
	if (a->n_rows)
		qsort(a->rows, (size_t)a->n_rows, sizeof(*a->rows), by_time);
	/* The fastest row for each number of GPUs that place_jobs() can always place. */
	a->best = xcalloc((size_t)p->n_gpus + 1, sizeof(const struct plan_row *));
	for (int r = 1; r <= p->n_gpus; r++) {
		char digits[PLAN_DIGITS + 1] = "";
		int nodes = r <= size ? 1 : r / size;

		if (!place_is_regular(p->n_gpus, size, r) || nodes > PLAN_DIGITS)
			continue;
		memset(digits, '0' + (r <= size ? r : size), (size_t)nodes);
		a->best[r] = plan_row_find(a, NULL, digits);
		if (a->best[r] && !a->least_gpus)
			a->least_gpus = r;
	}
	return rc;
}

int sim_plans_read(struct sim_plans *p, const char *directory, int gpus_per_node, int n_gpus,
		   struct err *err)
{
	scoped(strings_release) struct strings names = { 0 };
	int rc = directory_names(&names, directory, alphasort, err);

	*p = (struct sim_plans){ .gpus_per_node = gpus_per_node, .n_gpus = n_gpus };
	p->items = xcalloc(names.count, sizeof(*p->items));
	for (size_t i = 0; i < names.count && rc == 0; i++) {
		const char *name = names.items[i];
		autofree char *path = xasprintf("%s/%s/placements.csv", directory, name);

		if (*name != '.' && access(path, F_OK) == 0)
			rc = read_application(p, path, name, err);
	}
	if (rc == 0 && p->count == 0)
		rc = err_set(err, EX_NOINPUT, "no application in '%s'", directory);
	if (rc)
		sim_plans_release(p);
	return rc;
}

void sim_plans_release(struct sim_plans *p)
{
	for (int i = 0; i < p->count; i++) {
		for (int k = 0; k < p->items[i].n_rows; k++)
			free(p->items[i].rows[k].plan);
		free(p->items[i].rows);
		free(p->items[i].best);
		free(p->items[i].name);
	}
	free(p->items);
	*p = (struct sim_plans){ 0 };
}

/* --- workloads --- */

enum { APPLICATION = 2, GPUS, CPUS, PLAN, STEPS, SLA, N_COLUMNS };

/* The time of the fastest row on this many GPUs, of one plan or (NULL) of all; infinite: none. */
static double row_s(const struct plan_application *a, const char *plan, int gpus)
{
	for (int i = 0; i < a->n_rows; i++)
		if (a->rows[i].gpus == gpus && (!plan || strcmp(a->rows[i].plan, plan) == 0))
			return a->rows[i].iteration_s;
	return HUGE_VAL;
}

static int set_terms(const struct csv *c, int row, const struct sim_plans *p, struct plan_job *job,
		     int gpus, struct err *err)
{
	const struct plan_application *a = job->application;

	job->owner_s = row_s(a, csv_text(c, row, PLAN), gpus);
	for (int r = gpus; r > 0 && !isfinite(job->reference_s); r--)
		job->reference_s = row_s(a, NULL, r);
	if (!isfinite(job->reference_s))
		job->reference_s = a->best[a->least_gpus]->iteration_s;
	if (job->guaranteed && !isfinite(job->owner_s))
		return csv_complain(c, row, err,
				    "a guarantee for %d GPUs with plan '%.32s', without "
				    "measurement", gpus, csv_text(c, row, PLAN));
	/* The least number of GPUs that can be given, and that keeps a guarantee. */
	for (int r = 1; r <= p->n_gpus && !job->min_gpus; r++)
		if (a->best[r] &&
		    (!job->guaranteed || a->best[r]->iteration_s <= job->owner_s))
			job->min_gpus = r;
	if (!job->min_gpus)
		return csv_complain(c, row, err, "no placement here keeps the guarantee");
	return 0;
}

static int take_job(const struct csv *c, int row, struct sim_workload *w, const void *data,
		    struct err *err)
{
	const struct sim_plans *p = data;
	struct plan_job *job = (struct plan_job *)w->own + row;
	double gpus = csv_value(c, row, GPUS);

	if (csv_check(c, row, GPUS, 1, p->n_gpus, err))
		return -1;
	*job = (struct plan_job){
		.iterations = csv_value(c, row, STEPS) + 1,
		.cores = fmin(csv_value(c, row, CPUS) / gpus, PLAN_CORES_PER_GPU),
		.guaranteed = csv_value(c, row, SLA) > 0, .reference_s = HUGE_VAL,
	};
	for (int i = 0; i < p->count && !job->application; i++)
		if (strcmp(p->items[i].name, csv_text(c, row, APPLICATION)) == 0)
			job->application = &p->items[i];
	if (!job->application || !job->application->least_gpus)
		return csv_complain(c, row, err, "no measurements of the application '%.60s' here",
				    csv_text(c, row, APPLICATION));
	w->jobs[row].application_name = job->application->name;
	w->jobs[row].replicas = (int)gpus;
	return set_terms(c, row, p, job, (int)gpus, err);
}

int sim_plans_workload(const struct sim_plans *p, const char *path, struct sim_workload *w,
		       struct err *err)
{
	static const struct csv_column columns[N_COLUMNS] = {
		{ "name", CSV_TEXT, 0, 0 },
		{ "submission_time", CSV_NUMBER, 0, WORKLOAD_TIME_MAX },
		{ "application", CSV_TEXT, 0, 0 },
		{ "num_gpus", CSV_WHOLE, -HUGE_VAL, HUGE_VAL }, { "num_cpus", CSV_WHOLE, 0, 1e6 },
		{ "exec_plan", CSV_TEXT, 0, 0 }, { "steps", CSV_WHOLE, 0, 1e12 },
		{ "is_sla", CSV_WHOLE, 0, 1 },
	};
	static const struct workload_form form = {
		columns, N_COLUMNS, take_job, sizeof(struct plan_job),
	};

	return workload_read(w, path, &form, p, err);
}

/* --- the world --- */

/* The world of execution plans: a job runs by the fastest plan of its placement, as the rows of
 * the files say, and each round is checked. */

static int run_plan(struct sim *s, struct sim_job *job, double start_s, double seconds)
{
	struct plan_run *r = job->own;
	double still_s = fmin(job->delay_s, seconds), work_s = seconds - still_s;
	double iteration_s = r->iteration_s;

	if (!r->plan)
		return 0;
	job->delay_s -= still_s;
	s->progress_s = s->now_s;
	if (r->left * iteration_s <= work_s) {
		job->finish_s = start_s + still_s + r->left * iteration_s;
		sim_serve(job, job->finish_s - start_s, 1);
		return 0;
	}
	r->left -= work_s / iteration_s;
	sim_serve(job, seconds, 1);
	return 0;
}

static int tell_plan(struct sim *s, struct sim_job *job, struct sched_job *told)
{
	const struct plan_run *r = job->own;
	bool alone = s->options->policy != &policy_rubick;

	/* Where the policy has no job whose devices it could take, the jobs are left alone. Nobody
	 * admits jobs here: to move them for those that wait made the mean up to 15 % longer. */
	for (int i = 0; i < s->n_active; i++)
		alone &= ((const struct plan_run *)s->active[i]->own)->job->guaranteed;
	told->min_replicas = r->job->min_gpus;
	told->max_replicas = s->n_gpus;
	told->preemptible = !alone;
	told->guaranteed = r->job->guaranteed && !alone;
	told->offers[0] = offers_of(s->n_gpus, r->goodput);
	told->goodput_now = r->plan ? 1 / r->iteration_s : (double)NAN;
	told->remaining_samples = sim_told_left(s, r->left);
	told->reference_goodput = 1 / r->job->reference_s;
	return 0;
}

static void launch_plan(struct sim *s, struct sim_job *job)
{
	char digits[PLAN_DIGITS + 1];
	struct plan_run *r = job->own;
	const struct plan_row *row = NULL;

	job->delay_s = s->options->restart_s;
	if (job->placement.n &&
	    placement_digits(job->placement.gpus, job->placement.n, digits, sizeof(digits)))
		row = plan_row_find(r->job->application, NULL, digits);
	r->plan = row ? row->plan : NULL;
	r->iteration_s = row ? row->iteration_s : 0;
}

/* --- whether a round is legal: at GPUs and times only, not at how a policy came to them --- */

#define ROUNDING 1e-9

static int check_run(const struct plan_run *s, struct err *err)
{
	int gpus = s->held->replicas;
	char digits[PLAN_DIGITS + 1] = "";
	const struct plan_row *row;

	if (!s->plan != !gpus)
		return err_set(err, EX_SOFTWARE, "job '%s' has %d GPUs and makes %siterations",
			       s->name, gpus, s->plan ? "" : "no ");
	if (s->job->guaranteed && gpus == 0 && s->had)
		return err_set(err, EX_SOFTWARE, "guaranteed job '%s' loses its GPUs", s->name);
	if (gpus == 0)
		return 0;
	placement_digits(s->held->gpus, s->held->n, digits, sizeof(digits));
	row = plan_row_find(s->job->application, s->plan, digits);
	if (!row || row->gpus != gpus || row->iteration_s != s->iteration_s)
		return err_set(err, EX_SOFTWARE,
			       "job '%s' with plan '%s' on %s has no such row", s->name, s->plan,
			       digits);
	if (s->job->guaranteed && s->iteration_s > s->job->owner_s)
		return err_set(err, EX_SOFTWARE, "guaranteed job '%s' is slower than asked",
			       s->name);
	return 0;
}

int plan_check(const struct plan_run *const *runs, int n, int n_nodes, int gpus_per_node,
	       double cores_per_node, struct err *err)
{
	for (int node = 0; node < n_nodes; node++) {
		double cores = 0;
		int gpus = 0;

		for (int i = 0; i < n; i++) {
			const struct placement *p = runs[i]->held;
			int held = 0;

			for (int k = 0; k < p->n; k++)
				held += p->nodes[k] == node ? p->gpus[k] : 0;
			if (held < 0)
				return err_set(err, EX_SOFTWARE, "job '%s' has %d GPUs",
					       runs[i]->name, held);
			gpus += held;
			cores += held * runs[i]->job->cores;
		}
		if (gpus > gpus_per_node)
			return err_set(err, EX_SOFTWARE, "%d of %d GPUs of node %d are held", gpus,
				       gpus_per_node, node);
		if (cores > cores_per_node * (1 + ROUNDING))
			return err_set(err, EX_SOFTWARE, "%g of %g cores of node %d are wanted",
				       cores, cores_per_node, node);
	}
	for (int i = 0; i < n; i++)
		if (check_run(runs[i], err))
			return -1;
	return 0;
}

static int check_plans(struct sim *s)
{
	const struct plan_run **runs =
		xcalloc((size_t)s->n_active, sizeof(const struct plan_run *));
	int rc;

	for (int i = 0; i < s->n_active; i++)
		runs[i] = s->active[i]->own;
	rc = plan_check(runs, s->n_active, s->n_nodes, s->kinds[0].gpus_per_node,
			(double)PLAN_CORES_PER_GPU * s->kinds[0].gpus_per_node, s->err);
	for (int i = 0; i < s->n_active; i++)
		((struct plan_run *)s->active[i]->own)->had = s->active[i]->placement.replicas;
	free(runs);
	return rc ? err_prefix(s->err, "at %.0f s", s->now_s) : 0;
}

static int alone_with_plan(struct sim *s, const struct sim_job *job, double gpus, double *seconds)
{
	const struct plan_job *plan_job = ((const struct plan_run *)job->own)->job;
	const struct plan_application *a = plan_job->application;
	double best_s = HUGE_VAL;

	for (int n = 1; n <= s->n_gpus && n <= fmax(gpus, a->least_gpus); n++)
		if (a->best[n])
			best_s = fmin(best_s, a->best[n]->iteration_s);
	*seconds = best_s * plan_job->iterations / fmin(1, gpus / a->least_gpus);
	return 0;
}

static const struct world world_of_plans = {
	.own_size = sizeof(struct plan_run),
	.run = run_plan, .tell = tell_plan, .launch = launch_plan, .decided = check_plans,
	.alone = alone_with_plan,
};

int sim_plans_run(const struct sim_options *options, const struct sim_plans *plans,
		  const struct sim_workload *workload, const struct sim_progress *progress,
		  struct sim_result *result, struct err *err)
{
	const struct plan_job *jobs = workload->own;
	scoped(sim_release) struct sim s = { 0 };
	int rc;

	sim_init(&s, &world_of_plans, options, workload, err);
	sim_add_kind(&s, NULL, plans->n_gpus / plans->gpus_per_node, plans->gpus_per_node);
	for (int i = 0; i < workload->n_jobs; i++) {
		struct plan_run *r = s.jobs[i].own;

		*r = (struct plan_run){
			.job = &jobs[i], .name = s.jobs[i].spec->name,
			.held = &s.jobs[i].placement, .left = jobs[i].iterations,
		};
		r->goodput = xcalloc((size_t)s.n_gpus + 1, sizeof(*r->goodput));
		for (int n = 1; n <= s.n_gpus; n++) {
			const struct plan_row *row = jobs[i].application->best[n];
			bool may = row && (!jobs[i].guaranteed ||
					   row->iteration_s <= jobs[i].owner_s);

			r->goodput[n] = may ? 1 / row->iteration_s : (double)NAN;
		}
	}
	rc = sim_run(&s, progress, result);
	for (int i = 0; i < workload->n_jobs; i++)
		free(((struct plan_run *)s.jobs[i].own)->goodput);
	return rc;
}
