/* kinds.h - the kinds of the devices in a decision: private to src/pass.
 *
 * Usable devices that are all of one kind, or are not told apart, are one kind without a name: a
 * job makes of it what it made of the devices where it was measured, whatever these were, and is
 * not barred from it. */
#ifndef POLLUX_PASS_KINDS_H
#define POLLUX_PASS_KINDS_H

#include "decision.h"

/* What a candidate, or one of its plans, makes of one kind of device. */
struct kind_view {
	struct job_model model;
	struct goodput_table *table;	/* NULL: nothing is known, or the job must not have it */
	bool owns_table;
	/* Owned: the goodput that the candidate is offered, where that is less than the table's. */
	double *lowered;
	/* Owned: what its plans take of the host's memory, as sched_offers tells it, and the plans
	 * of the leaner ways. */
	struct {
		double *goodput, *host_bytes;
		int *plan;
	} ways[SCHED_WAYS];
};

/* True if devices of different names are of different kinds for a decision. */
bool kinds_are_told_apart(const struct snapshot *s);
/* Finds the kinds of the usable devices, at least one. Devices of kinds beyond SCHED_KINDS become
 * unusable. */
void find_kinds(const struct snapshot *s, struct decision *d);
/* True if the job waits for a kind of device that is not here, or not usable. */
bool waits_for_kind(const struct snapshot *s, const struct job *job, struct decision *d);
/* True if a run of the job in the plan (NULL: in any) ran out of memory on the kind. */
bool ran_out_on(const struct snapshot *s, const struct job *job, const char *plan,
		const char *kind);
/* Sets, for each candidate, its kind and the kinds that it must not have. */
void bar_kinds(const struct snapshot *s, struct decision *d);
/* What a model on a kind of device can be made from. */
struct kind_origin {
	const char *name;		/* of the workload, under its plan if it has one */
	const struct workload *from;	/* on the kind where it was measured */
	const struct job_model *model;	/* that was made from it */
};
/* The step time of a workload on kind `to` over its step time on the other kind, by what was
 * measured of it and of its other plans on both, and by 'pollux profile --devices'. on_to may be
 * NULL. */
struct fit_expectation step_time_ratio(const struct snapshot *s, const struct workload *from,
				       const char *to, const struct workload *on_to);
/* Makes candidate j's model on a kind: by what was measured there, or else moved from the kind of
 * the origin. Returns true if it was measured there. On the kind without a name: the origin's. */
bool model_on_kind(const struct snapshot *s, const struct decision *d, int j,
		   const struct kind_origin *origin, int kind, struct job_model *m);
/* The goodput [0..n] of what the candidate is offered of a kind, to be lowered or forbidden (NaN):
 * every constraint changes this. NULL: there are no offers. */
double *lower_offers(struct decision *d, int j, int kind);
/* The job must have no device. */
void bar_all_kinds(struct sched_job *job);
/* Leaves only the least number of devices that has a goodput: a job tries a new kind on it. */
void keep_least(struct goodput_table *t, int least, int n_devices);
/* The index of a kind; -1: no usable device is of this kind. All are of the one without a
 * name. */
int kind_named(const struct decision *d, const char *name);
/* Finds what the candidate, whose model is found, makes of each kind. */
void weigh_on_kinds(const struct snapshot *s, struct decision *d, int j);
/* Offers the job what the candidate makes of the kinds that it may have. */
void offer_tables(const struct decision *d, const struct candidate *c, struct sched_job *job);
/* What the candidate makes of its home; NULL: nothing is known. */
static inline const struct goodput_table *own_table(const struct candidate *c)
{
	return c->on_kind ? c->on_kind[c->home].table : NULL;
}
/* Tells the policy of no more devices than these: leaves to other people some of the kinds of which
 * the jobs hold least. */
void tell_fewer(struct decision *d, int n_devices);
/* What the candidate makes of this kind; NULL: it has no name, or nothing is known. */
const struct kind_view *view_of_kind(const struct decision *d, const struct candidate *c,
				     const char *kind);
/* True if there is a larger kind, by memory or by cores of a slot, that the candidate may have. */
bool has_larger_kind(const struct decision *d, int j, const struct device *device);
/* Tells jobs that wait which kinds are too small for them, once it is decided who runs. */
void explain_kinds(const struct snapshot *s, struct decision *d);
void forget_kinds(struct decision *d);

#endif
