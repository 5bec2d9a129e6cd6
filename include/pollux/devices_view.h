/* devices_view.h - what 'pollux devices' has to show, and how it is shown. */
#ifndef POLLUX_DEVICES_VIEW_H
#define POLLUX_DEVICES_VIEW_H

#include "pollux/device.h"
#include "pollux/device_users.h"
#include "pollux/session.h"

#define DEVICES_RUNTIME_SIZE 320	/* of what a backend says of its runtime library */

struct devices_view {
	struct device_list list;
	struct run_list runs;		/* that have not ended */
	struct reserved_list reserved;	/* by profiles */
	const char **lock_holders;	/* owned; per device: who has it without a run, as device_lock.h; NULL: nobody */
	struct device_user_list users;
};

/* s NULL: there is no store; then nothing is held and nobody ignored. */
int devices_view_read(const struct device_settings *settings, struct session *s, struct devices_view *v,
		      struct err *err);
void devices_view_release(struct devices_view *v);

/* The job that has the device, or waits for it; 0: none. One at work goes before one assigned, and both before a
 * profile between two runs. */
int64_t devices_holder(const struct devices_view *v, const char *id);
enum device_link devices_link(const struct devices_view *v, int a, int b);
/* "switch", "node", "machine"; of a fast link its own name: "nvlink" */
const char *devices_link_name(const struct devices_view *v, int a, int b);

void devices_print_table(const struct devices_view *v);
void devices_print_json(const struct devices_view *v);

#endif
