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
	return !item->job->profile && !item->job->declared.cpu_cores &&
	       !(item->job->declared.begin_s > now_wall_s) &&
	       (item->state == SHOWN_QUEUED || item->state == SHOWN_STARTING ||
		item->state == SHOWN_RUNNING || item->state == SHOWN_SUSPENDED);
}

static bool any_plays(const struct status *status)
{
	for (int i = 0; i < status->jobs.count; i++)
		if (plays(&status->items[i], status->now_wall_s))
			return true;
	return false;
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
		if (status->items[i].job->id == id)
			return &status->items[i];
	return NULL;
}

/* --- what is told of each job --- */

/* An end is told if its late draw is at most so many times as far as its early one, a minute added
 * to both, and jobs have ended, by whose lengths it may be guessed; or if it is within a day and
 * the job told its work, or something tells how long it is at most. */
#define END_NEAR 36.0
#define END_NEAR_S 60.0
#define END_SOON_S 86400.0

static void forget_ends(struct job_ends *ends, int n)
{
	for (int i = 0; i < n; i++)
		ends[i].start_middle_s = ends[i].from_s = ends[i].middle_s = ends[i].to_s =
			(double)NAN;
}

/* A job in line. */
struct place {
	int nth;
	struct job_ends *ends;
};

static int by_place(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->nth > y->nth) - (x->nth < y->nth);
}

/* No job is told an earlier start than those before it in line. Sets the places in line. */
static void put_in_line(const struct sched_input *in, struct job_ends *ends,
			struct status_job *const *items)
{
	size_t n_jobs = (size_t)in->n_jobs;
	struct sched_choice *choices = xcalloc(n_jobs, sizeof(*choices));
	struct place *places = xcalloc(n_jobs, sizeof(*places));
	double start_s = 0;
	int n = 0;

	policy_decide(&policy_goodput, in, false, choices);
	for (int i = 0; i < in->n_jobs; i++) {
		const struct verdict *v = &choices[i].verdict;

		for (int k = v->n_remarks; k < v->n; k++) {
			if (v->facts[k].kind != FACT_IN_LINE)
				continue;
			if (items[i])
				items[i]->place = v->facts[k].n;
			if (!isnan(ends[i].start_middle_s))
				places[n++] = (struct place){ v->facts[k].n, &ends[i] };
		}
	}
	qsort(places, (size_t)n, sizeof(*places), by_place);
	for (int k = 0; k < n; k++)
		places[k].ends->start_middle_s = start_s =
			fmax(start_s, places[k].ends->start_middle_s);
	free(places);
	free(choices);
}

static void tell(const struct status *status, struct status_job *item, const struct sched_input *in,
		 const struct sched_job *job, const struct job_ends *ends)
{
	bool near = ends->to_s + END_NEAR_S <= END_NEAR * (ends->from_s + END_NEAR_S);
	bool known = ends->length_known || job->tells_its_work;

	if (!job->replicas)
		item->likely_start_s = status->now_wall_s + ends->start_middle_s;
	if (known ? !near && !(ends->to_s < END_SOON_S) : !near || in->n_ended == 0)
		return;
	item->likely_end_s = status->now_wall_s + ends->middle_s;
	item->end_from_s = status->now_wall_s + ends->from_s;
	item->end_to_s = status->now_wall_s + ends->to_s;
	item->length_is_known = (!isnan(job->remaining_samples) || job->remaining_device_s > 0) &&
				!(job->remaining_spread > SCHED_TRUSTED_SPREAD);
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

	if (!s->store.db || !status->jobs.count || !any_plays(status))
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
		if (policy_find(config.policy) == &policy_goodput)
			put_in_line(&in.input, ends, items);
		else	/* they go by other rules than those of ends.h */
			forget_ends(ends, in.input.n_jobs);
		for (int i = 0; i < in.input.n_jobs; i++)
			if (items[i] && !items[i]->stuck)
				tell(status, items[i], &in.input, &in.input.jobs[i],
				     &ends[i]);
		free(items);
		free(ends);
		free(wanted);
		outlook_input_release(&in);
	}
	free(players.jobs.items);
	status_release(&all);
	return rc;
}
