/* devices_json.c - the devices as JSON; pollux-devices(1) explains the keys. */
#include <math.h>

#include "pollux/devices_view.h"
#include "pollux/report.h"

static void print_bytes(struct json *j, const char *key, int64_t bytes, int64_t unknown)
{
	if (bytes == unknown)
		json_number(j, key, (double)NAN);
	else
		json_integer(j, key, bytes);
}

static void print_job(struct json *j, int64_t job_id)
{
	print_bytes(j, "job_id", job_id, 0);
}

static void print_process(struct json *j, const struct device_user *u)
{
	json_object(j, NULL);
	json_integer(j, "pid", u->process.pid);
	json_string(j, "owner", u->info.lives ? u->info.owner : NULL);
	json_string(j, "command", u->info.lives ? u->info.command : NULL);
	print_bytes(j, "memory_bytes", u->process.memory_bytes, -1);
	json_number(j, "utilization", u->process.utilization);
	json_number(j, "age_s", u->info.lives ? u->info.age_s : (double)NAN);
	print_job(j, u->job_id);
	json_bool(j, "ignored", u->ignored);
	json_bool(j, "blocks", u->blocks);
	json_end(j);
}

static void print_reading(struct json *j, const struct device_reading *now)
{
	print_bytes(j, "free_bytes", now->free_bytes, -1);
	json_number(j, "utilization", now->utilization);
	json_number(j, "temperature_c", now->temperature_c);
	json_number(j, "power_w", now->power_w);
	json_number(j, "power_limit_w", now->power_limit_w);
	json_number(j, "energy_j", now->energy_j);
	json_string(j, "slowed_by", now->slowed_by);
}

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
	print_bytes(j, "memory_bytes", d->memory_bytes, 0);
	print_reading(j, &d->now);
	print_job(j, devices_holder(v, d->id));
	json_string(j, "held_by", v->lock_holders[index]);
	json_bool(j, "usable", d->usable);
	json_string(j, "reason", d->usable ? NULL : d->reason);
	json_array(j, "processes");
	for (int i = 0; i < v->users.count; i++)
		if (v->users.items[i].process.device == index)
			print_process(j, &v->users.items[i]);
	json_end(j);
	json_end(j);
}

/* Leaves out pairs whose only known link is being in one machine. */
static void print_links(struct json *j, const struct devices_view *v)
{
	json_array(j, "links");
	for (int a = 0; a < v->list.linked; a++)
		for (int b = a + 1; b < v->list.linked; b++) {
			if (devices_link(&v->list, a, b) == DEVICE_LINK_MACHINE)
				continue;
			json_object(j, NULL);
			json_string(j, "from", v->list.items[a].id);
			json_string(j, "to", v->list.items[b].id);
			json_string(j, "link", devices_link_name(v, a, b));
			json_end(j);
		}
	json_end(j);
}

static void print_drivers(struct json *j, const struct devices_view *v)
{
	const struct device_backend *backend;
	char text[DEVICES_RUNTIME_SIZE];

	for (size_t i = 0; (backend = device_backend_at(i)); i++) {
		if (!backend->words)
			continue;
		backend->describe_runtime(text, sizeof(text));
		json_string(j, backend->words->driver_key, devices_note(&v->list, backend));
		json_string(j, backend->words->runtime_key, text);
	}
}

void devices_print_json(const struct devices_view *v)
{
	struct json j;

	json_init(&j, stdout);
	json_object(&j, NULL);
	json_array(&j, "devices");
	for (int i = 0; i < v->list.count; i++)
		print_device(&j, v, i);
	json_end(&j);
	if (devices_have_nodes(v))
		devices_print_json_nodes(&j, v);
	print_links(&j, v);
	print_drivers(&j, v);
	json_string(&j, "containment", engine_containment_name(v->containment));
	json_string(&j, "containment_detail", v->containment_detail.data);
	json_end(&j);
}
