/* store_device_measurements.c - what 'pollux profile --devices' found out about kinds of devices;
 * and how many parameters a workload has, which says what that means for it. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/mem.h"
#include "sql.h"

/* What was steady is not given up for what is not. */
static int set_one(struct store *s, const char *kind, const struct device_measurement *m,
		   double time_s,
		   struct err *err)
{
	return sql_run(s, NULL, err, "INSERT INTO device_measurements (device_kind, what, variant,"
		       " devices, m, n, k, bytes, time_s, time_sd_s, repetitions, steady,"
		       " measured_time_s)"
		       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
		       " time_s = excluded.time_s, time_sd_s = excluded.time_sd_s,"
		       " repetitions = excluded.repetitions, steady = excluded.steady,"
		       " measured_time_s = excluded.measured_time_s WHERE excluded.steady >="
		       " steady",
		       "tttiiiiiddiid", kind,
		       measured_name(m->what), m->variant, (int64_t)m->devices, m->m, m->n, m->k,
		       m->bytes,
		       m->time_s, m->time_sd_s, m->repetitions, (int64_t)m->steady, time_s);
}

int store_device_measurements_set(struct store *s, const char *device_kind,
				  const struct device_measurement_list *list, double time_s,
				  struct err *err)
{
	for (int i = 0; i < list->count; i++)
		if (set_one(s, device_kind, &list->items[i], time_s, err))
			return -1;
	return 0;
}

/* False for what another version put there, and this one does not know. */
static bool read_measurement(sqlite3_stmt *q, struct device_measurement *m)
{
	char *what = sql_text(q, 0), *variant = sql_text(q, 1);
	int index = measured_parse(what);

	*m = (struct device_measurement){
		.devices = (int)sql_int(q, 2, 1), .m = sql_int(q, 3, 0), .n = sql_int(q, 4, 0),
		.k = sql_int(q, 5, 0), .bytes = sql_int(q, 6, 0), .time_s = sql_double(q, 7),
		.time_sd_s = sql_double(q, 8), .repetitions = sql_int(q, 9, 0),
		.steady = sql_int(q, 10, 0) != 0,
	};
	if (index >= 0)
		m->what = (enum measured)index;
	snprintf(m->variant, sizeof(m->variant), "%s", variant);
	free(what);
	free(variant);
	return index >= 0;
}

int store_device_measurements_get(struct store *s, const char *device_kind,
				  struct device_measurement_list *list, struct err *err)
{
	struct device_measurement m;
	sqlite3_stmt *q;
	int rc;

	*list = (struct device_measurement_list){ 0 };
	if (sql_query(s, &q, err, "SELECT what, variant, devices, m, n, k, bytes, time_s,"
		      " time_sd_s,"
		      " repetitions, steady FROM device_measurements WHERE device_kind = ?"
		      " ORDER BY what, variant, devices, n, m, bytes", "t", device_kind))
		return -1;
	while ((rc = sql_row(s, q, err)) == 1) {
		if (!read_measurement(q, &m))
			continue;
		list->items = xgrow(list->items, list->count, sizeof(*list->items));
		list->items[list->count++] = m;
	}
	sql_done(q);
	if (rc < 0)
		device_measurement_list_release(list);
	return rc;
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
