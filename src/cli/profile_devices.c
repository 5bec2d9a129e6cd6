/* profile_devices.c - pollux profile --devices: measure each kind of device, and show it. */
#include <unistd.h>

#include "pollux/command.h"
#include "pollux/config.h"
#include "pollux/devices_profile.h"
#include "pollux/report.h"
#include "pollux/session.h"
#include "profile.h"

static void say_measuring(const struct device *device, bool exchanges)
{
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "pollux: measuring %s%s ...\n", exchanges ? "exchanges from " : "",
			device->id);
}

static void show_profile(const struct profile_options *o, const struct devices_profile *profile)
{
	struct output out = output_stdout(o->color);

	if (o->json)
		devices_profile_print_json(profile, stdout);
	else
		devices_profile_print(profile, &out);
}

static int measure_and_show(const struct profile_options *o, struct session *session,
			    struct err *err)
{
	struct profile_kinds_settings settings = {
		.session = session, .quick = o->quick, .device = o->device,
		.progress = say_measuring,
	};
	struct devices_profile profile;
	struct config config;
	int rc;

	if (session_settings(session, &config, err))
		return -1;
	if (o->slots > 0)
		config.slots = (int)o->slots;
	settings.config = &config;
	rc = profile_kinds(&settings, &profile, err);
	if (rc == 0)
		show_profile(o, &profile);
	devices_profile_release(&profile);
	return rc;
}

int profile_devices(const struct profile_options *o, struct err *err)
{
	struct session session;
	int rc;

	if (session_open(&session, STORE_WRITE, err))
		return -1;
	rc = measure_and_show(o, &session, err);
	session_close(&session);
	return rc;
}
