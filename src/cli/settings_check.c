/* settings_check.c - warnings of settings, by commands that go on without them. */
#include <unistd.h>

#include "pollux/config.h"
#include "pollux/report.h"
#include "settings_check.h"

void warn_of_slots(int slots)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN);

	if (cores > 0 && slots < CONFIG_SLOTS_OF_TWO_SIZES && slots > SLOTS_PER_CORE_MAX * cores)
		output_messagef("warning: %d slots on %ld processor core%s: up to %ld jobs would "
				"share a core", slots, cores, cores == 1 ? "" : "s",
				(slots + cores - 1) / cores);
}

void warn_of_settings(const struct paths *paths)
{
	struct config config;
	struct err err;

	if (config_load(&config, paths->config, &err))
		output_messagef("warning: %s; no job is started until that is mended", err.text);
	else
		warn_of_slots(config.slots);
}
