/* regular_pass.h - whether passes come by themselves: from cron, another timer, or a 'schedule
 * --watch'. A pass that a submission, the end of a job, or a person starts does not count. */
#ifndef POLLUX_REGULAR_PASS_H
#define POLLUX_REGULAR_PASS_H

#include <stdbool.h>

#include "pollux/paths.h"

/* Notes that such a pass comes now. Does nothing where there is no directory of pollux yet. */
void regular_pass_note(const struct paths *paths);
/* True if the last such pass is at most three intervals of cron old. */
bool regular_passes_come(const struct paths *paths, double now_wall_s);

#endif
