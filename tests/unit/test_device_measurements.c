/* test_device_measurements.c - rates, and measurements in the store. */
#include <unistd.h>

#include "pollux/store_measurements.h"
#include "store_fixture.h"

static void test_rates(void)
{
	struct device_measurement product = { .what = MEASURED_PRODUCT, .m = 10, .n = 20, .k = 30,
					      .time_s = 2 };
	struct device_measurement copy = { .what = MEASURED_COPY, .bytes = 3000, .time_s = 1.5 };
	struct device_measurement barrier = { .what = MEASURED_BARRIER, .time_s = 1 };

	near(device_measurement_flops(&product), 6000, 0, "a product makes 2 m n k operations");
	ok(isnan(device_measurement_bytes_per_s(&product)), "a product moves no bytes");
	near(device_measurement_bytes_per_s(&copy), 2000, 0, "a copy moves its bytes once");
	copy.what = MEASURED_MEMORY;
	near(device_measurement_bytes_per_s(&copy), 4000, 0,
	     "a copy within a memory moves its bytes both ways");
	ok(isnan(device_measurement_flops(&copy)), "a copy computes nothing");
	ok(isnan(device_measurement_bytes_per_s(&barrier)), "a barrier moves no bytes");
}

static void test_quotient(void)
{
	struct device_measurement slow[] = {
		{ .what = MEASURED_PRODUCT, .m = 1, .n = 2, .k = 3, .time_s = 4 },
		{ .what = MEASURED_PRODUCT, .m = 8, .n = 2, .k = 3, .time_s = 18 },
		{ .what = MEASURED_COPY, .bytes = 1, .time_s = 100 },
	}, fast[] = {
		{ .what = MEASURED_PRODUCT, .m = 8, .n = 2, .k = 3, .time_s = 2 },
		{ .what = MEASURED_PRODUCT, .m = 1, .n = 2, .k = 3, .time_s = 1 },
		{ .what = MEASURED_PRODUCT, .m = 16, .n = 2, .k = 3, .time_s = 1 },
		{ .what = MEASURED_COPY, .bytes = 1, .time_s = 1 },
	};
	struct device_measurement_list s = { slow, 3 }, f = { fast, 4 }, none = { 0 };

	near(device_measurement_quotient(&s, &f), 6, 1e-12,
	     "the quotient is the geometric mean of 4 and 9");
	near(device_measurement_quotient(&f, &s), 1.0 / 6, 1e-12,
	     "the quotient of swapped kinds is the inverse");
	ok(isnan(device_measurement_quotient(&s, &none)),
	   "the quotient is not known without a common product");
}

static bool same(const struct device_measurement *a, const struct device_measurement *b)
{
	return a->what == b->what && !strcmp(a->variant, b->variant) && a->devices == b->devices &&
	       a->m == b->m && a->n == b->n && a->k == b->k && a->bytes == b->bytes &&
	       fabs(a->time_s - b->time_s) <= 0 && fabs(a->time_sd_s - b->time_sd_s) <= 0 &&
	       a->repetitions == b->repetitions && a->steady == b->steady;
}

static struct device_measurement measured[] = {
	{ MEASURED_BARRIER, "", 2, 0, 0, 0, 0, 1e-5, 1e-7, 12, true },
	{ MEASURED_COPY, "pinned to device", 1, 0, 0, 0, 65536, 2e-5, 1e-7, 12, true },
	{ MEASURED_PRODUCT, "bf16", 1, 8, 1024, 1024, 0, 0.1 / 3, 1e-3, 200, false },
};
#define N_MEASURED_HERE ((int)(sizeof(measured) / sizeof(measured[0])))

static void put(const char *kind, struct device_measurement *items, int n, double time_s)
{
	struct device_measurement_list list = { items, n };

	store_begin(&store, &err);
	is_int(store_device_measurements_set(&store, kind, &list, time_s, &err), 0,
	       "measurements are put into the store");
	store_commit(&store, &err);
}

static void test_store(void)
{
	struct device_measurement_list list;
	int n_same = 0;

	put("GPU", measured, N_MEASURED_HERE, 100);
	put("another", measured, 1, 100);
	is_int(store_device_measurements_get(&store, "GPU", &list, &err), 0,
	       "measurements are read from the store");
	for (int i = 0; i < list.count && i < N_MEASURED_HERE; i++)
		n_same += same(&list.items[i], &measured[i]);
	ok(list.count == N_MEASURED_HERE && n_same == N_MEASURED_HERE,
	   "measurements are read as they were put");
	device_measurement_list_release(&list);

	measured[0].time_s = 3e-5;
	put("GPU", measured, 1, 200);
	store_device_measurements_get(&store, "GPU", &list, &err);
	ok(list.count == N_MEASURED_HERE && same(&list.items[0], &measured[0]),
	   "a new measurement replaces the old one");
	device_measurement_list_release(&list);
	struct device_measurement steady = measured[0];

	measured[0].time_s = 9e-5;
	measured[0].steady = false;
	put("GPU", measured, 1, 300);
	store_device_measurements_get(&store, "GPU", &list, &err);
	ok(list.count == N_MEASURED_HERE && same(&list.items[0], &steady),
	   "an unsteady measurement does not replace a steady one");
	device_measurement_list_release(&list);
	is_int(sqlite3_exec(store.db, "UPDATE device_measurements SET what = 'products'"
			    " WHERE what = 'barrier'", NULL, NULL, NULL), SQLITE_OK,
	       "the test renames a measurement in the store");
	store_device_measurements_get(&store, "GPU", &list, &err);
	ok(list.count == N_MEASURED_HERE - 1 && list.items[0].what == MEASURED_COPY,
	   "a measurement of unknown name is left out");
	device_measurement_list_release(&list);
	is_int(store_device_measurements_get(&store, "no such", &list, &err), 0,
	       "measurements of an unknown kind are read without error");
	is_int(list.count, 0, "an unknown kind has no measurements");
	device_measurement_list_release(&list);
}

static void test_parameters(void)
{
	double n;

	is_int(store_workload_get_parameters(&store, "w", &n, &err), 0,
	       "the parameters of an unknown workload are read without error");
	ok(isnan(n), "an unknown workload has an unknown number of parameters");
	store_workload_set_parameters(&store, "w", 124e6, &err);
	store_workload_set_parameters(&store, "v", 1, &err);
	store_workload_get_parameters(&store, "w", &n, &err);
	near(n, 124e6, 0, "a workload has the parameters that were declared");
	store_workload_set_parameters(&store, "w", 125e6, &err);
	store_workload_get_parameters(&store, "w", &n, &err);
	near(n, 125e6, 0, "a workload has the parameters that were declared last");
}

int main(void)
{
	open_fixture();
	test_rates();
	test_quotient();
	test_store();
	test_parameters();
	return close_fixture();
}
