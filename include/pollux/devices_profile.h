/* devices_profile.h - the two ways to show what 'pollux profile --devices' measured. */
#ifndef POLLUX_DEVICES_PROFILE_H
#define POLLUX_DEVICES_PROFILE_H

#include <stdio.h>

#include "pollux/profile_kinds.h"
#include "pollux/report.h"

void devices_profile_print(const struct devices_profile *p, const struct output *out);
void devices_profile_print_json(const struct devices_profile *p, FILE *out);

#endif
