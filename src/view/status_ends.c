/* status_ends.c - the times between which jobs will end: asks ends.h about the jobs as the decision
 * tells a policy of them. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/ends.h"
#include "pollux/mem.h"
#include "pollux/outlook.h"
#include "pollux/status.h"

#define RECENT_S 86400.0	/* jobs that ended in this time show how often jobs come */

/* True if the job may start only after another that has not ended. */
static bool waits_for_others(const struct dependency_list *all, int64_t job_id)
{
	for (int i = 0; i < all->count; i++)
		if (all->items[i].job_id == job_id && !job_has_ended(all->items[i].after_state))
			return true;
	return false;
}

static bool plays(const struct status_job *item, double now_wall_s)
{
	return !item->job->profile && !(item->job->declared.begin_s > now_wall_s) &&
	       (item->state == SHOWN_QUEUED || item->state == SHOWN_STARTING ||
		item->state == SHOWN_RUNNING || item->state == SHOWN_SUSPENDED);
}

/* Copies the jobs that run or may run; what they own stays that of `all`. */
static int find_players(struct session *s, const struct status *all, struct job_list *players,
			struct err *err)
{
	struct dependency_list after;

	if (store_dependencies_list(&s->store, &after, err))
		return -1;
	players->items = xcalloc((size_t)all->jobs.count + 1, sizeof(*players->items));
	for (int i = 0; i < all->jobs.count; i++)
		if (plays(&all->items[i], all->now_wall_s) &&
		    !waits_for_others(&after, all->jobs.items[i].id))
			players->items[players->count++] = all->jobs.items[i];
	dependency_list_release(&after);
	return 0;
}

static struct ends_stream stream_of(const struct status *all)
{
	double *submitted_s = xcalloc((size_t)all->jobs.count + 1, sizeof(*submitted_s));
	struct ends_stream stream;
	int n = 0;

	for (int i = 0; i < all->jobs.count; i++)
		if (!all->jobs.items[i].profile)
			submitted_s[n++] = all->jobs.items[i].submit_time_s;
	stream = ends_stream_of(submitted_s, n, all->now_wall_s);
	free(submitted_s);
	return stream;
}

/* The job among those of the status; NULL: it is not shown. */
static struct status_job *shown(struct status *status, int64_t id)
{
	for (int i = 0; i < status->jobs.count; i++)
		if (status->jobs.items[i].id == id)
			return &status->items[i];
	return NULL;
}

int status_tell_ends(struct session *s, struct status *status, struct err *err)
{
	struct status_query query = {
		.filter = JOBS_RECENT, .since_wall_s = clock_wall_s() - RECENT_S,
	};
	struct outlook_jobs players = { .jobs = { .count = 0 } };
	struct outlook_input in;
	struct config config;
	struct status all;
	int rc;

	if (!s->store.db || !status->jobs.count)
		return 0;
	if (session_settings(s, &config, err) || status_read(s, &query, &all, err))
		return -1;
	players.runs = &all.runs;
	players.now_boot_s = all.now_boot_s;
	players.now_wall_s = all.now_wall_s;
	rc = find_players(s, &all, &players.jobs, err);
	if (rc == 0 && (rc = outlook_read_all(s, &config, &players, &in, err)) == 0) {
		size_t n = (size_t)in.input.n_jobs + 1;
		struct status_job **items = xcalloc(n, sizeof(struct status_job *));
		struct job_ends *ends = xcalloc(n, sizeof(*ends));
		bool *wanted = xcalloc(n, sizeof(*wanted));
		struct ends_stream stream = stream_of(&all);

		for (int i = 0; i < in.input.n_jobs; i++) {
			items[i] = shown(status, in.input.jobs[i].id);
			wanted[i] = items[i] != NULL;
		}
		ends_of(&in.input, &stream, wanted, ends);
		for (int i = 0; i < in.input.n_jobs; i++) {
			if (!items[i] || items[i]->stuck)
				continue;
			items[i]->end_from_s = status->now_wall_s + ends[i].from_s;
			items[i]->end_to_s = status->now_wall_s + ends[i].to_s;
			items[i]->length_is_known =
				!isnan(in.input.jobs[i].remaining_samples) &&
				!(in.input.jobs[i].remaining_spread > SCHED_TRUSTED_SPREAD);
		}
		free(items);
		free(ends);
		free(wanted);
		outlook_input_release(&in);
	}
	free(players.jobs.items);
	status_release(&all);
	return rc;
}
