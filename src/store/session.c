/* session.c - opens the store for a command, and reads the settings of the last pass. */
#include <stdio.h>
#include <stdlib.h>

#include "pollux/session.h"
#include "pollux/text.h"

int session_open(struct session *s, enum store_mode mode, struct err *err)
{
	if (paths_init(&s->paths, err))
		return -1;
	if (store_open(&s->store, &s->paths, mode, err) == 0)
		return 0;
	paths_release(&s->paths);
	return -1;
}

void session_close(struct session *s)
{
	store_close(&s->store);
	paths_release(&s->paths);
}

static void set_slots(struct config *config, const char *value)
{
	if (*value)
		config_set_slots(config, value);	/* else the slots stay as they are */
	else
		config->slots = CONFIG_SLOTS_AUTO;
}

static void set_slice(struct config *config, const char *value)
{
	double slice_s;

	if (number_parse_duration(value, &slice_s) == 0 && slice_s > 0)
		config->slice_s = slice_s;
}

static void set_policy(struct config *config, const char *value)
{
	snprintf(config->policy, sizeof(config->policy), "%s", value);
}

static int read_setting(struct session *s, const char *name,
			void (*set)(struct config *config, const char *value),
			struct config *config, struct err *err)
{
	char *value;

	if (store_setting_get(&s->store, name, &value, err))
		return -1;
	if (value)
		set(config, value);
	free(value);
	return 0;
}

int session_settings(struct session *s, struct config *config, struct err *err)
{
	return config_load(config, s->paths.config, err) ||
	       read_setting(s, "POLLUX_SLOTS", set_slots, config, err) ||
	       read_setting(s, "POLLUX_SLICE", set_slice, config, err) ||
	       read_setting(s, "POLLUX_POLICY", set_policy, config, err) ? -1 : 0;
}
