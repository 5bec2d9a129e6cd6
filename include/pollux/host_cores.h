/* host_cores.h - the cores of this machine that this process may use. */
#ifndef POLLUX_HOST_CORES_H
#define POLLUX_HOST_CORES_H

#include "pollux/text.h"

/* Returns their number, at least 1. Adds the processors of each as a list, "3" or "3,7" (NULL: not
 * wanted). Where the machine does not tell its cores, each processor counts as one; where it does
 * not tell its processors, there is one core, with an empty list. */
int host_cores(struct strings *processors);

#endif
