/* self_test.c - tries a freeze on each free GPU, and stores the result. */
#include "pollux/self_test.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile_state.h"
#include "pollux/mem.h"
#include "pollux/store_machine.h"

static bool can_move(const struct device *d)
{
	const struct device_backend *backend = device_backend_of(d->id);

	return backend && backend->freezer && !d->left_out;
}

/* Reads the version of the driver of the tested devices; there is only one such driver so far. */
static void name_driver(struct self_test *t)
{
	for (int i = 0; i < t->devices.n_drivers; i++)
		if (t->devices.drivers[i].backend->freezer)
			snprintf(t->driver, sizeof(t->driver), "%s",
				 t->devices.drivers[i].version);
}

/* A device that is in use, or has no room now, keeps its earlier result. */
static int keep_result(struct store *store, const struct self_test *t,
		       const struct self_tested *tested, struct err *err)
{
	if (!tested->passed && tested->why.exit_status == EX_TEMPFAIL)
		return 0;
	return store_freeze_test_set(store, tested->device, t->driver,
				     tested->passed ? &tested->test : NULL, tested->why.text, err);
}

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
	return keep_result(claims->store, t, tested, err);
}

static int none_there(const struct self_test *t, struct err *err)
{
	for (int i = 0; i < t->devices.n_drivers; i++)
		if (t->devices.drivers[i].note[0])
			return err_set(err, EX_UNAVAILABLE, "there is no GPU to test: %s",
				       t->devices.drivers[i].note);
	return err_set(err, EX_UNAVAILABLE, "there is no GPU to test");
}

static int test_all(struct device_claims *claims, const struct self_test_settings *settings,
		    struct self_test *t, struct err *err)
{
	t->items = xcalloc((size_t)t->devices.count + 1, sizeof(*t->items));
	name_driver(t);
	for (int d = 0; d < t->devices.count; d++)
		if (can_move(&t->devices.items[d]) && test_one(claims, d, settings, t, err))
			return -1;
	return t->n ? 0 : none_there(t, err);
}

int self_test_run(const struct self_test_settings *settings, struct self_test *t, struct err *err)
{
	struct device_claims claims = {
		.paths = &settings->session->paths, .store = &settings->session->store,
	};
	int rc;

	*t = (struct self_test){ 0 };
	rc = device_claims_open(&claims, settings->config, true, &t->devices, err);
	if (rc == 0)
		rc = test_all(&claims, settings, t, err);
	device_claims_release(&claims);
	return rc;
}

void self_test_release(struct self_test *t)
{
	free(t->items);
	devices_release(&t->devices);
	*t = (struct self_test){ 0 };
}
