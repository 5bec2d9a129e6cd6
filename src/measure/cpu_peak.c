/* cpu_peak.c - computes cores * clock * operations per cycle.
 *
 * The result is an upper bound: some processors have one unit instead of the two assumed, and many
 * lower their clock while their widest units are busy. */
#include "cpu_peak.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/file.h"

#define ADDS_PER_ROUND 16
#define FOUR(x) x x x x
#define SIXTEEN(x) FOUR(FOUR(x))
#define ROUNDS 20000
#define TRIES 200

/* Measures the actual clock. An addition that depends on the one before takes one cycle on every
 * processor that OpenBLAS has kernels for. Takes the best of many tries, each shorter than a
 * scheduler's time slice. */
static double measured_clock_hz(void)
{
	double best_s = HUGE_VAL;

	for (int t = 0; t < TRIES; t++) {
		unsigned long x = 1, y = (unsigned long)t;
		int64_t begun_ns = clock_boot_ns();

		for (int i = 0; i < ROUNDS; i++) {
			SIXTEEN(x += y; __asm__ volatile("" : "+r"(x));)
		}
		best_s = fmin(best_s, 1e-9 * (double)(clock_boot_ns() - begun_ns));
	}
	return (double)ROUNDS * ADDS_PER_ROUND / best_s;
}

/* The specified clock, if the kernel reports it, which it does not in most virtual machines. 0:
 * unknown. */
static double stated_clock_hz(int processor)
{
	char path[96], line[32];
	double khz;
	FILE *f;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/cpuinfo_max_freq",
		 processor);
	f = file_open_stream(path);
	if (!f)
		return 0;
	khz = fgets(line, sizeof(line), f) ? strtod(line, NULL) : 0;
	fclose(f);
	return 1e3 * khz;
}

struct isa {
	const char *name;
	int flop_per_cycle;		/* in fp32; half as many in fp64 */
};

/* The widest instructions here. Assumes two fused multiply-add units, each as wide as a
 * register. */
static struct isa isa_here(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return (struct isa){ "AVX-512", 64 };
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return (struct isa){ "AVX2", 32 };
	if (__builtin_cpu_supports("avx"))
		return (struct isa){ "AVX", 16 };
	return (struct isa){ "SSE2", 8 };
#elif defined(__aarch64__)
	return (struct isa){ "NEON", 16 };
#else
	return (struct isa){ "", 0 };
#endif
}

void cpu_peak_send(struct sink *sink, int cores, int processor)
{
	double stated = stated_clock_hz(processor), clock = fmax(stated, measured_clock_hz());
	struct isa isa = isa_here();

	if (isa.flop_per_cycle == 0)
		return;
	sink_peak(sink, "fp32", cores * clock * isa.flop_per_cycle);
	sink_peak(sink, "fp64", cores * clock * isa.flop_per_cycle / 2);
	sink_peak_basis(sink, "at most: %d core%s at %.2f GHz (%s), %d FLOP a cycle (%s)", cores,
			cores == 1 ? "" : "s", 1e-9 * clock,
			stated >= clock ? "specified" : "measured", isa.flop_per_cycle, isa.name);
}
