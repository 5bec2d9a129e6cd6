/* timing.h - the processor time of a benchmark: what others do meanwhile is not counted. */
#ifndef BENCHMARKS_TIMING_H
#define BENCHMARKS_TIMING_H

#include <time.h>

static inline double cpu_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static inline double cpu_ms(void)
{
	return 1e3 * cpu_s();
}

#endif
