/* next_pass.h - the pass at which a --begin or the pause after a failure is over, also where no
 * pass comes by itself; private to src/cli. */
#ifndef POLLUX_CLI_NEXT_PASS_H
#define POLLUX_CLI_NEXT_PASS_H

#include "pollux/paths.h"

/* Called at the end of a pass that a command or a supervisor started. Notes that a pass is wanted
 * at next_s (wall clock; NaN: none is). Unless another process waits for that time already, this
 * process waits, and becomes the pass; it returns if no pass is wanted any more. */
void next_pass_await(const struct paths *paths, double next_s);

#endif
