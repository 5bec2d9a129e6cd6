/* device_measurement.c - rates of measurements, and names of what is measured. */
#include "pollux/device_measurement.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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
	int ways = m->what == MEASURED_MEMORY ? 2 : 1;

	return m->bytes > 0 ? ways * (double)m->bytes / m->time_s : (double)NAN;
}

static bool is_same_product(const struct device_measurement *a, const struct device_measurement *b)
{
	return a->what == MEASURED_PRODUCT && b->what == MEASURED_PRODUCT && a->m == b->m &&
	       a->n == b->n && a->k == b->k && !strcmp(a->variant, b->variant) &&
	       a->time_s > 0 && b->time_s > 0;
}

double device_measurement_quotient(const struct device_measurement_list *slow,
				   const struct device_measurement_list *fast)
{
	double sum = 0;
	int n = 0;

	for (int i = 0; i < slow->count; i++)
		for (int k = 0; k < fast->count; k++)
			if (is_same_product(&slow->items[i], &fast->items[k])) {
				sum += log(slow->items[i].time_s / fast->items[k].time_s);
				n++;
			}
	return n ? exp(sum / n) : (double)NAN;
}

static const char *const names[N_MEASURED] = {
	[MEASURED_PRODUCT] = "product", [MEASURED_MEMORY] = "memory", [MEASURED_COPY] = "copy",
	[MEASURED_LAUNCH] = "launch", [MEASURED_BARRIER] = "barrier",
	[MEASURED_REDUCTION] = "reduction",
};

const struct field_names measured_names = { names, N_MEASURED, -1 };
