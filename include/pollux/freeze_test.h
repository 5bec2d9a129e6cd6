/* freeze_test.h - shows whether a device's driver can freeze: a small program of pollux computes on
 * the device, is frozen, stopped, continued, thawed, and has to come to the right result.
 *
 *	struct freeze_test t;
 *	if (freeze_test(&device, bytes, &t, err) == 0) ... t.freeze_s, t.bytes ...
 *
 * The caller holds the device's lock. */
#ifndef POLLUX_FREEZE_TEST_H
#define POLLUX_FREEZE_TEST_H

#include <stdint.h>

#include "pollux/device.h"
#include "pollux/err.h"

#define FREEZE_TEST_WEAKER 240

struct freeze_test {
	int64_t bytes;			/* that the program had allocated */
	int64_t released_bytes;		/* that became free on the device by the freeze */
	double lock_s, save_s, restore_s, unlock_s;
	double start_s;			/* the freezing process's start of the driver */
	/* why the program did not use cuBLAS, so that others may be refused; "": it did */
	char weaker[FREEZE_TEST_WEAKER];
};

/* bytes: what the program allocates; 0: FREEZE_TEST_BYTES, or a quarter of what is free if that is
 * less. -1: the device, or this machine, did not pass, with the reason; EX_UNAVAILABLE also if the
 * device's memory cannot be moved at all, EX_TEMPFAIL if there is no room for the test now. */
int freeze_test(const struct device *d, int64_t bytes, struct freeze_test *t, struct err *err);

#define FREEZE_TEST_BYTES (INT64_C(1) << 30)

#endif
