/* devices_profile_json.c - pollux profile --devices --json. The schema is in pollux-profile(1). */
#include <math.h>

#include "pollux/devices_profile.h"
#include "pollux/report.h"

#define SCHEMA_VERSION 1

static void size_or_null(struct json *j, const char *key, int64_t value)
{
	if (value > 0)
		json_integer(j, key, value);
	else
		json_number(j, key, (double)NAN);
}

static void print_measurement(struct json *j, const struct measure_result *r,
			      const struct device_measurement *m)
{
	double flops = device_measurement_flops(m), bytes_per_s = device_measurement_bytes_per_s(m);
	bool product = m->what == MEASURED_PRODUCT;

	json_object(j, NULL);
	json_string(j, "what", measured_names.names[m->what]);
	json_string(j, "variant", m->variant[0] ? m->variant : NULL);
	json_integer(j, "devices", m->devices);
	size_or_null(j, "m", m->m);
	size_or_null(j, "n", m->n);
	size_or_null(j, "k", m->k);
	size_or_null(j, "bytes", m->bytes);
	json_number(j, "time_s", m->time_s);
	json_number(j, "time_sd_s", m->time_sd_s);
	json_integer(j, "repetitions", m->repetitions);
	json_bool(j, "steady", m->steady);
	json_number(j, "flops", flops);
	json_number(j, "bytes_per_s", bytes_per_s);
	json_number(j, "peak_ratio",
		    product			 ? flops / measure_peak_of(r, m->variant)
		    : m->what == MEASURED_MEMORY ? bytes_per_s / measure_peak_of(r, "memory")
						 : (double)NAN);
	json_end(j);
}

static void print_json_kind(struct json *j, const struct profiled_kind *kind)
{
	const struct measure_result *r = &kind->result;

	json_object(j, NULL);
	json_string(j, "device_kind", kind->device->kind);
	json_string(j, "device_id", kind->device->id);
	json_array(j, "measurements");
	for (int i = 0; i < r->list.count; i++)
		print_measurement(j, r, &r->list.items[i]);
	json_end(j);
	json_array(j, "peaks");
	for (int i = 0; i < r->n_peaks; i++) {
		json_object(j, NULL);
		json_string(j, "variant", r->peaks[i].variant);
		json_number(j, "per_s", r->peaks[i].per_s);
		json_end(j);
	}
	json_end(j);
	json_string(j, "peak_basis", r->peak_basis[0] ? r->peak_basis : NULL);
	json_array(j, "notes");
	for (size_t i = 0; i < r->notes.count; i++)
		json_string(j, NULL, r->notes.items[i]);
	json_end(j);
	json_end(j);
}

void devices_profile_print_json(const struct devices_profile *p, FILE *out)
{
	struct json j;

	json_init(&j, out);
	json_object(&j, NULL);
	json_integer(&j, "schema_version", SCHEMA_VERSION);
	json_number(&j, "time_s", p->time_s);
	json_bool(&j, "quick", p->quick);
	json_array(&j, "kinds");
	for (int i = 0; i < p->n_kinds; i++)
		print_json_kind(&j, &p->kinds[i]);
	json_end(&j);
	json_array(&j, "left_out");
	for (size_t i = 0; i < p->left_out.count; i++)
		json_string(&j, NULL, p->left_out.items[i]);
	json_end(&j);
	json_end(&j);
}
