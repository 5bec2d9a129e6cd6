/* devices_view.h - what 'pollux devices' has to show, and how it is shown. */
#ifndef POLLUX_DEVICES_VIEW_H
#define POLLUX_DEVICES_VIEW_H

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/device_users.h"
#include "pollux/engine.h"
#include "pollux/report.h"
#include "pollux/session.h"
#include "pollux/store_machine.h"
#include "pollux/store_runs.h"

#define DEVICES_RUNTIME_SIZE 320	/* bytes for a backend's line about its library */

struct devices_view {
	struct device_list list;
	struct run_list runs;		/* those that have not ended */
	struct reserved_list reserved;	/* devices reserved by profiles */
	/* Owned; for each device, who holds its lock without a run, as device_users.h says it;
	 * NULL: nobody. */
	const char **lock_holders;
	struct device_user_list users;
	/* How the processes of a run are kept together, and where, or why not in a control group:
	 * see engine.h. */
	enum engine_containment containment;
	struct text containment_detail;
};

/* s NULL: there is no store; then no device is held, and no process is ignored. */
int devices_view_read(const struct config *config, struct session *s, struct devices_view *v,
		      struct err *err);
void devices_view_release(struct devices_view *v);

/* Count the devices that jobs can use, and copy the kind and the memory of the first of them, if
 * any. */
void devices_count_usable(const struct device_list *list, int *n, char *kind, size_t kind_size,
			  int64_t *memory_bytes);

/* The job that has the device or waits for it; 0: none. A job at work comes before a job that was
 * only assigned the device; both come before a profile between two of its runs. */
int64_t devices_holder(const struct devices_view *v, const char *id);
/* Returns "switch", "node" or "machine"; for a fast link its own name, such as "nvlink". */
const char *devices_link_name(const struct devices_view *v, int a, int b);

/* devices_nodes.c: true if an engine names the machines of the devices. */
bool devices_have_nodes(const struct devices_view *v);
void devices_print_nodes(const struct devices_view *v, const struct output *out);
/* Writes the key "nodes". */
void devices_print_json_nodes(struct json *j, const struct devices_view *v);

void devices_print_table(const struct devices_view *v);
void devices_print_json(const struct devices_view *v);

#endif
