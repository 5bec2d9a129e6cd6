/* slurm_earlier.h - whether a program of an earlier run still has a GPU of this job of Slurm.
 *
 * Slurm frees the GPUs of a job that it holds for ended, while a program of that job may live:
 * where the supervisor was killed, say, or slurmd was away for long. */
#ifndef POLLUX_SLURM_EARLIER_H
#define POLLUX_SLURM_EARLIER_H

#include <sys/types.h>

/* Returns a process on this node, of this user, from an earlier run that had one of this job's
 * GPUs; 0: there is none. Only processes that began before this one, the wrapper, are looked at:
 * two runs do not wait for each other. The GPUs are those that the environments name, by Slurm's
 * numbers. */
pid_t slurm_earlier_on_gpus(pid_t wrapper);

#endif
