/* profile.h - the two things that 'pollux profile' measures; private to src/cli. */
#ifndef POLLUX_CLI_PROFILE_H
#define POLLUX_CLI_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/err.h"

struct profile_options {
	bool json;

	/* profile_devices.c */
	bool devices, quick;
	const char *device;		/* NULL: all that can be used */
};

/* Each returns the exit status, or -1 with *err as main.c wants it. */
int profile_devices(const struct profile_options *o, struct err *err);

#endif
