/* store_device_measurements.c - what 'pollux profile --devices' found out about kinds of devices;
 * and how many parameters the model of a workload has. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "pollux/store_device_measurements.h"
#include "measured.h"
#include "rows.h"

int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err)
{
	struct stored_measurement row = { .measured_time_s = time_s };

	snprintf(row.device_kind, sizeof(row.device_kind), "%s", device_kind);
	for (int i = 0; i < list->count; i++) {
		row.measurement = list->items[i];
		if (rows_put(s, &device_measurements_table, &row, "excluded.steady >= steady", err))
			return -1;
	}
	return 0;
}

/* Drops measurements of another version of pollux that this version does not know. */
int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err)
{
	const struct stored_measurement *rows;
	struct read_rows all;
	sqlite3_stmt *q;

	*list = (struct device_measurement_list){ 0 };
	if (rows_query(s, &q, err, ALL_OF(device_measurements_table),
		       "WHERE device_kind = ? ORDER BY what, variant, devices, n, m, bytes", "t",
		       device_kind))
		return -1;
	all = rows_read_all(s, q, ALL_OF(device_measurements_table), NULL, err);
	rows = all.items;
	list->items = xcalloc((size_t)all.count, sizeof(*list->items));
	for (int i = 0; all.rc == 0 && i < all.count; i++)
		if ((int)rows[i].measurement.what >= 0)
			list->items[list->count++] = rows[i].measurement;
	free(all.items);
	return all.rc;
}

int store_workload_set_parameters(struct store *s, const char *workload, double n, struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO workloads (workload, parameters) VALUES (?, ?)"
		       " ON CONFLICT DO UPDATE SET parameters = excluded.parameters"
		       " WHERE parameters IS NOT excluded.parameters", "td", workload, n);
}

int store_workload_get_parameters(struct store *s, const char *workload, double *n, struct err *err)
{
	sqlite3_stmt *q;
	int rc;

	*n = (double)NAN;
	if (sql_query(s, &q, err, "SELECT parameters FROM workloads WHERE workload = ?", "t",
		      workload))
		return -1;
	rc = sql_row(s, q, err);
	if (rc == 1)
		*n = sql_double(q, 0);
	sql_done(q);
	return rc < 0 ? -1 : 0;
}
