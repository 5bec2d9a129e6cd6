/* top_read.c - reads what 'pollux top' shows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/top.h"

#define RECENT_S 86400.0	/* as long as in the table of status */

static int by_id(const void *a, const void *b)
{
	const struct job *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* What was told of a job that stands as it did stays. Jobs are read in the order of their
 * numbers. */
static void keep_ends(const struct status *was, struct status *is)
{
	autofree int *places = xcalloc((size_t)was->jobs.count + 1, sizeof(*places));

	for (int i = 0; i < was->jobs.count; i++)
		places[was->items[i].job - was->jobs.items] = i;
	for (int i = 0; i < is->jobs.count; i++) {
		struct status_job *item = &is->items[i];
		const struct job *found = was->jobs.count == 0 ? NULL
			: bsearch(item->job, was->jobs.items, (size_t)was->jobs.count,
				  sizeof(*found), by_id);
		const struct status_job *old = found ? &was->items[places[found - was->jobs.items]]
						     : NULL;

		if (!old || old->state != item->state)
			continue;
		item->place = old->place;
		item->likely_start_s = old->likely_start_s;
		item->likely_end_s = old->likely_end_s;
		item->end_from_s = old->end_from_s;
		item->end_to_s = old->end_to_s;
		item->length_is_known = old->length_is_known;
	}
}

int top_read(struct session *s, struct top *t, bool ends, struct err *err)
{
	struct status_query query = {
		.groups = true, .filter = JOBS_SHOWN, .since_wall_s = clock_wall_s() - RECENT_S,
	};
	struct status status;

	if (status_read(s, &query, &status, err))
		return -1;
	/* as in status: an error here leaves the ends out */
	if (ends)
		status_tell_ends(s, &status, &(struct err){ 0 });
	else
		keep_ends(&t->status, &status);
	status_arrange(&status);
	status_release(&t->status);
	t->status = status;
	return 0;
}

static void release_job(struct top_job *job)
{
	curve_list_release(&job->curves);
	job_metric_list_release(&job->metrics);
	job->id = 0;
}

int top_read_job(struct session *s, struct top *t, struct err *err)
{
	struct status_row row;
	int n;

	release_job(&t->job);
	if (!s->store.db || !top_find_row(t, &row, &n) || row.group)
		return 0;
	if (store_curves_of_job(&s->store, row.item->job->id, &t->job.curves, err))
		return -1;
	if (store_metrics_of_job(&s->store, row.item->job->id, &t->job.metrics, err)) {
		curve_list_release(&t->job.curves);
		return -1;
	}
	t->job.id = row.item->job->id;
	return 0;
}

/* --- devices --- */

static bool has_run(const struct devices_view *v, const char *id)
{
	for (int r = 0; r < v->runs.count; r++)
		for (int k = 0; k < run_held(&v->runs.items[r]); k++)
			if (!strcmp(v->runs.items[r].devices[k].id, id))
				return true;
	return false;
}

static void take_device(const struct devices_view *v, int index, struct top_device *to)
{
	const struct device *d = &v->list.items[index];
	const struct device_backend *backend = device_backend_of(d->id);
	bool known = d->memory_bytes > 0 && d->now.free_bytes >= 0;
	scoped(text_release) struct text who = TEXT_INIT;

	*to = (struct top_device){
		.is_accelerator = backend && backend->is_accelerator,
		.use = d->now.utilization,
		.memory_bytes = known ? (double)d->memory_bytes : (double)NAN,
		.used_bytes = known ? (double)(d->memory_bytes - d->now.free_bytes) : (double)NAN,
	};
	memcpy(to->id, d->id, sizeof(to->id));
	memcpy(to->name, d->name, sizeof(to->name));
	memcpy(to->binding, d->binding, sizeof(to->binding));
	if (!has_run(v, d->id))
		devices_add_holder(&who, v, index);
	if (!who.length && !d->usable)
		text_addf(&who, "not usable: %s", d->reason);
	snprintf(to->holder, sizeof(to->holder), "%s", who.data);
}

int top_read_devices(const struct config *config, struct session *s, struct top_device **list,
		     int *n, struct err *err)
{
	struct devices_view v;

	if (devices_view_read(config, s, &v, err)) {
		devices_view_release(&v);
		return -1;
	}
	*list = xcalloc((size_t)v.list.count + 1, sizeof(**list));
	*n = 0;
	for (int i = 0; i < v.list.count; i++)
		if (!v.list.items[i].left_out)
			take_device(&v, i, &(*list)[(*n)++]);
	devices_view_release(&v);
	return 0;
}

void top_release(struct top *t)
{
	release_job(&t->job);
	strings_release(&t->job.log);
	status_release(&t->status);
	free(t->devices);
	free(t->trouble);
	*t = (struct top)TOP_INIT;
}
