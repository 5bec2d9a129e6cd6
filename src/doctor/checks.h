/* checks.h - what a check gets, and how it says what it found; private to src/doctor. */
#ifndef POLLUX_DOCTOR_CHECKS_H
#define POLLUX_DOCTOR_CHECKS_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/doctor.h"
#include "pollux/paths.h"
#include "pollux/store_runs.h"

struct patient {
	struct paths paths;
	struct config config;
	struct err config_err;		/* exit_status 0: the settings are good */
	struct store store;		/* db NULL: there is none, or it cannot be opened */
	struct err store_err;		/* why the store cannot be opened */
	struct run_list runs;		/* those that have not ended */
	struct device_list devices;	/* by patient_devices() only */
	struct err devices_err;
	bool devices_listed;
	double last_pass_s;		/* wall clock; NaN: there was none */
	struct doctor *doctor;
};

typedef void check(struct patient *p);

check check_settings, check_store;			/* check_files.c */
check check_space, check_permissions;			/* check_files.c */
check check_passes, check_supervisors, check_locks;	/* check_processes.c */
check check_cron, check_drivers, check_groups;		/* check_machine.c */
check check_engine;					/* check_machine.c */
check check_people;					/* check_people.c */
check check_leftovers;					/* check_leftovers.c */

/* Adds a finding of the present check. mend: owned by the finding, may be NULL. */
void found(struct patient *p, enum finding_severity severity, char *mend, const char *format, ...)
	__attribute__((format(printf, 4, 5)));
/* Adds to the state of the present section. */
void note(struct patient *p, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* True if the run is one of those that have not ended. */
bool patient_has_run(const struct patient *p, int64_t id);
/* Lists the machine's devices, at the first call; NULL: they cannot be listed, see devices_err. */
const struct device_list *patient_devices(struct patient *p);
/* "COMMAND PATH", with the path quoted for the shell. The caller's. */
char *command_on(const char *command, const char *path);

#endif
