/* test_memory_model.c - memory of sizes that were not tried, by the peaks of others. */
#include "pollux/tried_sizes.h"

#include "tap.h"

#define GIB (1024.0 * 1024 * 1024)

static double bytes_on_device(int workers, int64_t m)
{
	return (2 + 12.0 / workers + 0.125 * (double)m) * GIB;
}

static void test_device(void)
{
	struct memory_peak peaks[] = { { 1, 16, 0 }, { 1, 32, 0 }, { 2, 32, 0 }, { 4, 64, 0 } };
	struct memory_model m;

	for (int i = 0; i < 4; i++)
		peaks[i].bytes = bytes_on_device(peaks[i].workers, peaks[i].local_batch_size);
	m = memory_model_fit(peaks, 4, false);
	ok(m.known, "four peaks tell the model");
	near(m.fixed_bytes, 2 * GIB, 1e-6, "the model finds the memory that each replica has");
	near(m.divided_bytes, 12 * GIB, 1e-6,
	     "the model finds the memory that the replicas divide");
	near(m.sample_bytes, 0.125 * GIB, 1e-6, "the model finds the memory of a sample");
	near(memory_model_bytes(&m, 4, 128), bytes_on_device(4, 128), 1e-6,
	     "the model predicts a size that was not tried");
	ok(memory_model_most(&m, 1) == INT64_MAX, "the model refuses no size without a limit");
	m.limit_bytes = 24.01 * GIB;
	is_int(memory_model_most(&m, 1), 80, "the model tells the largest size on one device");
	is_int(memory_model_most(&m, 4), 152, "the model tells the largest size on four devices");
	ok(memory_model_most(&m, 0) == INT64_MAX, "the model refuses no size where nobody works");
	m.limit_bytes = 13 * GIB;
	is_int(memory_model_most(&m, 1), 0,
	       "the model allows no size where the program alone is too large");
}

static void test_shared(void)
{
	struct memory_peak peaks[] = {
		{ 1, 16, 5 }, { 1, 32, 9 }, { 2, 16, 10 }, { 2, 32, 18 },
	};
	struct memory_model m = memory_model_fit(peaks, 4, true);

	near(m.fixed_bytes, 1, 1e-9, "the model of shared memory finds the memory of each replica");
	ok(m.divided_bytes < 1e-9, "the model of shared memory divides nothing");
	near(memory_model_bytes(&m, 2, 64), 34, 1e-9,
	     "the model of shared memory doubles with two replicas");
}

static void test_bounds(void)
{
	struct memory_peak one[] = { { 1, 16, 5 }, { 1, 32, 9 }, { 1, 64, 17 } };
	struct memory_peak falls[] = { { 1, 16, 9 }, { 1, 32, 8 }, { 1, 64, 7 } };
	struct memory_peak same[] = { { 1, 16, 5 }, { 2, 16, 5 }, { 4, 16, 5 } };
	struct memory_model m = memory_model_fit(one, 3, false);

	ok(m.known && m.divided_bytes < 1e-12,
	   "one number of replicas gives a model without a divided part");
	near(memory_model_bytes(&m, 1, 128), 33, 1e-9,
	     "one number of replicas predicts twice the largest size");
	m = memory_model_fit(falls, 3, false);
	ok(m.known && m.sample_bytes < 1e-12 && m.fixed_bytes > 0,
	   "peaks that fall give no negative part");
	ok(!memory_model_fit(one, 2, false).known, "two peaks are too few for a model");
	ok(!memory_model_fit(same, 3, false).known, "one local batch size is too few for a model");
	ok(!memory_model_fit(one, 0, false).known, "no peak gives no model");
}

static void test_host(void)
{
	struct memory_peak line[] = { { 1, 16, 3 }, { 2, 16, 5 }, { 2, 32, 4 }, { 4, 16, 9 } };
	struct memory_peak falls[] = { { 1, 16, 8 }, { 2, 16, 4 } };
	struct memory_peak steep[] = { { 1, 16, 1 }, { 2, 16, 3 } };

	near(memory_host_need(line, 4, 2), 5, 0,
	     "the host needs the most that was measured with as many workers");
	near(memory_host_need(line, 4, 8), 17, 1e-9,
	     "the host's need of more workers follows the line");
	near(memory_host_need(&line[1], 2, 4), 10, 1e-9,
	     "the host's need of one number grows in proportion");
	near(memory_host_need(&line[1], 2, 1), 5, 1e-9,
	     "the host's need of fewer workers is no less");
	/* of 8 and 4 with relative errors: (1/8 + 1/4) / (1/64 + 1/16) */
	near(memory_host_need(falls, 2, 4), 4.8, 1e-9,
	     "the host's need of a replica is at least nothing");
	/* of 1 and 3: (1 + 2/3) / (1 + 4/9) each */
	near(memory_host_need(steep, 2, 4), 4 * 15.0 / 13, 1e-9,
	     "the host's need of the program itself is at least nothing");
	near(memory_host_need(line, 0, 4), 0, 0, "the host's need is 0 where nothing was measured");
}

int main(void)
{
	test_device();
	test_shared();
	test_bounds();
	test_host();
	return done();
}
