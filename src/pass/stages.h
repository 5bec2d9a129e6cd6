/* stages.h - the stages of a decision, and what they ask each other: private to src/pass. */
#ifndef POLLUX_STAGES_H
#define POLLUX_STAGES_H

#include "decision.h"
#include "pollux/pause.h"

/* --- the whole: decide.c --- */

/* As snapshot_device(), of the usable devices. */
int decision_find_device(const struct snapshot *s, const struct decision *d,
			 const struct device *wanted);
/* True if the job is to have the device, alone or beside others. */
bool decision_gives(const struct decision *d, int j, int device);
/* The first of these devices. */
int first_device(const struct snapshot *s, const struct decision *d, int j);
/* True if the job's suspended run is to continue in place, without a relaunch. */
bool comes_back(const struct decision *d, int j);
/* True if the job's run is to leave its devices with its memory. */
bool is_to_be_suspended(const struct decision *d, int j);

/* --- stages, in their order --- */

/* Every stage, in order: decide.c calls them so, and each reads what those before it have set. A
 * constraint on what jobs may have is a file with its stage, and its name here. */
#define STAGES(X) \
	/* Which jobs are in question, and on what devices: sets candidates and sched_jobs; takes \
	 * out those without a device, and says which of them start; finds \
	 * the kinds of the usable devices, at least one (those beyond SCHED_KINDS become \
	 * unusable), and how many of each kind each node has; takes out candidates that no number \
	 * of devices suits on these; puts guests last, behind d->n_asked others; finds the tiers, \
	 * and the plans that each candidate may have. */ \
	X(select_candidates) X(admit_cpu_jobs) X(find_kinds) X(find_nodes) X(fit_to_nodes) \
	X(share_find_guests) X(tiers_find) X(find_plans) \
	/* What the candidates would make of devices: which kinds they must not have; what they \
	 * make of the others; what is promised, and who is admitted; only the numbers that nodes \
	 * allow; what runs on worse joined devices, or on more nodes than the fewest, make of \
	 * them; the host's memory that each plan takes. */ \
	X(bar_kinds) X(weigh_candidates) X(promise_guarantees) X(keep_to_nodes) X(tiers_weigh) \
	X(weigh_plan_memory) \
	/* What the policy is told: the offers; no devices beyond this store's share, as far as \
	 * jobs here are at the end of their slices, nor more than the candidates could have \
	 * together. */ \
	X(tell_policy) X(leave_to_others) X(tell_reach) \
	/* The policy chooses, and which devices these are; who waits for better joined devices, \
	 * and who moves; takes devices back from jobs that do not fit beside the GPU memory of \
	 * suspended runs; guests and their seats. */ \
	X(decide_and_assign) X(tiers_settle) X(check_device_memory) X(share_place_guests) \
	X(share_give_seats) \
	/* How the jobs run on these: sizes, processors. */ \
	X(choose_all_sizes) X(bind_runs) \
	/* Remarks: waiting jobs are told which kinds are too small for them, that their group is \
	 * full, which device cannot be given out, and why, and who has the others; runs are told \
	 * their plan, why they were not paused at a rung, and until when turns last. */ \
	X(explain_kinds) X(explain_plans) X(explain_guarantees) X(explain_group_limits) \
	X(explain_rungs) X(explain_blocked) X(explain_sharing) X(explain_interactive)

typedef void stage(const struct snapshot *s, struct decision *d);
#define STAGE_DECLARED(name) stage name;
STAGES(STAGE_DECLARED)

/* --- which jobs are in question --- */

/* candidates.c: true if the job has no run, and none of its runs is being stopped for good. */
bool may_start(const struct snapshot *s, const struct job *job);
/* waits.c: the policy is not asked about the job, which waits for no known time. The result is
 * valid until the next call. */
struct passed_over *pass_over(struct decision *d, const struct job *job, struct fact why);
/* When the dependencies of the job were met, wall clock: the end of the last job that it had to
 * wait for, or of the first where one of several suffices. NaN: it has no dependencies. */
double dependencies_end(const struct decision *d, int64_t job_id);
/* Copies the dependencies into the decision. Those on jobs that this pass cancels, as they can
 * never start, say so: what becomes of a chain is decided in one pass. */
void find_dependencies(const struct snapshot *s, struct decision *d);
/* True if the job is passed over, for now or for good: its 'pollux run' is gone (interactive.c); it
 * waits for another job; its time to begin has not come; there is no room on the disk of the store,
 * or where it saves; it failed, or could not be started, a short while ago (waits.c); it waits for
 * a kind of device that is not here, or not usable (kinds.c); no devices here are joined as well as
 * --tier demands (tiers.c). */
typedef bool waiting(const struct snapshot *s, const struct job *job, struct decision *d);
waiting is_deserted, waits_for_another, waits_to_begin, waits_for_disk, waits_for_retry,
	waits_for_kind, waits_for_tier;
/* True if the run, once suspended, can go on only on a GPU that the settings leave out. */
bool is_bound_to_left_out(const struct snapshot *s, const struct run *run);
/* True if the run is suspended on such a GPU. The policy is not asked about the job: the run goes
 * on there as soon as it can. */
bool waits_on_left_out(const struct snapshot *s, const struct job *job, const struct run *run,
		       struct decision *d);
/* group_limit.c: takes waiting jobs out of the candidates that are beyond the limits of their
 * groups. */
void limit_groups(const struct snapshot *s, struct decision *d);
/* Takes the jobs that stay paused at rungs of their sweeps out of the candidates, and sets the turn
 * of the others. */
void halve_sweeps(const struct snapshot *s, struct decision *d);
/* Tells if a job is paused at a rung of its sweep: for good if the sweep is over. */
enum rung_pause { RUNG_PAUSE_NONE, RUNG_PAUSE_FOR_NOW, RUNG_PAUSE_FOR_GOOD };
enum rung_pause rung_pause(const struct snapshot *s, int64_t job_id);
/* interactive.c: puts interactive jobs before all others that wait, as far as they may. */
void put_interactive_first(const struct snapshot *s, struct decision *d);

/* --- memory of suspended runs: suspension.c --- */

/* By run, if its memory can stay while others run; the caller frees it. */
bool *suspendable_runs(const struct snapshot *s);
/* The bytes that suspended runs may keep beside those that are suspended. */
double suspend_memory_left(const struct snapshot *s);
/* Why the memory of a run that is at work cannot stay. *bytes: of the host's, that it keeps. */
enum suspend_bar suspend_bar_of(const struct snapshot *s, const struct run *run, double left,
				int64_t *bytes);
/* True if the run is suspended by moving its GPU memory to the host's. */
bool run_freezes(const struct snapshot *s, const struct run *run);
/* The time that the moves there and back take; 0: nothing is moved. */
double run_move_s(const struct snapshot *s, const struct run *run);
/* True if the run, when stopped, loses its work since the last checkpoint. */
bool run_loses(const struct snapshot *s, const struct run *run);
/* True if the run, once suspended, can go on only on the devices that it had. */
bool run_is_bound(const struct run *run);
/* True if its memory stays on them, too. */
bool is_resident(const struct snapshot *s, const struct run *run);
/* Bytes that suspended runs keep on the device, and those that the decision suspends (NULL: none);
 * the run of one job is left out. */
int64_t device_memory_kept(const struct snapshot *s, const struct decision *d, int device,
			   const struct job *but);
/* Bytes that processes of no run have on the device: others', that jobs may run beside (pollux
 * devices --ignore), and what no listed process has, which came after the run there: a game's. */
int64_t device_memory_of_others(const struct snapshot *s, int device);
/* The memory that the run's processes have now, as the driver says: the most on any device. */
int64_t device_memory_now(const struct snapshot *s, const struct run *run);

/* --- kinds of device: kinds.c ---
 *
 * Usable devices that are all of one kind, or are not told apart, are one kind without a name: a
 * job makes of it what it made of the devices where it was measured, whatever these were, and is
 * not barred from it. */

/* True if devices of different names are of different kinds for a decision. */
bool kinds_are_told_apart(const struct snapshot *s);
/* The index of a kind; -1: no usable device is of this kind. All are of the one without a
 * name. */
int kind_named(const struct decision *d, const char *name);
/* True if a run of the job in the plan (NULL: in any) ran out of memory on the kind. */
bool ran_out_on(const struct snapshot *s, const struct job *job, const char *plan,
		const char *kind);
/* True if there is a larger kind, by memory or by cores of a slot, that the candidate may have. */
bool has_larger_kind(const struct decision *d, int j, const struct device *device);
/* The goodput [0..n] of what the candidate is offered of a kind, to be lowered or forbidden (NaN):
 * every constraint changes this. NULL: there are no offers. */
double *lower_offers(struct decision *d, int j, int kind);
void kind_views_free(struct kind_view *views, int n_kinds);

/* --- weights: weigh.c --- */

/* Makes candidate j's model of a workload as measured on a kind: that of its run, if it was there.
 * Returns what was measured; NULL: nothing. */
struct workload *find_model(const struct snapshot *s, const struct decision *d, int j,
			    const char *name, struct job_model *m);
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
/* Leaves only the least number of devices that has a goodput: a job tries a new kind on it. */
void keep_least(struct goodput_table *t, int least, int n_devices);
/* True if another configuration can be brought to the run without a relaunch. */
bool takes_configurations(const struct snapshot *s, const struct run *run);

/* --- execution plans --- */

/* job_plans.c */
void job_plans_free(struct job_plans *p);	/* NULL is harmless */
/* Makes the tables of the best plan for each number of devices, on each kind, for policies that
 * model goodput; none where no plan is known to fit on any kind. The candidate's home is the kind
 * of its run, or else the kind where most plans were measured. Its model becomes that of its run's
 * plan, or of the plan on the fewest devices. */
void weigh_plans(const struct snapshot *s, struct decision *d, int j);
/* The index of a plan; "": of the first. -1: there is none of the name. */
int plan_index(const struct candidate *c, const char *name);
/* The candidate's model becomes that of the plan. */
void run_in_plan(struct candidate *c, int plan);
/* The best goodput of a plan that is compared at a place on devices of a kind. A single node stands
 * for the fewest nodes that have so many devices, an unknown tier for the best one. NaN: not known,
 * or it does not fit. */
double plan_goodput_at(const struct job_plans *p, int plan, int kind,
		       struct throughput_place place);
/* The plan of most goodput there, as the candidate's table of the kind has it; -1: none. */
int best_plan_at(const struct candidate *c, int kind, struct throughput_place place);
/* The best goodput of the run's plan on its devices; NaN: unknown, or no plan is better. */
double plan_goodput_now(const struct decision *d, const struct candidate *c);
/* True if some plan that the candidate may have is not known to be too large on the kind. */
bool plan_is_left(const struct snapshot *s, const struct candidate *c, const char *kind);
/* True if a run in this plan that runs out of memory is to be followed by one in another. */
bool has_other_plan(const struct candidate *c, const char *plan);

/* plan_choice.c */
/* The plan in which the candidate is to run on so many devices of the tier; -1: it has no plans. */
int choose_plan(const struct decision *d, const struct candidate *c, int replicas,
		enum configuration_tier tier);
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
/* Lowers what leaner plans make of so many devices to what they make of them at the place. Returns
 * true if one makes less. */
bool plan_ways_lower(struct decision *d, int j, int kind, struct throughput_place place);

/* --- devices on several nodes: nodes.c --- */

/* The job may have the least number of devices that the nodes allow, as the least that it declares,
 * however few it was measured on. */
void raise_least(const struct decision *d, int j, struct job_model *m);
/* The table of a model on the nodes of this kind; -1: of the first one. */
struct goodput_table *table_on_nodes(const struct decision *d, const struct job_model *m, int kind);
/* Rounds what a policy chose that looks at no goodput. */
void round_to_nodes(const struct snapshot *s, struct decision *d);
/* Chooses the devices; holder as in assign.h. Choices that find no room are lowered. */
void assign_to_nodes(const struct snapshot *s, struct decision *d, const int *holder);
/* The number of nodes of the devices that the job is to have. */
int decision_nodes(const struct decision *d, int j, int n_devices);

/* --- guarantees: guarantees.c --- */

/* Tells a job whose guarantee the decision breaks, which is an error of the program. */
void check_guarantees(struct decision *d);
/* The job that is to have fewer devices where a guaranteed one finds no room; -1: there is none. */
int gives_way_to_guarantees(const struct decision *d);

/* --- how devices are joined: tiers.c --- */

void tiers_free(struct pass_tiers *t);
/* True if the job's run is relaunched on better joined devices, in place of a suspension. */
bool tiers_are_better(const struct decision *d, int j);
/* Tells the model, which is of measurements on devices of the kind, their best tiers. */
void tiers_tell_model(const struct decision *d, const char *kind, struct job_model *m);
/* The tier of the devices that the candidate is given; TIER_UNKNOWN: of one device. */
enum configuration_tier tiers_given(const struct snapshot *s, const struct decision *d, int j);
/* What the candidate makes of r devices of a kind and tier; NaN: not known. */
double tiers_value(const struct decision *d, int j, int kind, int r, enum configuration_tier tier);
/* What the candidate makes of as many devices as its run has, in the plan of its run, if these are
 * of the kind that it is to have and of the tier; NaN: not known. */
double tiers_value_in_run(const struct decision *d, int j, enum configuration_tier tier);
/* Gives the candidate another goodput for r devices of the kind. False: it has none, or this. */
bool tiers_set_value(struct decision *d, int j, int kind, int r, double value);
void tiers_explain_wait(const struct snapshot *s, struct decision *d, int j,
			const struct tier_offer *o, const struct tier_answer *a);
void tiers_explain_move(const struct snapshot *s, struct decision *d, int j, const bool *set,
			int tier, double gain);

/* --- how jobs run on their devices --- */

/* sizes.c: the one place that chooses the configuration in which a job runs, once its devices
 * are known. */
struct sizes choose_sizes(const struct snapshot *s, const struct decision *d,
			  const struct candidate *c, const char *kind,
			  struct throughput_place place);
/* A configuration of which nothing is known. */
struct sizes sizes_unknown(struct configuration configuration);
/* True if the batch of the run is larger than the job may have (edited, or it was found to count
 * updates), fell behind what a smaller one promised, or is worth too little at
 * every noise scale of the interval, and these sizes are smaller. */
bool must_shrink(const struct candidate *c, const struct sizes *sizes);
/* Goodput in the configuration in which the job runs; NaN: it does not run, or it has no model. */
double goodput_now(const struct candidate *c);
/* binding.c: copies the processors of candidate j's next run to text; "": those of its devices. */
void copy_cores(const struct decision *d, int j, char *text, size_t size);
/* people_turns.c: once the decision is carried out, tells the others what this store has and
 * wants. */
void tell_others(const struct engine_context *at, const struct snapshot *s,
		 const struct decision *d);

#endif
