/* later_pass.h - passes that commands and supervisors start; private to src/cli. */
#ifndef POLLUX_CLI_LATER_PASS_H
#define POLLUX_CLI_LATER_PASS_H

#include "pollux/paths.h"

#define LATER_PASS "POLLUX_LATER_PASS"	/* in the environment of such a pass */

/* Becomes 'pollux schedule', with the settings of the last pass that a person or cron ran: by now
 * they may be others than those of the pass that started this process. Returns -1 if that fails. */
int later_pass_become(const struct paths *paths, struct err *err);

/* Starts a pass in the background, which outlives the terminal and prints nothing. Errors are not
 * told, since the next pass finds them, too. The store must not be open. */
void later_pass_start(const struct paths *paths);
/* Starts pollux with these arguments in the same way. */
void later_start(char *const argv[]);

#endif
