/* reason_las.c - the sentences of the policy `las`. */
#include "las.h"
#include "reason.h"

static void add_running(const struct las *las, const struct las_job *e, const struct las_fact *fact,
			char *reason)
{
	if (fact->why == LAS_TO_ITS_END)
		reason_begin_kept(reason, e->job);
	reason_add_share(reason, e->job, e->replicas);
	if (fact->why == LAS_TO_ITS_END)
		reason_end_kept(reason, e->job);
	else if (fact->why == LAS_FOR_A_SLICE)
		reason_add(reason, " for a slice of %g s", las->in->slice_s);
	else if (fact->why == LAS_UNTIL_SERVED)
		reason_add(reason, " until job %lld, served less, can have %d", (long long)fact->id,
			   fact->devices);
	else if (fact->why == LAS_UNTIL_FIRST)
		reason_add(reason, " until job %lld, put first, can have %d", (long long)fact->id,
			   fact->devices);
	else if (fact->why == LAS_LEAST_SERVED)
		reason_add_text(reason, "; no waiting job has had less service");
	else
		reason_add_text(reason, "; no other job waits");
}

static void add_first(const struct las_job *e, const struct las_fact *fact, char *reason)
{
	bool several = fact->jobs.n > 1;

	reason_add_text(reason, e->first ? "1st in line, put first; needs "
					 : "1st in line; needs ");
	reason_add_devices(reason, e->min);
	if (!fact->jobs.n)
		return;
	reason_add_text(reason, "; waits for ");
	reason_add_jobs(reason, &fact->jobs);
	if (fact->slices)
		reason_add_text(reason, several ? " to end their slices" : " to end its slice");
	if (fact->service)
		reason_add(reason,
			   fact->slices ? " or to have had as much" : " to have had as much");
}

static void add_later(const struct las_job *e, const struct las_fact *fact, char *reason)
{
	double service_s = e->job->attained_service_device_s;

	reason_add_ordinal(reason, fact->place);
	reason_add(reason, e->first ? " in line, put first, after job %lld; needs "
				    : " in line, after job %lld; needs ", (long long)fact->id);
	reason_add_devices(reason, e->min);
	if (service_s > 0)
		reason_add(reason, "; has had %.2g device-hours", service_s / 3600);
}

static void add_stuck(const struct las *las, const struct las_job *e, const struct las_fact *fact,
		      char *reason)
{
	reason_add_text(reason, "needs ");
	reason_add_devices(reason, e->min);
	reason_add(reason, " of %d; ", sched_devices(las->in));
	if (fact->why == LAS_STUCK) {
		reason_add(reason, "not preemptible, so not before job %lld", (long long)fact->id);
		return;
	}
	reason_add_jobs(reason, &fact->jobs);
	reason_add(reason,
		   fact->jobs.n > 1 ? ", not preemptible, keep %d" : ", not preemptible, keeps %d",
		   fact->devices);
}

void reason_las(const struct las *las, const struct las_job *e, const struct las_fact *fact,
		char *reason)
{
	switch (fact->why) {
	case LAS_TO_ITS_END:
	case LAS_FOR_A_SLICE:
	case LAS_UNTIL_SERVED:
	case LAS_UNTIL_FIRST:
	case LAS_LEAST_SERVED:
	case LAS_ALONE:
		add_running(las, e, fact, reason);
		break;
	case LAS_IMPOSSIBLE:
		reason_add_impossible(reason, e->min, sched_devices(las->in));
		break;
	case LAS_KEEPERS:
	case LAS_STUCK:
		add_stuck(las, e, fact, reason);
		break;
	case LAS_FIRST:
		add_first(e, fact, reason);
		break;
	case LAS_LATER:
		add_later(e, fact, reason);
		break;
	}
}
