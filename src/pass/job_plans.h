/* job_plans.h - the plans that a candidate's command can be executed by, in a decision: private to
 * src/pass. A job without --plan has none, and nothing here has any effect on such a job.
 *
 * A job runs in the best of the plans that were measured and fit. If none was, its plans are tried
 * in the order of their declaration: the first that is not known to have run out of memory. */
#ifndef POLLUX_PASS_JOB_PLANS_H
#define POLLUX_PASS_JOB_PLANS_H

#include "kinds.h"
#include "pollux/execution_plan.h"

/* What a candidate makes of one plan. */
struct plan_view {
	char *workload;			/* owned: the name under which knowledge is kept */
	bool allowed;			/* it can read the checkpoints that the job may have */
	bool ran_out;			/* at the submitted sizes, on every kind of device */
	unsigned ran_out_on;		/* bit k: at these sizes, on kind k of the decision */
	bool known_to_fail;		/* at the submitted sizes; too_large NULL: in a profile */
	const struct configuration *too_large;	/* the last that ran out of memory; NULL: none */
	const struct workload *known;	/* NULL: never measured */
	/* Owned, by kind, with the tables. These have NaN where the plan does not fit; NULL:
	 * nothing is known, the plan is not allowed, or the policy looks at no goodput. */
	struct kind_view *on_kind;
};

struct job_plans {
	struct execution_plans declared;
	struct plan_view *views;	/* owned; by plan */
	int n_kinds;			/* of each view's on_kind */
	int trial;			/* the plan to be tried; -1: measured ones are compared */
};

static inline const struct execution_plan *plan_at(const struct job_plans *p, int i)
{
	return &p->declared.items[i];
}

/* The index of the plan of this name; -1: there is none. */
static inline int job_plan_index(const struct job_plans *p, const char *name)
{
	const struct execution_plan *plan = execution_plans_find(&p->declared, name);

	return plan ? (int)(plan - p->declared.items) : -1;
}

/* Finds out which plans each candidate may have, and which is to be tried. */
void find_plans(const struct snapshot *s, struct decision *d);
void job_plans_free(struct job_plans *p);	/* NULL is harmless */
/* weigh_plans.c: makes the tables of the best plan for each number of devices, on each kind, for
 * policies that model goodput; none where no plan is known to fit on any kind. The candidate's home
 * is the kind of its run, or else the kind where most plans were measured. Its model becomes that
 * of its run's plan, or of the plan on the fewest devices. */
void weigh_plans(const struct snapshot *s, struct decision *d, int j);
/* What a plan is worth by number of devices on the kind that the candidate is to have; NULL: not
 * known. */
const struct goodput_table *plan_table_there(const struct decision *d, const struct candidate *c,
					     int plan);
const struct job_model *plan_model_there(const struct decision *d, const struct candidate *c,
					 int plan);
/* The index of a plan; "": of the first. -1: there is none of the name. */
int plan_index(const struct candidate *c, const char *name);
/* Puts this plan into the candidate's table of a kind wherever the plan has at least this much
 * goodput and the table has less. */
void prefer_plan(const struct decision *d, struct candidate *c, int kind, int plan, double goodput);
/* The candidate's model becomes that of the plan. */
void run_in_plan(struct candidate *c, int plan);
/* Makes the candidate run in this plan, which was not measured. */
void try_plan(struct candidate *c, int plan);
/* The best goodput of a plan that is compared at a place on devices of a kind. A single node stands
 * for the fewest nodes that have so many devices, an unknown tier for the best one. NaN: not known,
 * or it does not fit. */
double plan_goodput_at(const struct job_plans *p, int plan, int kind,
		       struct throughput_place place);
/* The plan of most goodput there, as the candidate's table of the kind has it; -1: none. */
int best_plan_at(const struct candidate *c, int kind, struct throughput_place place);
/* The best goodput of the run's plan on its devices; NaN: unknown, or no plan is better. */
double plan_goodput_now(const struct decision *d, const struct candidate *c);
/* The plan in which the candidate is to run on so many devices of the tier; -1: it has no plans. */
int choose_plan(const struct decision *d, const struct candidate *c, int replicas,
		enum configuration_tier tier);
/* plan_memory.c: tells the policy of the host's memory that each plan takes, once it is decided
 * which numbers of devices the candidates may have. */
void weigh_plan_memory(const struct snapshot *s, struct decision *d);
/* Lowers what leaner plans make of so many devices to what they make of them at the place. Returns
 * true if one makes less. */
bool plan_ways_lower(struct decision *d, int j, int kind, struct throughput_place place);
/* The index of the first plan that may fit on the kinds of these bits (0: on some kind); if there
 * is none, of the first plan. */
int plan_to_try(const struct job_plans *p, unsigned kinds);
/* The least and the most devices become multiples of the width of the plan to be tried. A run that
 * may be suspended keeps its number. elastic: the policy reads goodput, and gives multiples. */
void plan_set_bounds(struct decision *d, int j, bool elastic);
/* The devices of one replica in the plan, 1 for plan -1 and where devices are no multiple. */
int plan_width(const struct candidate *c, int plan, int devices);
/* False if so many devices are no whole number of replicas of the plan to be tried. */
bool plan_suits(const struct candidate *c, int devices);
/* The least number of devices: that of the plan to be tried, if its replicas have several, else
 * the declared one. */
int plan_least(const struct candidate *c, const struct sched_job *job, int declared);
/* Leaves out the numbers of devices that the width of the plan to be tried does not divide. */
void divide_by_plan(const struct candidate *c, struct goodput_table *t, int n_devices);
/* True if some plan that the candidate may have is not known to be too large on the kind. */
bool plan_is_left(const struct snapshot *s, const struct candidate *c, const char *kind);
/* True if a run in this plan that runs out of memory is to be followed by one in another. */
bool has_other_plan(const struct candidate *c, const char *plan);
/* Tells running jobs their plan, and why they have no other. */
void explain_plans(const struct snapshot *s, struct decision *d);

#endif
