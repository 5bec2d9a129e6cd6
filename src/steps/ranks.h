/* ranks.h - whose line it is, where launchers put that before it; private to src/steps. */
#ifndef POLLUX_STEPS_RANKS_H
#define POLLUX_STEPS_RANKS_H

#include <stddef.h>

/* The length of a prefix that line begins with, with the blanks after it: "[rank0]: ", "[trainer0]:"
 * (torchrun), "[1,0]<stdout>:" (mpirun). 0: none. *id is its length up to the closing bracket. */
size_t rank_prefix(const char *line, size_t n, size_t *id);

#endif
