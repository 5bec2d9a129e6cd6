/* test_split.c - which parameter separates step times: by hand, and in noise with a planted
 * difference or without one. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/random_numbers.h"
#include "pollux/split.h"
#include "tap.h"

#define MOST 40

static struct split_entry entries[MOST];
static int n;

/* A run of its own job: parameters with blanks between, milliseconds, their deviation between the
 * windows, the batch size. */
static void add(const char *parameters, double ms, double sd_ms, int64_t batch)
{
	char *copy = xstrdup(parameters), *rest = copy, *word;
	struct split_entry *e = &entries[n++];

	*e = (struct split_entry){
		.measured = {
			.job_id = n, .configuration = configuration_make(1, batch, 1),
			.n_windows = 10, .step_time_s = ms * 1e-3, .step_time_sd_s = sd_ms * 1e-3,
		},
	};
	while ((word = strsep(&rest, " ")))
		strings_add(&e->parameters, word);
	free(copy);
}

static void forget(void)
{
	while (n > 0)
		strings_release(&entries[--n].parameters);
}

/* Compares, and forgets the entries. */
static void finds(const char *want, const char *what)
{
	struct split s;
	bool found = split_find(entries, n, &s);

	is_str(found ? s.text.data : "", want, what);
	split_release(&s);
	forget();
}

static void test_by_hand(void)
{
	finds("", "nothing is found without runs");
	add("width=64 lr=1", 12.1, 0.1, 32);
	finds("", "nothing is found in one run");
	add("width=64 lr=1", 12.1, 0.1, 32);
	add("width=512 lr=1", 45.3, 0.1, 32);
	finds("split by width: 12.1 ms at 64, 45.3 ms at 512",
	      "a width that separates the times is found");
	add("lr=1 width=64", 12, 0.1, 32);
	add("lr=2 width=512", 45, 0.1, 32);
	finds("", "nothing is found where two parameters change together");
	add("lr=1 width=64", 12, 0.1, 32);
	add("lr=2 width=512", 45, 0.1, 32);
	add("lr=2 width=64", 12, 0.1, 32);
	finds("split by width: 12 ms at 64, 45 ms at 512",
	      "a third run tells which of two parameters separates the times");
	add("lr=1 seed=1", 12, 0.1, 32);
	add("lr=2 seed=1", 12.5, 0.1, 32);
	add("lr=3 seed=2", 11.8, 0.1, 32);
	finds("", "nothing is found where the times agree");
	add("seed=1", 12, 0.1, 32);
	add("seed=2", 12, 0.1, 32);
	add("seed=3", 16, 0.1, 32);
	finds("", "nothing is found in one run that was disturbed");
	add("index=1", 12, 0.1, 32);
	add("index=2", 40, 0.1, 32);
	finds("", "the number of a run is never found");
	add("depth=2 lr=1", 12, 0.1, 32);
	add("depth=2 lr=2", 12, 0.1, 32);
	add("depth=3 lr=1", 16, 0.1, 32);
	add("depth=3 lr=2", 16.2, 0.1, 32);
	finds("split by depth: 12 ms at 2, 16.1 ms at 3",
	      "a third more time in two runs each is found");
	add("depth=2 lr=1", 12, 0.1, 32);
	add("depth=3 lr=1", 40, 0.1, 64);
	finds("", "runs of different batch sizes are not compared");
	add("depth=2 lr=1", 12, 12, 32);
	add("depth=3 lr=1", 20, 12, 32);
	finds("", "a difference within the noise is not found");
	add("width=64 depth=2", 10, 0.1, 32);
	add("width=64 depth=4", 20, 0.1, 32);
	add("width=512 depth=2", 40, 0.1, 32);
	add("width=512 depth=4", 80, 0.1, 32);
	finds("", "nothing is found where two parameters separate the times");
	add("width=64 lr=1", 12, 0.1, 32);
	add("width=512 lr=1", 45, 0.1, 32);
	entries[1].measured.n_windows = 1;
	finds("", "a run with too few windows does not count");
	add("width=64", 12, 0.1, 32);
	add("width=512", 45, 0.1, 32);
	add("width=6", 3, 0.1, 32);
	finds("split by width: 12 ms at 64, 45 ms at 512, 3 ms at 6",
	      "a width of three values is found");
}

/* 3 widths x 3 rates x 2 seeds, with noise between windows of 2 %. */
static void plant(uint64_t *random, double factor)
{
	for (int width = 0; width < 3; width++)
		for (int rate = 0; rate < 3; rate++)
			for (int seed = 0; seed < 2; seed++) {
				char *text = xasprintf("rate=%d width=%d seed=%d", rate, width,
						       seed);
				double ms = 10 * pow(factor, width);

				add(text, ms * (1 + 0.02 / sqrt(10) * random_normal(random)),
				    0.02 * ms, 32);
				free(text);
			}
}

static void test_noise(void)
{
	int found = 0, false_ones = 0, cases = RANDOM_CASES(400);
	uint64_t random = 1;

	for (int i = 0; i < cases; i++) {
		struct split s;

		plant(&random, 1.3);
		found += split_find(entries, n, &s) && !strcmp(s.parameter, "width");
		split_release(&s);
		forget();
		plant(&random, 1);
		false_ones += split_find(entries, n, &s);
		split_release(&s);
		forget();
	}
	is_int(found, cases, "widths of 30 % more time each are found in noise");
	is_int(false_ones, 0, "nothing is found in noise alone");
}

int main(void)
{
	test_by_hand();
	test_noise();
	return done();
}
