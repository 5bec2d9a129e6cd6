/* settings_check.h - warnings of settings, by commands that go on without them; private to
 * src/cli. */
#ifndef POLLUX_CLI_SETTINGS_CHECK_H
#define POLLUX_CLI_SETTINGS_CHECK_H

#include "pollux/paths.h"

/* Warns on standard error of a configuration that passes refuse, and of slots by far too many. */
void warn_of_settings(const struct paths *paths);

/* Warns if so many slots are more than SLOTS_PER_CORE_MAX for each processor core. */
void warn_of_slots(int slots);
#define SLOTS_PER_CORE_MAX 4

#endif
