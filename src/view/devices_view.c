/* devices_view.c - reads what 'pollux devices' shows. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "parts.h"
#include "pollux/device_owners.h"
#include "pollux/engine.h"
#include "pollux/mem.h"

int64_t devices_holder(const struct devices_view *v, const char *id)
{
	const struct run *holder = NULL;

	for (int r = 0; r < v->runs.count; r++)
		for (int i = 0; i < run_held(&v->runs.items[r]); i++)
			if (!strcmp(v->runs.items[r].devices[i].id, id) &&
			    (!holder || holder->state == RUN_ASSIGNED))
				holder = &v->runs.items[r];
	for (int i = 0; !holder && i < v->reserved.count; i++)
		if (!strcmp(v->reserved.items[i].device.id, id))
			return v->reserved.items[i].job_id;
	return holder ? holder->job_id : 0;
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

/* Reads why devices did not pass the self-test with their present driver. */
static int read_failed_tests(struct store *store, struct devices_view *v, struct err *err)
{
	v->failed_tests = xcalloc((size_t)v->list.count + 1, sizeof(*v->failed_tests));
	for (int d = 0; store && d < v->list.count; d++) {
		const char *id = v->list.items[d].id;
		const struct device_driver *driver = devices_driver_of(&v->list, id);

		if (driver && store_freeze_test_failure(store, id, driver->version,
							&v->failed_tests[d], err))
			return -1;
	}
	return 0;
}

int devices_view_read(const struct config *config, struct session *s, struct devices_view *v,
		      struct err *err)
{
	struct store *store = s ? &s->store : NULL;
	struct paths paths = { 0 };
	struct engine_context at = { .paths = s ? &s->paths : &paths,
				     .store = s ? &s->store : NULL };
	struct err ignored;
	bool known = s || paths_init(&paths, &ignored) == 0;

	*v = (struct devices_view){ .containment_detail = TEXT_INIT };
	if ((store && (store_runs_active(store, &v->runs, err) ||
		       store_reserved_list(store, &v->reserved, err))) ||
	    engine_devices(config, true, &v->list, err) ||
	    device_owners_find(store, &v->list, &v->runs, &v->users, err) ||
	    read_failed_tests(store, v, err))
		return -1;
	device_owners_refuse(&v->users, &v->runs, &v->list);
	v->containment = engine_for_new_runs()->containment(&v->containment_detail);
	/* The lock of a run's device is held by the run's supervisor, as it should be. Without a
	 * store, other users may have devices, too. */
	v->lock_holders = xcalloc((size_t)v->list.count + 1, sizeof(*v->lock_holders));
	for (int d = 0; known && d < v->list.count; d++)
		if (!devices_holder(v, v->list.items[d].id))
			v->lock_holders[d] = engine_outsider(&at, &v->runs,
								 &v->list.items[d]);
	paths_release(&paths);
	return 0;
}

void devices_view_release(struct devices_view *v)
{
	for (int d = 0; v->failed_tests && d < v->list.count; d++)
		free(v->failed_tests[d]);
	free(v->failed_tests);
	devices_release(&v->list);
	run_list_release(&v->runs);
	reserved_list_release(&v->reserved);
	free(v->lock_holders);
	device_user_list_release(&v->users);
	text_release(&v->containment_detail);
}

/* --- the devices as JSON; pollux-devices(1) explains the keys --- */

static void print_device(struct json *j, const struct devices_view *v, int index)
{
	const struct device *d = &v->list.items[index];

	json_object(j, NULL);
	json_string(j, "id", d->id);
	if (d->node[0])
		json_string(j, "node", d->node);
	json_string(j, "name", d->name);
	json_string(j, "kind", d->kind);
	json_integer(j, "cores", d->cores);
	json_string(j, "binding", d->binding);
	json_positive(j, "memory_bytes", d->memory_bytes);
	json_integer_if(j, "free_bytes", d->now.free_bytes, d->now.free_bytes >= 0);
	json_number(j, "utilization", d->now.utilization);
	json_number(j, "temperature_c", d->now.temperature_c);
	json_number(j, "power_w", d->now.power_w);
	json_number(j, "power_limit_w", d->now.power_limit_w);
	json_number(j, "energy_j", d->now.energy_j);
	json_string(j, "slowed_by", d->now.slowed_by);
	json_positive(j, "job_id", devices_holder(v, d->id));
	json_string(j, "held_by", v->lock_holders[index]);
	json_bool(j, "usable", d->usable);
	json_string(j, "reason", d->usable ? NULL : d->reason);
	json_string(j, "self_test_failed", v->failed_tests[index]);
	json_array(j, "processes");
	for (int i = 0; i < v->users.count; i++)
		if (v->users.items[i].process.device == index) {
			const struct device_user *u = &v->users.items[i];

			json_object(j, NULL);
			json_integer(j, "pid", u->process.pid);
			json_string(j, "owner", u->info.lives ? u->info.owner : NULL);
			json_string(j, "command", u->info.lives ? u->info.command : NULL);
			json_integer_if(j, "memory_bytes", u->process.memory_bytes,
					u->process.memory_bytes >= 0);
			json_number(j, "utilization", u->process.utilization);
			json_number(j, "age_s", u->info.lives ? u->info.age_s : (double)NAN);
			json_positive(j, "job_id", u->job_id);
			json_bool(j, "ignored", u->ignored);
			json_bool(j, "blocks", u->blocks);
			json_end(j);
		}
	json_end(j);
	json_end(j);
}

void devices_print_json(const struct devices_view *v)
{
	struct json j;
	const struct device_backend *backend;
	char text[DEVICES_RUNTIME_SIZE];

	json_init(&j, stdout);
	json_object(&j, NULL);
	json_array(&j, "devices");
	for (int i = 0; i < v->list.count; i++)
		print_device(&j, v, i);
	json_end(&j);
	if (devices_have_nodes(v))
		devices_print_json_nodes(&j, v);
	/* Leaves out pairs whose only known link is being in one machine. */
	json_array(&j, "links");
	for (int a = 0; a < v->list.linked; a++)
		for (int b = a + 1; b < v->list.linked; b++) {
			if (devices_link(&v->list, a, b) == DEVICE_LINK_MACHINE)
				continue;
			json_object(&j, NULL);
			json_string(&j, "from", v->list.items[a].id);
			json_string(&j, "to", v->list.items[b].id);
			json_string(&j, "link", devices_link_name(v, a, b));
			json_end(&j);
		}
	json_end(&j);
	for (size_t i = 0; (backend = device_backend_at(i)); i++) {
		if (!backend->words)
			continue;
		backend->describe_runtime(text, sizeof(text));
		json_string(&j, backend->words->driver_key, devices_note(&v->list, backend));
		json_string(&j, backend->words->runtime_key, text);
	}
	json_string(&j, "containment", engine_containment_name(v->containment));
	json_string(&j, "containment_detail", v->containment_detail.data);
	json_end(&j);
}

/* --- the self-test: a line, or an object, for each device --- */

static double freeze_s(const struct self_tested *t)
{
	return t->test.lock_s + t->test.save_s;
}

static double thaw_s(const struct self_tested *t)
{
	return t->test.restore_s + t->test.unlock_s;
}

static double rate(const struct self_tested *t, double seconds)
{
	return seconds > 0 ? (double)t->test.released_bytes / seconds : 0;
}

void self_test_print(const struct self_test *t, FILE *out)
{
	for (int i = 0; i < t->n; i++) {
		const struct self_tested *d = &t->items[i];

		if (!d->passed) {
			fprintf(out, "%s: not passed: %s\n", d->device->name, d->why.text);
			continue;
		}
		fprintf(out, "%s: %s: %lld MiB to the host's memory in %s (%.2f GB/s), back in "
			"%s (%.2f GB/s)%s%s\n", d->device->name,
			*d->test.weaker ? "a weaker test passed, without cuBLAS" : "passed",
			(long long)(d->test.released_bytes >> 20), format_span(freeze_s(d)).s,
			rate(d, freeze_s(d)) / 1e9, format_span(thaw_s(d)).s,
			rate(d, thaw_s(d)) / 1e9,
			*d->test.weaker ? "; PyTorch may be refused: " : "", d->test.weaker);
	}
}

void self_test_print_json(const struct self_test *t, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_text(&j, "driver_version", t->driver);
	json_array(&j, "devices");
	for (int i = 0; i < t->n; i++) {
		const struct self_tested *d = &t->items[i];

		json_object(&j, NULL);
		json_string(&j, "id", d->device->id);
		json_string(&j, "name", d->device->name);
		json_string(&j, "kind", d->device->kind);
		json_bool(&j, "passed", d->passed);
		json_text(&j, "reason", d->passed ? "" : d->why.text);
		if (d->passed) {
			json_text(&j, "weaker", d->test.weaker);
			json_integer(&j, "bytes", d->test.bytes);
			json_integer(&j, "released_bytes", d->test.released_bytes);
			json_number(&j, "start_s", d->test.start_s);
			json_number(&j, "lock_s", d->test.lock_s);
			json_number(&j, "save_s", d->test.save_s);
			json_number(&j, "restore_s", d->test.restore_s);
			json_number(&j, "unlock_s", d->test.unlock_s);
			json_number(&j, "freeze_bytes_per_s", rate(d, freeze_s(d)));
			json_number(&j, "thaw_bytes_per_s", rate(d, thaw_s(d)));
		}
		json_end(&j);
	}
	json_end(&j);
	json_end(&j);
}
