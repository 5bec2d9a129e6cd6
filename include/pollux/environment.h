/* environment.h - what of the submitter's environment a job gets, and what pollux adds at launch. */
#ifndef POLLUX_ENVIRONMENT_H
#define POLLUX_ENVIRONMENT_H

#include "pollux/job.h"
#include "pollux/template.h"
#include "pollux/text.h"

/* Append the submitter's variables (environ), less those that would be wrong at another time and place:
 * the terminal's and the session's, RANK WORLD_SIZE MASTER_* and the like, CUDA_VISIBLE_DEVICES,
 * SLURM_*, and pollux's own of a surrounding job. */
void environment_capture(char *const *variables, struct strings *env);

/* Where a run's program talks with pollux. */
struct run_places {
	const char *report_socket;
	const char *config_file;	/* another configuration for the run would be there (client.h) */
	const char *store_dir;		/* jobs that the program submits are kept there too */
};

/* Add what a launch brings: POLLUX_*, MASTER_PORT, PYTHONUNBUFFERED, the torchrun variables, and what
 * the backend of the devices wants. */
void environment_for_run(const struct job *job, const struct run *run,
			 const struct template_values *values, const struct run_places *places,
			 struct strings *env);

#endif
