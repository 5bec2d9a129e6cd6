/* device_list_child.c - a list of devices, from a child to its parent.
 *
 * The child is a copy of the parent, so constants (names of backends, reasons) have the same
 * addresses in both, and the arrays can be sent as they are. */
#include <stdlib.h>
#include <string.h>

#include "device_list_child.h"
#include "pollux/driver_child.h"
#include "pollux/mem.h"

struct listing {
	const struct device_backend *backend;
	const struct device_settings *settings;
	/* devices of the backends that were listed already */
	const struct device_list *before;
};

/* The arrays of a list with the bytes that each has. */
struct part {
	void **array;
	size_t bytes;
};
#define N_PARTS 4

static void parts_of(struct device_list *list, struct part parts[N_PARTS])
{
	parts[0] = (struct part){ (void **)&list->items,
				  (size_t)list->count * sizeof(*list->items) };
	parts[1] = (struct part){ (void **)&list->processes,
				  (size_t)list->n_processes * sizeof(*list->processes) };
	parts[2] = (struct part){ (void **)&list->drivers,
				  (size_t)list->n_drivers * sizeof(*list->drivers) };
	parts[3] = (struct part){ (void **)&list->links,
				  (size_t)list->linked * (size_t)list->linked };
}

/* Runs in the child. */
static void send_list(int fd, void *arg)
{
	const struct listing *l = arg;
	struct device_list list = *l->before;
	struct part parts[N_PARTS];
	struct err ignored;

	if (l->backend->list(l->settings, &list, &ignored))
		return;
	parts_of(&list, parts);
	driver_child_write(fd, &list, sizeof(list));
	for (int i = 0; i < N_PARTS; i++)
		driver_child_write(fd, *parts[i].array, parts[i].bytes);
}

/* devices_append() takes the room for the next entries to be there up to a power of two. */
static size_t room_of(int count)
{
	size_t room = 1;

	while (room < (size_t)count)
		room *= 2;
	return room * sizeof(struct device);
}

/* Replaces the list by the one that was sent. False: the answer is not whole. */
static bool take_list(const char *bytes, size_t size, struct device_list *list)
{
	struct device_list sent;
	struct part parts[N_PARTS];
	size_t at = sizeof(sent), all = at;

	if (size < sizeof(sent))
		return false;
	memcpy(&sent, bytes, sizeof(sent));
	parts_of(&sent, parts);
	for (int i = 0; i < N_PARTS; i++)
		all += parts[i].bytes;
	if (size != all)
		return false;
	for (int i = 0; i < N_PARTS; at += parts[i++].bytes) {
		*parts[i].array = NULL;
		if (parts[i].bytes == 0)
			continue;
		*parts[i].array = xmalloc(i == 0 ? room_of(sent.count) : parts[i].bytes);
		memcpy(*parts[i].array, bytes + at, parts[i].bytes);
	}
	devices_release(list);
	*list = sent;
	return true;
}

int device_list_in_child(const struct device_backend *backend,
			 const struct device_settings *settings, struct device_list *list,
			 struct err *err)
{
	struct listing l = { backend, settings, list };
	struct err why = { 0 };
	size_t size = 0;
	char *bytes = (backend->list_unanswered ? driver_child_ask : library_child_ask)(
		send_list, &l, &size, &why);

	if (bytes && !take_list(bytes, size, list))
		err_set(&why, EX_UNAVAILABLE, "the process that asked has died");
	free(bytes);
	if (!why.exit_status)
		return 0;
	if (!backend->list_unanswered)
		return err_set(err, EX_OSERR, "cannot list devices of the backend '%s': %s",
			       backend->name, why.text);
	backend->list_unanswered(why.text, list);
	return 0;
}
