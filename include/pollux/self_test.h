/* self_test.h - pollux devices --self-test: whether each GPU's memory can be moved to the host's
 * and back, tried out and kept in the store. No job is frozen on a device that has not passed with
 * the driver that runs now.
 *
 *	struct self_test t;
 *	if (self_test_run(&settings, &t, err) == 0) ... t.items[i].passed ...
 *	self_test_release(&t); */
#ifndef POLLUX_SELF_TEST_H
#define POLLUX_SELF_TEST_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/freeze.h"
#include "pollux/store.h"

struct self_test_settings {
	struct session *session;
	const struct config *config;
	/* called before each test, which takes seconds; NULL: nobody wants to know */
	void (*progress)(const struct device *device);
};

struct self_tested {
	const struct device *device;	/* in the list of devices */
	bool passed;
	struct freeze_test test;	/* if passed */
	struct err why;			/* if not */
};

struct self_test {
	struct device_list devices;
	struct self_tested *items;	/* owned */
	int n;
	char driver[80];
};

/* Tests each device whose memory could be moved. -1: there is none (EX_UNAVAILABLE), or a result
 * could not be kept. *t is to be released in any case. */
int self_test_run(const struct self_test_settings *settings, struct self_test *t, struct err *err);
void self_test_release(struct self_test *t);

#endif
