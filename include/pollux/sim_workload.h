/* sim_workload.h - jobs and their times of submission, in the published form: a csv file with the
 * columns name,time,application,num_replicas,batch_size. Rows ascend by time, in seconds. The owner
 * asked for num_replicas devices, and batch_size samples in an update. */
#ifndef POLLUX_SIM_WORKLOAD_H
#define POLLUX_SIM_WORKLOAD_H

#include <stdint.h>

#include "pollux/err.h"
#include "pollux/sim_profiles.h"

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
};

/* The profiles must outlive the workload. EX_NOINPUT: the file cannot be read. EX_DATAERR:
 * "FILE:LINE: ...", also for an application or a batch size that the profiles do not have. */
int sim_workload_read(struct sim_workload *w, const char *path, const struct sim_profiles *profiles,
		      struct err *err);
void sim_workload_release(struct sim_workload *w);

#endif
