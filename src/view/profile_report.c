/* profile_report.c - reads a profile from the store. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/step_stats.h"

static const char *why_of(const struct event_list *events, const struct run *run)
{
	for (int i = 0; i < events->count; i++)
		if (events->items[i].run_id == run->id && !strcmp(events->items[i].kind, "point"))
			return events->items[i].text;
	return "";
}

static int read_rows(struct session *s, struct profile_report *r, struct err *err)
{
	r->rows = xcalloc((size_t)r->details.runs.count, sizeof(*r->rows));
	for (int i = 0; i < r->details.runs.count; i++) {
		struct profile_row *row = &r->rows[r->n_rows++];

		row->run = &r->details.runs.items[i];
		if (store_observation_get(&s->store, row->run, &row->observation, err))
			return -1;
		row->half_width = steady_half_width(&row->observation);
		row->model_step_time_s =
			r->e.knowledge.modelled && row->run->configuration.local_batch_size > 0 &&
			r->e.plans.declared.count == 0
			? explanation_step_time(&r->e, &row->run->configuration) : (double)NAN;
		row->why = why_of(&r->details.events, row->run);
		row->stopped = row->run->stop_reason == STOP_CANCEL ||
			       (i + 1 == r->details.runs.count && r->e.job->state == JOB_CANCELLED);
	}
	return 0;
}

bool profile_row_is_lost(const struct profile_row *row)
{
	return row->run->outcome == OUTCOME_LOST || row->run->stop_reason == STOP_ORPHAN;
}

static void recommend(struct profile_report *r)
{
	const struct explanation *e = &r->e;
	double most = 0;

	for (int n = 1; e->model.known && n <= e->n_devices; n++)
		if (!explanation_obstacle(e, n))
			most = fmax(most, e->best[n].goodput);
	for (int n = e->n_devices; e->model.known && n >= 1; n--)
		if (!explanation_obstacle(e, n) && e->best[n].goodput >= PROFILE_ENOUGH * most)
			r->recommended = e->best[n];
}

static int read_all(struct session *s, int64_t job_id, struct profile_report *r, struct err *err)
{
	if (explanation_read(s, job_id, &r->e, err))
		return -1;
	if (!r->e.job->profile)
		return err_set(err, EX_NOINPUT, "job %lld is no profile: see 'pollux explain %lld'",
			       (long long)job_id, (long long)job_id);
	if (status_details_read(s, r->e.job, &r->details, err) || read_rows(s, r, err))
		return -1;
	recommend(r);
	return 0;
}

int profile_report_read(struct session *s, int64_t job_id, struct profile_report *r,
			struct err *err)
{
	*r = (struct profile_report){ .n_rows = 0 };
	if (read_all(s, job_id, r, err) == 0)
		return 0;
	profile_report_release(r);
	return -1;
}

void profile_report_release(struct profile_report *r)
{
	explanation_release(&r->e);
	status_details_release(&r->details);
	free(r->rows);
	*r = (struct profile_report){ .n_rows = 0 };
}
