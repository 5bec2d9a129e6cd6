/* sim_profiles.h - measurements of training applications, in the files of the published simulator:
 * the time of a step on each placement, and the gradients at each epoch.
 *
 *	struct sim_profiles profiles;
 *	if (sim_profiles_read(&profiles, "profiles", err)) ...
 *	const struct application *a = sim_profiles_find(&profiles, "bert");
 *	sim_profiles_release(&profiles);
 *
 * Each application has a directory, with these files (Qiao et al., "Pollux", OSDI 2021, its
 * artifact):
 *
 *	placements.csv		placement,local_bsz,step_time,sync_time
 *		placement has a digit for each node: the job's GPUs there. local_bsz: samples of one
 *		pass on one GPU. step_time: seconds of an update of one pass. sync_time: its part
 *		spent synchronising. Rows of a placement ascend by local_bsz.
 *	scalability.csv		num_nodes,num_replicas,local_bsz,step_time,sync_time
 *		The same for wide jobs. The file may be absent.
 *	validation-B.csv	progress,iteration,grad_sqr,grad_var
 *		A training at batch size B, with a row for each epoch. progress: at its end, in
 *		updates at the smallest B. iteration: updates made. grad_sqr, grad_var: |G|^2 and
 *		tr(Sigma) / (smallest B) during the epoch.
 *
 * Where there are several kinds of GPU, each has its own placements-KIND.csv and
 * scalability-KIND.csv instead.
 *
 * Directories without placements.csv are passed over. Profiles do not change after they are read,
 * so threads may share them. */
#ifndef POLLUX_SIM_PROFILES_H
#define POLLUX_SIM_PROFILES_H

#include <stdint.h>

#include "pollux/err.h"

struct application;		/* src/sim/application.h */

struct sim_profiles {
	char *directory;		/* owned */
	struct application *items;	/* owned; by name */
	int count;
	int n_kinds;			/* 1: the files' names have no kind, or one kind */
};

/* EX_NOINPUT: no such directory, or no application in it. EX_DATAERR: "FILE:LINE: ...". */
int sim_profiles_read(struct sim_profiles *p, const char *directory, struct err *err);
/* The same on kinds of GPU, which the names of the files have. */
int sim_profiles_read_kinds(struct sim_profiles *p, const char *directory,
			    const char *const *kinds, int n_kinds, struct err *err);
/* The restarts, or the factors by which the applications are slower than the profiles say, of a
 * file with the columns application and seconds, or application and factor. EX_NOINPUT;
 * EX_DATAERR. */
int sim_profiles_read_restarts(struct sim_profiles *p, const char *path, struct err *err);
int sim_profiles_read_slowdowns(struct sim_profiles *p, const char *path, struct err *err);
void sim_profiles_release(struct sim_profiles *p);

/* Borrowed from p; NULL: there is no such application. */
const struct application *sim_profiles_find(const struct sim_profiles *p, const char *name);

/* --- workloads --- */

/* Jobs and their times of submission, in the published form: a csv file with the
 * columns name,time,application,num_replicas,batch_size. Rows ascend by time, in seconds. The owner
 * asked for num_replicas devices, and batch_size samples in an update. */
struct sim_workload_job {
	char *name;			/* owned */
	double submit_s;
	const struct application *application;	/* NULL in other worlds than that of profiles */
	const char *application_name;	/* borrowed */
	int replicas;
	int64_t batch_size;
};

struct sim_workload {
	char *name;			/* the file's, without directory and ".csv" */
	struct sim_workload_job *jobs;	/* owned; in the order of the file, which breaks ties */
	int n_jobs;
	/* Owned: what another world has of each job: struct plan_job (sim_plans.h), struct
	 * rack_workload_job (sim_racks.h). */
	void *own;
};

/* The profiles must outlive the workload. EX_NOINPUT: the file cannot be read. EX_DATAERR:
 * "FILE:LINE: ...", also for an application or a batch size that the profiles do not have. */
int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err);
void sim_workload_release(struct sim_workload *w);

#endif
