/* slurm_args.h - options for sbatch in a text, as users give them: the setting slurm_args, and
 * --slurm-args. Words are separated by blanks and tabs; there is no quoting. */
#ifndef POLLUX_SLURM_ARGS_H
#define POLLUX_SLURM_ARGS_H

/* The value of the last option of that name: "--partition=a", "--partition a", "-p a" or "-pa". The
 * caller frees the value; NULL: there is no such option. letter '\0': the option has none. */
char *slurm_args_value(const char *args, const char *name, char letter);

/* The first option that pollux itself gives sbatch, by its long name; NULL: there is none. By these
 * options pollux finds a run's job again, and places the run. */
const char *slurm_args_own(const char *args);

#endif
