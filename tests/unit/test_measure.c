/* test_measure.c - the process that measures: what comes back, and what it says when it cannot. */
#include "pollux/measure.h"
#include "pollux/mem.h"
#include "tap.h"

static const struct measure_options quick = { .quick = true };
static struct measure_result r;
static struct err err;

static struct device device_of(const char *id, const char *binding)
{
	struct device d = { .cores = 1, .usable = true };

	memcpy(d.id, id, strlen(id));
	memcpy(d.binding, binding, strlen(binding));
	return d;
}

static int first_processor(void)
{
	struct device_settings settings = { .slots = 1 };
	scoped(devices_release) struct device_list list = { 0 };
	long first = -1;

	if (devices_list(&settings, &list, &err))
		return -1;
	for (int i = 0; i < list.count; i++)
		if (!strncmp(list.items[i].id, "cpu:", 4))
			first = strtol(list.items[i].binding, NULL, 10);
	return (int)first;
}

static void test_refused(void)
{
	struct device unknown = device_of("tpu:0", ""), gpu, nowhere = device_of("cpu:0", "1023");

	is_int(measure_device(&unknown, &quick, &r, &err), -1,
	       "a device of no known sort cannot be measured");
	is_int(err.exit_status, EX_UNAVAILABLE, "a device of no known sort is unavailable");
	is_int(measure_device(&nowhere, &quick, &r, &err), -1,
	       "a slot of processors that are not there cannot be measured");
	is_int(err.exit_status, EX_OSERR,
	       "a slot of processors that are not there is a system error");
	is_str(err.text, "cannot bind to cores '1023': this process may use none of them",
	       "the error of the process that measures is told");
	/* With CUDA and a GPU it is not this one. */
	gpu = device_of("gpu:GPU-00000000-0000-0000-0000-000000000000", "");
	snprintf(gpu.binding, sizeof(gpu.binding), "%d", first_processor());
	is_int(measure_device(&gpu, &quick, &r, &err), -1,
	       "a GPU that is not there cannot be measured");
	is_int(err.exit_status, EX_UNAVAILABLE, "a GPU that is not there is unavailable");
	ok(strstr(err.text, "CUDA") != NULL, "the error of a GPU that is not there names CUDA");
	printf("# %s\n", err.text);
	is_int(r.list.count, 0, "a failed measurement leaves no results");
}

static int count(enum measured what, int devices)
{
	int n = 0;

	for (int i = 0; i < r.list.count; i++) {
		const struct device_measurement *m = &r.list.items[i];

		n += m->what == what && m->devices == devices && m->time_s > 0 &&
		     m->time_sd_s >= 0 && m->repetitions > 0;
	}
	return n;
}

/* Two slots that share a core, so that one core is enough for this. */
static void test_exchange(void)
{
	struct device slots[2];

	for (int i = 0; i < 2; i++) {
		slots[i] = device_of(i ? "cpu:1" : "cpu:0", "");
		snprintf(slots[i].binding, sizeof(slots[i].binding), "%d", first_processor());
	}
	is_int(measure_exchange(slots, 2, &quick, &r, &err), 0,
	       "two slots that share a core are measured together");
	is_int(count(MEASURED_BARRIER, 2), 1, "the measurement has one barrier");
	is_int(count(MEASURED_REDUCTION, 2), 3, "the measurement has reductions of three sizes");
	is_int(r.list.count, 4, "the measurement has nothing but barrier and reductions");
	ok(isnan(measure_peak_of(&r, "fp32")), "a barrier and reductions tell no peak");
	measure_result_release(&r);
	is_int(r.list.count, 0, "a released result has no measurements");
}

int main(void)
{
	setenv("POLLUX_NVML", "none", 1);	/* whatever this machine has */
	if (first_processor() < 0)
		skip_all("no processor can be used");
	test_refused();
	test_exchange();
	return done();
}
