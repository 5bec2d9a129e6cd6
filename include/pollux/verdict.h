/* verdict.h - what was decided of a job, and why, as facts. src/view/verdict_words.c makes the
 * sentence of them, and nobody else does.
 *
 *	struct verdict v = verdict_of((struct fact){ FACT_IN_LINE, .n = 3 });
 *	verdict_add(&v, (struct fact){ FACT_NEEDS, .devices = 2 });
 *	verdict_say(&v, FACT_SHORTER_FIRST);
 *
 * The facts are absolute: no ages, so that an unchanged decision has an unchanged sentence. Names
 * and lists that a fact points to are those of the policy's input, of the snapshot or of the
 * decision, and live as long. */
#ifndef POLLUX_VERDICT_H
#define POLLUX_VERDICT_H

#include <stdbool.h>
#include <stdint.h>

struct device_list;
struct halving;
struct halving_run;
struct people;
struct sched_kind;
struct text;

/* Why a job is not preemptible. */
enum why_kept {
	KEPT_BY_WISH,			/* it never will be */
	KEPT_SAVED_NOTHING,		/* it saved nothing when it was asked to stop */
	KEPT_NEVER_RESUMED,		/* it saves, but was never seen to resume */
	KEPT_UNSAVED,			/* it has saved nothing yet */
};

/* Some jobs as a sentence names them: "jobs 3, 5 and 2 more". */
struct job_names {
	int n;
	int64_t first[2];		/* the smallest ids, as far as n goes */
};

/* Each kind is a sentence or a clause of one, and says which members of struct fact it has. */
enum fact_kind {
	/* --- what a job has --- */
	/* "2 devices of A100 (1 to 4 asked)": devices; name: their kind, or NULL; of: the most that
	 * were asked for, 0: no more; n: the least */
	FACT_HAS,
	FACT_KEEPS,			/* the same, and why not fewer: why_kept */
	FACT_HAS_TO_ITS_END,		/* the same, as it is never preemptible */
	FACT_STARTS_TO_KEEP,		/* the same, and why it will not be preemptible: why_kept */
	/* "1.7x of one T4": gain.times, of n devices of the kind of this name (NULL: the same) */
	FACT_SPEEDUP,
	FACT_MORE_WOULD_ADD,		/* n more devices: gain.percent */
	FACT_GAIN_UNKNOWN,
	FACT_RELAUNCHED,		/* for a better configuration: gain.percent */
	FACT_FAIR_SHARE,		/* n devices */
	FACT_FOR_A_SLICE,		/* seconds */
	FACT_UNTIL_PUT_FIRST,		/* until the job, which was put first, can have n */
	FACT_UNTIL_SERVED_LESS,		/* the same for a job that has had less service */
	FACT_LEAST_SERVED,		/* no waiting job has had less */
	FACT_ALONE,			/* no other job waits */
	FACT_FIRST_IN_FIRST_OUT,
	FACT_BY_SERVICE,
	FACT_SHORTEST_FIRST,
	FACT_FIRST_QUEUE,		/* up to seconds of service */
	FACT_SECOND_QUEUE,		/* after seconds of service */

	/* --- what a job waits for --- */
	FACT_IN_LINE,			/* n: its place, from 1 */
	FACT_IN_LINE_PUT_FIRST,		/* the same for a job that was put first */
	FACT_IN_LINE_BY_ARRIVAL,	/* the same where the first in is the first out */
	FACT_BEHIND,			/* the job */
	FACT_NEEDS,			/* devices */
	FACT_NEEDS_OF,			/* devices, of so many */
	FACT_LENGTH_UNKNOWN,		/* nothing is known of its length */
	FACT_WAITS_FOR_SLICES,		/* of jobs */
	FACT_WAITS_TO_SETTLE,		/* jobs, which keep devices until then only */
	FACT_WAITS_FOR_SERVICE,		/* jobs that have had less */
	FACT_WAITS_FOR_BOTH,		/* slices of jobs, and jobs that have had less */
	FACT_STARTS_AFTER,		/* the job ends, or sooner */
	FACT_WAITS_FOR_FIXED,		/* jobs that are not preemptible */
	FACT_MORE_WEIGHT_FIRST,
	FACT_SHORTER_FIRST,
	FACT_BRIEF,			/* it takes at most a slice: next where devices are left */
	FACT_IN_SLICE,			/* the job */
	FACT_SETTLES,			/* the job: it has just started */
	FACT_OTHERS_FIRST,
	FACT_ADDS_TO_SPEEDUP,		/* elsewhere */
	FACT_ADDS_TO_SUM,		/* elsewhere */
	FACT_EARLIER_HAVE_ALL,
	FACT_HAS_HAD,			/* seconds of service, on one device */
	FACT_GUARANTEED,
	FACT_PUT_FIRST,
	FACT_WAITED,			/* more than seconds, which is its limit */
	FACT_AS_THOSE_BEFORE,
	FACT_GATHERS,
	FACT_LETS_END,			/* the job */
	FACT_KEPT_BY,			/* jobs, which are not preemptible, n devices */
	FACT_KEPT_BY_GUARANTEED,	/* the same, some with a guarantee */
	FACT_RUN_MEANWHILE,		/* jobs */
	FACT_NOT_BEFORE,		/* the job, as it is not preemptible */
	FACT_HOST_MEMORY,		/* bytes */
	FACT_NEEDS_ONE_KIND,		/* devices, of which other jobs have all */

	/* --- what it can never have here --- */
	FACT_TOO_FEW,			/* needs devices; of: so many there are */
	FACT_TOO_FEW_OF_KIND,		/* the same; of: so many the largest kind has */
	FACT_ASKS,			/* for n to devices */
	FACT_WORKS_ON_NONE,
	FACT_EVEN_ON_NODE,		/* only numbers that are even on nodes of n */

	/* --- what a pass found --- */
	FACT_FEWER_BY_ROOM,		/* devices; there is no room for n on each of `of` nodes */
	FACT_WAITS_FOR_ROOM,		/* for n devices on each of `of` nodes */
	FACT_MAKES_ROOM,		/* moves, so that another job has room */
	FACT_KINDS_TOO_SMALL,		/* kinds: those with bits in n */
	FACT_PLAN,			/* name; plans: the n others, with kinds FACT_PLAN_... */
	FACT_PLAN_CANNOT_READ,		/* plan name: the job's checkpoints */
	FACT_PLAN_LACKS_MEMORY,		/* the same: bytes */
	FACT_PLAN_RAN_OUT_AT,		/* the same: with samples on each of several devices */
	FACT_PLAN_RAN_OUT_AT_ONE,	/* the same on one device */
	FACT_PLAN_RAN_OUT,
	FACT_PLAN_FAILED,
	FACT_PLAN_WIDTH,		/* the same: n devices for a replica */
	FACT_PLAN_SLOWER,		/* the same: gain.percent */
	FACT_PLAN_FASTER,
	FACT_PLAN_FASTER_BUT_MEMORY,	/* the same, but the host's memory is short */
	FACT_PLAN_UNFIT,
	FACT_PLAN_NOT_MEASURED,
	FACT_RUNG_NO_POSITION,		/* it passes its rungs: its position is not known */
	FACT_RUNG_UNSAVED,		/* it goes on beyond rung n of so many: nothing is saved */
	FACT_RUNG_NO_METRIC,		/* the same: it did not report the metric of this name */
	FACT_NO_GUARANTEES,		/* by the policy of this name */
	FACT_GUARANTEE,			/* that needs devices */
	FACT_GUARANTEE_TOO_LARGE,	/* n devices can be guaranteed */
	FACT_GUARANTEE_NO_NODES,
	FACT_GUARANTEE_PROMISED,	/* n of so many devices, to others */
	FACT_GUARANTEE_EARLIER,		/* jobs wait */
	FACT_GUARANTEE_LOST,		/* not kept: the job would lose n devices */
	FACT_GUARANTEE_SLOW,		/* not kept: goodput on n devices */
	FACT_DEVICE_OUT,		/* the device of this name, for the reason why */
	FACT_PROFILE_HAS,		/* the job: set.in */
	FACT_PEOPLE,			/* people; this store has n of so many devices */
	FACT_INTERACTIVE,		/* until seconds, wall clock */
	FACT_TURNS,			/* of others, on n devices, until seconds, wall clock */
	FACT_BESIDE,			/* the job on the device of this name */
	FACT_LEAVES,			/* the same job */
	FACT_CANNOT_LEAVE,		/* the same job */
	FACT_TOGETHER_MORE,		/* gain.times */
	FACT_TRIED_TOGETHER,
	FACT_TOGETHER_LESS,		/* gain.times, which is not enough */
	FACT_NO_ROOM_BESIDE,		/* bytes.needs */
	FACT_RAN_OUT_BESIDE,
	FACT_LEAVES_WITH,		/* the job, from the device of this name */
	/* n, here and in the next two: enum device_link, of set.of */
	FACT_WAITS_FOR_LINKS,		/* devices; of: the tier that is demanded */
	FACT_WAITS_FOR_SET,		/* wait: set.in; set.other would be slower */
	FACT_MOVES,			/* to set.in: gain.percent faster */
	FACT_MEMORY_KEPT,		/* on the device of this name: memory */
	FACT_MEMORY_KEPT_UNKNOWN,	/* the same; what the job needs is not known */
	FACT_WAITS_FOR_DEVICE,		/* of this id, where it can continue */
	FACT_KEEPS_AS_UNFIT,		/* no other job fits beside its memory */
	FACT_GOES_ON_AS_UNFIT,		/* the same for a suspended run */
	FACT_DEVICE_FREE,		/* another device than that which the run waits for */

	/* --- why a job was not in question; such a sentence is told in full --- */
	FACT_RUN_IS_GONE,		/* 'pollux run' */
	FACT_AFTER,			/* the job; why: what became of it, as job_state_clause() */
	FACT_AFTER_ANY,			/* as FACT_AFTER, of so many jobs */
	FACT_WAS_TO_SUCCEED,		/* likewise */
	FACT_WAS_TO_FAIL,		/* the job */
	FACT_BEGINS,			/* seconds, wall clock */
	FACT_DISK_FULL,
	FACT_CANNOT_SAVE,		/* why */
	FACT_NO_KIND,			/* of device that 1: --kind, 2: --not-kind, 3: both allow */
	FACT_NO_LINKS,			/* n devices are joined as tier `of` demands */
	FACT_PAUSES,			/* seconds */
	FACT_FAILED,			/* the same: n times of so many */
	FACT_LOST,			/* the same: its supervisor n times */
	FACT_NOT_STARTED,		/* the same: why */
	FACT_BOUND,			/* to the device of this name, left out: why */
	FACT_GOES_ON_AFTER,		/* there, the job */
	FACT_GOES_ON_ALONE,		/* there, once other programs have left it */
	FACT_GOES_ON_USABLE,		/* there, once the device of this name can be used */
	FACT_GOES_ON_ALL_USABLE,	/* there, once each can */
	FACT_GOES_ON,			/* there, and nowhere else */
	FACT_UNEVEN,			/* on nodes of n to so many devices */
	FACT_UNEVEN_EDIT,		/* the job would have n or so many; 0: none */
	FACT_GROUP_FULL,		/* runs n of so many */
	FACT_GROUP_BEHIND,		/* it may run so many */
	FACT_PAUSED,			/* rung */
	FACT_WITHOUT_DEVICE,		/* it starts so, on n cores */
	FACT_CPU_JOBS,			/* n jobs without a device run, of so many */
	/* It needs n cores; jobs without a device have `devices` of the `of` cores here. */
	FACT_CPU_CORES,
	FACT_CPU_BEHIND,		/* the job, which waits for cores */
	FACT_CPU_TOO_FEW,		/* it needs n cores, and there are fewer: of */
	FACT_MEMORY_FREE,		/* bytes.needs; bytes.of are available */
	FACT_CPU_SLURM,
	FACT_KINDS
};

struct fact {
	enum fact_kind kind;
	int devices, n, of;
	const char *name;
	union {
		int64_t job;
		struct job_names jobs;
		int64_t samples;
		double seconds;
		struct {
			double times, percent;
		} gain;
		struct {
			double seconds, percent;
		} wait;
		struct {
			double now, promised;	/* samples a second */
		} goodput;
		struct {
			double needs, of, used;
		} bytes;
		/* Of suspended jobs, and of others; 0: none. What the job needs, or if that is not
		 * known, what the device has. */
		struct {
			int64_t suspended, others;
			int64_t needs;
		} memory;
	};
	union {
		enum why_kept why_kept;
		const char *why;
		const struct sched_kind *kinds;
		const struct fact *plans;
		const struct people *people;
		/* devices of a list */
		struct {
			const struct device_list *of;
			const bool *in, *other;
		} set;
		struct {
			const struct halving *of;
			const struct halving_run *run;
		} rung;
	};
};

/* What the policy, or a later stage, said of the job, and the remarks of a pass before that. */
#define VERDICT_FACTS 9
struct verdict {
	int n, n_remarks;		/* the first so many facts are remarks */
	struct fact facts[VERDICT_FACTS];
};

/* A sentence that does not fit into so many bytes with its remarks is left out, and then the last
 * of them. What is too long alone ends in "...". */
#define VERDICT_SIZE 192
/* Adds the sentence to the text. */
typedef void verdict_wording(const struct verdict *v, struct text *t);

struct verdict verdict_of(struct fact fact);
/* Adds a clause to the sentence. */
void verdict_add(struct verdict *v, struct fact fact);
/* The same for a fact that has only its kind. */
void verdict_say(struct verdict *v, enum fact_kind kind);
/* Puts a remark before all that was said. */
void verdict_put_first(struct verdict *v, struct fact fact);

/* Sorts ids; an id that occurs several times is one job. */
struct job_names job_names_of(int64_t *ids, int n);
/* Joins two lists of jobs that have no job in common. */
struct job_names job_names_join(struct job_names a, struct job_names b);

#endif
