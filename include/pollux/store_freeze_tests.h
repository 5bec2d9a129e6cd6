/* store_freeze_tests.h - results of the self-tests of freezes, see freeze_test.h. */
#ifndef POLLUX_STORE_FREEZE_TESTS_H
#define POLLUX_STORE_FREEZE_TESTS_H

#include "pollux/device.h"
#include "pollux/freeze_test.h"
#include "pollux/store.h"

struct freeze_tested {
	bool known, passed;
	int64_t bytes;			/* moved */
	double freeze_s, thaw_s, time_s;	/* time_s: wall clock */
};

/* t NULL: the device did not pass. */
int store_freeze_test_set(struct store *s, const struct device *device, const char *driver,
			  const struct freeze_test *t, const char *why, struct err *err);
/* A device did not bring memory back: what its test said does not hold any more, for any driver. */
int store_freeze_test_revoke(struct store *s, const char *device_id, const char *why,
			     struct err *err);
/* The result of the device with this version of its driver. */
int store_freeze_test_get(struct store *s, const char *device_id, const char *driver,
			  struct freeze_tested *tested, struct err *err);

#endif
