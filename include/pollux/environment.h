/* environment.h - what a job gets of its submitter's environment, and what pollux adds at
 * launch. */
#ifndef POLLUX_ENVIRONMENT_H
#define POLLUX_ENVIRONMENT_H

#include "pollux/job.h"
#include "pollux/template.h"
#include "pollux/text.h"

/* Appends the submitter's variables (environ), without those that would be wrong at another time
 * and place: variables of the terminal and the session, RANK, WORLD_SIZE, MASTER_* and the like,
 * CUDA_VISIBLE_DEVICES, SLURM_*, and pollux's own variables of a surrounding job. */
void environment_capture(char *const *variables, struct strings *env);
/* Adds those of the terminal and the login session, which environment_capture leaves out and a
 * program on the terminal needs; what is in *env stays. */
void environment_add_terminal(char *const *variables, struct strings *env);

/* Paths by which a run's program talks with pollux. */
struct run_places {
	const char *report_socket;
	const char *config_file;	/* a new configuration appears here (client.h) */
	const char *store_dir;		/* the store for jobs that the program submits */
};

/* The value of a variable, borrowed; "": it is not set. */
const char *environment_value(const struct strings *env, const char *name);
/* Expands the variables of --env that have templates; env has the command's variables. */
void environment_expand(const struct job_command *command, const struct template_values *values,
			struct strings *env);
/* Appends the variables of a launch: POLLUX_*, MASTER_PORT, PYTHONUNBUFFERED, the torchrun
 * variables, and those of the devices' backend. */
void environment_for_run(const struct job *job, const struct run *run,
			 const struct template_values *values, const struct run_places *places,
			 struct strings *env);

/* The command and the environment of one node of a run on a cluster. argv and variables are those
 * of template_expand() and environment_for_run(), for all nodes. node: from 0; n_started: nodes on
 * which the command is started. Adds to out and env. */
void node_command(const struct strings *argv, char *const *variables, int node, int n_started,
		  struct strings *out, struct strings *env);

/* Adds the variables of a job in a group: the group, the job's index in the group, and the job's
 * parameters (POLLUX_GROUP, POLLUX_INDEX, POLLUX_PARAM_*). Adds nothing for other jobs. */
void environment_for_group(const struct job *job, struct strings *env);

/* True if the command is given batches of several sizes, but no learning rate that follows them:
 * neither by {lr} or {lr_scale} nor by the helper for PyTorch, and the rule is not "none". The
 * program may still take the rate from its environment or its configurations. */
bool environment_leaves_learning_rate(const struct job *job, const struct job_command *command);
/* Adds the variables that load the helper; helper: its directory, which comes first in PYTHONPATH,
 * once. */
void environment_for_torch(const struct job *job, const struct job_command *command,
			   const char *helper, struct strings *env);

#endif
