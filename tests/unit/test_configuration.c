/* test_configuration.c - a batch over replicas and passes. */
#include "pollux/configuration.h"
#include "tap.h"

static const struct {
	const char *what;
	int64_t batch, replicas, max_local, min, max;
	/* worked out by hand */
	int64_t want_local, want_steps, want_batch;
} cases[] = {
	{ "one replica without a limit takes the whole batch", 128, 1, 0, 0, 0, 128, 1, 128 },
	{ "two replicas take half of the batch each", 128, 2, 0, 0, 0, 64, 1, 128 },
	{ "a limit that is just met takes one pass", 128, 2, 64, 0, 0, 64, 1, 128 },
	{ "one sample too many takes another pass", 128, 2, 63, 0, 0, 32, 2, 128 },
	{ "a limit of an eighth takes four passes on two replicas",
	  1024, 2, 128, 0, 0, 128, 4, 1024 },
	{ "a limit of one sample takes a pass for each sample", 8, 1, 1, 0, 0, 1, 8, 8 },
	{ "a batch of 128 over 3 becomes 129, which is nearer than 126",
	  128, 3, 0, 0, 0, 43, 1, 129 },
	{ "a batch of 128 over 3 stays below the largest batch", 128, 3, 0, 0, 128, 42, 1, 126 },
	{ "a batch of 127 over 3 becomes 126, which is nearer than 129",
	  127, 3, 0, 0, 0, 42, 1, 126 },
	{ "a batch of 127 over 3 stays above the smallest batch", 127, 3, 0, 127, 0, 43, 1, 129 },
	{ "a tie goes up", 10, 4, 0, 0, 0, 3, 1, 12 },
	{ "a batch of fewer samples than replicas is one for each", 2, 4, 0, 0, 0, 1, 1, 4 },
	{ "a limit above the batch changes nothing", 100, 2, 1000, 0, 0, 50, 1, 100 },
	/* 10 over 2 in passes of at most 3: 2 passes give 8 or 12, 3 give 12 or 6, 5 give 10. */
	{ "more passes are taken where only they keep to the range", 10, 2, 3, 10, 10, 1, 5, 10 },
	{ "a batch of 5 over 4 becomes 4, which is nearer than 8", 5, 4, 1, 0, 0, 1, 1, 4 },
	{ "a smaller batch is taken if it is the only one in the range", 5, 4, 1, 4, 7, 1, 1, 4 },
	{ "a tie of 12 over 4 in passes of 2 goes up", 12, 4, 2, 0, 0, 2, 2, 16 },
	{ "the nearest batch is taken where none keeps to the range",
	  128, 3, 0, 128, 128, 43, 1, 129 },
	{ "a very large batch is spread over all replicas",
	  1000000000, 1024, 0, 0, 0, 976563, 1, 1000000512 },
	{ "a very large batch is spread over passes of one sample",
	  1000000000, 1, 1, 0, 0, 1, 1000000000, 1000000000 },
};

static void test_cases(void)
{
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct batch_range range = {
			.size = cases[i].batch, .min = cases[i].min, .max = cases[i].max,
			.max_local = cases[i].max_local,
		};
		struct configuration c = configuration_spread(&range, (int)cases[i].replicas);

		is_int(c.local_batch_size, cases[i].want_local, cases[i].what);
		is_int(c.accumulation_steps, cases[i].want_steps,
		       "the passes are those worked out by hand");
		is_int(configuration_batch_size(&c), cases[i].want_batch,
		       "the batch is that worked out by hand");
		is_int(c.replicas, cases[i].replicas, "the replicas are those that were asked for");
	}
}

/* What must hold of every result; the first that breaks it is named. */
static const char *broken(const struct configuration *c, int64_t batch, int64_t max_local,
			  int64_t min, int64_t max)
{
	int64_t parts = (int64_t)c->replicas * c->accumulation_steps;

	if (configuration_batch_size(c) != parts * c->local_batch_size)
		return "batch_size is not the product";
	if (c->local_batch_size < 1 || c->accumulation_steps < 1)
		return "less than one";
	if (max_local && c->local_batch_size > max_local)
		return "local batch above the limit";
	/* A range that holds a multiple of the replicas can be kept to, one sample a pass if need
	 * be. */
	if ((max / c->replicas) * c->replicas >= min && max >= c->replicas &&
	    (configuration_batch_size(c) < min || configuration_batch_size(c) > max))
		return "outside a range that can be kept to";
	if (!min && !max && batch >= parts &&
	    2 * llabs(configuration_batch_size(c) - batch) > parts)
		return "not the nearest";
	return NULL;
}

static void test_all_small(void)
{
	int n = 0, n_broken = 0;
	char first[200] = "";

	for (int64_t batch = 1; batch <= 40; batch++)
		for (int replicas = 1; replicas <= 6; replicas++)
			for (int64_t limit = 0; limit <= 8; limit++)
				for (int64_t slack = -1; slack <= 6; slack++) {
					int64_t min = slack < 0 ? 0 : batch - slack / 2;
					int64_t max = slack < 0 ? 0 : batch + slack;
					struct configuration c;
					const char *why;

					min = slack >= 0 && min < 1 ? 1 : min;
					c = configuration_spread(&(struct batch_range){
						.size = batch, .min = min, .max = max,
						.max_local = limit }, replicas);
					why = broken(&c, batch, limit, min, max);
					n++;
					if (why && !n_broken++)
						snprintf(first, sizeof(first),
							 "%s: %lld over %d, limit "
							 "%lld, range %lld:%lld",
							 why, (long long)batch, replicas,
							 (long long)limit, (long long)min,
							 (long long)max);
				}
	is_str(first, "", "every small case keeps to its limits");
	printf("# %d cases, %d broken\n", n, n_broken);
}

static int64_t within(int64_t limit, int64_t min, int64_t max, bool accumulates)
{
	struct batch_range range = {
		.size = 512, .min = min, .max = max, .accumulates = accumulates,
	};
	struct configuration c;

	return configuration_within(&range, 2, limit, &c)
		? 1000 * (int64_t)c.accumulation_steps + c.local_batch_size : 0;
}

static void test_within(void)
{
	is_int(within(256, 64, 1024, false), 1256, "a local batch that fits stays as it was");
	is_int(within(100, 64, 1024, true), 3085,
	       "a local batch that does not fit is spread over more passes");
	is_int(within(100, 64, 1024, false), 1100,
	       "a local batch that does not fit becomes as much as fits");
	is_int(within(100, 300, 1024, false), 0,
	       "no batch is given if what fits is below the range");
	is_int(within(100, 0, 0, false), 0,
	       "no batch is given if it does not fit and has no range");
}

int main(void)
{
	test_cases();
	test_within();
	test_all_small();
	return done();
}
