/* facts.h - the facts that policies share. */
#ifndef SCHED_FACTS_H
#define SCHED_FACTS_H

#include "curve.h"
#include "pollux/policy.h"

/* The devices that the job is given; if it is not preemptible, with what keeps it there. */
struct fact fact_has(const struct sched_job *job, int devices);
/* The same with the range that the job asked for, where it has not its maximum. */
struct fact fact_has_asked(const struct sched_job *job, int devices);

/* --- about a job and numbers of devices, from its curve --- */

/* The same with their kind, where there are several. at: an index of curve.h, here and below. */
struct fact fact_has_at(const struct curves *curves, const struct curve *c, int at);
/* The least number of devices, and for how long. length_device_s: on these devices, as the policy
 * takes it. */
struct fact fact_needs_for(const struct curve *c, double length_device_s);
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
