/* one_tier.c - how long a pass takes to decide where all devices are joined alike.
 *
 *	one_tier [ROUNDS]
 *
 * The median processor time of pass_decide() over 300 draws of up to 40 jobs on 16 devices, ROUNDS
 * times (10) in turn with links told and with none. To compare two versions, build this program in
 * both and run the two in turn. */
#include <stdint.h>

#define DEVICES 16
#define MOST_JOBS 40
#include "../tests/unit/drawn_snapshot.h"
#include "pollux/text.h"
#include "timing.h"

#define DRAWS 300
#define ROUNDS_MAX 1000

static double decide_us(uint64_t seed, int link)
{
	struct snapshot s = drawn(seed, link);
	double start_us = 1e3 * cpu_ms(), us;
	struct decision *d = pass_decide(&s);

	us = 1e3 * cpu_ms() - start_us;
	decision_free(d);
	snapshot_free(&s);
	return us;
}

int main(int argc, char **argv)
{
	static double without[DRAWS * ROUNDS_MAX], with[DRAWS * ROUNDS_MAX];
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 10, n = 0;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 64;
	for (int k = 0; k < rounds; k++)
		for (uint64_t seed = 1; seed <= DRAWS; seed++, n++) {
			/* What is measured second finds more in the caches. */
			if ((k + (int)seed) % 2)
				with[n] = decide_us(seed, DEVICE_LINK_MACHINE);
			without[n] = decide_us(seed, -1);
			if ((k + (int)seed) % 2 == 0)
				with[n] = decide_us(seed, DEVICE_LINK_MACHINE);
		}
	qsort(without, (size_t)n, sizeof(without[0]), number_compare);
	qsort(with, (size_t)n, sizeof(with[0]), number_compare);
	printf("no links told %.1f us, all alike %.1f us: %+.1f %%\n", without[n / 2], with[n / 2],
	       100 * (with[n / 2] / without[n / 2] - 1));
	return 0;
}
