/* slurm_command.h - run a command of Slurm, for a limited time; private to src/engine/slurm. */
#ifndef POLLUX_SLURM_COMMAND_H
#define POLLUX_SLURM_COMMAND_H

#include "pollux/err.h"
#include "pollux/text.h"

#define SLURM_SILENT "Slurm's controller does not answer"
#define SLURM_LIMIT_S 5.0		/* for a question; without a controller squeue takes 9 s */
#define SLURM_SUBMIT_LIMIT_S 15.0

/* Runs the command and takes its standard output, at most 64 MB. -1 with *err: EX_TEMPFAIL if it
 * had no end in time or said that the controller cannot be reached, EX_UNAVAILABLE if there is no
 * such program, or if it failed; the last line of its standard error is quoted. */
int slurm_command(const struct strings *argv, double limit_s, struct text *out, struct err *err);

#endif
