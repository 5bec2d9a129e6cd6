/* device_list_child.h - list a backend's devices in a child: its driver may hang, its library may
 * die. */
#ifndef POLLUX_DEVICE_LIST_CHILD_H
#define POLLUX_DEVICE_LIST_CHILD_H

#include "pollux/device.h"

/* Lists as backend->list() does. If the child gives no answer, backend->list_unanswered() lists
 * what is known without the driver; -1 with *err for a backend without that function. */
int device_list_in_child(const struct device_backend *backend,
			 const struct device_settings *settings, struct device_list *list,
			 struct err *err);

#endif
