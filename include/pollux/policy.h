/* policy.h - the decision: how many devices each job gets until the next pass, and why.
 *
 * Policies are pure functions of their input: the live pass and the simulator call the same code.
 * All times are seconds on one clock that the caller chooses; only differences matter.
 *
 *	const struct policy *p = policy_find("las");
 *	struct sched_choice *choice = xcalloc(n, sizeof(*choice));
 *	p->decide(&input, choice);
 *
 * What goes in: every job that waits and may start, and every job that has devices and is to have
 * them until somebody decides otherwise. A job that is being stopped in order to be relaunched
 * waits (replicas 0). So does one that lost a device: it must be relaunched in any case. A job on
 * its way out for good (cancelled, held) is left out. The devices of all these still count in
 * n_devices: the decision hands them on, and whoever gets them starts when they are free.
 *
 * What comes out: the sum of replicas is at most n_devices; each is 0 or within the job's minimum
 * and maximum (a job that keeps what it holds keeps it as it is). A running job whose number
 * changes must be relaunched. */
#ifndef POLLUX_POLICY_H
#define POLLUX_POLICY_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"

#define SCHED_REASON_SIZE 192

/* A job is given at most so many times the replicas that it was ever measured on (goodput is NaN beyond). The
 * model takes links that it has not seen for free, so growth is in steps, each of which costs a restart: with
 * steps of 4 jobs end sooner in simulation than with the published 2, or with 8. */
#define SCHED_REPLICA_GROWTH 4

struct sched_job {
	int64_t id;			/* ties are broken by the smaller id: the earlier job */
	int min_replicas;		/* 1 <= min <= max; one device each */
	int max_replicas;
	double weight;			/* > 0; what devices are worth to it, or (las, tiresias) what its service is divided by */
	double attained_service_device_s;	/* devices x seconds over all its runs, this one too */
	bool preemptible;		/* false: once it has devices it keeps them to its end */
	int replicas;			/* devices it holds now; 0: it waits */
	double launched_s;		/* on them; now, while they are being left to it. Meaningful where replicas > 0 */
	/* For tiresias: when it was first seen to have had TIRESIAS_QUEUE_DEVICE_S; looked at where it has.
	 * Unknown (0, or NaN) for all: its second queue is in the order of the ids. */
	double demoted_s;

	/* For the policies that model goodput; the others do not look. */
	double submitted_s;
	double waiting_since_s;		/* submitted, or last run ended; meaningful where replicas == 0 */
	int restarts;			/* launches after the first */
	double restart_s;		/* what a relaunch costs: from the stop signal to the first step;
					   NaN: not known, taken for slice_s / 20 */
	/* Useful samples a second on r devices, packed on as few nodes as can be, at the best
	 * configuration there: goodput[r], r = 0..max_replicas, [0] = 0. NaN: not to be given r devices
	 * (too few for it, not to be placed, or too far from what was ever measured). NULL: nothing is
	 * known, and only min_replicas may be given. The caller's. */
	const double *goodput;
	/* Of the configuration it runs at, on the devices it holds; NaN: unknown, taken for the best. */
	double goodput_now;
	double remaining_samples;	/* useful ones, until its end, 0 or more; NaN: not known */
};

/* What is left of a total of work, as declared or as is usual: none while it is over by at most SCHED_OVERTIME
 * of it (a last evaluation, a last batch), so that a job is not stopped just before its end. Beyond that nobody
 * knows, or a job that goes on for ever would always be the shortest: NaN, as where the total is. */
#define SCHED_OVERTIME 0.05
double sched_remaining(double total, double done);

struct sched_input {
	const struct sched_job *jobs;
	int n_jobs;
	int n_devices;			/* that may be used at all, held ones too */
	double now_s;
	double slice_s;			/* devices are not taken away sooner than this after launch; goodput: see there */
	int devices_per_node;		/* 0: all are on one */
};

struct sched_choice {
	int replicas;			/* 0: waits */
	/* It keeps its devices, but is worth a relaunch at the best configuration for them: what it
	 * gains over the horizon exceeds the restart. */
	bool reconfigure;
	/* Waiting: when it starts at the latest, at the first pass after this, if nobody comes and the job
	 * that the reason names, if it names one, ends when it is expected to, or its slice does and nothing else
	 * has been learnt. NaN: cannot be told, or it
	 * runs. */
	double next_start_s;
	/* In words and numbers, for people; of absolute facts only (no ages), so that an unchanged
	 * decision has an unchanged reason. */
	char reason[SCHED_REASON_SIZE];
};

struct policy {
	const char *name;
	const char *summary;
	/* It looks at goodput: its jobs run at the sizes that the goodput is of, the others at their own. */
	bool models_goodput;
	/* choice has n_jobs entries, in the order of in->jobs; all are written. */
	void (*decide)(const struct sched_input *in, struct sched_choice *choice);
};

/* The largest sum, over jobs, of weight * sqrt(rate) * jobs at least as long, in time slices: short jobs first,
 * several devices where they pay. The formulas: src/sched/worth.h; the rules: src/sched/claims.h.
 *
 * A job's slice is max(slice_s, 3 restart_s): with a restart that takes longer than a third of slice_s it would
 * otherwise hold devices again and again for little work, or none.
 *
 * No starvation: let W wait, let A be the jobs that have waited longer than W and that the machine is
 * large enough for, P the time between passes, and
 *
 *	B = 4 * max(slice_s, D / n_devices)
 *
 * with D the device-seconds of a round in which each job that it is large enough for has its slice on the
 * least number of devices. Where all jobs are preemptible, W starts after at most
 *
 *	B + P + (|A| + 1) * (L + P)
 *
 * seconds, L being the longest slice of any job and twice the longest restart of those whose remaining_samples
 * are known: one that lacks less than its restart is not stopped for another, but not for ever, as what it says may
 * be wrong. B and L are at their largest, and |A| at the time W has waited for B. W then keeps devices for its
 * slice, two thirds of which at least are work. A job that comes back with an older waiting_since_s
 * (released, say) joins A. Time spent stopping comes on top.
 *
 * Where jobs that are not preemptible leave W too few devices, it waits for those that ran by B, or were submitted
 * before W began to wait, and for those of unknown length that were started until the former had left enough:
 * src/sched/backfill.h. */
extern const struct policy policy_goodput;

/* The fitness as published, without slices: it does not rotate, and a job may wait for ever. To
 * compare with; src/sched/policy_pollux.c has the formulas. */
extern const struct policy policy_pollux;

/* Sia's program: the least sum of speedup^-0.5. No slices either; src/sched/policy_sia.c. */
extern const struct policy policy_sia;

/* To compare with, as published or as in the textbook; none has slices, nor keeps anyone from starving. The
 * files of their names in src/sched have the rules, and say what they do where a live job lacks what they
 * ask for. */
extern const struct policy policy_optimus;	/* by remaining time and marginal gain */
extern const struct policy policy_tiresias;	/* two queues by attained service */
extern const struct policy policy_srtf;		/* shortest remaining time first */
#define TIRESIAS_QUEUE_DEVICE_S 57600.0		/* service at which a job goes to the second queue */

/* Least attained service with a time slice. Order, rules and their reasons: policy_las.c.
 *
 * No starvation: let W wait, let A be the other jobs that the machine is large enough for and whose
 * service/weight is not above W's, and P the time between passes. Where all jobs are preemptible, W
 * starts after at most
 *
 *	sum over j in A of (W's service/weight - j's service/weight) * j's weight
 *	+ (|A| + 1) * (slice_s + P)
 *
 * seconds, and then keeps its devices for slice_s. It does not know of restarts: where one takes as long as a
 * slice, nothing gets done. A job that arrives meanwhile joins A, with no
 * service had: a job with much service waits until each newcomer has had as much for its weight.
 * Time spent stopping and restarting comes on top. */
extern const struct policy policy_las;

/* First in, first out: the smallest id first, nobody preempted or resized, and nobody starts
 * before a job that waits for more devices. The baseline to compare with. */
extern const struct policy policy_fifo;

/* Every policy, in the order of listings: X(name, LIVE) for policies whose inputs a running
 * machine has, X(name, SIMULATED) for those of simulations alone. No other list of policies exists. */
#define POLICIES(X) \
	X(goodput, LIVE) X(pollux, LIVE) X(sia, SIMULATED) X(optimus, SIMULATED) \
	X(tiresias, SIMULATED) X(srtf, SIMULATED) X(las, LIVE) X(fifo, LIVE)

/* " goodput pollux las fifo", and " goodput pollux sia ...", as string literals. */
#define POLICY_NAME(name, use) " " #name
#define POLICY_NAME_OF_LIVE(name) " " #name
#define POLICY_NAME_OF_SIMULATED(name)
#define POLICY_NAME_IF_LIVE(name, use) POLICY_NAME_OF_##use(name)
#define POLICY_NAMES POLICIES(POLICY_NAME)
#define POLICY_LIVE_NAMES POLICIES(POLICY_NAME_IF_LIVE)

/* policies[0..n_policies) */
extern const struct policy *const policies[];
extern const int n_policies;

const struct policy *policy_find(const char *name);	/* NULL: no such policy */
/* NULL with EX_CONFIG, and the choices in the message: no policy, or one for simulations. */
const struct policy *policy_find_live(const char *name, struct err *err);
/* "goodput, pollux, las or fifo"; the caller's to free. */
char *policy_names(bool live_only);

#endif
