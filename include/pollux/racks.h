/* racks.h - policies for jobs on machines in racks: in which order jobs are asked, which GPUs a job
 * is offered, and which it refuses because they are badly joined. For simulation alone
 * (simulate.h). Pure functions. */
#ifndef POLLUX_RACKS_H
#define POLLUX_RACKS_H

#include <stdbool.h>

/* How far the farthest pair of a set of GPUs is apart. */
enum distance { IN_MACHINE, IN_RACK, ANYWHERE, DISTANCES };

#define RACK_LEASE_S 3600.	/* as published */

/* Machines in the order of their racks. */
struct rack_cluster {
	int racks, machines_per_rack, gpus_per_machine;
	int *free;		/* GPUs that no job holds, of each machine */
};

/* All machines; those of a set of GPUs that are no farther apart. */
int racks_machines(const struct rack_cluster *c);
int racks_width(const struct rack_cluster *c, enum distance within);
/* Finds n free GPUs within one machine, within one rack, or anywhere, and writes their number on
 * each machine into held. Best fit: chooses the machine, or the rack, with the fewest free GPUs
 * that suffice, the first one of equals. In a rack, and anywhere, machines with the most free GPUs
 * come first. Returns false, with held all 0, if there are too few. */
bool racks_find(const struct rack_cluster *c, enum distance within, int n, int *held);
/* The distance of the GPUs of held, which has at least one. */
enum distance racks_distance(const struct rack_cluster *c, const int *held);

/* Waits of jobs until they got GPUs within a distance. */
struct rack_history {
	struct rack_wait {
		int gpus;
		double time_s, leases;
	} *waits;		/* owned; ascending by time_s */
	int n;
};

/* The time that a job waits before it takes GPUs of one rack, and before it takes any GPUs:
 * seconds, or infinite. */
struct rack_timers {
	double rack_s, network_s;
};

/* A job that waits. Work is in seconds on its GPUs without any communication. */
struct rack_job {
	int index;		/* breaks ties */
	int gpus;
	double since_s;		/* it was submitted, or gave its GPUs up */
	double work_s, left_s;	/* at the start; now */
	double on_s;		/* had GPUs, for this time */
	bool insensitive;	/* tiresias-net spreads it over machines */
	/* For goodput: the part of its time in which it computes within each distance; the work
	 * that is left, as left_s, NaN where it is not known. */
	double part[DISTANCES], remaining_s;
	/* Filled in by goodput: its effective length, on its GPUs; it waited too long. */
	double length_s;
	bool overdue;
};

/* A job that has GPUs. */
struct rack_lease {
	const int *held;	/* of each machine */
	double ends_s;		/* by then at the latest */
};

struct rack_state {
	struct rack_cluster cluster;
	double now_s, lease_s;
	bool tunes;		/* by rack_tune(); otherwise the timers are these */
	struct rack_timers timers;
	struct rack_history machine, rack;
	/* For goodput. */
	bool second_pass;	/* all jobs were asked once at this event */
	const struct rack_lease *leases;
	int n_leases;
	const double *ended_s;	/* for which the jobs that have ended had GPUs */
	int n_ended;
	/* The time until which each machine is promised to other jobs, which were asked before. */
	double *promised_s;		/* owned; of each machine */
	bool *reserved;		/* owned: for a job that waited too long */
	int *open;		/* owned: free GPUs of machines that are not reserved */
};

void rack_state_release(struct rack_state *s);

/* key: the job of the smallest key is asked first; of several, the one of the earliest since_s, and
 * then of the smallest index (rack_compare).
 * offer: true: the job takes held. False: it refuses; *alarm_s is then the time at which its answer
 * may change, infinite where only other jobs can change it. */
struct rack_policy {
	const char *name;
	double (*key)(const struct rack_job *job);
	bool (*offer)(struct rack_state *s, const struct rack_job *job, int *held, double *alarm_s);
	bool has_timers;
	/* Looks at all jobs that wait before they are asked; may be NULL. */
	void (*prepare)(struct rack_state *s, struct rack_job *const *jobs, int n);
};

/* dally: the job comes first that the network slowed most: the part of its work that is done, by
 *	the part of its ideal time for which it had GPUs.
 * tiresias-net: least GPU time first; one machine, unless the job is insensitive or larger.
 * gandiva-net: in the order of since_s; the best joined GPUs there are, at once.
 * srtf-net, las-net: least remaining time, or GPU time, first; timers as dally.
 * goodput: src/sched/published/racks_goodput.c. */
#define RACK_POLICY_NAMES " dally tiresias-net gandiva-net srtf-net las-net goodput"
const struct rack_policy *rack_policy_find(const char *name);	/* NULL: no such policy */
int rack_compare(const struct rack_policy *policy, const struct rack_job *a,
		 const struct rack_job *b);

/* dally.c: offers GPUs by the timers. */
bool dally_offer(struct rack_state *s, const struct rack_job *job, int *held, double *alarm_s);
/* Adds a wait, and drops those that no longer count. */
void rack_history_add(struct rack_history *h, struct rack_wait wait, double lease_s);
struct rack_timers rack_tune(const struct rack_history *machine, const struct rack_history *rack,
			     int gpus, double now_s, double lease_s);

/* racks_goodput.c */
double rack_goodput_key(const struct rack_job *job);
bool rack_goodput_offer(struct rack_state *s, const struct rack_job *job, int *held,
			double *alarm_s);
void rack_goodput_prepare(struct rack_state *s, struct rack_job *const *jobs, int n);

#endif
