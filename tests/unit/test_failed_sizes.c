/* test_failed_sizes.c - what follows for other sizes from one that failed: worked out by hand. */
#include "pollux/tried_sizes.h"
#include "tap.h"

/* A trial that ran replicas of a local batch for so many windows. */
#define TRIAL(run, r, m, windows) \
	{ .run_id = (run), .n_windows = (windows), \
	  .configuration = { .replicas = (r), .local_batch_size = (m) } }

static void is_limit(struct failed_sizes f, int replicas, int64_t least, int64_t limit,
		     const char *what)
{
	int64_t a = failed_sizes_least(&f, replicas), b = failed_sizes_limit(&f, replicas);

	ok(a == least && b == limit, what);
	if (a != least || b != limit)
		printf("# fails from %lld, limit %lld\n", (long long)a, (long long)b);
}

static void test_limits(void)
{
	struct observation failed[] = { TRIAL(5, 1, 512, 0), TRIAL(6, 2, 64, 0) };
	struct observation worked[] = { TRIAL(3, 1, 256, 9), TRIAL(2, 2, 32, 9) };
	struct failed_sizes one = { failed, worked, 1, 1 }, both = { failed, worked, 2, 2 };
	struct failed_sizes two = { failed + 1, worked, 1, 1 };

	is_limit(one, 1, 512, 256, "the limit is a size below the failed one that worked");
	is_limit(one, 4, 512, 256, "the limit of one device holds for four");
	is_limit(both, 2, 64, 32, "the limit of two devices is that at which two failed earlier");
	is_limit(both, 1, 512, 256, "the failure of two devices says nothing of one");
	is_limit(two, 1, 0, 0, "the failure of two devices alone says nothing of one");
	is_limit(two, 2, 64, -1, "no size is given to two devices that never worked");
}

static void test_belief(void)
{
	struct observation failed[] = { TRIAL(5, 2, 64, 0) };
	struct observation less[] = { TRIAL(9, 1, 256, 9), TRIAL(8, 2, 32, 9) };
	struct observation newer[] = { TRIAL(9, 2, 64, 1) }, older[] = { TRIAL(4, 2, 128, 99) };
	struct observation longer[] = { TRIAL(4, 2, 128, 99), TRIAL(3, 4, 64, 1) };
	struct failed_sizes a = { failed, less, 1, 2 }, b = { failed, newer, 1, 1 };
	struct failed_sizes c = { failed, older, 1, 1 }, d = { failed, longer, 1, 2 };

	failed_sizes_settle(&a);
	is_int(a.n_failed, 1, "runs of less devices or samples do not contradict a failure");
	failed_sizes_settle(&b);
	is_int(b.n_failed, 0, "a failed size that worked since does not count as failed");
	failed_sizes_settle(&c);
	is_int(c.n_failed, 1, "a failed size that worked before counts as failed");
	failed_sizes_settle(&d);
	is_int(d.n_failed, 0, "a failed size that worked for long before does not count");
}

static void test_both(void)
{
	struct observation out = TRIAL(5, 1, 300, 0), fit = TRIAL(4, 1, 250, 9);
	struct observation failed = TRIAL(6, 1, 128, 0), worked = TRIAL(3, 1, 100, 9);
	struct memory_bounds m = { false, &out, &fit, 1, 1 }, no_m = { 0 };
	struct failed_sizes f = { &failed, &worked, 1, 1 }, no_f = { 0 };

	ok(sizes_too_large(&m, &f, 1) == 128 && sizes_limit(&m, &f, 1) == 100,
	   "the limit is the smaller one of memory and failures");
	ok(sizes_too_large(&m, &no_f, 1) == 300 && sizes_limit(&m, &no_f, 1) == 250,
	   "the limit follows memory where nothing failed");
	ok(sizes_too_large(&no_m, &f, 1) == 128 && sizes_limit(&no_m, &f, 1) == 100,
	   "the limit follows failures where memory is not known");
	ok(sizes_too_large(&no_m, &no_f, 1) == 0 && sizes_limit(&no_m, &no_f, 1) == 0,
	   "no limit is known without memory and failures");
	f.n_worked = 0;
	is_int(sizes_limit(&m, &f, 1), -1, "no size is given where no size worked");
}

int main(void)
{
	test_limits();
	test_belief();
	test_both();
	return done();
}
