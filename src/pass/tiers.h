/* tiers.h - devices that are joined better and worse, in a decision: private to src/pass. Where all
 * pairs of devices are joined alike, there is one tier: nothing here changes a decision.
 *
 * A job is weighed at the best tier that so many devices can have. Once the devices are assigned, a
 * job that got worse ones either waits (tier_wait.h) or has its goodput on them in the next round;
 * then the policy is asked again, about the jobs that do not wait and the devices that are not kept
 * for those that do. */
#ifndef POLLUX_PASS_TIERS_H
#define POLLUX_PASS_TIERS_H

#include "decision.h"
#include "pollux/tier_wait.h"

/* A job that waits for devices of a better tier, or moves to such devices; times are on the boot
 * clock. */
struct tier_hold {
	bool waits;
	/* Its run, which would be suspended or is, is relaunched on better devices instead. */
	bool moves;
	int tier;
	double since_s;
	double until_s;			/* infinite: it accepts no others */
	double start_s;			/* expected */
};

struct pass_tiers {
	struct tier_links links;	/* of the snapshot's devices */
	bool several;
	bool pinned;			/* a candidate has --tier */
	/* Owned; [kind * n_best + r]: the best tier that r devices of the kind can have. */
	enum configuration_tier *best;
	int n_best;
	bool *kept;			/* owned; by device: free, for a job that waits */
	bool *promised;			/* owned; by device: to a job that waits */
	struct tier_hold *holds;	/* owned; by candidate */
};

/* tiers.c */
/* Finds out which tiers there are, once the kinds of the usable devices are known. */
void tiers_find(const struct snapshot *s, struct decision *d);
void tiers_free(struct pass_tiers *t);
/* True if the job's run is relaunched on better joined devices, in place of a suspension. */
bool tiers_are_better(const struct decision *d, int j);
/* Tells the model, which is of measurements on devices of the kind, their best tiers. */
void tiers_tell_model(const struct decision *d, const char *kind, struct job_model *m);
/* Once all candidates are weighed: a run on worse devices, or on more nodes than the fewest, is
 * worth what it makes of them. Jobs with
 * --tier get no more devices than can be joined so well. */
void tiers_weigh(const struct snapshot *s, struct decision *d);
/* The tier of the devices that the candidate is given; TIER_UNKNOWN: of one device. */
enum configuration_tier tiers_given(const struct snapshot *s, const struct decision *d, int j);
/* What the candidate makes of r devices of a kind and tier; NaN: not known. */
double tiers_value(const struct decision *d, int j, int kind, int r, enum configuration_tier tier);
/* What the candidate makes of as many devices as its run has, in the plan of its run, if these are
 * of the kind that it is to have and of the tier; NaN: not known. */
double tiers_value_in_run(const struct decision *d, int j, enum configuration_tier tier);
/* Gives the candidate another goodput for r devices of the kind. False: it has none, or this. */
bool tiers_set_value(struct decision *d, int j, int kind, int r, double value);
/* True if no devices here are joined as well as --tier demands; the job is then passed over. */
bool waits_for_tier(const struct snapshot *s, const struct job *job, struct decision *d);

/* tiers_settle.c: who waits and who moves, once devices are assigned. The others are decided and
 * assigned again. */
void tiers_settle(const struct snapshot *s, struct decision *d);

/* True if the job's run goes on on the devices that it has. */
bool tiers_stays(const struct snapshot *s, const struct decision *d, int j);
/* When each device is free for the candidate. The caller frees the result. */
double *tiers_free_times(const struct snapshot *s, const struct decision *d, int j);
/* Gives the candidate the devices of the set, which are free, in place of those assigned. */
void tiers_give(const struct snapshot *s, struct decision *d, int j, const bool *set);

/* tiers_move.c: runs that go on on better joined devices than they have. */
void tiers_move(const struct snapshot *s, struct decision *d);
/* True if a suspended run of the job goes on in place on whatever devices the job is given. */
bool tiers_go_on_anywhere(const struct decision *d, int j);

/* tiers_words.c */
void tiers_explain_wait(const struct snapshot *s, struct decision *d, int j,
			const struct tier_offer *o, const struct tier_answer *a);
void tiers_explain_move(const struct snapshot *s, struct decision *d, int j, const bool *set,
			int tier, double gain);
/* How devices of this distance are joined: "NVLink", "one switch". */
const char *tier_words(const struct snapshot *s, int tier);

#endif
