/* sim_workload.h - jobs and when they are submitted, as published: the columns
 * name,time,application,num_replicas,batch_size of a csv file. Rows ascend by time, seconds; the last two
 * are what the owner asked for: devices, and samples in an update. */
#ifndef POLLUX_SIM_WORKLOAD_H
#define POLLUX_SIM_WORKLOAD_H

#include <stdint.h>

#include "pollux/err.h"
#include "pollux/sim_profiles.h"

struct sim_workload_job {
	char *name;
	double submit_s;
	const struct application *application;
	int replicas;
	int64_t batch_size;
};

struct sim_workload {
	char *name;			/* of the file, without directory and ".csv" */
	struct sim_workload_job *jobs;	/* owned; in the order of the file, which breaks ties */
	int n_jobs;
};

/* The profiles must outlive it. EX_NOINPUT: cannot be read; EX_DATAERR: "FILE:LINE: ...", also where the
 * profiles do not have the application, or not a batch size. */
int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err);
void sim_workload_release(struct sim_workload *w);

#endif
