/* sim_profiles.h - what was measured of training applications, as the published simulator has it: how long
 * a step takes on each placement, and how the gradients were at each epoch.
 *
 *	struct sim_profiles profiles;
 *	if (sim_profiles_read(&profiles, "profiles", err)) ...
 *	const struct application *a = sim_profiles_find(&profiles, "bert");
 *	sim_profiles_release(&profiles);
 *
 * A directory with one directory for each application, and in that (Qiao et al., "Pollux", OSDI 2021, its
 * artifact):
 *
 *	placements.csv		placement,local_bsz,step_time,sync_time
 *		A digit for each node: the job's GPUs there. Samples of one pass on one GPU; seconds of an
 *		update of one pass, and its part spent synchronising. Rows of a placement ascend by local_bsz.
 *	scalability.csv		num_nodes,num_replicas,local_bsz,step_time,sync_time
 *		Likewise for wide jobs. May be absent.
 *	validation-B.csv	progress,iteration,grad_sqr,grad_var
 *		A training at batch size B, a row for each epoch: progress at its end, in updates at the
 *		smallest B; updates made; |G|^2 and tr(Sigma) / (smallest B) during the epoch.
 *
 * Directories without placements.csv are passed over. Constant once read: threads may share it. */
#ifndef POLLUX_SIM_PROFILES_H
#define POLLUX_SIM_PROFILES_H

#include "pollux/err.h"

struct application;		/* src/sim/application.h */

struct sim_profiles {
	char *directory;		/* owned */
	struct application *items;	/* owned; by name */
	int count;
};

/* EX_NOINPUT: not there, or no application in it; EX_DATAERR: "FILE:LINE: ...". */
int sim_profiles_read(struct sim_profiles *p, const char *directory, struct err *err);
void sim_profiles_release(struct sim_profiles *p);

const struct application *sim_profiles_find(const struct sim_profiles *p, const char *name);

#endif
