/* device.c - the table of backends, and the list of all their devices. */
#include <stdlib.h>
#include <string.h>

#include "pollux/device.h"
#include "pollux/file.h"
#include "pollux/mem.h"

/* --- a list of devices, from a child to its parent --- */

/* The child is a copy of the parent, so constants (names of backends, reasons) have the same
 * addresses in both, and the arrays can be sent as they are. */

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
	file_write_all(fd, &list, sizeof(list));
	for (int i = 0; i < N_PARTS; i++)
		file_write_all(fd, *parts[i].array, parts[i].bytes);
}

/* Replaces the list by the one that was sent. False: the answer is not whole. */
static bool take_list(const char *bytes, size_t size, struct device_list *list)
{
	struct device_list sent;
	struct part parts[N_PARTS];
	size_t at = sizeof(sent), all = at, room = 1;

	if (size < sizeof(sent))
		return false;
	memcpy(&sent, bytes, sizeof(sent));
	parts_of(&sent, parts);
	for (int i = 0; i < N_PARTS; i++)
		all += parts[i].bytes;
	if (size != all)
		return false;
	/* devices_append() takes the room for the next entries to be there up to a power of two */
	while (room < (size_t)sent.count)
		room *= 2;
	for (int i = 0; i < N_PARTS; at += parts[i++].bytes) {
		*parts[i].array = NULL;
		if (parts[i].bytes == 0)
			continue;
		*parts[i].array = xmalloc(i == 0 ? room * sizeof(struct device) : parts[i].bytes);
		memcpy(*parts[i].array, bytes + at, parts[i].bytes);
	}
	devices_release(list);
	*list = sent;
	return true;
}

/* Lists as backend->list() does. If a child gives no answer, backend->list_unanswered() lists what
 * is known without the driver; -1 with *err for a backend without that function. */
static int list_backend(const struct device_backend *backend,
			const struct device_settings *settings, struct device_list *list,
			struct err *err)
{
	struct listing l = { backend, settings, list };
	struct err why = { 0 };
	size_t size = 0;
	autofree char *bytes = NULL;

	if (!backend->asks_driver || !backend->asks_driver(settings))
		return backend->list ? backend->list(settings, list, err) : 0;
	bytes = (backend->list_unanswered ? driver_child_ask : library_child_ask)(send_list, &l,
										   &size, &why);
	if (bytes && !take_list(bytes, size, list))
		err_set(&why, EX_UNAVAILABLE, "the process that asked has died");
	if (!why.exit_status)
		return 0;
	if (!backend->list_unanswered)
		return err_set(err, EX_OSERR, "cannot list devices of the backend '%s': %s",
			       backend->name, why.text);
	backend->list_unanswered(why.text, list);
	return 0;
}

/* --- the table of backends, and the list of all their devices --- */

static const struct device_backend *const backends[] = {
	&device_nvidia, &device_slurm, &device_cpu,
};
static const size_t n_backends = sizeof(backends) / sizeof(backends[0]);

/* Grows the links to a matrix for all devices now in the list. */
static void extend_links(struct device_list *list)
{
	size_t n = (size_t)list->count, old = (size_t)list->linked;
	unsigned char *links = xmalloc(n * n);

	memset(links, DEVICE_LINK_MACHINE, n * n);
	for (size_t a = 0; a < old; a++)
		memcpy(links + a * n, list->links + a * old, old);
	for (size_t a = old; a < n; a++)
		links[a * n + a] = DEVICE_LINK_FAST;
	free(list->links);
	list->links = links;
	list->linked = list->count;
}

void devices_set_link(struct device_list *list, int a, int b, enum device_link link)
{
	if (list->linked < list->count)
		extend_links(list);
	list->links[(size_t)a * (size_t)list->count + (size_t)b] = (unsigned char)link;
	list->links[(size_t)b * (size_t)list->count + (size_t)a] = (unsigned char)link;
}

enum device_link devices_link(const struct device_list *list, int a, int b)
{
	if (!list->links || a >= list->linked || b >= list->linked)
		return a == b ? DEVICE_LINK_FAST : DEVICE_LINK_MACHINE;
	return (enum device_link)list->links[(size_t)a * (size_t)list->linked + (size_t)b];
}

int devices_list(const struct device_settings *settings, struct device_list *list, struct err *err)
{
	*list = (struct device_list){ 0 };
	for (size_t i = 0; i < n_backends; i++)
		if (list_backend(backends[i], settings, list, err)) {
			devices_release(list);
			return -1;
		}
	extend_links(list);
	return 0;
}

bool devices_may_be_accelerators(const struct device_settings *settings)
{
	for (size_t i = 0; i < n_backends; i++)
		if (backends[i]->is_accelerator && backends[i]->asks_driver &&
		    backends[i]->asks_driver(settings))
			return true;
	return false;
}

void devices_release(struct device_list *list)
{
	free(list->items);
	free(list->processes);
	free(list->drivers);
	free(list->links);
	*list = (struct device_list){ 0 };
}

void devices_add_kinds(const struct device_list *list, struct text *t)
{
	int n = 0;

	for (int d = 0; d < list->count; d++) {
		bool is_new = list->items[d].usable;

		for (int i = 0; is_new && i < d; i++)
			is_new = !list->items[i].usable ||
				 strcmp(list->items[i].kind, list->items[d].kind) != 0;
		if (is_new)
			text_addf(t, "%s'%s'", n++ ? ", " : "; kinds here: ", list->items[d].kind);
	}
	if (n == 0)
		text_add(t, "; no device can be used here");
}

/* The array grows at every power of two. */
struct device *devices_append(struct device_list *list)
{
	size_t n = (size_t)list->count;
	struct device *d;

	if ((n & (n - 1)) == 0)
		list->items = xreallocarray(list->items, n ? 2 * n : 1, sizeof(*list->items));
	d = &list->items[list->count++];
	memset(d, 0, sizeof(*d));
	d->now = DEVICE_READING_UNKNOWN;
	return d;
}

const struct device_backend *device_backend_of(const char *id)
{
	size_t n = strcspn(id, ":");

	for (size_t i = 0; i < n_backends; i++)
		if (id[n] && strlen(backends[i]->name) == n && !memcmp(backends[i]->name, id, n))
			return backends[i];
	return NULL;
}

const struct device_backend *device_backend_at(size_t i)
{
	return i < n_backends ? backends[i] : NULL;
}

static struct device_driver *find_driver(const struct device_list *list,
					 const struct device_backend *backend)
{
	for (int i = 0; i < list->n_drivers; i++)
		if (list->drivers[i].backend == backend)
			return &list->drivers[i];
	return NULL;
}

const struct device_driver *devices_driver_of(const struct device_list *list, const char *id)
{
	return find_driver(list, device_backend_of(id));
}

struct device_driver *devices_driver(struct device_list *list, const struct device_backend *backend)
{
	struct device_driver *driver = find_driver(list, backend);

	if (driver)
		return driver;
	list->drivers = xreallocarray(list->drivers, (size_t)list->n_drivers + 1,
				      sizeof(*list->drivers));
	driver = &list->drivers[list->n_drivers++];
	*driver = (struct device_driver){ .backend = backend };
	return driver;
}

const char *devices_note(const struct device_list *list, const struct device_backend *backend)
{
	const struct device_driver *driver = find_driver(list, backend);

	return driver ? driver->note : "";
}

bool devices_may_lack(const struct device_list *list, const char *id)
{
	const struct device_driver *driver = devices_driver_of(list, id);

	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].id, id))
			return false;
	return driver && driver->silent;
}

bool devices_tell_processes(const struct device_list *list)
{
	bool any = false;

	for (int i = 0; i < list->n_drivers; i++)
		if (list->drivers[i].silent || list->drivers[i].processes_unknown)
			return false;
	for (int d = 0; d < list->count; d++) {
		const struct device_backend *backend = device_backend_of(list->items[d].id);

		any |= backend && backend->processes;
	}
	return any;
}

void devices_environment(const struct device *devices, int n, struct strings *env)
{
	const struct device_backend *backend = device_backend_of(devices[0].id);

	if (!backend)
		return;
	backend->environment(devices, n, env);
	for (size_t i = 0; i < n_backends; i++)
		if (backends[i] != backend && backends[i]->hide)
			backends[i]->hide(env);
}

bool device_sets_variable(const char *name, size_t n)
{
	for (size_t i = 0; i < n_backends; i++)
		for (const char *const *v = backends[i]->variables; v && *v; v++)
			if (strlen(*v) == n && !memcmp(*v, name, n))
				return true;
	return false;
}

bool device_next_span(const char **p, long *first, long *last)
{
	char *end;

	*p += strspn(*p, ",");
	*first = *last = strtol(*p, &end, 10);
	if (end == *p)
		return false;
	if (*end == '-')
		*last = strtol(end + 1, &end, 10);
	*p = end;
	return true;
}

static bool owns_binding(const struct device *device)
{
	const struct device_backend *backend = device_backend_of(device->id);

	return backend && backend->owns_binding;
}

bool device_is_same(const struct device *a, const struct device *b)
{
	return !strcmp(a->node, b->node) && !strcmp(a->id, b->id) &&
	       (!owns_binding(a) || !strcmp(a->binding, b->binding));
}

bool device_overlaps(const struct device *a, const struct device *b)
{
	const char *p = a->binding, *q;
	long first, last, other_first, other_last;

	if (strcmp(a->node, b->node) != 0)
		return false;
	if (!strcmp(a->id, b->id))
		return true;
	if (!owns_binding(a) || !owns_binding(b))
		return false;
	while (device_next_span(&p, &first, &last))
		for (q = b->binding; device_next_span(&q, &other_first, &other_last);)
			if (first <= other_last && other_first <= last)
				return true;
	return false;
}

static int index_of(const struct device_list *list, const struct device *device)
{
	for (int i = 0; i < list->count; i++)
		if (!strcmp(list->items[i].id, device->id))
			return i;
	return -1;
}

int devices_farthest(const struct device_list *list, const struct device *devices, int n)
{
	int farthest = -1;

	for (int i = 0; list->links && i < n; i++)
		for (int k = 0; k < i; k++) {
			int a = index_of(list, &devices[i]), b = index_of(list, &devices[k]), link;

			if (a < 0 || b < 0)
				return -1;
			link = list->links[(size_t)a * (size_t)list->count + (size_t)b];
			farthest = link > farthest ? link : farthest;
		}
	return farthest;
}
