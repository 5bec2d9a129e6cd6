/* policy.h - the decision: how many devices each job gets until the next pass, and why.
 *
 * Policies are pure functions of their input: the live pass and the simulator call the same code.
 * All times are seconds on one clock that the caller chooses; only differences matter.
 *
 * Input: every job that waits and may start, and every job that has devices until a decision takes
 * them away. A job that is being stopped to be relaunched waits (replicas 0). A job that lost a
 * device waits too, since it must be relaunched in any case. A job that is being cancelled or held
 * is left out. The devices of all these jobs still count in kinds: the decision hands the
 * devices on, and the jobs that get them start when they are free.
 *
 * Output: the sum of replicas on a kind is at most its n_devices. Each number is 0, within the
 * job's minimum and maximum, or what the job holds. A running job whose number changes must be
 * relaunched. */
#ifndef POLLUX_POLICY_H
#define POLLUX_POLICY_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pollux/err.h"
#include "pollux/policy_names.h"
#include "pollux/verdict.h"

/* The largest remaining_spread at which the length of a job counts as known. */
#define SCHED_TRUSTED_SPREAD 0.5

/* A job is given at most this many times the largest number of replicas that it was measured on;
 * goodput is NaN beyond. The model takes links that it has not seen for free, so a job grows in
 * steps, each of which costs a restart. In simulation jobs end sooner with steps of 4 than with the
 * published 2, or with 8. */
#define SCHED_REPLICA_GROWTH 4
/* The same for nodes: what was measured on one node alone is tried on two first. That shows what
 * the network costs, of which measurements on one node tell nothing. */
#define SCHED_NODE_GROWTH 2

/* Kinds of device: a job's devices are of one kind. */
#define SCHED_KINDS 8
/* Ways to run on the same devices: 0 is that of most goodput, the others have less and less goodput
 * and memory of the host. Only jobs that are launched may have the others. */
#define SCHED_WAYS 4

/* What a job would make of devices of one kind; the caller's memory. */
struct sched_offers {
	bool barred;			/* the job must not have the kind */
	int n;				/* there are offers of r devices, r = 0..n */
	/* Useful samples a second on r devices, packed on as few nodes as possible, at the best
	 * configuration there: goodput[way][r], [0][0] = 0. NaN: the job must not get r devices,
	 * because r is too small, cannot be placed, or is too far from all measurements; in another
	 * way than 0, NaN or 0: there is no such way. goodput[0] NULL: the job must not have that
	 * kind, or, where that is so of all kinds, nothing is known, and only min_replicas may be
	 * given. */
	const double *goodput[SCHED_WAYS];
	/* Memory of the host beside it; NaN or 0: not known. NULL: sched_job.memory_bytes. On the
	 * devices that it holds a job always has that. */
	const double *host_bytes[SCHED_WAYS];
};

struct offer {
	double goodput;			/* NaN: there is none */
	double host_bytes;		/* NaN or 0: not known */
};

struct sched_job {
	int64_t id;			/* ties are broken by the smaller id: the earlier job */
	int min_replicas;		/* 1 <= min <= max; one device each */
	int max_replicas;
	/* > 0. Multiplies the worth of devices; las and tiresias divide service by it. */
	double weight;
	double attained_service_device_s;	/* devices x seconds, over all its runs */
	bool preemptible;		/* false: it keeps its devices to its end */
	enum why_kept why_kept;		/* means something where it is not preemptible */
	int replicas;			/* devices it holds now; 0: it waits */
	/* Of these. While the job waits: the kind by which it is judged where kinds are not told
	 * apart. */
	int kind;
	/* When it was launched on these devices, or began to work on them, at most a slice later;
	 * now, while other jobs still leave them. Meaningful
	 * where replicas > 0. */
	double launched_s;
	/* For tiresias: when the job was first seen to have had TIRESIAS_QUEUE_DEVICE_S, looked at
	 * only where it has. Where the time is unknown (0 or NaN) for all jobs, the second queue is
	 * in the order of the ids. */
	double demoted_s;
	/* Above 0: while it waits it comes before all other waiting jobs, and the largest number is
	 * the next. It takes devices only from jobs that may lose them to any waiting job. goodput,
	 * pollux, las and fifo heed it. */
	int first;

	/* The rest is for policies that model goodput. */
	double submitted_s;
	double waiting_since_s;		/* submitted, or end of its last run; where it runs, of
					   the run before */
	int restarts;			/* launches after the first */
	double restart_s;		/* from the stop signal to the first step after a relaunch;
					   NaN: not known, taken for slice_s / 20 */
	/* Above 0 where a turn only suspends the run. restart_s is then what going on costs, and
	 * relaunch_s what a relaunch does: on other devices, or in another configuration. */
	double relaunch_s;
	double unsaved_s;		/* work that a relaunch of the run would lose now */
	struct sched_offers offers[SCHED_KINDS];	/* by kind */
	/* Where nothing is known: a job of the same workload is being measured, so that soon the
	 * goodput of this job will be known, too, without any devices for it. */
	bool measured_elsewhere;
	/* Goodput at the configuration and on the devices that it has now; NaN: unknown, taken for
	 * the best. */
	double goodput_now;
	/* Host memory that the job has while it runs, or will have, where its offer tells no other;
	 * NaN or 0: not known. */
	double memory_bytes;
	/* The workload: jobs of the same number other than 0 are siblings, of like length. */
	int64_t workload;
	/* Useful samples until its end, 0 or more, as told, or as ended siblings tell (siblings.h);
	 * NaN: not known. The deviation of the logarithm of its whole work; 0: it was told. */
	double remaining_samples, remaining_spread;
	/* Above 0: device-seconds until its end, by the service of ended siblings, where samples
	 * cannot tell that. */
	double remaining_device_s;
	/* Above 0: seconds of running after which its time limit ends it. No more than that counts
	 * as what remains, known or not. policy_goodput has brief jobs soon through. */
	double time_left_s;
	/* For ends.h, as are the next two; no policy looks at them. Where ended siblings tell its
	 * length: their typical work, and what the job has done of it, in samples; or in
	 * device-seconds, where remaining_samples is NaN. */
	double typical_work, done_work;
	/* The batch size may grow as the noise scale does.
	 * The whole work has been told: the length is known once the job has been measured. */
	bool adapts, tells_its_work;
	/* For rubick: goodput on the devices that its owner asked for, with the best plan. */
	double reference_goodput;
	/* The job has a guarantee of its speed, and no offer of too few devices for that. The
	 * policies goodput and rubick start such a job before all others, goodput as soon as these
	 * have settled, and never leave it too few devices. goodput may give it any number that is
	 * enough; rubick gives it min_replicas. */
	bool guaranteed;
};

/* Offers in one way. goodput: [0..n]. */
static inline struct sched_offers offers_of(int n, const double *goodput)
{
	return (struct sched_offers){ .n = n, .goodput = { goodput } };
}

/* The offer of r devices of a kind, in a way. */
static inline struct offer offers_at(const struct sched_job *job, int kind, int way, int r)
{
	const struct sched_offers *o = &job->offers[kind];
	bool there = r >= 0 && r <= o->n;
	double bytes = way ? (double)NAN : job->memory_bytes;

	return (struct offer){
		.goodput = there && o->goodput[way] ? o->goodput[way][r] : (double)NAN,
		.host_bytes = !o->host_bytes[way] ? bytes
				: there ? o->host_bytes[way][r] : (double)NAN,
	};
}

/* Work that is left of a declared or usual total. The result is 0 while a job exceeds the total by
 * at most SCHED_OVERTIME of it (a last evaluation, a last batch), so that a job is not stopped just
 * before its end. Beyond that the result is NaN, or a job that goes on for ever would always count
 * as the shortest. NaN also where the total is NaN. */
#define SCHED_OVERTIME 0.05
double sched_remaining(double total, double done);

/* For so many slices the device time of brief jobs counts. */
#define SCHED_BRIEF_SLICES 60
struct sched_input {
	const struct sched_job *jobs;
	int n_jobs;
	double now_s;
	double slice_s;			/* a job keeps devices at least this long from its launch;
					   policy_goodput lengthens it */
	/* The service that jobs had which have ended, in any order: how long jobs are here. */
	const double *ended_device_s;
	int n_ended;
	/* The device-seconds of those jobs that had at most a slice, or a time limit of at most
	 * that, and ended less than SCHED_BRIEF_SLICES slices ago. */
	double brief_device_s;
	int n_kinds;			/* at least 1: devices that are all alike are of one kind */
	struct sched_kind {
		int n_devices;		/* all that may be used, held or free */
		int devices_per_node;	/* 0: all are on one */
		const char *name;	/* for verdicts; NULL: it is not told */
	} kinds[SCHED_KINDS];
	/* Set, where it is not NULL, to 0 or to the part by which the sum of worth may be below its
	 * greatest: allocation.h. The caller's. */
	double *gap;
	/* Host memory that the jobs may have together; NaN or 0: not known. */
	double memory_bytes;
};

/* In an initializer of the input: so many devices, all alike. */
#define SCHED_ONE_KIND(devices, per_node) \
	.n_kinds = 1, .kinds = { { (devices), (per_node), NULL } }

/* The devices of all kinds. */
static inline int sched_devices(const struct sched_input *in)
{
	int n = 0;

	for (int k = 0; k < in->n_kinds; k++)
		n += in->kinds[k].n_devices;
	return n;
}

/* The same input, as if all devices were alike: a job makes of all what it makes of its kind. jobs:
 * the n_jobs of the result, the caller's. */
struct sched_input sched_merge_kinds(const struct sched_input *in, struct sched_job *jobs);

struct sched_choice {
	int replicas;			/* 0: waits */
	int kind;			/* of the devices; 0 where the job waits */
	/* The job keeps its devices, and a relaunch at the best configuration for them gains more
	 * over the horizon than the restart costs. */
	bool reconfigure;
	int way;			/* in which it runs; above 0: host memory is short */
	/* A waiting job starts at the latest at the first pass after this time, if no other job
	 * arrives, nothing else is learnt, and the job that the verdict names ends, or ends its
	 * slice, as expected.
	 * NaN: it cannot be told, or the job runs. */
	double next_start_s;
	/* Under goodput: when the waiting job becomes overdue: it then must start. NaN: it runs, or
	 * another policy decided. */
	double overdue_s;
	struct verdict verdict;
};

struct policy {
	const char *name;
	const char *summary;
	/* True if the policy looks at goodput. Its jobs then run at the sizes that the goodput is
	 * for; otherwise at their own. */
	bool models_goodput;
	/* True if jobs keep their devices to their end. */
	bool never_preempts;
	/* True if the policy chooses a kind of devices for each job. The choices of the others are
	 * made by the number alone: policy_decide() finds the kinds. */
	bool knows_kinds;
	/* choice has n_jobs entries, in the order of in->jobs; all are written. */
	void (*decide)(const struct sched_input *in, struct sched_choice *choice);
	/* Makes the verdicts of the choices that give devices anew, for jobs that were decided on
	 * by other offers or were given other numbers. NULL: its verdicts tell nothing of goodput,
	 * or it knows kinds. */
	void (*tell)(const struct sched_input *in, struct sched_choice *choices);
};

/* Decides by the policy. A policy that knows no kinds is asked about the devices as if they were of
 * one kind, and about no more of them for a job than one kind has. Then a running job whose number
 * is unchanged stays on its kind. The others, those of most devices first, get the kind of which
 * most are left, with fewer devices, or none, where no kind has enough.
 * blind: the same for a policy that knows kinds. */
void policy_decide(const struct policy *policy, const struct sched_input *in, bool blind,
		   struct sched_choice *choices);

/* Looks whether a decision keeps the guarantees: at numbers of devices and goodput only, not at how
 * a policy came to them. Returns the index of the first job whose guarantee the decision breaks,
 * and sets *why; -1: there is none. floor[j]: the goodput that job j was promised; NaN or 0: none.
 * A job breaks its guarantee if it is left without devices that it has, or is slower than promised
 * on those that it gets, while devices suffice for all the guarantees of jobs that run. */
int guarantee_check(const struct sched_input *in, const struct sched_choice *choices,
		    const double *floor, struct fact *why);

/* Every policy: policy_goodput, policy_fifo and so on. */
#define POLICY_DECLARED(name, use) extern const struct policy policy_##name;
POLICIES(POLICY_DECLARED)

/* policy_goodput: the largest sum over jobs of weight * a power of the rate * number of jobs at
 * least as long, in time slices: short jobs first, several devices where they pay. The formulas
 * are in src/sched/worth.h and lengths.h, the rules in src/sched/claims.h.
 *
 * A job's slice is max(slice_s, 3 restart_s), in its first run also at least slice_s + restart_s:
 * what takes at most a slice ends in one run. A job whose restart takes longer than a third of
 * slice_s would otherwise hold devices again and again for little work, or none.
 *
 * No starvation. Let W be a job that waits, A the jobs that have waited longer than W and that the
 * machine is large enough for, P the time between passes, and
 *
 *	B = 24 * max(slice_s, D / devices)
 *
 * where D is the device-seconds of a round in which each job that the machine is large enough for,
 * and that was submitted before W began to wait, has its slice (after the first) on the least
 * number of devices. So B is a constant of W's wait: newcomers do not lengthen it. It falls when
 * jobs end, and changes where a restart or the least number of devices is learnt. Where all jobs
 * are preemptible, W starts after at most
 *
 *	B + P + (|A| + 1) * (L + P)
 *
 * seconds. L is the longest first slice of any job, from its launched_s, plus twice the longest
 * restart of the jobs whose remaining_samples are known: a job that lacks less than its restart is
 * not stopped for another, but only for so long, since its remaining_samples may be wrong. B and L
 * are at their largest, and |A| is taken when W has waited for B. W then keeps devices for its
 * slice, at least two thirds of which are work. A job that comes back with an older
 * waiting_since_s, for example after a release, joins A. The time that stopping takes comes on top.
 *
 * Where jobs that are not preemptible leave W too few devices, W waits for those of them that ran
 * when W had waited for B, for those submitted before W began to wait, and for those of unknown
 * length that were started before the former had left enough: src/sched/claims.h.
 *
 * Short jobs are soon through. A job that takes at most slice_s in all, by its time limit, as told,
 * or as its siblings took, starts at the first pass at which the slice of a running job that has
 * devices enough for it is over (about to end: two restarts later; known to end sooner than the job
 * would: at most a slice later), and does not wait for its turn by worth. It starts at once where a
 * settled job can be suspended, which costs that job less than a fiftieth of a slice; a job that
 * had waited for its B when it started has its whole slice. Such starts are given as long as the
 * device-seconds of all jobs of at most slice_s that ended in the last SCHED_BRIEF_SLICES slices,
 * and the most that such jobs which run or start may have, are no more than a tenth of what the
 * devices have in that time; after that, such jobs wait like all others. They come behind overdue
 * jobs, so the bound on waiting is as above. */

/* policy_pollux: the published fitness, to compare with. Without slices, jobs do not take turns,
 * and a job may wait for ever. The formulas are in src/sched/policy_pollux.c. */

/* Rubick's, over the best plan for each number of devices (src/sched/published/rubick.c). For
 * simulation with plans only: policy_find() does not know it. */
extern const struct policy policy_rubick;

/* policy_sia, policy_optimus and the others that a simulation alone has: to compare with, as
 * published or as in the textbook. None has slices, and under most a job may starve. The rules are
 * in the files of their names in src/sched/published, also for jobs of which a simulation does not
 * know what the policy asks for. */

/* Service at which a job goes to the second queue of policy_tiresias. */
#define TIRESIAS_QUEUE_DEVICE_S 57600.0

/* policy_las: least attained service with a time slice. Order, rules and their reasons:
 * policy_las.c.
 *
 * No starvation. Let W be a job that waits, A the other jobs that the machine is large enough for
 * and whose service/weight is not above W's, and P the time between passes. Where all jobs are
 * preemptible, W starts after at most
 *
 *	sum over j in A of (W's service/weight - j's service/weight) * j's weight
 *	+ (|A| + 1) * (slice_s + P)
 *
 * seconds, and then keeps its devices for slice_s. The policy does not know of restarts: where a
 * restart takes as long as a slice, no work gets done. A job that arrives meanwhile joins A with no
 * service, so a job with much service waits until each newcomer has had as much for its weight. The
 * time that stopping and restarting take comes on top. */

/* policy_fifo: first in, first out, the baseline to compare with. The smallest id comes first, no
 * job is preempted or resized, and no job starts before an earlier one that waits for more
 * devices. */

/* In the order of policy_names.h: policies[0..n_policies) */
extern const struct policy *const policies[];
extern const int n_policies;

const struct policy *policy_find(const char *name);	/* NULL: no such policy */
/* NULL with EX_CONFIG, and the choices in the message, for an unknown policy or one for
 * simulations. */
const struct policy *policy_find_live(const char *name, struct err *err);
/* "goodput, pollux, las or fifo"; the caller's to free. */
char *policy_names(bool live_only);

#endif
