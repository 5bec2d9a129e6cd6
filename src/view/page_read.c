/* page_read.c - reads what the page shows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/noise_scale.h"
#include "pollux/view.h"

#define MOST_TURNS 20000	/* a page with more would be large and of no use */
#define GROUPS_MAX 20

/* --- turns --- */

/* The parts of a run between its suspensions, which are read from the run's events. */
struct parts {
	struct page *page;
	const struct job *job;
	const struct run *run;
};

static void add_turn(const struct parts *p, const char *device, double from_s, double to_s)
{
	struct page *page = p->page;
	struct page_turn *turn;

	if (from_s < page->since_s)
		from_s = page->since_s;
	if (!(to_s > from_s) || page->n_turns >= MOST_TURNS)
		return;
	if (page->n_turns % 64 == 0)
		page->turns = xreallocarray(page->turns, (size_t)page->n_turns + 64,
					    sizeof(*page->turns));
	turn = &page->turns[page->n_turns++];
	*turn = (struct page_turn){
		.job_id = p->job->id, .job_name = xstrdup(p->job->declared.name),
		.run_number = p->run->number, .from_s = from_s, .to_s = to_s,
		.configuration = p->run->configuration,
	};
	snprintf(turn->device, sizeof(turn->device), "%s", device);
	snprintf(turn->how, sizeof(turn->how), "%s",
		 p->run->state != RUN_ENDED ? "not ended"
		 : p->run->stop_reason != STOP_NONE ? stop_reason_words(p->run->stop_reason)
						    : run_outcome_name(p->run->outcome));
}

/* devices: with commas between them; NULL: those that the run has now, or had last. */
static void add_part(const struct parts *p, const char *devices, double from_s, double to_s)
{
	char *names = devices ? xstrdup(devices) : NULL, *rest = names, *name;

	while (rest && (name = strsep(&rest, ",")))
		add_turn(p, name, from_s, to_s);
	for (int i = 0; !devices && i < p->run->configuration.replicas && p->run->devices; i++)
		add_turn(p, p->run->devices[i].id, from_s, to_s);
	free(names);
}

static void add_run(const struct parts *p, const struct event_list *events)
{
	const struct run *run = p->run;
	double from_s = isfinite(run->launch_time_s) ? run->launch_time_s : run->assigned_time_s;
	double end_s = run->state == RUN_ENDED ? run->end_time_s : p->page->now_s;

	for (int i = 0; i < events->count; i++) {
		const struct event *e = &events->items[i];

		if (e->run_id != run->id)
			continue;
		if (!strcmp(e->kind, "suspended") && isfinite(from_s)) {
			add_part(p, e->devices, from_s, e->time_s);
			from_s = (double)NAN;
		} else if (!strcmp(e->kind, "resumed")) {
			from_s = e->time_s;
		}
	}
	add_part(p, NULL, from_s, end_s);
}

static int read_turns_of(struct store *s, const struct job *job, struct page *page,
			 double *last_batch, struct err *err)
{
	struct event_list events;
	struct run_list runs;
	int64_t batch_size = 0;

	if (store_runs_of_job(s, job->id, &runs, err))
		return -1;
	if (store_events_of_job(s, job->id, &events, err)) {
		run_list_release(&runs);
		return -1;
	}
	for (int i = 0; i < runs.count; i++)
		add_run(&(struct parts){ page, job, &runs.items[i] }, &events);
	for (int i = 0; i < runs.count; i++)
		batch_size = configuration_batch_size(&runs.items[i].configuration);
	*last_batch = batch_size > 0 ? (double)batch_size : (double)NAN;
	event_list_release(&events);
	run_list_release(&runs);
	return 0;
}

static int by_device(const void *a, const void *b)
{
	const struct page_turn *x = a, *y = b;
	int order = strverscmp(x->device, y->device);

	return order ? order : (x->from_s > y->from_s) - (x->from_s < y->from_s);
}

static int read_turns(struct store *s, struct page *page, struct err *err)
{
	double first_s = page->now_s - 60;

	page->last_batch = xcalloc((size_t)page->status.jobs.count + 1, sizeof(double));
	for (int i = 0; i < page->status.jobs.count; i++)
		if (read_turns_of(s, page->status.items[i].job, page, &page->last_batch[i], err))
			return -1;
	if (page->n_turns)
		qsort(page->turns, (size_t)page->n_turns, sizeof(*page->turns), by_device);
	/* a new store's timeline begins a little before its first turn */
	for (int i = 0; i < page->n_turns; i++)
		first_s = fmin(first_s, page->turns[i].from_s);
	page->from_s = fmax(page->since_s, first_s - 0.02 * (page->now_s - first_s));
	return 0;
}

/* --- running jobs --- */

static int read_job(struct store *s, const struct status_job *item, struct page *p,
		    struct err *err)
{
	struct gradient_list gradients;
	struct page_job job = { .item = item };
	struct curve_list *list = &p->jobs[p->n_jobs].curves;
	struct curve curve = { .name = "noise scale" };
	struct noise_scale scale = { 0 };

	if (store_curves_of_job(s, item->job->id, &job.curves, err))
		return -1;
	p->jobs[p->n_jobs++] = job;
	if (store_gradients_of_workload(s, item->job->declared.workload, &gradients, err))
		return -1;
	/* The curve of the noise scale has a point for each window of the job's gradients, computed
	 * from all windows up to that one. */
	curve.points = xcalloc((size_t)gradients.count + 1, sizeof(*curve.points));
	for (int i = 0; i < gradients.count; i++) {
		const struct gradient_window *w = &gradients.items[i].window;
		double n = (double)w->n, value;

		if (gradients.items[i].job_id != item->job->id || w->n <= 0)
			continue;
		noise_scale_add(&scale, n * (double)configuration_batch_size(&w->configuration),
				w->sum_grad_sqr / n, w->sum_grad_var / n, (double)INFINITY);
		value = noise_scale_expected(&scale);
		if (isfinite(value) && isfinite(w->last_samples))
			curve.points[curve.n++] = (struct curve_point){
				(double)NAN, w->last_samples, value,
			};
	}
	list->items = xreallocarray(list->items, (size_t)list->count + 1, sizeof(*list->items));
	list->items[list->count++] = curve;
	gradient_list_release(&gradients);
	return 0;
}

static int read_jobs(struct store *s, struct page *p, struct err *err)
{
	int rc = 0;

	p->jobs = xcalloc((size_t)p->status.jobs.count + 1, sizeof(*p->jobs));
	for (int i = 0; i < p->status.jobs.count && rc == 0; i++) {
		const struct status_job *item = &p->status.items[i];

		if (item->run && item->state != SHOWN_QUEUED)
			rc = read_job(s, item, p, err);
	}
	return rc;
}

/* --- groups --- */

static bool is_shown(const struct page *p, int64_t group_id)
{
	for (int i = 0; i < p->status.jobs.count; i++)
		if (p->status.items[i].job->group_id == group_id)
			return true;
	return false;
}

static int read_group(struct store *s, struct page_group *g, struct err *err)
{
	struct job_list jobs;
	int64_t *ids;
	int n = 0, rc = store_group_jobs(s, g->group.id, &jobs, err);

	if (rc)
		return rc;
	ids = xcalloc((size_t)jobs.count + 1, sizeof(*ids));
	for (int i = 0; i < jobs.count; i++)
		ids[i] = jobs.items[i].id;
	if (jobs.count)
		rc = results_read(s, ids, jobs.count, &g->results, err);
	/* Reads curves of only as many jobs as a picture shows: those of 10,000 jobs would not fit
	 * into memory. */
	g->curves = xcalloc((size_t)g->results.jobs.count + 1, sizeof(*g->curves));
	for (int i = 0; i < g->results.jobs.count && n < PAGE_CHART_LINES && rc == 0; i++) {
		rc = store_curves_of_job(s, g->results.jobs.items[i].id, &g->curves[i], err);
		n += g->curves[i].count > 0;
	}
	free(ids);
	job_list_release(&jobs);
	return rc;
}

static int read_groups(struct store *s, struct page *p, struct err *err)
{
	struct job_group_list list;
	int rc = 0;

	if (store_groups_list(s, false, &list, err))
		return -1;
	p->groups = xcalloc(GROUPS_MAX, sizeof(*p->groups));
	for (int i = list.count - 1; i >= 0 && rc == 0 && p->n_groups < GROUPS_MAX; i--)
		if (is_shown(p, list.items[i].id)) {
			p->groups[p->n_groups++].group = list.items[i];
			list.items[i] = (struct job_group){ .id = 0 };
			rc = read_group(s, &p->groups[p->n_groups - 1], err);
		}
	job_group_list_release(&list);
	return rc;
}

/* --- all of it --- */

int page_read(struct session *s, double since_s, struct page *p, struct err *err)
{
	struct status_query query = { .filter = JOBS_SHOWN, .lines = true };
	int rc;

	*p = (struct page){ .n_turns = 0 };
	p->since_s = query.since_wall_s = since_s;
	if (status_read(s, &query, &p->status, err))
		return -1;
	p->now_s = p->status.now_wall_s;
	if (!s->store.db)
		return 0;
	status_tell_ends(s, &p->status, &(struct err){ 0 });
	rc = read_turns(&s->store, p, err);
	if (rc == 0)
		rc = read_jobs(&s->store, p, err);
	if (rc == 0)
		rc = read_groups(&s->store, p, err);
	if (rc)
		page_release(p);
	return rc;
}

void page_release(struct page *p)
{
	for (int i = 0; i < p->n_turns; i++)
		free(p->turns[i].job_name);
	free(p->turns);
	free(p->last_batch);
	for (int i = 0; i < p->n_jobs; i++)
		curve_list_release(&p->jobs[i].curves);
	free(p->jobs);
	for (int i = 0; i < p->n_groups; i++) {
		struct page_group *g = &p->groups[i];

		for (int k = 0; g->curves && k < g->results.jobs.count; k++)
			curve_list_release(&g->curves[k]);
		free(g->curves);
		results_release(&g->results);
		job_group_release(&g->group);
	}
	free(p->groups);
	status_release(&p->status);
}
