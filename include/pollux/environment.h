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

/* Add what a launch brings: POLLUX_*, MASTER_PORT, PYTHONUNBUFFERED, the torchrun variables, and what
 * the backend of the devices wants. Reports go to run->socket_path. config_file: where another
 * configuration for it would be (client.h); store_dir: where the job is kept, so that what it submits is
 * kept there too. */
void environment_for_run(const struct job *job, const struct run *run,
			 const struct template_values *values, const char *config_file,
			 const char *store_dir, struct strings *env);

#endif
