/* launch_rule.h - whether a command starts its own processes on the nodes of a Slurm job, as srun
 * and mpirun do. Such a command is started once, on the first node. */
#ifndef POLLUX_LAUNCH_RULE_H
#define POLLUX_LAUNCH_RULE_H

#include <stdbool.h>

#include "pollux/declaration.h"
#include "pollux/job.h"

/* Returns what a text in the language of sh(1) calls: "srun", "mpirun", "mpiexec" or "accelerate
 * launch"; NULL: none of them. A constant. Comments count for nothing, nor does a name that is an
 * argument of another program. accelerate counts with several machines, where the command does not
 * tell the machines apart by itself. */
const char *launcher_in_shell(const char *text);
/* The same for a program in another language: a string that begins with one of the names, where it
 * may be a command. */
const char *launcher_in_code(const char *text);
/* The same for a command: its words, the text after -c, or its script, and the scripts that a
 * shell's script names in plain words to read or to run them; not what other programs call. */
const char *launcher_of_command(const struct job_command *c);

/* The rule that --launch gives. */
enum launch_rule launch_asked(const struct asked *o);
/* The rule for a command for which --launch was not given. */
enum launch_rule launch_by_command(const struct job_command *c);

#endif
