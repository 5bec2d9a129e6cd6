/* device_measurement.c - rates of measurements, and names of what is measured. */
#include "pollux/device_measurement.h"

#include <math.h>
#include <stdlib.h>

void device_measurement_list_release(struct device_measurement_list *list)
{
	free(list->items);
	*list = (struct device_measurement_list){ 0 };
}

double device_measurement_flops(const struct device_measurement *m)
{
	if (m->what != MEASURED_PRODUCT)
		return (double)NAN;
	return 2 * (double)m->m * (double)m->n * (double)m->k / m->time_s;
}

double device_measurement_bytes_per_s(const struct device_measurement *m)
{
	return m->bytes > 0 ? (double)m->bytes / m->time_s : (double)NAN;
}

static const char *const names[N_MEASURED] = {
	[MEASURED_PRODUCT] = "product", [MEASURED_MEMORY] = "memory", [MEASURED_COPY] = "copy",
	[MEASURED_LAUNCH] = "launch", [MEASURED_BARRIER] = "barrier",
	[MEASURED_REDUCTION] = "reduction",
};

const struct field_names measured_names = { names, N_MEASURED, -1 };
