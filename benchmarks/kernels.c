/* kernels.c - whether measuring products costs any of their speed.
 *
 * In turns: what 'pollux profile --devices --quick' finds of the first CPU slot, and OpenBLAS
 * called in a bare loop by a process bound to the same core, with the same kernels and the same
 * matrices' sizes: the median of CHUNKS spans. Each row is the median of ROUNDS, and their ratio; 1
 * is wanted, and below 0.97 is missed. Nothing is judged by the exit status: on a busy machine both
 * are low, and the ratio is noise. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "measure/cpu_work.h"
#include "pollux/clock.h"
#include "pollux/measure.h"
#include "pollux/mem.h"
#include "pollux/text.h"

#define ROUNDS 7
#define CHUNKS 21
#define CHUNK_S 2e-3
#define MAX_SIZES 64

struct size {
	int64_t m, width;
	double pollux[ROUNDS], loop[ROUNDS];	/* FLOP/s */
};

static struct size sizes[MAX_SIZES];
static int n_sizes;

static struct size *size_of(int64_t m, int64_t width)
{
	for (int i = 0; i < n_sizes; i++)
		if (sizes[i].m == m && sizes[i].width == width)
			return &sizes[i];
	sizes[n_sizes] = (struct size){ .m = m, .width = width };
	return &sizes[n_sizes++];
}

static int by_pollux(const struct device *slot, int round)
{
	struct measure_options options = { .quick = true };
	struct measure_result r;
	struct err err;

	if (measure_device(slot, &options, &r, &err)) {
		fprintf(stderr, "kernels: %s\n", err.text);
		return -1;
	}
	for (int i = 0; i < r.list.count; i++) {
		const struct device_measurement *m = &r.list.items[i];

		if (m->what == MEASURED_PRODUCT && !strcmp(m->variant, "fp32") &&
		    n_sizes < MAX_SIZES)
			size_of(m->m, m->n)->pollux[round] = device_measurement_flops(m);
	}
	measure_result_release(&r);
	return 0;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), number_compare);
	return values[n / 2];
}

static double chunk(const struct blas *blas, const struct size *s, const float *a, const float *b,
		    float *c)
{
	int64_t n = 0, begun_ns = clock_boot_ns(), now_ns;

	do {
		blas->product_fp32(s->m, s->width, s->width, a, b, c);
		n++;
		now_ns = clock_boot_ns();
	} while ((double)(now_ns - begun_ns) < 1e9 * CHUNK_S);
	return 2.0 * (double)(s->m * s->width * s->width * n) /
	       (1e-9 * (double)(now_ns - begun_ns));
}

static double loop(const struct blas *blas, const struct size *s, const float *a, const float *b,
		   float *c)
{
	double rates[CHUNKS];

	chunk(blas, s, a, b, c);
	for (int i = 0; i < CHUNKS; i++)
		rates[i] = chunk(blas, s, a, b, c);
	return median(rates, CHUNKS);
}

/* In a process of its own, as the library stays where it was loaded. */
_Noreturn static void loops(const struct device *slot, int fd)
{
	size_t most = (size_t)1024 * 1024;
	float *a = aligned_alloc(64, most * sizeof(float)),
	      *b = aligned_alloc(64, most * sizeof(float));
	float *c = aligned_alloc(64, most * sizeof(float));
	struct blas blas;
	struct err err;

	if (!a || !b || !c || device_cpu.bind(slot, 1, &err) || blas_open(&blas, slot->cores, &err))
		_exit(1);
	random_fill_fp32(a, most);
	random_fill_fp32(b, most);
	for (int i = 0; i < n_sizes; i++) {
		double rate = loop(&blas, &sizes[i], a, b, c);

		if (write(fd, &rate, sizeof(rate)) != (ssize_t)sizeof(rate))
			_exit(1);
	}
	_exit(0);
}

static int by_loops(const struct device *slot, int round)
{
	int ends[2], rc = 0;
	pid_t pid;

	if (pipe(ends) || (pid = fork()) < 0)
		return -1;
	if (pid == 0)
		loops(slot, ends[1]);
	close(ends[1]);
	for (int i = 0; rc == 0 && i < n_sizes; i++) {
		ssize_t got = read(ends[0], &sizes[i].loop[round], sizeof(double));

		rc = got == (ssize_t)sizeof(double) ? 0 : -1;
	}
	close(ends[0]);
	waitpid(pid, NULL, 0);
	return rc;
}

static void print(void)
{
	double sum = 0;

	printf("%6s %6s %14s %14s %7s\n", "M", "W", "POLLUX GFLOP/S", "LOOP GFLOP/S", "RATIO");
	for (int i = 0; i < n_sizes; i++) {
		double pollux = median(sizes[i].pollux, ROUNDS),
		       bare = median(sizes[i].loop, ROUNDS);

		sum += log(pollux / bare) / n_sizes;
		printf("%6lld %6lld %14.1f %14.1f %7.3f\n", (long long)sizes[i].m,
		       (long long)sizes[i].width, 1e-9 * pollux, 1e-9 * bare, pollux / bare);
	}
	printf("%13s %14s %14s %7.3f\n", "mean", "", "", exp(sum));
}

int main(void)
{
	struct device_settings settings = { .slots = 0 };
	struct device_list list;
	const struct device *slot = NULL;
	struct err err;
	int rc = 0;

	setenv("POLLUX_NVML", "none", 1);	/* processors, whatever else there is */
	if (devices_list(&settings, &list, &err)) {
		fprintf(stderr, "kernels: %s\n", err.text);
		return 1;
	}
	for (int d = list.count - 1; d >= 0; d--)
		if (list.items[d].usable && !strncmp(list.items[d].id, "cpu:", 4))
			slot = &list.items[d];
	for (int round = 0; slot && rc == 0 && round < ROUNDS; round++)
		rc = by_pollux(slot, round) || by_loops(slot, round) ? -1 : 0;
	if (slot && rc == 0 && n_sizes > 0)
		print();
	else
		puts("# SKIP: no products could be measured here");
	devices_release(&list);
	return 0;
}
