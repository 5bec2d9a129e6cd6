/* steps.c - how much log a second the recognition of steps takes, against the limit: memchr(3)
 * looking for newlines in the same bytes, in the same run.
 *
 *	steps [MEGABYTES]			(64)
 *
 * Mixes: metrics that are no steps, with a step in each 20 lines; nothing but steps; progress bars;
 * terminal sequences; and logs made to hurt: words of all patterns in each line and no number,
 * lines of a megabyte, random bytes. Each is read once as a file (no arrivals) and once as a job's
 * log that grows by 100 MB a second, looked at five times a second; ratios are of processor times,
 * medians of interleaved rounds. The target is 100 MB/s of a log that grows; a missed one is
 * printed, and the exit status is 0. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/text.h"
#include "timing.h"

#define ROUNDS 5
#define BLOCK 65536
#define TARGET_MB_PER_S 100.0

typedef void line_maker(struct text *t, int i);

static uint64_t state = 1;

/* splitmix64: G. L. Steele, D. Lea and C. H. Flood, 2014. */
static uint64_t draw(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static void make_mix(struct text *t, int i)
{
	if (i % 20 == 0)
		text_addf(t, "iter %d: loss %.4f, time %.2fms, mfu 31.40%%\n", i / 20,
			  3.0 / (1 + i), 250.5);
	else if (i % 20 == 1)
		text_addf(t,
			  "[2026-11-20 10:00:%02d] INFO trainer: "
			  "step batch of worker %d fetched, queue %d\n",
			  i % 60, i % 8, i % 100);
	else
		text_addf(t,
			  "[2026-11-20 10:00:%02d] INFO data: "
			  "shard %d read, %d samples, %.1f MB/s\n",
			  i % 60, i, i % 9999, i % 1000 / 10.0);
}

static void make_steps(struct text *t, int i)
{
	text_addf(t, "iter %d: loss %.4f, time %.2fms, mfu 31.40%%\n", i, 3.0 / (1 + i), 250.5);
}

static void make_bars(struct text *t, int i)
{
	text_addf(t,
		  "\rEpoch 3:  %d%%|####      | %d/100000 [%02d:%02d<10:00, 120.00it/s, loss=%.3f]",
		  i / 1000 % 100, i % 100000, i / 6000 % 60, i / 100 % 60, 3.0 / (1 + i));
}

static void make_colours(struct text *t, int i)
{
	text_addf(t, "\033[31mstep: \033[1m%2d  \033[32mloss: %8.5f  "
		  "\033[33mmemory: 10.12GiB(12.34%%)  "
		  "\033[34mtps: 21,234  \033[36mtflops: 12.34\033[39m\n", i, 3.0 / (1 + i));
}

static void make_words(struct text *t, int i)
{
	text_addf(t, "step x, val loss per iteration (ms) tok/s (took : loss dt: train_time: tps: "
		  "Train: eta: Epoch: [ (train) iter: global_step= batch= s/step %%| it [ "
		  "'train_runtime' {'loss' %d\n", i);
}

static void make_long(struct text *t, int i)
{
	(void)i;
	text_add_byte(t, 's', 1 << 20);
	text_add(t, "\n");
}

static void make_random(struct text *t, int i)
{
	uint64_t bytes = draw();

	(void)i;
	text_add_bytes(t, &bytes, sizeof(bytes));
}

static const struct mix {
	const char *name;
	line_maker *make;
} mixes[] = {
	{ "a step in 20 lines", make_mix }, { "nothing but steps", make_steps },
	{ "progress bars", make_bars }, { "terminal sequences", make_colours },
	{ "words of all patterns", make_words }, { "lines of a megabyte", make_long },
	{ "random bytes", make_random },
};

/* --- one pass over the bytes --- */

static void sink(const struct step_event *e, void *arg)
{
	*(double *)arg += e->position;
}

/* mb_per_s: how fast it grows; NaN: a file. */
static double time_steps(const struct text *log, double mb_per_s, struct steps_summary *summary)
{
	struct err err;
	struct steps *s = steps_new(NULL, &err);
	double sum = 0, start_s = cpu_s(), took_s;

	for (size_t at = 0; at < log->length; at += BLOCK) {
		double look = floor((double)at / (mb_per_s * 1e6) / 0.2);

		steps_feed(s, log->data + at, at + BLOCK < log->length ? BLOCK : log->length - at,
			   look * 0.2, sink, &sum);
	}
	steps_end(s, sink, &sum);
	took_s = cpu_s() - start_s;
	steps_summary(s, summary);
	steps_free(s);
	return took_s;
}

static double time_memchr(const struct text *log)
{
	const char *p = log->data, *end = p + log->length;
	double start_s = cpu_s();
	volatile size_t n = 0;

	while ((p = memchr(p, '\n', (size_t)(end - p)))) {
		n = n + 1;
		if (++p == end)
			break;
	}
	return cpu_s() - start_s;
}

static double median(double *x)
{
	qsort(x, ROUNDS, sizeof(*x), number_compare);
	return x[ROUNDS / 2];
}

static void measure(const struct mix *mix, size_t bytes)
{
	struct text log = TEXT_INIT;
	double limit[ROUNDS], file[ROUNDS], grows[ROUNDS], mb;
	struct steps_summary summary;

	for (int i = 0; log.length < bytes; i++)
		mix->make(&log, i);
	mb = (double)log.length / 1e6;
	for (int i = 0; i < ROUNDS; i++) {
		limit[i] = time_memchr(&log);
		file[i] = time_steps(&log, (double)NAN, &summary);
		grows[i] = time_steps(&log, TARGET_MB_PER_S, &summary);
	}
	printf("%-22s %8.0f %8.0f %8.0f %9.1f %9.1f  %s%s\n", mix->name, mb / median(limit),
	       mb / median(file), mb / median(grows), median(file) / median(limit),
	       median(grows) / median(limit), summary.pattern ? summary.pattern : "-",
	       mb / median(grows) < TARGET_MB_PER_S ? "  MISSED" : "");
	fflush(stdout);
	text_release(&log);
}

int main(int argc, char **argv)
{
	double megabytes = 64;

	if (argc > 2 || (argc == 2 && (number_parse(argv[1], &megabytes) || !(megabytes >= 1)))) {
		fputs("usage: steps [MEGABYTES]\n", stderr);
		return 64;
	}
	printf("%-22s %8s %8s %8s %9s %9s\n", "", "memchr", "file", "grows", "file", "grows");
	printf("%-22s %8s %8s %8s %9s %9s  %s\n", "log", "MB/s", "MB/s", "MB/s", "/memchr",
	       "/memchr", "pattern");
	for (size_t i = 0; i < sizeof(mixes) / sizeof(mixes[0]); i++)
		measure(&mixes[i], (size_t)(megabytes * 1e6));
	printf("wanted: %g MB/s of a log that grows so fast\n", TARGET_MB_PER_S);
	return 0;
}
