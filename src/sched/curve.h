/* curve.h - a job as the policies that model goodput see it: the numbers of devices that it may be
 * given, its gain from each, and its other figures, with replacements for unknown and impossible
 * ones.
 *
 * On one node, any number may be given. On several nodes, only numbers that can be placed together
 * whatever the other jobs have: powers of two that divide a node, a node, and whole nodes (the
 * configurations of Jayaram Subramanya et al., "Sia", SOSP 2023). Each of these divides the next,
 * so placing the largest first leaves no gaps, and any choice with a sum of at most n_devices fits;
 * the last node is smaller where n_devices is no multiple. A job may always keep what it holds,
 * which is placed. */
#ifndef SCHED_CURVE_H
#define SCHED_CURVE_H

#include <math.h>
#include <stdbool.h>

#include "pollux/policy.h"

#define CURVE_SETTLE_RESTARTS 2
#define CURVE_SETTLE_SLICES 0.1
/* A slice is at least this many restarts, so that two thirds of it are work. With a restart as long
 * as the configured slice, a job would come and go without any work. */
#define CURVE_SLICE_RESTARTS 3

/* A curve has one index for the kind and the number of devices: r devices of kind k have the index
 * kinds[k].first + r, and 0 is none. With one kind the index is the number. */
struct curve {
	const struct sched_job *job;
	/* The smallest number that the job may be started on, on its slowest kind, and the index of
	 * that number; 0: none here. The smallest number on each kind; 0: none of that kind. */
	int least, least_at;
	int least_on[SCHED_KINDS];
	int held;		/* index of the devices it has; 0: it waits; > n_devices: some of
				   them went away */
	int held_devices, held_kind;
	/* Goodput in devices: of[r], r = 0..n_devices, is goodput[r] in units of goodput[least] /
	 * least, so that of[least_at] = least. NaN: the job must not get r devices. Where goodput
	 * is not known, only of[min_replicas] and of[held] are set, and r devices count as r. */
	double *of;
	double unit;		/* goodput of one such device, samples/s; NaN: not known */
	double now;		/* like of[held], at its present configuration */
	double weight;		/* 1 where it is not positive and finite */
	/* slice_s / 20 where unknown: 30 s, as published, at the default slice of 10 min. */
	double restart_s;
	double relaunch_s;	/* restart_s, or the job's own: see policy.h */
	/* Time that the job loses by leaving its devices and coming back to as many; and by a
	 * relaunch on other devices, or in another configuration. A waiting job loses restart_s. */
	double turn_cost_s, relaunch_cost_s;
	/* The slice after the first: the configured slice, or CURVE_SLICE_RESTARTS restarts. */
	double slice_s;
	/* Of the rest of the job, at least one sample, on `least` devices, but no more than
	 * curve_limit_device_s(); NaN: not known. */
	double remaining_device_s;
	double spread;		/* of its length, as sched_job.remaining_spread; infinite where
				   only its siblings' service is known, or nothing */
	/* Where siblings come first: the least that counts as what remains of it; where that is not
	 * known, as its service. 0: none does. */
	double behind_device_s;
	double ends_in_s;	/* at the present rate; NaN: not known, or it waits */
	bool in_slice;		/* it runs, and was launched less than its slice ago */
	/* True if it has run for CURVE_SETTLE_RESTARTS relaunches and CURVE_SETTLE_SLICES slices.
	 * Until then it is left as it is. Otherwise each of several passes close to each other
	 * could relaunch it, since the model changes with its first measurements. */
	bool settled;
};

/* The devices of one kind: the indexes first + 1 to first + n. */
struct curve_kind {
	int first, n;
	const char *name;
};

struct curves {
	const struct sched_input *in;
	int n_devices;		/* of all kinds */
	int n_kinds;		/* at least 1 */
	struct curve_kind kinds[SCHED_KINDS];
	double slice_s;		/* 600 s where the input's is not positive and finite */
	struct curve *items;	/* n_jobs of them, in the order of their ids */
	double *values;		/* memory of all curves' of[] */
};

struct curves curves_of(const struct sched_input *in);
void curves_release(struct curves *curves);

/* The kind of the devices of an index. */
static inline int curve_kind_at(const struct curves *curves, int at)
{
	int k = 0;

	while (k + 1 < curves->n_kinds && at > curves->kinds[k + 1].first)
		k++;
	return k;
}

/* The number of devices of an index. */
static inline int curve_devices_at(const struct curves *curves, int at)
{
	return at ? at - curves->kinds[curve_kind_at(curves, at)].first : 0;
}

/* The service that the job has had, 0 or more. */
static inline double curve_service_device_s(const struct curve *c)
{
	return fmax(c->job->attained_service_device_s, 0);
}

/* When the job's present run began, or one that starts now does. */
static inline double curve_launched_s(const struct curves *curves, const struct curve *c,
				      bool starts_now)
{
	return starts_now ? curves->in->now_s : c->job->launched_s;
}

/* True if the job keeps devices as long as it runs. */
static inline bool curve_stays(const struct curve *c)
{
	return !c->job->preemptible || c->job->guaranteed;
}

/* The number of devices that a job which keeps its devices needs, among those of an index. */
static inline int curve_guaranteed_devices(const struct curves *curves, const struct curve *c,
					   int at)
{
	int devices = curve_devices_at(curves, at), least = c->least_on[curve_kind_at(curves, at)];

	return c->job->preemptible && least && least < devices ? least : devices;
}

/* True if something tells how long the job is at most: what remains, or a time limit. */
static inline bool curve_length_is_known(const struct curve *c)
{
	return !isnan(c->remaining_device_s) || c->job->time_left_s > 0;
}

/* False if the job has a guarantee and is known to be slower on what it holds. */
bool curve_keeps_guarantee(const struct curve *c);

/* True if r devices of the machine can be placed on one kind, whatever the job's own limits. */
bool curve_placeable(const struct sched_input *in, int r);

/* The end of the slice of its present run, or of a run that starts now. The first slice is longer
 * by a restart: what takes a slice ends in it. */
double curve_slice_end_s(const struct curves *curves, const struct curve *c, bool starts_now);

/* The most service that the job's time limit leaves it on the devices that it holds, or on its
 * least. INFINITY: it has none. */
double curve_limit_device_s(const struct curve *c);

/* The time from its launch until the job has settled. */
double curve_settle_s(const struct curves *curves, const struct curve *c);

/* The index of the least number of devices on the kind where the job is fastest, among the kinds of
 * which this many devices are left; 0: the job fits into none. */
int curve_least_within(const struct curves *curves, const struct curve *c, const int *left);
/* The kind of device on which the job lacks the fewest devices for its least number. */
int curve_nearest_kind(const struct curves *curves, const struct curve *c, const int *left);

/* The index of the next larger number of devices of the same kind that the job may be given; 0:
 * none. */
int curve_next(const struct curves *curves, const struct curve *c, int r);

/* --- the facts that policies share --- */

/* The devices that the job is given; if it is not preemptible, with what keeps it there. */
struct fact fact_has(const struct sched_job *job, int devices);
/* The same with the range that the job asked for, where it has not its maximum. */
struct fact fact_has_asked(const struct sched_job *job, int devices);

/* The same with their kind, where there are several. at: an index, as above. */
struct fact fact_has_at(const struct curves *curves, const struct curve *c, int at);
/* Adds the least number of devices, and whether nothing is known of the length. */
void verdict_add_needs(struct verdict *v, const struct curve *c);
/* True if no kind that the job may have has as many devices as the job needs. Then the verdict says
 * so. */
bool kinds_are_too_small(const struct sched_input *in, const struct sched_job *job,
			 struct verdict *v);
/* For a job that can never start (least is 0): why. */
struct verdict verdict_unfit(const struct curves *curves, const struct curve *c);
/* What the devices bring, and what more of them would, as far as it is known. */
void verdict_add_gain(struct verdict *v, const struct curves *curves, const struct curve *c,
		      int at);
/* The choices of a policy that has no more to tell of them. at: the devices of each job, in the
 * order of the curves. waits: why a job waits although it could be given devices. */
void choices_of(const struct curves *curves, const int *at, enum fact_kind waits,
		struct sched_choice *choices);

#endif
