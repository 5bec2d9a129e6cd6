/* slurm_steps.h - the steps that a program starts by srun; private to src/engine/slurm. */
#ifndef POLLUX_SLURM_STEPS_H
#define POLLUX_SLURM_STEPS_H

#include <stdbool.h>
#include <sys/types.h>

/* True if the signal for this process belongs to the step that the process started: srun does not
 * hand SIGTERM and the like on to its programs, but has Slurm kill them. */
bool slurm_stands_for_step(pid_t pid, int signal_number);
/* Has Slurm signal the programs of all steps of this job, but for the step that this process is in.
 * Returns at once; a child, which the caller reaps, asks Slurm. */
void slurm_signal_steps(int signal_number);

#endif
