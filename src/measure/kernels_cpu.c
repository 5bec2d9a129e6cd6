/* kernels_cpu.c - measures one CPU slot (products by OpenBLAS, copies in memory) and several
 * together (barriers and sums). */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "backend.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "cpu_work.h"

/* Longer products are left out, because each is repeated at least five times. */
#define PRODUCT_MOST_S 0.3
#define PRODUCT_MOST_QUICK_S 0.03
#define BUSY 0.05		/* share of a core used by others that is worth a note */
#define SLOWED 0.10		/* loss of speed that is worth a note */

/* --- products --- */

struct product {
	void (*run)(int64_t m, int64_t n, int64_t k, const void *a, const void *b, void *c);
	const char *variant;
	size_t size;			/* of an element, bytes */
	void *a, *b, *c;		/* operands of the largest product */
	int64_t m, width;
};

static double run_product(void *state, int64_t count)
{
	const struct product *p = state;
	int64_t begun_ns = clock_boot_ns();

	for (int64_t i = 0; i < count; i++)
		p->run(p->m, p->width, p->width, p->a, p->b, p->c);
	return 1e-9 * (double)(clock_boot_ns() - begun_ns);
}

static void *operand(size_t n, size_t size)
{
	void *x = aligned_alloc(64, (n * size + 63) / 64 * 64);

	if (x && size == sizeof(float))
		random_fill_fp32(x, n);
	else if (x)
		random_fill_fp64(x, n);
	return x;
}

static bool fill_operands(struct product *p, int64_t rows, int64_t width)
{
	p->a = operand((size_t)(rows * width), p->size);
	p->b = operand((size_t)(width * width), p->size);
	p->c = operand((size_t)(rows * width), p->size);
	return p->a && p->b && p->c;
}

static void empty(struct product *p)
{
	free(p->a);
	free(p->b);
	free(p->c);
	p->a = p->b = p->c = NULL;
}

/* Times all sizes of one type. Leaves out the sizes of a width that would take too long, as
 * estimated from the size before. */
static void sweep_sizes(struct sink *sink, struct product *p)
{
	double most_s = sink->quick ? PRODUCT_MOST_QUICK_S : PRODUCT_MOST_S;
	struct size_walk walk = { 0 };
	int64_t filled = 0;

	while (sizes_next(&walk, sink->quick)) {
		struct device_measurement m = {
			.what = MEASURED_PRODUCT, .devices = 1,
			.m = walk.rows, .n = walk.width, .k = walk.width,
		};

		if (walk.width != filled) {
			empty(p);
			if (!fill_operands(p, SIZES_ROWS_MAX, walk.width))
				break;
			filled = walk.width;
		}
		p->m = walk.rows;
		p->width = walk.width;
		memcpy(m.variant, p->variant, strlen(p->variant));
		if (sink_time(sink, &m, run_product, p) ||
		    (sink->quick ? 4 : 2) * m.time_s > most_s)
			sizes_skip_width(&walk);
	}
	empty(p);
}

/* --- tasks of a team --- */

/* Runs a task in all threads. Its data are the team's. */
struct team_run {
	struct team *team;
	team_task *task;
};

static double run_team(void *state, int64_t count)
{
	const struct team_run *run = state;

	return team_do(run->team, run->task, count);
}

/* --- copies in memory --- */

struct copy {
	char *from, *to;
	size_t bytes;
};

/* Copies the part of this thread. */
static double copy_part(struct team *team, int rank, int64_t count)
{
	const struct copy *c = team->data;
	size_t part = c->bytes / (size_t)team->n, at = part * (size_t)rank;
	int64_t begun_ns = clock_boot_ns();

	for (int64_t i = 0; i < count; i++) {
		memcpy(c->to + at, c->from + at, part);
		/* keeps the compiler from dropping a copy */
		__asm__ volatile("" : : "r"(c->to) : "memory");
	}
	team_meet(team);
	return 1e-9 * (double)(clock_boot_ns() - begun_ns);
}

/* --- one slot --- */

/* The processor time of this thread, which works all the time. */
static double thread_s(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
	       1e-6 * (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

/* The rate of a fixed product, measured before and after all others. */
static double product_rate(const struct blas *blas)
{
	struct product p = { .run = blas->product_fp32, .variant = "fp32", .size = sizeof(float),
			     .m = 256, .width = 256 };
	double best_s = HUGE_VAL;

	if (fill_operands(&p, p.m, p.width))
		for (int i = 0; i < 50; i++)
			best_s = fmin(best_s, run_product(&p, 4));
	empty(&p);
	return 1 / best_s;
}

static void measure_products(struct sink *sink, int cores)
{
	double begun_s = clock_boot_s(), used_s = thread_s(), wall_s, before, after;
	struct err err = { 0 };
	struct blas blas;

	if (blas_open(&blas, cores, &err)) {
		sink_note(sink, "%s", err.text);
		return;
	}
	sink_note(sink, "products by OpenBLAS, kernels '%s', %d thread%s", blas.kernels, cores,
		  plural(cores));
	before = product_rate(&blas);
	sweep_sizes(sink, &(struct product){ .run = blas.product_fp32, .variant = "fp32",
					     .size = sizeof(float) });
	if (!sink->quick)
		sweep_sizes(sink, &(struct product){ .run = blas.product_fp64, .variant = "fp64",
						     .size = sizeof(double) });
	after = product_rate(&blas);
	if (after < (1 - SLOWED) * before)
		sink_note(sink, "the processor slowed down by %.0f %% while it was measured (heat, "
			  "or others on the same core)", 100 * (1 - after / before));
	wall_s = clock_boot_s() - begun_s;
	used_s = thread_s() - used_s;
	if (wall_s > 0 && used_s < (1 - BUSY) * wall_s)
		sink_note(sink, "the machine was busy: other processes had %.0f %% of the core's "
			  "time; these figures are too low", 100 * (1 - used_s / wall_s));
}

static int measure_slot(struct sink *sink, const struct device *d, struct err *err)
{
	size_t most = (size_t)1 << (sink->quick ? 24 : 27);
	struct copy c = { NULL, NULL, 0 };
	struct team team;

	/* The binding begins with its first processor. */
	cpu_peak_send(sink, d->cores, (int)strtol(d->binding, NULL, 10));
	measure_products(sink, d->cores);
	if (team_start(&team, d->cores, NULL, err))
		return -1;
	c.from = aligned_alloc(64, most);
	c.to = aligned_alloc(64, most);
	team.data = &c;
	if (!c.from || !c.to)
		sink_note(sink, "no copies in memory: there is too little of it");
	else
		memset(c.from, 1, most);
	for (c.bytes = (size_t)1 << 16; c.from && c.to && c.bytes <= most;
	     c.bytes <<= sink->quick ? 4 : 2) {
		struct device_measurement m = {
			.what = MEASURED_MEMORY, .devices = 1, .bytes = (int64_t)c.bytes,
		};

		sink_time(sink, &m, run_team, &(struct team_run){ &team, copy_part });
	}
	free(c.from);
	free(c.to);
	team_stop(&team);
	return 0;
}

/* --- slots together --- */

static double wait_all(struct team *team, int rank, int64_t count)
{
	int64_t begun_ns = clock_boot_ns();

	(void)rank;
	for (int64_t i = 0; i < count; i++)
		team_meet(team);
	return 1e-9 * (double)(clock_boot_ns() - begun_ns);
}

/* A vector for each slot, in memory that the thread of the slot touched first, and the sum of all
 * vectors. */
struct vectors {
	float **of;			/* indexed by rank */
	float *sum;
	size_t n;
};

/* Sums a slice of all vectors. The time runs from the arrival of all threads until all are done.
 * Each vector is changed before, as a new gradient would be: it lies in the cache of its own
 * core. */
static double sum_all(struct team *team, int rank, int64_t count)
{
	struct vectors *v = team->data;
	size_t slice = v->n / (size_t)team->n, at = slice * (size_t)rank;
	float *own = v->of[rank], *restrict sum = v->sum + at;
	int64_t time_ns = 0;

	for (int64_t i = 0; i < count; i++) {
		for (size_t k = 0; k < v->n; k++)
			own[k] = 0.5f * own[k] + 0.25f;
		team_meet(team);
		int64_t begun_ns = clock_boot_ns();

		memcpy(sum, v->of[0] + at, slice * sizeof(float));
		for (int q = 1; q < team->n; q++) {
			const float *restrict x = v->of[q] + at;

			for (size_t k = 0; k < slice; k++)
				sum[k] += x[k];
		}
		team_meet(team);
		time_ns += clock_boot_ns() - begun_ns;
	}
	return 1e-9 * (double)time_ns;
}

static double touch(struct team *team, int rank, int64_t count)
{
	struct vectors *v = team->data;

	(void)count;
	v->of[rank] = xmalloc(v->n * sizeof(float));
	random_fill_fp32(v->of[rank], v->n);
	return 0;
}

static int measure_slots(struct sink *sink, const struct device *devices, int n, struct err *err)
{
	struct device_measurement barrier = { .what = MEASURED_BARRIER, .devices = n };
	size_t most = (size_t)1 << (sink->quick ? 20 : 24);
	struct vectors v = { .n = most / sizeof(float) };
	struct team team;

	if (team_start(&team, n, devices, err))
		return -1;
	sink_time(sink, &barrier, run_team, &(struct team_run){ &team, wait_all });
	v.of = xcalloc((size_t)n, sizeof(*v.of));
	v.sum = xmalloc(most);
	team.data = &v;
	team_do(&team, touch, 1);
	for (size_t bytes = 4096; bytes <= most; bytes *= sink->quick ? 16 : 4) {
		struct device_measurement m = {
			.what = MEASURED_REDUCTION, .devices = n, .bytes = (int64_t)bytes,
		};

		v.n = bytes / sizeof(float);
		sink_time(sink, &m, run_team, &(struct team_run){ &team, sum_all });
	}
	for (int r = 0; r < n; r++)
		free(v.of[r]);
	free(v.of);
	free(v.sum);
	team_stop(&team);
	return 0;
}

const struct measure_backend measure_cpu = {
	.name = "cpu", .device = measure_slot, .exchange = measure_slots,
};
