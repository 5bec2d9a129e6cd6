/* self_test.c - tries a freeze on each free GPU, and stores the result. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_state.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"

/* A device that is in use, or has no room now, keeps its earlier result. */
static int test_one(struct device_claims *claims, int d, const struct self_test_settings *settings,
		    struct self_test *t, struct err *err)
{
	struct self_tested *tested = &t->items[t->n++];

	*tested = (struct self_tested){ .device = &t->devices.items[d] };
	if (device_claims_take(claims, d, &tested->why) == 0) {
		if (settings->progress)
			settings->progress(tested->device);
		tested->passed = freeze_test(tested->device, 0, &tested->test, &tested->why) == 0;
	} else {
		tested->why.exit_status = EX_TEMPFAIL;
	}
	device_claims_drop(claims);
	if (!tested->passed && tested->why.exit_status == EX_TEMPFAIL)
		return 0;
	return store_freeze_test_set(claims->store, tested->device, t->driver,
				     tested->passed ? &tested->test : NULL, tested->why.text, err);
}

int self_test_run(const struct self_test_settings *settings, struct self_test *t, struct err *err)
{
	struct device_claims claims = {
		.paths = &settings->session->paths, .store = &settings->session->store,
	};
	const char *note = "";
	int rc;

	*t = (struct self_test){ 0 };
	rc = device_claims_open(&claims, settings->config, true, &t->devices, err);
	t->items = xcalloc((size_t)t->devices.count + 1, sizeof(*t->items));
	for (int i = 0; i < t->devices.n_drivers; i++) {
		if (t->devices.drivers[i].backend->freezer)	/* there is one such driver */
			snprintf(t->driver, sizeof(t->driver), "%s",
				 t->devices.drivers[i].version);
		note = *note ? note : t->devices.drivers[i].note;
	}
	for (int d = 0; rc == 0 && d < t->devices.count; d++) {
		const struct device_backend *b = device_backend_of(t->devices.items[d].id);

		if (b && b->freezer && !t->devices.items[d].left_out)
			rc = test_one(&claims, d, settings, t, err);
	}
	if (rc == 0 && t->n == 0)
		rc = err_set(err, EX_UNAVAILABLE, "there is no GPU to test%s%s",
			     *note ? ": " : "", note);
	device_claims_release(&claims);
	return rc;
}

void self_test_release(struct self_test *t)
{
	free(t->items);
	devices_release(&t->devices);
	*t = (struct self_test){ 0 };
}
