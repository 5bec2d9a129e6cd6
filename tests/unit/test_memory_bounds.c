/* test_memory_bounds.c - what follows for other sizes from one that ran out of memory: worked out
 * by hand. */
#include "pollux/mem.h"
#include "pollux/tried_sizes.h"
#include "tap.h"

/* A trial that ran replicas of a local batch for so many windows. */
#define TRIAL(run, r, m, windows) \
	{ .run_id = (run), .n_windows = (windows), \
	  .configuration = { .replicas = (r), .local_batch_size = (m) } }

static struct observation *copy(const struct observation *trials, int n)
{
	struct observation *c = xcalloc((size_t)n, sizeof(*c));

	for (int i = 0; i < n; i++)
		c[i] = trials[i];
	return c;
}

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))
#define BOUNDS(is_shared, out, fit) { \
	.shared = (is_shared), .ran_out = copy(out, COUNT(out)), .n_ran_out = COUNT(out), \
	.fitted = copy(fit, COUNT(fit)), .n_fitted = COUNT(fit) }

static void is_bound(const struct memory_bounds *b, int replicas, int64_t too_large, int64_t fits,
		     const char *what)
{
	int64_t no = memory_too_large(b, replicas), yes = memory_fits(b, replicas);

	ok(no == too_large && (too_large == 0 || yes == fits), what);
	if (no != too_large || (too_large && yes != fits))
		printf("# too large %lld, fits %lld\n", (long long)no, (long long)yes);
}

static void test_own(void)
{
	static const struct observation out[] = { TRIAL(5, 4, 256, 0), TRIAL(4, 1, 512, 0) };
	static const struct observation fit[] = { TRIAL(3, 1, 128, 9), TRIAL(2, 8, 64, 9) };
	struct memory_bounds b = BOUNDS(false, out, fit);

	memory_bounds_settle(&b);
	is_bound(&b, 1, 256, 128, "a size that ran out on four own memories is too large on one");
	is_bound(&b, 8, 256, 128, "a size that ran out on four own memories is too large on eight");
	is_int(memory_least_bounded(&b), 1,
	       "a bound of own memories holds for any number of devices");
	memory_bounds_release(&b);
	is_int(memory_too_large(&b, 1), 0, "released bounds know nothing");
}

static void test_shared(void)
{
	static const struct observation out[] = { TRIAL(9, 2, 128, 0) };
	static const struct observation fit[] = { TRIAL(8, 1, 250, 9), TRIAL(7, 2, 96, 9),
						   TRIAL(6, 4, 40, 9) };
	scoped(memory_bounds_release) struct memory_bounds b = BOUNDS(true, out, fit);

	memory_bounds_settle(&b);
	is_bound(&b, 1, 0, 0, "a size that ran out on two shared devices says nothing of one");
	is_bound(&b, 2, 128, 96, "a size that ran out on two shared devices is too large on two");
	is_bound(&b, 3, 86, 53, "on three shared devices 258 samples are too many, 4 * 40 fit");
	is_bound(&b, 4, 64, 40, "on four shared devices a quarter of 256 is too large");
	is_bound(&b, 8, 32, 0, "on eight shared devices no size is known to fit");
	is_int(memory_least_bounded(&b), 2,
	       "a bound of shared memory holds for two devices at least");
}

/* 300 that fitted on one says nothing of two. */
static void test_contradiction(void)
{
	static const struct observation out[] = { TRIAL(3, 2, 128, 0) };
	static const struct observation one[] = { TRIAL(4, 1, 300, 500) },
					 two[] = { TRIAL(4, 2, 128, 1) },
					 long_ago[] = { TRIAL(2, 4, 64, 100) };
	struct memory_bounds b = BOUNDS(true, out, one);

	memory_bounds_settle(&b);
	is_int(memory_too_large(&b, 2), 128,
	       "a size that fits on one since does not show that it fits on two");
	memory_bounds_release(&b);
	b = (struct memory_bounds)BOUNDS(false, out, one);
	memory_bounds_settle(&b);
	is_int(memory_too_large(&b, 2), 0,
	       "a size of own memory that fits on one since fits on two");
	memory_bounds_release(&b);
	b = (struct memory_bounds)BOUNDS(true, out, two);
	memory_bounds_settle(&b);
	is_int(memory_too_large(&b, 2), 0, "a size that fits on two since is not too large");
	memory_bounds_release(&b);
	b = (struct memory_bounds)BOUNDS(true, out, long_ago);
	memory_bounds_settle(&b);
	is_int(memory_too_large(&b, 2), 0,
	       "one run does not count against a size that fitted long on more");
	memory_bounds_release(&b);
}

int main(void)
{
	test_own();
	test_shared();
	test_contradiction();
	return done();
}
