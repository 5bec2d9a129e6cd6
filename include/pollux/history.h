/* history.h - the jobs of the store as replay.h takes them, what they really came to, and simulations of them. */
#ifndef POLLUX_HISTORY_H
#define POLLUX_HISTORY_H

#include <stdbool.h>
#include <stdio.h>

#include "pollux/config.h"
#include "pollux/knowledge.h"
#include "pollux/output.h"
#include "pollux/policy.h"
#include "pollux/replay.h"
#include "pollux/session.h"

/* Where a job's rates come from, or why it is not simulated. */
enum history_basis {
	HISTORY_MODEL,			/* the measured model of its workload */
	HISTORY_TIME,			/* the time that its runs took, on as many devices as they had */
	HISTORY_ENDED_BADLY,		/* left out, as the following: failed, cancelled or timed out; or is held */
	HISTORY_LENGTH_UNKNOWN,		/* it has not ended, and there is no model or no typical length */
	HISTORY_TOO_LARGE,		/* it needs more devices than are simulated */
	N_HISTORY_BASES
};

struct history_workload {
	char *name;			/* owned */
	struct knowledge knowledge;
};

struct history {
	struct config config;		/* of the last pass, or as configured */
	const struct policy *policy;	/* likewise */
	char device_kind[128];		/* of those that can be used now */
	int n_devices;			/* that can be used now */
	int n_simulated_devices;	/* as asked for, or n_devices */
	double simulated_slice_s;	/* likewise, or config.slice_s */
	struct job_list list;		/* all jobs */
	struct dependency_list dependencies;
	struct history_workload *workloads;	/* owned */
	int n_workloads;
	int count[N_HISTORY_BASES];
	int n_active;			/* of the jobs that are simulated: have not ended */

	struct replay_job *jobs;	/* owned, n of them; by submission */
	const struct job **source;	/* owned; of each, in list */
	int n;

	/* Of the jobs that are done only, n_done of them, in the order of jobs. */
	int n_done;
	struct sim_job_result *was;	/* owned */
	struct replay_figures figures;	/* of was */
};

/* history.c. devices 0: as many as can be used now; slice_s 0: as configured. EX_NOINPUT: no job of it is
 * done. */
int history_read(struct session *s, int devices, double slice_s, struct history *h, struct err *err);
void history_release(struct history *h);
/* Its workload's knowledge; NULL: the store was not asked for it. */
struct knowledge *history_knowledge_of(const struct history *h, const struct job *job);

/* history_job.c: one job; sets everything but after and n_after, or says why not. */
int history_job(struct session *s, const struct history *h, const struct job *job, struct replay_job *made,
		enum history_basis *basis, struct err *err);

/* A simulation of it. */
struct history_result {
	const struct policy *policy;
	int n_devices;
	struct replay_figures figures;	/* of the jobs that are done */
	double median_error;		/* of their completion times against what was */
};

struct history_report {
	const struct history *history;
	double interval_s;
	struct history_result check;	/* the policy, the devices and the slice as they are */
	struct history_result *results;	/* owned */
	int n_results;
};

/* history_run.c: under each of the policies. */
int history_simulate(const struct history *h, const struct policy *const *wanted, int n_wanted,
		     double interval_s, struct history_report *report, struct err *err);
void history_report_release(struct history_report *report);

/* history_print.c */
void history_print(const struct history_report *report, const struct output *out);
void history_print_json(const struct history_report *report, FILE *out);

#endif
