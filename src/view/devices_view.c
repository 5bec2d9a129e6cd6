/* devices_view.c - reads what 'pollux devices' shows. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/device_owners.h"
#include "pollux/devices_view.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

static int64_t reserved_for(const struct devices_view *v, const char *id)
{
	for (int i = 0; i < v->reserved.count; i++)
		if (!strcmp(v->reserved.items[i].device.id, id))
			return v->reserved.items[i].job_id;
	return 0;
}

int64_t devices_holder(const struct devices_view *v, const char *id)
{
	const struct run *holder = NULL;

	for (int r = 0; r < v->runs.count; r++)
		for (int i = 0; i < run_held(&v->runs.items[r]); i++)
			if (!strcmp(v->runs.items[r].devices[i].id, id) &&
			    (!holder || holder->state == RUN_ASSIGNED))
				holder = &v->runs.items[r];
	return holder ? holder->job_id : reserved_for(v, id);
}

const char *devices_link_name(const struct devices_view *v, int a, int b)
{
	const struct device_backend *backend = device_backend_of(v->list.items[a].id);

	switch (devices_link(&v->list, a, b)) {
	case DEVICE_LINK_FAST:
		return backend && backend->words ? backend->words->fast_link_name : "fast";
	case DEVICE_LINK_SWITCH:
		return "switch";
	case DEVICE_LINK_NUMA:
		return "node";
	case DEVICE_LINK_MACHINE:
		break;
	}
	return "machine";
}

/* Finds who has devices that no run has. The lock of a run's device is held by the run's
 * supervisor, as it should be. Without a store, other users may have devices, too. */
static void find_lock_holders(struct session *s, struct devices_view *v)
{
	struct paths paths = { 0 };
	struct engine_context at = { .paths = s ? &s->paths : &paths,
				     .store = s ? &s->store : NULL };
	struct err ignored;
	bool known = s || paths_init(&paths, &ignored) == 0;

	v->lock_holders = xcalloc((size_t)v->list.count + 1, sizeof(*v->lock_holders));
	for (int d = 0; known && d < v->list.count; d++)
		if (!devices_holder(v, v->list.items[d].id))
			v->lock_holders[d] = engine_outsider(&at, &v->runs,
								 &v->list.items[d]);
	paths_release(&paths);
}

int devices_view_read(const struct config *config, struct session *s, struct devices_view *v,
		      struct err *err)
{
	struct store *store = s ? &s->store : NULL;

	*v = (struct devices_view){ .containment_detail = TEXT_INIT };
	if ((store && (store_runs_active(store, &v->runs, err) ||
		       store_reserved_list(store, &v->reserved, err))) ||
	    engine_devices(config, true, &v->list, err) ||
	    device_owners_find(store, &v->list, &v->runs, &v->users, err))
		return -1;
	device_owners_refuse(&v->users, &v->runs, &v->list);
	v->containment = engine_for_new_runs()->containment(&v->containment_detail);
	find_lock_holders(s, v);
	return 0;
}

void devices_count_usable(const struct device_list *list, int *n, char *kind, size_t kind_size,
			  int64_t *memory_bytes)
{
	*n = 0;
	*memory_bytes = 0;
	for (int i = list->count - 1; i >= 0; i--) {
		if (!list->items[i].usable)
			continue;
		++*n;
		snprintf(kind, kind_size, "%s", list->items[i].kind);
		*memory_bytes = list->items[i].memory_bytes;
	}
}

void devices_view_release(struct devices_view *v)
{
	devices_release(&v->list);
	run_list_release(&v->runs);
	reserved_list_release(&v->reserved);
	free(v->lock_holders);
	device_user_list_release(&v->users);
	text_release(&v->containment_detail);
}
