/* status_groups.c - groups with many jobs, as one row of the table each. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "parts.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"
#include "pollux/text.h"

/* A job that has a run has a row of its own: a person wants to see what runs. */
static bool is_at_rest(const struct status_job *item)
{
	return item->job->group_id && !item->run;
}

static int count_at_rest(const struct status *status, int64_t group_id)
{
	int n = 0;

	for (int i = 0; i < status->jobs.count; i++)
		n += is_at_rest(&status->items[i]) && status->items[i].job->group_id == group_id;
	return n;
}

/* --- the best of a metric --- */

int metric_rank(const char *name)
{
	if (strcasestr(name, "val") || strcasestr(name, "test"))
		return 2;
	return strcmp(name, "loss") != 0;
}

static int add_best(struct store *s, const struct group_metric *m, struct text *t, struct err *err)
{
	bool low = metric_low_is_best(m->name);
	struct job job;

	job_init(&job);
	if (store_job_get(s, low ? m->lowest_job : m->highest_job, &job, err)) {
		job_release(&job);
		return -1;
	}
	text_addf(t, "best %s %s at", m->name, value_format(low ? m->lowest : m->highest, 5).s);
	for (size_t i = 0; i < job.parameters.count; i++)
		text_addf(t, " %s", job.parameters.items[i]);
	job_release(&job);
	return 0;
}

/* --- reading --- */

static int read_over(struct store *s, struct status_group *g, struct err *err)
{
	struct halving_sweep sweep;

	if (g->paused == 0)
		return 0;
	if (store_halving_read(s, g->id, &sweep, err))
		return -1;
	g->over = sweep.over;
	halving_sweep_release(&sweep);
	return 0;
}

static int add_group(struct store *s, int64_t id, struct status *status, struct err *err)
{
	struct status_group *g;
	struct group_summary summary;
	struct job_group group;
	const struct group_metric *m = NULL;
	int rc = 0;

	if (store_group_get(s, id, &group, err))
		return -1;
	status->groups = xgrow(status->groups, status->n_groups, sizeof(*status->groups));
	g = &status->groups[status->n_groups++];
	*g = (struct status_group){ .id = id, .name = xstrdup(group.name), .best = TEXT_INIT };
	job_group_release(&group);
	if (store_group_summary(s, id, &summary, err))
		return -1;
	memcpy(g->counts, summary.counts, sizeof(g->counts));
	g->paused = summary.paused;
	g->suspended = summary.suspended;
	rc = read_over(s, g, err);
	for (int i = 0; i < summary.n_metrics; i++)
		if (!m || metric_rank(summary.metrics[i].name) > metric_rank(m->name))
			m = &summary.metrics[i];
	if (rc == 0 && m)
		rc = add_best(s, m, &g->best, err);
	group_summary_release(&summary);
	return rc;
}

int status_read_groups(struct store *s, struct status *status, struct err *err)
{
	int64_t last = 0;	/* the last group looked at */

	for (int i = 0; i < status->jobs.count; i++) {
		const struct status_job *item = &status->items[i];

		if (is_at_rest(item) && item->job->group_id != last &&
		    !status_group_of(status, item) &&
		    count_at_rest(status, item->job->group_id) >= STATUS_GROUP_LEAST &&
		    add_group(s, item->job->group_id, status, err))
			return -1;
		if (is_at_rest(item))
			last = item->job->group_id;
	}
	return 0;
}

void status_groups_release(struct status *status)
{
	for (int i = 0; i < status->n_groups; i++) {
		free(status->groups[i].name);
		text_release(&status->groups[i].best);
	}
	free(status->groups);
	status->groups = NULL;
	status->n_groups = 0;
}

const struct status_group *status_group_of(const struct status *status,
					   const struct status_job *item)
{
	for (int i = 0; is_at_rest(item) && i < status->n_groups; i++)
		if (status->groups[i].id == item->job->group_id)
			return &status->groups[i];
	return NULL;
}

/* --- words --- */

void status_add_group_name(struct text *t, const char *name)
{
	for (size_t n; *name; name += n) {
		size_t word = strspn(name + 1, "abcdefghijklmnopqrstuvwxyz"
				     "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");

		n = *name == '{' && word > 0 && name[1 + word] == '}' ? word + 2 : 1;
		text_add_bytes(t, n > 1 ? "*" : name, 1);
	}
}

const char *status_group_state(const struct status_group *group)
{
	return group->counts[JOB_RUNNING] > group->suspended ? "running"
		: group->suspended ? "suspended"
		: group->over ? "ended"
		: group->counts[JOB_QUEUED] ? "queued"
		: group->counts[JOB_HELD] ? "held" : "ended";
}

void status_add_group(struct text *t, const struct status_group *group)
{
	static const enum job_state order[] = {
		JOB_DONE, JOB_FAILED, JOB_TIMEOUT, JOB_CANCELLED, JOB_RUNNING, JOB_QUEUED, JOB_HELD,
	};
	const char *separator = "";

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		enum job_state state = order[i];
		int n = group->counts[state] - (state == JOB_QUEUED ? group->paused
						: state == JOB_RUNNING ? group->suspended : 0);

		if (n > 0) {
			text_addf(t, "%s%d %s", separator, n, job_state_name(state));
			separator = ", ";
		}
		if (state == JOB_RUNNING && group->suspended > 0) {
			text_addf(t, "%s%d suspended", separator, group->suspended);
			separator = ", ";
		}
	}
	if (group->paused > 0)
		text_addf(t, "%s%d paused at rungs%s", separator, group->paused,
			  group->over ? ", which is its end" : "");
	if (group->best.length)
		text_addf(t, "; %s", group->best.data);
}
