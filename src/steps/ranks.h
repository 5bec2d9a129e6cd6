/* ranks.h - the name of a rank that a launcher puts before a line; private to src/steps. */
#ifndef POLLUX_STEPS_RANKS_H
#define POLLUX_STEPS_RANKS_H

#include <stddef.h>

/* The length of the prefix of a line and the blanks after it: "[rank0]: ", "[trainer0]:"
 * (torchrun), "[1,0]<stdout>:" (mpirun). 0: no prefix. *id: its length up to the closing
 * bracket. */
size_t rank_prefix(const char *line, size_t n, size_t *id);

#endif
