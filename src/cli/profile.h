/* profile.h - the two things that 'pollux profile' measures; private to src/cli. */
#ifndef POLLUX_CLI_PROFILE_H
#define POLLUX_CLI_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

#include "commands.h"
#include "pollux/err.h"
#include "pollux/submission.h"

struct profile_options {
	bool json;
	const char *plot, *color;

	/* profile_command.c */
	struct asked asked;
	double budget_s;
	int64_t points, slots;		/* 0: by the budget; as configured */
	bool all_kinds;

	/* profile_devices.c */
	bool devices, quick;
	const char *device;		/* NULL: all that can be used */
};

/* Each returns the exit status, or -1 with *err as main.c wants it. */
int profile_devices(const struct profile_options *o, struct err *err);
int profile_command(const struct profile_options *o, char **argv, struct err *err);
/* Profiles the command on the kinds that the pattern matches; NULL: as --kind says. notes: first
 * says what the command lacks. Sets *job_id to the job of the profile; 0: none was added. */
int profile_on_kind(const struct profile_options *o, char **argv, char *kind, bool notes,
		    int64_t *job_id, struct err *err);
/* Profiles the command on each kind of device in turn, and prints a table by kind. */
int profile_each_kind(const struct profile_options *o, char **argv, struct err *err);
/* Show the results of a profile. */
int profile_show(const struct profile_options *o, int64_t job_id, struct err *err);

#endif
