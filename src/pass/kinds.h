/* kinds.h - devices of several kinds in a decision: private to src/pass. Where all usable devices
 * are of one kind, decision.n_kinds is 0, and nothing here has any effect. */
#ifndef POLLUX_PASS_KINDS_H
#define POLLUX_PASS_KINDS_H

#include "decision.h"

/* What a candidate makes of one kind of device. */
struct kind_view {
	struct job_model model;
	struct goodput_table *table;	/* NULL: nothing is known, or the job must not have it */
	bool owns_table;
};

/* True if devices of different names are of different kinds for a decision. */
bool kinds_are_told_apart(const struct snapshot *s);
/* Finds the kinds of the usable devices. Devices of kinds beyond SCHED_KINDS become unusable. */
void find_kinds(const struct snapshot *s, struct decision *d);
/* True if the job waits for a kind of device that is not here, or not usable. */
bool waits_for_kind(const struct snapshot *s, const struct job *job, struct decision *d);
/* Sets, for each candidate, its kind and the kinds that it must not have. */
void bar_kinds(const struct snapshot *s, struct decision *d);
/* Finds what each weighed candidate makes of each kind, for policies that model goodput. */
void weigh_on_kinds(const struct snapshot *s, struct decision *d);
/* Tells the policy of the kinds; n_devices may be less than there are. */
void tell_kinds(const struct decision *d, struct sched_input *in);
/* What the candidate makes of this kind; NULL: there is one kind, or nothing is known. */
const struct kind_view *view_of_kind(const struct decision *d, const struct candidate *c,
				     const char *kind);
/* True if there is a larger kind, by memory or by cores of a slot, that the candidate may have. */
bool has_larger_kind(const struct decision *d, int j, const struct device *device);
/* Tells jobs that wait which kinds are too small for them, once it is decided who runs. */
void explain_kinds(struct decision *d);
void forget_kinds(struct decision *d);

#endif
