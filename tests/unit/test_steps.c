/* test_steps.c - the built-in patterns on lines of their formats, against the table of published
 * formats where that is to be had; and how lines, ranks, bars, counters and arrivals are dealt
 * with.
 *
 * The table is $STEP_PATTERNS, or ../shared/data/step-patterns.tsv beside this repository. */
#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/steps.h"
#include "pollux/text.h"
#include "steps/patterns.h"
#include "tap.h"

/* --- what came out --- */

struct seen {
	int n, n_timed, n_begins;
	struct step_event last, timed;	/* the last; the last with a time */
	double sum_s, sum_n;		/* of the timed */
};

static void sink(const struct step_event *e, void *arg)
{
	struct seen *seen = arg;

	seen->n++;
	seen->n_begins += e->begins;
	seen->last = *e;
	if (e->basis == STEP_UNTIMED)
		return;
	seen->n_timed++;
	seen->timed = *e;
	seen->sum_s += e->n * e->unit_s;
	seen->sum_n += e->n;
}

static struct steps *s;
static struct seen seen;
static struct steps_summary summary;

static void begin(const char *regex)
{
	struct err err;

	steps_free(s);
	seen = (struct seen){ .last.position = (double)NAN, .timed.unit_s = (double)NAN };
	s = steps_new(regex, &err);
	if (!s)
		printf("# %s\n", err.text);
}

static void feed_at(const char *text, double arrival_s)
{
	steps_feed(s, text, strlen(text), arrival_s, sink, &seen);
}

static void feed(const char *text)
{
	feed_at(text, (double)NAN);
}

static const char *locked(void)
{
	steps_summary(s, &summary);
	return summary.pattern ? summary.pattern : "none";
}

/* --- the formats --- */

#define NO (double)NAN

/* Lines as the frameworks print them, each with another counter; what is to be made of the last. */
struct format {
	const char *name;
	const char *lines[3];
	double position, total;		/* NaN: not printed */
	double unit_s;			/* as printed; NaN: not printed, or not to be used */
	enum step_basis basis;
};

static const struct format formats[] = {
	{ "megatron",
	  { " [2026-11-20 10:00:01] iteration        1/    1000 | consumed samples:           64 | "
	    "elapsed time per iteration (ms): 2310.5 | throughput per GPU (TFLOP/s/GPU): 10.0 | "
	    "learning rate: 1.500000E-04 | global batch size:    64 | lm loss: 1.080000E+01 | loss "
	    "scale: 1.0 | grad norm: 1.234 | number of skipped iterations:   0 |",
	    " [2026-11-20 10:00:02] iteration        2/    1000 | consumed samples:          128 | "
	    "elapsed time per iteration (ms): 410.5 | learning rate: 1.500000E-04 | global batch "
	    "size:    64 | lm loss: 1.080000E+01 |",
	    " [2026-11-20 10:00:03] iteration       30/    1000 | consumed samples:         1920 | "
	    "elapsed time per iteration (ms): 402.5 | learning rate: 1.500000E-04 | global batch "
	    "size:    64 | lm loss: 1.080000E+01 |" },
	  30,
	  1000,
	  0.4025,
	  STEP_PRINTED },
	{ "llmc_cu",
	  { "step    1/100 | loss 11.009822 (+nanz)| norm 15.0123 (+nanz)| lr 4.29e-07 | 1212.42 "
	    "ms | 17.5% bf16 MFU | 432424 tok/s",
	    "step    2/100 | loss 10.9 (-0.12z)| norm 15.0 (+0.10z)| lr 8.57e-07 | 1191.10 ms | "
	    "17.8% bf16 MFU | 440171 tok/s",
	    "step    3/100 | loss 10.8 (-1.00z)| norm 14.8 (-0.20z)| lr 1.29e-06 | 1190.25 ms | "
	    "17.8% bf16 MFU | 440200 tok/s" },
	  3,
	  100,
	  1.19025,
	  STEP_PRINTED },
	{ "llmc_fp32",
	  { "step    1/74: train loss 5.356189 (163.8 ms, 25000 tok/s)",
	    "step    2/74: train loss 4.300000 (151.2 ms, 27089 tok/s)",
	    "step    3/74: train loss 4.200000 (150.5 ms, 27215 tok/s)" },
	  3,
	  74,
	  0.1505,
	  STEP_PRINTED },
	{ "llmc_cpu",
	  { "step 0: train loss 5.356189 (took 1520.500000 ms)",
	    "step 1: train loss 4.301069 (took 1510.250000 ms)",
	    "step 2: train loss 4.623322 (took 1500.125000 ms)" },
	  2,
	  NO,
	  1.500125,
	  STEP_PRINTED },
	{ "nanogpt",
	  { "iter 0: loss 10.9865, time 53422.12ms, mfu -100.00%",
	    "iter 10: loss 9.8123, time 250.11ms, mfu 31.44%",
	    "iter 20: loss nan, time 249.50ms, mfu 31.40%" },
	  20,
	  NO,
	  0.2495,
	  STEP_PRINTED },
	{ "nanochat",
	  { "step 00010/01000 (1.00%) | loss: 9.123456 | lrm: 1.00 | dt: 651.23ms | tok/sec: "
	    "740,000 | mfu: 45.12 | total time: 0.11m",
	    "step 00011/01000 (1.10%) | loss: 9.023456 | lrm: 1.00 | dt: 650.00ms | tok/sec: "
	    "741,000 | mfu: 45.20 | total time: 0.12m",
	    "step 00012/01000 (1.20%) | loss: 8.923456 | lrm: 1.00 | dt: 649.50ms | tok/sec: "
	    "741,500 | mfu: 45.22 | total time: 0.13m" },
	  12,
	  1000,
	  0.6495,
	  STEP_PRINTED },
	{ "modded_nanogpt",
	  { "step:10/1750 train_loss:7.1234 train_time:1230ms step_avg:123.00ms",
	    "step:11/1750 train_loss:7.0234 train_time:1330ms step_avg:120.91ms",
	    "step:20/1750 train_loss:6.9234 train_time:2230ms step_avg:111.50ms" },
	  20,
	  1750,
	  NO,
	  STEP_UNTIMED }, /* two sums after the lock make a time: below */
	{ "torchtitan",
	  { "[titan] 2026-11-20 10:00:00,123 - root - INFO - \033[31mstep: \033[1m 1\033[0m  "
	    "\033[32mloss:  8.12345  \033[38;2;180;60;0mgrad_norm:  1.1234  \033[33mmemory: "
	    "10.12GiB(12.34%)  \033[34mtps: 1,234  \033[36mtflops: 12.34  \033[35mmfu: "
	    "4.12%\033[39m",
	    "\033[31mstep:  2  \033[32mloss:  8.02345  \033[33mmemory: 10.12GiB(12.34%)  "
	    "\033[34mtps: 21,234  \033[36mtflops: 12.34  \033[35mmfu: 4.12%\033[39m",
	    "\033[31mstep:  3  \033[32mloss:  7.92345  \033[33mmemory: 10.12GiB(12.34%)  "
	    "\033[34mtps: 21,334  \033[36mtflops: 12.34  \033[35mmfu: 4.12%\033[39m" },
	  3,
	  NO,
	  NO,
	  STEP_UNTIMED },
	{ "timm",
	  { "Train: 2 [   0/1251 (  0%)]  Loss: 6.95 (6.95)  Time: 3.123s,   81.97/s  (3.123s,   "
	    "81.97/s)  LR: 1.000e-05  Data: 1.500 (1.500)",
	    "Train: 2 [  50/1251 (  4%)]  Loss: 6.94 (6.94)  Time: 0.323s,  791.97/s  (0.400s,  "
	    "641.97/s)  LR: 1.000e-05  Data: 0.010 (0.050)",
	    "Train: 2 [ 100/1251 (  8%)]  Loss: 6.93 (6.94)  Time: 0.321s,  797.50/s  (0.360s,  "
	    "711.11/s)  LR: 1.000e-05  Data: 0.010 (0.030)" },
	  2602,
	  NO,
	  0.321,
	  STEP_PRINTED },
	{ "tv_metriclogger",
	  { "Epoch: [0]  [   0/1252]  eta: 1:01:21  lr: 0.1  img/s: 88.1  loss: 6.9 (6.9)  acc1: "
	    "0.0 (0.0)  time: 2.9403  data: 1.1022  max mem: 5432",
	    "Epoch: [0]  [  10/1252]  eta: 0:11:21  lr: 0.1  img/s: 588.1  loss: 6.9 (6.9)  time: "
	    "0.5403  data: 0.1022  max mem: 5432",
	    "Epoch: [0]  [  20/1252]  eta: 1 day, 0:09:21  lr: 0.1  img/s: 588.1  loss: 6.9 (6.9)  "
	    "time: 0.4352  data: 0.0022  max mem: 5432" },
	  20,
	  NO,
	  0.4352,
	  STEP_PRINTED_MEAN },
	{ "pt_imagenet",
	  { "Epoch: [3][   1/5005]\tTime  4.200 ( 4.200)\tData  3.900 ( 3.900)\tLoss 7.0e+00 "
	    "(7.0e+00)\tAcc@1   0.00 (  0.00)",
	    "Epoch: [3][  11/5005]\tTime  0.210 ( 0.573)\tData  0.000 ( 0.355)\tLoss 7.0e+00 "
	    "(7.0e+00)",
	    "Epoch: [3][  21/5005]\tTime  0.200 ( 0.400)\tData  0.000 ( 0.186)\tLoss 7.0e+00 "
	    "(7.0e+00)" },
	  15036,
	  NO,
	  0.2,
	  STEP_PRINTED },
	{ "mmengine",
	  { "11/20 10:00:00 - mmengine - INFO - Epoch(train) [2][10/25]  lr: 1.0000e-02  eta: "
	    "0:00:10  time: 0.0219  data_time: 0.0004  loss: 2.3",
	    "11/20 10:00:00 - mmengine - INFO - Epoch(train) [2][20/25]  lr: 1.0000e-02  eta: "
	    "0:00:10  time: 0.0119  data_time: 0.0004  loss: 2.3",
	    "11/20 10:00:00 - mmengine - INFO - Epoch(train) [3][10/25]  lr: 1.0000e-02  eta: "
	    "0:00:09  time: 0.0120  data_time: 0.0004  loss: 2.2" },
	  60,
	  NO,
	  0.012,
	  STEP_PRINTED_MEAN },
	{ "mmengine",
	  { "11/20 10:00:00 - mmengine - INFO - Iter(train) [ 10/250]  lr: 1.0000e-02  eta: "
	    "0:00:10  time: 0.0219  data_time: 0.0004  loss: 2.3",
	    "11/20 10:00:00 - mmengine - INFO - Iter(train) [ 20/250]  lr: 1.0000e-02  eta: "
	    "0:00:10  time: 0.0119  data_time: 0.0004  loss: 2.3",
	    "11/20 10:00:00 - mmengine - INFO - Iter(train) [ 30/250]  lr: 1.0000e-02  eta: "
	    "0:00:10  time: 0.0125  data_time: 0.0004  loss: 2.3" },
	  30,
	  250,
	  0.0125,
	  STEP_PRINTED_MEAN },
	{ "detectron2",
	  { "[11/20 10:00:00 d2.utils.events]:  eta: 3:12:11  iter: 19  total_loss: 4.1  loss_cls: "
	    "1.1  time: 0.3234  last_time: 0.3101  data_time: 0.0124  last_data_time: 0.002   lr: "
	    "0.0004  max_mem: 3012M",
	    "[11/20 10:00:07 d2.utils.events]:  eta: 3:11:11  iter: 39  total_loss: 3.1  time: "
	    "0.3134  last_time: 0.3101  data_time: 0.0024  lr: 0.0008  max_mem: 3012M",
	    "[11/20 10:00:14 d2.utils.events]:  eta: 3:10:11  iter: 59  total_loss: 2.1  time: "
	    "0.3125  last_time: 0.3101  data_time: 0.0024  lr: 0.0012  max_mem: 3012M" },
	  59,
	  NO,
	  0.3125,
	  STEP_PRINTED_MEAN },
	{ "deepspeed",
	  { "[2026-11-20 10:00:00,000] [INFO] [timer.py:215:stop] "
	    "epoch=0/micro_step=40/global_step=10, RunningAvgSamplesPerSec=101.2, "
	    "CurrSamplesPerSec=102.4, MemAllocated=1.2GB, MaxMemAllocated=2.3GB",
	    "[2026-11-20 10:00:00,000] [INFO] [timer.py:215:stop] "
	    "epoch=0/micro_step=80/global_step=20, RunningAvgSamplesPerSec=101.5, "
	    "CurrSamplesPerSec=102.4, MemAllocated=1.2GB, MaxMemAllocated=2.3GB",
	    "[2026-11-20 10:00:00,000] [INFO] [timer.py:215:stop] "
	    "epoch=0/micro_step=120/global_step=30, RunningAvgSamplesPerSec=101.6, "
	    "CurrSamplesPerSec=102.4, MemAllocated=1.2GB, MaxMemAllocated=2.3GB" },
	  30,
	  NO,
	  NO,
	  STEP_UNTIMED },
	{ "composer",
	  { "[epoch=1][batch=10/100]:", "[epoch=1][batch=20/100]:", "[epoch=1][batch=30/100]:" },
	  30,
	  100,
	  NO,
	  STEP_UNTIMED },
	{ "composer", { "[batch=10]:", "[batch=20]:", "[batch=30]:" }, 30, NO, NO, STEP_UNTIMED },
	{ "keras_v2",
	  { "1875/1875 - 33s - 17ms/step - accuracy: 0.9130 - loss: 0.2950",
	    "1874/1874 - 30s - 16ms/step - accuracy: 0.9630 - loss: 0.1250",
	    "1875/1875 - 30s - 16ms/step - accuracy: 0.9630 - loss: 0.1250" },
	  5624,
	  NO,
	  0.016,
	  STEP_PRINTED },
	{ "keras_bar",
	  { "\033[1m   1/1875\033[0m \033[37m━━━━━━━━━━━━━━━━━━━━\033[0m \033[1m5:12\033[0m "
	    "167ms/step - accuracy: 0.0938 - loss: 2.4",
	    "\033[1m  43/1875\033[0m \033[37m━━━━━━━━━━━━━━━━━━━━\033[0m \033[1m22s\033[0m "
	    "12ms/step - accuracy: 0.4 - loss: 1.8",
	    "\033[1m  86/1875\033[0m \033[32m━\033[0m\033[37m━━━━━━━━━━━━━━━━━━━\033[0m "
	    "\033[1m21s\033[0m 12ms/step - accuracy: 0.5 - loss: 1.5" },
	  86,
	  NO,
	  0.012,
	  STEP_PRINTED_MEAN },
	{ "tqdm_total",
	  { "  1%|          | 10/1000 [00:05<08:15,  2.00it/s]",
	    "  2%|▏         | 20/1000 [00:10<08:10,  2.00it/s]",
	    "  5%|▌         | 50/1000 [00:25<07:55,  2.00it/s, loss=2.31]" },
	  50,
	  1000,
	  0.5,
	  STEP_PRINTED_MEAN },
	{ "tqdm_total",
	  { "Epoch 10:  10%|█         | 2000/20000 [05:00<45:00,  6.67it/s, v_num=0, "
	    "train_loss=3.40]",
	    "Epoch 10:  93%|█████████▎| 18625/20000 [5:43:21<25:20,  0.90it/s, v_num=0, "
	    "train_loss=3.40]",
	    "Epoch 10:  94%|█████████▍| 18.8k/20.0k [5:46:21<22:20,  1.25s/batch]" },
	  218800,
	  NO,
	  1.25,
	  STEP_PRINTED_MEAN },
	{ "tqdm_nototal",
	  { "10it [00:05,  2.00it/s]", "20it [00:10,  2.00it/s]",
	    "train: 50it [00:15,  4.00s/it]" },
	  NO,
	  NO,
	  NO,
	  STEP_UNTIMED }, /* two bars, of which neither has lived long */
	{ "tqdm_nototal",
	  { "10it [00:05,  2.00it/s]", "20it [00:10,  2.00it/s]", "50it [00:25,  4.00s/it]" },
	  50,
	  NO,
	  4,
	  STEP_PRINTED_MEAN },
	{ "mnist_example",
	  { "Train Epoch: 2 [0/60000 (0%)]\tLoss: 2.300000",
	    "Train Epoch: 2 [640/60000 (1%)]\tLoss: 1.600000",
	    "Train Epoch: 2 [1280/60000 (2%)]\tLoss: 1.500000" },
	  61280,
	  NO,
	  NO,
	  STEP_UNTIMED },
	{ "generic_slash",
	  { "Epoch 1, Step 1/500, loss 2.3", "Epoch 1, Step 2/500, loss 2.3",
	    "Epoch 1, Step 3/500, loss 2.3" },
	  3,
	  NO, /* of epochs, whose number is not printed */
	  NO,
	  STEP_UNTIMED },
	{ "generic_slash",
	  { "batch [1 / 50]", "Batch #2/50", "batch: 3/50" },
	  3,
	  50,
	  NO,
	  STEP_UNTIMED },
	{ "generic_num",
	  { "global_step=1 loss=2", "Step: 2 loss 3", "iteration 3" },
	  3,
	  NO,
	  NO,
	  STEP_UNTIMED },
};

static bool same(double a, double b)
{
	return (isnan(a) && isnan(b)) || fabs(a - b) <= 1e-9 * fmax(fabs(a), fabs(b));
}

static void test_format(const struct format *f)
{
	bool found;

	begin(NULL);
	for (int i = 0; i < 3; i++) {
		feed(f->lines[i]);
		feed("\nsomething else, in between\n");
	}
	if (!isnan(f->position))
		is_str(locked(), f->name, f->name);
	else
		is_str(locked(), "none", f->name);
	found = same(seen.last.position, f->position) &&
		(seen.n == 0 || same(seen.last.total, f->total));
	ok(found, "the lines of a format give its position and total");
	if (!found)
		printf("# got %g of %g\n", seen.last.position, seen.last.total);
	ok(seen.n == 0 || (seen.last.basis == f->basis && same(seen.last.unit_s, f->unit_s)),
	   "the lines of a format give its time");
	if (seen.n && !same(seen.last.unit_s, f->unit_s))
		printf("# got %g s, basis %d\n", seen.last.unit_s, (int)seen.last.basis);
}

static void test_formats(void)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		test_format(&formats[i]);
}

/* --- against the table --- */

#define COLUMNS 8

static FILE *open_table(void)
{
	const char *root = getenv("POLLUX_ROOT"), *path = getenv("STEP_PATTERNS");
	char beside[4096];

	snprintf(beside, sizeof(beside), "%s/../shared/data/step-patterns.tsv", root ? root : ".");
	return fopen(path ? path : beside, "r");
}

struct row {
	char line[2048];
	/* name, expression, groups of step, total and time, unit, counter, note */
	char *column[COLUMNS];
	regex_t regex;
};

/* False at the end. */
static bool read_row(FILE *file, struct row *row)
{
	char *rest = row->line;
	bool generic;

	if (!fgets(row->line, sizeof(row->line), file))
		return false;
	row->line[strcspn(row->line, "\n")] = '\0';
	if (row->line[0] == '#')
		return read_row(file, row);
	for (int i = 0; i < COLUMNS; i++)
		row->column[i] = rest ? strsep(&rest, "\t") : row->line + strlen(row->line);
	generic = !strncmp(row->column[0], "generic", 7);
	return regcomp(&row->regex, row->column[1], REG_EXTENDED | (generic ? REG_ICASE : 0)) == 0;
}

/* Digits of a group, as a number; NaN where the column is 0. */
static double group_of(const struct row *row, int column, const char *line, const regmatch_t *m)
{
	long i = strtol(row->column[column], NULL, 10);
	char text[64] = "";

	if (i == 0 || m[i].rm_so < 0 || m[i].rm_eo - m[i].rm_so >= (int)sizeof(text))
		return (double)NAN;
	memcpy(text, line + m[i].rm_so, (size_t)(m[i].rm_eo - m[i].rm_so));
	if (!strcmp(text, "Unknown"))
		return (double)NAN;
	return strchr(text, 'k') ? 1e3 * strtod(text, NULL) : strtod(text, NULL);
}

static const char *without_escapes(const char *line)
{
	static char out[4096];
	char *to = out;

	for (; *line; line++) {
		if (*line == '\033')
			line += strcspn(line, "mK");
		else
			*to++ = *line;
	}
	*to = '\0';
	return out;
}

static int index_of(const char *name)
{
	for (int i = 0; i < n_pattern_table; i++)
		if (!strcmp(pattern_table[i].name, name))
			return i;
	return -1;
}

/* The first pattern of ours that has the line; -1: none. */
static int first_match(struct patterns *p, const char *line, struct sighting *out)
{
	size_t length = strlen(line);
	uint64_t candidates = patterns_candidates(p, line, length);

	for (int i = 0; i < p->n; i++)
		if (candidates & (uint64_t)1 << i && patterns_match(p, i, line, length, out))
			return i;
	return -1;
}

static bool counter_is_known(const struct pattern *p)
{
	return p->kind != KIND_IGNORE && p->kind != KIND_LOSSES && p->kind != KIND_FINAL;
}

/* A line of a format: theirs and ours say the same of it. */
static void compare(struct patterns *p, const struct row *rows, int n_rows, const char *name,
		    const char *line)
{
	struct sighting mine;
	int own = first_match(p, line, &mine), theirs = -1;
	regmatch_t m[10];
	bool agree;

	for (int i = 0; i < n_rows && theirs < 0; i++)
		if (regexec(&rows[i].regex, line, 10, m, 0) == 0)
			theirs = i;
	agree = theirs >= 0 && own >= 0 && !strcmp(rows[theirs].column[0], p->items[own]->name);
	ok(agree, name);
	if (!agree)
		printf("# theirs %s, ours %s: %s\n", theirs < 0 ? "none" : rows[theirs].column[0],
		       own < 0 ? "none" : p->items[own]->name, line);
	if (!agree || !counter_is_known(p->items[own]))
		return;
	ok(same(mine.step, group_of(&rows[theirs], 2, line, m)) &&
	   same(mine.total, group_of(&rows[theirs], 3, line, m)),
	   "a line has the step and total of the table");
	if (!strcmp(rows[theirs].column[5], "ms") && mine.pattern->time_kind == TIME_STEP)
		ok(same(mine.time_s * 1e3, group_of(&rows[theirs], 4, line, m)),
		   "a line has the time of the table");
}

static const char *const other_lines[][2] = {
	{ "ignore_eval", "step 250: train loss 3.1234, val loss 3.2345" },
	{ "hf_dict", "{'loss': 2.3014, 'grad_norm': 1.25, 'learning_rate': 5e-05, 'epoch': 0.1}" },
	{ "hf_dict",
	  "{'loss': '2.301', 'grad_norm': '1.25', 'learning_rate': '5e-05', 'epoch': '0.1'}" },
	{ "hf_final", "{'train_runtime': 12.5, 'train_samples_per_second': 80.0, "
		      "'train_steps_per_second': 10.0, 'train_loss': 2.1, 'epoch': 1.0}" },
	{ "hf_final", "{'train_runtime': '12.5', 'train_samples_per_second': '80', "
		      "'train_steps_per_second': '10', 'train_loss': '2.1', 'epoch': '1'}" },
	{ "keras_bar", "     32/Unknown 1s 12ms/step - loss: 0.5" },
};

static void test_table(void)
{
	FILE *file = open_table();
	struct patterns p;
	static struct row rows[PATTERNS_MAX];
	int n = 0;
	struct err err;

	if (!file) {
		puts("ok - # SKIP no table of formats: STEP_PATTERNS names it");
		tap_run++;
		return;
	}
	is_int(patterns_init(&p, NULL, &err), 0, "all patterns compile");
	while (n < PATTERNS_MAX && read_row(file, &rows[n]))
		n++;
	fclose(file);
	is_int(n, 25, "the table has 25 formats");
	for (int i = 0; i < n; i++)
		ok(index_of(rows[i].column[0]) >= (i ? index_of(rows[i - 1].column[0]) : 0),
		   rows[i].column[0]);
	for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++)
		for (int k = 0; k < 3; k++)
			compare(&p, rows, n, formats[i].name, without_escapes(formats[i].lines[k]));
	for (size_t i = 0; i < sizeof(other_lines) / sizeof(other_lines[0]); i++)
		compare(&p, rows, n, other_lines[i][0], other_lines[i][1]);
	patterns_release(&p);
	for (int i = 0; i < n; i++)
		regfree(&rows[i].regex);
}

/* --- lines --- */

static void test_lines(void)
{
	static const char bytes[] = "a\0b\xff\xc3\n\0step 1\nstep\0 2\nstep 2\nstep 3\xf0\x9f\n";
	static char huge[3 * STEPS_LINE_MAX];

	begin(NULL);
	feed("iter 1: loss 1, time 10.5ms\r\niter 2: loss 1, time 10.5ms\riter 3: loss 1, time "
	     "10.5ms");
	is_str(locked(), "none", "a line without its end does not count");
	is_int(summary.n_lines, 2,
	       "newlines and carriage returns end lines, and empty ones do not count");
	steps_end(s, sink, &seen);
	is_str(locked(), "nanogpt", "the end of all text ends the last line");

	begin(NULL);
	feed("\033[2K\033[1A\033]0;title\aiter\b 1: \033(Bloss 1, time "
	     "\033[38;5;1m10.5ms\033[0m\n");
	feed("it");
	feed("er 2: loss 1, time 10.");
	feed("5ms\niter 3: loss 1, \033");
	feed("[1");
	feed("mtime 10.5ms\n");
	is_str(locked(), "nanogpt",
	       "terminal sequences, backspaces and pieces do not disturb lines");

	begin(NULL);
	memset(huge, 'x', sizeof(huge));
	steps_feed(s, huge, sizeof(huge), NO, sink, &seen);
	feed(" step 1\nstep 1\nstep 2\nstep 3\n");
	is_str(locked(), "generic_num", "lines count after a line that is too long");
	is_int(summary.n_clipped, 1, "a line that is too long is clipped");
	is_int(summary.n_lines, 4, "a line that is too long is one line");

	begin(NULL);
	for (int i = 1; i <= 3; i++) {		/* whole, in one piece */
		snprintf(huge + STEPS_LINE_MAX - 10, 64, " step %d\n", i);
		feed(huge);
		snprintf(huge + STEPS_LINE_MAX - 4, 64, " step %d\n", i);
		feed(huge);
	}
	is_str(locked(), "generic_num", "a line counts up to its limit");
	is_int(summary.n_clipped, 3, "a line beyond its limit is clipped");
	is_int(summary.n_matched, 3, "a number beyond the limit of a line is not seen");

	begin(NULL);
	steps_feed(s, bytes, sizeof(bytes) - 1, NO, sink, &seen);
	is_str(locked(), "generic_num", "NUL and bytes that are no UTF-8 do not disturb lines");
	is_int(seen.last.position, 3, "a number before bytes that are no UTF-8 is read");

	begin(NULL);
	feed("\033]8;;never ended\nstep 1\nstep 2\nstep 3\n");
	is_str(locked(), "generic_num", "a terminal sequence ends with its line at the latest");
}

static void test_ranks(void)
{
	begin(NULL);
	feed("[rank1]: a warning\n[rank0]: iter 1: loss 1, time 10.5ms\n[rank1]: iter 1: loss 1, "
	     "time 20.5ms\n"
	     "[rank0]: iter 2: loss 1, time 10.5ms\n[rank1]: iter 2: loss 1, time 20.5ms\n");
	is_str(locked(), "none", "two lines of each of two ranks lock no pattern");
	feed("[rank0]: iter 3: loss 1, time 10.5ms\n[rank1]: iter 3: loss 1, time 20.5ms\n");
	is_str(locked(), "nanogpt", "three lines of one rank lock a pattern");
	near(seen.last.unit_s, 0.0105, 1e-9, "the first rank that printed a step gives the time");

	begin(NULL);
	feed("[1,0]<stdout>:iter 1: loss 1, time 10.5ms\n[1,1]<stdout>:iter 7: loss 1, time "
	     "10.5ms\n"
	     "[1,0]<stderr>:iter 2: loss 1, time 10.5ms\n[trainer0]:iter 3: loss 1, time 10.5ms\n"
	     "iter 4: loss 1, time 10.5ms\n");
	is_int(seen.n, 1, "ranks of mpirun on either stream count as one");
	near(seen.last.position, 4, 0, "the last line of a rank gives the position");

	begin(NULL);
	feed("[default0]:step 1\n[2026-11-20]: step 2\n[INFO]: step 3\n[default0]:step 4\n");
	is_str(locked(), "generic_num", "other brackets are no ranks");
}

/* --- locking --- */

static void test_locking(void)
{
	begin(NULL);
	feed("iter 1: loss 1, time 10.5ms\niter 1: loss 1, time 10.5ms\niter 1: loss 1, time "
	     "10.5ms\n");
	is_str(locked(), "none", "a counter that stands still locks no pattern");
	is_str(summary.almost, "nanogpt",
	       "the summary names the pattern of a counter that stands still");
	feed("iter 2: loss 1, time 10.5ms\niter 3: loss 1, time 10.5ms\n");
	is_str(locked(), "nanogpt", "three lines lock a pattern");
	for (int i = 0; i < 5; i++)
		feed("step 7/100: train loss 1 (2.5 ms, 10 tok/s)\nstep 8/100: train loss 1 (2.5 "
		     "ms, 10 tok/s)\n");
	is_str(locked(), "nanogpt", "lines of another pattern do not change a locked one");
	is_int(summary.n_matched, 5, "lines of another pattern do not count");

	begin(NULL);
	feed("Step 1/3 : FROM debian\nStep 2/3 : RUN make\nStep 3/3 : COPY\n");
	is_str(locked(), "generic_slash", "three lines lock a pattern of last resort");
	feed("iter 1: loss 1, time 10.5ms\niter 2: loss 1, time 10.5ms\n");
	is_str(locked(), "generic_slash", "two lines of a framework do not replace a last resort");
	feed("iter 3: loss 1, time 10.5ms\n");
	is_str(locked(), "nanogpt", "three lines of a framework replace a last resort");
	ok(seen.last.begins && seen.n_begins == 2,
	   "a pattern that replaces a last resort begins anew");

	begin(NULL);
	feed("batch 128 = 2 x 64\nbatch 256 = 4 x 64\nbatch 512 = 8 x 64\n");
	is_str(locked(), "none", "batch sizes are no steps");

	begin(NULL);
	feed("step 3\nstep 2\nstep 1\nstep 2\nstep 1\n");
	is_str(locked(), "none", "a last resort whose counter falls locks no pattern");
}

static void test_own_regex(void)
{
	struct err err;

	begin("^update #([0-9]+) took ([0-9.]+) milli");
	feed("step 1\nupdate #5 took 12.5 milliseconds\nstep 2\nstep 3\n");
	is_str(locked(), "step-regex", "a pattern of one's own needs one line and stands alone");
	is_int(seen.n, 1, "a pattern of one's own counts its line");
	near(seen.last.position, 5, 0, "the first group of one's own pattern is the step");
	near(seen.last.unit_s, 0.0125, 1e-9,
	     "the second group of one's own pattern is the milliseconds");
	begin("u=([0-9]+)( t=([0-9]+))?");
	feed("u=1\nu=2\n");
	ok(seen.n == 2 && seen.last.basis == STEP_UNTIMED,
	   "a second group that takes no part is no time");
	ok(!steps_new("(", &err) && err.exit_status == EX_USAGE,
	   "a pattern that is no expression is refused");
	printf("# %s\n", err.text);
	ok(!steps_new("step [0-9]+", &err) && strstr(err.text, "no group"),
	   "a pattern without a group is refused");
}

static void is_needle(const char *regex, const char *want)
{
	char needle[24];

	own_needle(regex, needle, sizeof(needle));
	is_str(needle, want, regex);
}

/* What POSIX and Perl write differently is taken either way. */
static void test_dialects(void)
{
	static const struct { const char *regex, *line; } hits[] = {
		{ "u=(\\d+)", "u=7\n" }, { "u=([\\d.]+)", "u=7\n" }, { "(?i)U=([0-9]+)", "u=7\n" },
		{ "u=([[:digit:]]+)$", "u=7\n" }, { "[]u]=([0-9]{1,3})", "]=7\n" },
		{ "(?<step>[0-9]+) steps", "7 steps\n" }, { "^.u=([0-9]+)", "\xffu=7\n" },
		{ "([0-9]) \\Qa.b\\E", "7 a.b\n" }, { "(?x) ([0-9]) a b", "7ab\n" },
	};
	static const char *const refused[] = {
		"[0-9", "a{2,1}([0-9])", "*(a)", "(*UTF)u=([0-9]+)", "(?<=a+)([0-9])", "(a)\\2",
		"(((ab){1,1000}c){1,1000}d){1,1000}",
	};
	struct err err;

	for (size_t i = 0; i < sizeof(hits) / sizeof(hits[0]); i++) {
		begin(hits[i].regex);
		feed(hits[i].line);
		near(seen.last.position, 7, 0, hits[i].regex);
	}
	for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++)
		ok(!steps_new(refused[i], &err) && err.exit_status == EX_USAGE, refused[i]);
	ok(!steps_new("([0-9]", &err) &&
	   strstr(err.text, "missing closing parenthesis, at offset 6"),
	   "the error tells where the mistake in a pattern is");
}

/* Expressions that would take for ever on such a line. */
static void test_limits(void)
{
	static const char *const hostile[] = {
		"(?:x+x+)+=([0-9]+)", "(?:x|xx|xxx)*=([0-9]+)",	       "(x*)*(x*)*=[0-9]",
		"((x)|(x+))+\\1=",    "(?:(?:x?){60}x{60})+=([0-9]+)", "([0-9]*)(?R)?=",
	};
	char line[300];

	memset(line, 'x', sizeof(line));
	memcpy(line + 290, "y=", 3);
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		begin(hostile[i]);
		for (int k = 0; k < 3; k++) {
			feed(line);
			feed("\n");
		}
		locked();
		ok(summary.n_lines == 3 && summary.n_skipped <= 3, hostile[i]);
	}
	begin(hostile[0]);
	feed(line);
	feed("\nxx=7\n");
	near(seen.last.position, 7, 0, "the line after one that was given up counts");
	locked();
	is_int(summary.n_skipped, 1, "a line that was given up is counted as skipped");
}

static void test_needles(void)
{
	is_needle("^update #([0-9]+) took ([0-9.]+)ms", "update #");
	is_needle("a|b", "");
	is_needle("(a|b)cd*ef?", "c");
	is_needle("x+yz", "yz");
	is_needle("ab{2}cd", "cd");
	is_needle("ab{|c", "");
	is_needle("[]abc]de[^]x]f[[:alpha:]]ghi", "ghi");
	is_needle("\\[step\\] \\.\\w", "[step] .");
	is_needle("((a)b(c[)]))xyz.*", "xyz");
	is_needle("[0-9]+", "");
	is_needle("[\\]]+step", "step");
	is_needle("(?:a b)+cd", "cd");
	is_needle("(?x) a b", "");
	is_needle("\\Qa\\Eb", "");
	is_needle("abc\\x41def", "");
	is_needle("\\d+ab\\s++cde??fg", "ab");
}

/* --- pauses --- */

static void test_pauses(void)
{
	begin(NULL);
	feed("iter 1: loss 1, time 10.5ms\niter 2: loss 1, time 10.5ms\niter 3: loss 1, time "
	     "10.5ms\n"
	     "step 4: train loss 1.0, val loss 1.1\nsaving checkpoint to out\niter 4: loss 1, time "
	     "9000.5ms\n");
	ok(seen.last.basis == STEP_UNTIMED && seen.last.position > 3.5,
	   "the step after an evaluation is not timed");
	feed("iter 5: loss 1, time 10.5ms\n");
	ok(seen.last.basis == STEP_PRINTED, "the second step after an evaluation is timed");
	is_str(locked(), "nanogpt", "an evaluation does not lock a pattern");
	feed("Saved a checkpoint to /x\niter 6: loss 1, time 10.5ms\n");
	ok(seen.last.basis == STEP_UNTIMED, "the step after a checkpoint is not timed");

	feed("iter 7: loss 1, time 10.5ms, saved a checkpoint\n");
	near(seen.last.position, 7, 0, "a step that tells of a checkpoint counts");
	is_int(seen.last.basis, STEP_UNTIMED, "a step that tells of a checkpoint is not timed");

	begin(NULL);
	for (int i = 1; i <= 20; i++) {
		char *line = xasprintf("step %d\n", i);

		if (i == 11)
			feed_at("step 250: train loss 1.0, val loss 1.1\n", 10.4);
		feed_at(line, i <= 10 ? i : i + 30);
		free(line);
	}
	near(seen.sum_s / seen.sum_n, 1, 1e-9, "times by arrival leave out an evaluation");
	is_int(seen.sum_n, 9 - 3 + 9 - 1 + 1,
	       "times by arrival count all steps but those to the lock");
}

/* --- counters --- */

static void feed_format(const char *format, int a, int b, double arrival_s)
{
	char line[256];

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(line, sizeof(line), format, a, b);
#pragma GCC diagnostic pop
	feed_at(line, arrival_s);
}

static void test_epochs(void)
{
	begin(NULL);
	for (int epoch = 0; epoch < 3; epoch++)
		for (int i = 10; i <= 50; i += 10)
			feed_format("Epoch: [%d]  [%3d/50]  eta: 0:01:00  loss: 1  time: 0.5  "
				    "data: 0.1\n",
				    epoch, i, NO);
	near(seen.last.position, 150, 0, "batches count on over epochs");
	is_int(seen.last.unit, STEP_BATCHES, "batches of epochs are counted as batches");
	ok(isnan(seen.last.total), "batches of epochs give no total of the training");

	begin(NULL);
	for (int i = 1; i <= 20; i++)
		feed_format("step %d/10 loss 1%.0d\n", (i - 1) % 10 + 1, 0, NO);
	near(seen.last.position, 20, 0, "a last resort that begins again counts on");
	is_int(seen.last.unit, STEP_BATCHES, "a last resort that begins again counts batches");
	ok(isnan(seen.last.total), "a last resort that begins again gives no total");

	begin(NULL);
	for (int i = 1; i <= 5; i++)
		feed_format("step %d/1000: train loss 1 (2.5%d ms, 10 tok/s)\n", i, 0, NO);
	feed("step 3/1000: train loss 1 (2.50 ms, 10 tok/s)\n");
	near(seen.last.position, 3, 0, "updates that fall back are taken back");
	near(seen.last.total, 1000, 0, "updates that fall back keep the total");

	begin(NULL);
	for (int i = 0; i < 6; i++)
		feed_at("1875/1875 - 3s - 2ms/step - loss: 1\n", 1 + 3.75 * i);
	near(seen.last.position, 6 * 1875, 0,
	     "a line at the end of each epoch counts the whole epoch");
	near(seen.last.unit_s, 3.75 / 1875, 1e-9,
	     "a line of whole seconds is timed by the lines' arrivals");

	begin(NULL);
	feed("step:10/1750 train_loss:7 train_time:1230ms step_avg:123.00ms\n"
	     "step:11/1750 train_loss:7 train_time:1330ms step_avg:120.91ms\n"
	     "step:20/1750 train_loss:6 train_time:2230ms step_avg:111.50ms\n"
	     "step:30/1750 train_loss:6 train_time:3330ms step_avg:111.00ms\n");
	near(seen.last.unit_s, 0.11, 1e-9, "sums of times give the time between two lines");
	near(seen.last.n, 10, 0, "sums of times count the steps between two lines");
}

/* A line that nobody knows, "step 7": evaluations count their own. */
static void test_unknown(void)
{
	double at = 0;

	begin(NULL);
	for (int i = 10001; i <= 10300; i++) {
		feed_format("step %d loss 1\n%.0d", i, 0, at += 0.1);
		for (int k = 1; i % 10 == 0 && k <= 5; k++)
			feed_format("[eval] step %d\n%.0d", k, 0, at += 0.01);
	}
	near(seen.last.position, 10300, 0, "evaluations that count their own steps do not count");
	near(seen.sum_s / seen.sum_n, 0.1, 1e-6,
	     "evaluations that count their own steps are not timed");
	is_int(seen.last.unit, STEP_UPDATES,
	       "evaluations that count their own steps are no epochs");

	begin(NULL);
	for (int i = 1; i <= 60; i++) {
		feed_format("step %d/%d\n", i, 100, NO);
		for (int k = 1; i % 10 == 0 && k <= 5; k++)
			feed_format("eval step %d/%d\n", k, 5, NO);
	}
	near(seen.last.position, 60, 0, "evaluations with totals do not count");
	near(seen.last.total, 100, 0, "evaluations with totals leave the total of the training");
	for (int i = 61; i <= 100; i++)
		feed_format("step %d/%d\n", i, 100, NO);
	for (int i = 1; i <= 20; i++)
		feed_format("step %d/%d\n", i, 40, NO);
	near(seen.last.position, 120, 0, "steps after the end of the training count on");

	begin(NULL);
	for (int epoch = 0; epoch < 4; epoch++)
		for (int i = 1; i <= 50; i++)
			feed_format("step %d\n%.0d", i, 0, NO);
	near(seen.last.position, 200, 0, "a counter that falls from the same number counts epochs");
	is_int(seen.last.unit, STEP_BATCHES,
	       "a counter that falls from the same number counts batches");

	begin(NULL);
	for (int i = 1; i <= 5000; i++)
		feed_format("step %d\n%.0d", i <= 1500 ? i : i - 1500, 0, NO);
	near(seen.last.position, 1500 + 3500, 0,
	     "a counter that falls and does not come back began anew");

	begin(NULL);
	at = 0;
	for (int i = 1; i <= 60; i++)
		feed_format("step %d\n%.0d", i < 30 ? i : i + 10000, 0, at += 1);
	near(seen.sum_s / seen.sum_n, 1, 1e-9, "a leap of the counter is not timed");
}

/* --- arrivals --- */

static void test_arrivals(void)
{
	double at = 100;

	begin(NULL);
	/* three lines of a step, arriving together with the next's */
	for (int i = 1; i <= 100; i++)
		feed_format("step %d loss 1\nlr 2\n%.0dmore\n", i, 0, at += i % 4 ? 0 : 0.4);
	near(seen.sum_s / seen.sum_n, 0.1, 1e-6,
	     "lines that arrive in bundles are timed by their last ones");
	is_int(seen.timed.basis, STEP_BY_ARRIVAL, "lines without a time are timed by arrival");

	begin(NULL);
	at = 10;
	for (int i = 1; i <= 60; i++) {
		char bar[128];

		snprintf(bar, sizeof(bar), "\r%3d%%|###   | %d/100 [00:%02d<00:30,  1.00it/s]", i,
			 i, i);
		feed_at(bar, at += 1);
	}
	near(seen.timed.unit_s, 1, 1e-9, "a bar is timed by the arrival of its states");
	near(seen.last.position, 59, 0, "the last state of a bar does not count before it ends");
	near(seen.last.total, 100, 0, "a bar gives its total");

	begin(NULL);
	for (int i = 1; i <= 30; i++)
		feed_format("iter: %d  total_loss: 1  time: 0.9%d  data_time: 0\n", i * 20, 0, i);
	near(seen.timed.unit_s, 0.05, 1e-9, "the arrival counts before an average that is printed");

	begin(NULL);
	for (int i = 1; i <= 30; i++)
		feed_format("Train: 0 [%d/100 (1%%)] Loss: 1 Time: 0.00%ds, 1/s (1s)\n", i, 4,
			    0.5 * i);
	near(seen.timed.unit_s, 0.5, 1e-9, "the arrival counts before a printed time of one digit");
	begin(NULL);
	for (int i = 1; i <= 30; i++)
		feed_format("Train: 0 [%d/100 (1%%)] Loss: 1 Time: 0.01%ds, 1/s (1s)\n", i, 4,
			    0.5 * i);
	near(seen.timed.unit_s, 0.014, 1e-9,
	     "a printed time of two digits counts before the arrival");

	begin(NULL);
	for (int i = 1; i <= 10; i++)
		feed_format("step %d%.0d\n", i, 0, i < 6 ? i : i - 20);
	ok(seen.timed.position > 8 && seen.timed.unit_s > 0.9 && seen.timed.unit_s < 1.1,
	   "a clock that goes back gives times from there on");
}

/* --- bars --- */

static void bar(const char *description, int i, int total, int elapsed_s, double arrival_s)
{
	char line[256];

	snprintf(line, sizeof(line), "%s %d%%|##  | %d/%d [%02d:%02d<00:10,  1.50it/s]\n",
		 description, 100 * i / total, i, total, elapsed_s / 60, elapsed_s % 60);
	feed_at(line, arrival_s);
}

/* A whole bar, of as many seconds. */
static void whole_bar(const char *description, int total, int life_s)
{
	for (int i = 0; i <= 10; i++)
		bar(description, i * total / 10, total, i * life_s / 10, NO);
}

/* Two bars that take turns, in each of three epochs: the first is that of the training, however
 * long the second lasts. */
static void test_turns(const char *training, const char *validation)
{
	static const int lives_s[][2] = { { 12, 2 }, { 12, 30 }, { 40, 8 }, { 5, 6 } };
	double highest, position;

	for (size_t i = 0; i < sizeof(lives_s) / sizeof(lives_s[0]); i++) {
		bool falls = false, at_end = false;

		begin(NULL);
		highest = 0;
		for (int turn = 0; turn < 12; turn++) {
			whole_bar(turn % 2 ? validation : training, turn % 2 ? 60 : 250,
				  lives_s[i][turn % 2]);
			position = seen.last.position;
			falls |= position < highest;
			at_end |= turn > 0 && position >= seen.last.total;
			highest = isnan(position) ? highest : position;
		}
		near(seen.last.position, 6 * 250, 0,
		     "of two bars that take turns the first counts");
		ok(!falls, "the position of bars that take turns never falls");
		ok(!at_end, "bars that take turns are never at the end of the training");
	}
	begin(NULL);
	whole_bar(training, 100, 30);
	whole_bar("", 9000, 300);
	near(seen.last.total, 9000, 0, "a bar that lasts far longer than the one before counts");
	begin(NULL);
	whole_bar(training, 100, 30);
	near(seen.last.total, 100, 0, "a bar at its end keeps its total");
	feed("epoch 1: accuracy 0.9\n");
	ok(isnan(seen.last.total) && seen.last.position >= 100,
	   "the total of a bar at its end is dropped once an epoch is told");
	begin(NULL);
	for (int epoch = 1; epoch <= 3; epoch++) {
		whole_bar(training, 250, 30);
		whole_bar(validation, 60, 6);
		feed_format("epoch %d: accuracy 0.%d\n", epoch, epoch, NO);
		near(seen.last.position, 250 * epoch, 0,
		     "lines of epochs behind the bars leave the position");
	}
}

static void test_bars(void)
{
	begin(NULL);
	for (int i = 0; i < 100; i++)
		bar("Map:", i, 1000, i, NO);
	for (int i = 0; i < 15; i++)
		bar("", i, 700, i, NO);
	is_str(locked(), "none", "bars of other work and short bars lock no pattern");
	for (int i = 15; i < 25; i++)
		bar("", i, 700, i, NO);
	is_str(locked(), "tqdm_total", "a bar that lives for a time locks its pattern");
	near(seen.last.total, 700, 0, "a bar that lives for a time gives the total");
	for (int i = 0; i < 30; i++)
		bar("Validating:", i, 50, i, NO);
	near(seen.last.total, 700, 0, "a bar of an evaluation leaves the total");
	bar("", 25, 700, 80, NO);
	ok(seen.last.basis == STEP_UNTIMED, "the step after a bar of an evaluation is not timed");

	begin(NULL);
	steps_expect_total(s, 40);
	bar("", 1, 70, 1, NO);
	bar("", 1, 40, 1, NO);
	is_str(locked(), "tqdm_total", "a bar of the expected total locks its pattern at once");
	near(seen.last.total, 40, 0, "a bar of the expected total gives the total");

	begin(NULL);
	feed_at("Epoch 1:   9%|#  | 9/100 [00:09<01:31,  1.00it/s]\n", 109);
	feed_at("Epoch 1:  10%|#  | 10/100 [00:10<01:30,  1.00it/s]\n", 110);
	feed_at("Epoch 1:  21%|#  | 21/100 [00:21<01:19,  1.00it/s]\n", 121);
	steps_summary(s, &summary);
	near(summary.first_arrival_s, 109, 0,
	     "a bar at 9 % and at 10 % is one bar, though its blanks differ");

	begin(NULL);
	steps_set_bar_life(s, 5);
	for (int i = 0; i < 6; i++)
		bar("", i, 70, i, 100 + i);
	is_str(locked(), "none", "a bar that has lived for less than 5 seconds locks no pattern");
	bar("", 6, 70, 6, 106);
	is_str(locked(), "tqdm_total", "a bar that has lived for 5 seconds locks its pattern");
	steps_summary(s, &summary);
	near(summary.first_arrival_s, 100, 0, "a bar that is locked counts from its first line on");

	begin(NULL);
	for (int epoch = 0; epoch < 4; epoch++)
		for (int i = 0; i < 10; i++)
			bar("", i * 10, 91, i, NO);
	near(seen.last.position, 3 * 91 + 90, 0,
	     "short bars of one kind, again and again, count up");
	is_int(seen.last.unit, STEP_BATCHES, "short bars of one kind count batches");

	begin(NULL);
	for (int i = 0; i < 40; i++)
		bar("Epoch 0:", i, 200, i, NO);
	is_int(seen.last.unit, STEP_BATCHES,
	       "a bar of an epoch counts batches from its first line on");
	ok(isnan(seen.last.total), "a bar of an epoch gives no total of the training");

	begin(NULL);
	for (int fold = 0; fold < 2; fold++) {
		for (int i = 0; i < 40; i++)
			bar("", i, 40, i, NO);
		feed("{'train_runtime': 40.0, 'train_steps_per_second': 1.0}\n");
	}
	near(seen.last.position, 40 + 39, 0,
	     "two trainings of the Trainer count one after the other");
	ok(seen.last.unit == STEP_UPDATES && isnan(seen.last.total),
	   "two trainings of the Trainer count updates");

	begin(NULL);
	for (int i = 0; i < 100; i++) {
		if (i % 20 == 0)
			bar("Epochs:", i / 20, 5, i, NO);
		bar("Epoch 1:", i % 20 * 50, 1000, i % 20, NO);
	}
	near(seen.last.position, 4950 - 1000, 0.3, "the inner one of two nested bars counts");
	begin(NULL);
	for (int i = 0; i < 100; i++) {
		bar("Epochs:", i / 20, 5, i, NO);
		bar("Batches:", i % 20 * 50, 1000, i % 20 / 2, NO);
	}
	ok(seen.n_begins == 2 && seen.last.position > 3000,
	   "the inner one of two nested bars counts if the outer is first");
	begin(NULL);
	for (int i = 0; i < 400; i++) {
		int before = i / 10;
		double at = i + 10 * before;

		feed_format(" 1%%|  | %d/5000 [%02d:00<10:00,  1.00it/s]\n", i, i, at);
		for (int k = 1; i % 10 == 9 && k < 50; k++)
			bar("", k, 49, k / 5, at + k / 5.0);
	}
	near(seen.last.total, 5000, 0, "a bar of evaluations without a name does not count");
	near(seen.sum_s / seen.sum_n, 1, 1e-9,
	     "the steps on both sides of an evaluation's bar are not timed");
	begin(NULL);
	for (int i = 0; i < 100; i++)
		bar("x:", i, 1000, i, NO);
	for (int i = 0; i < 30; i++)
		bar("y:", i, 500, i, NO);
	near(seen.last.total, 500, 0, "a bar that follows another one takes over");
	begin(NULL);
	for (int i = 0; i < 40; i++)
		feed_format(" 40%%|### | %dMB/100MB [00:%02d<00:10,  1.50MB/s]\n", i, i, NO);
	is_str(locked(), "none", "a bar of a download locks no pattern");
	test_turns("", "");
	test_turns("Training:", "");

	begin(NULL);
	for (int turn = 0; turn < 4; turn++)
		whole_bar(turn % 2 ? "Training:" : "", turn % 2 ? 60 : 250, 30);
	near(seen.last.position, 2 * 60, 0,
	     "of two bars that take turns the second counts if it alone says that it trains");
}

/* --- much of it --- */

/* Whether the last of these lines may have the total of an epoch, and numbers its steps from 0. */
static void is_end(const char *text, bool of_epoch, bool from_0, const char *what)
{
	begin(NULL);
	steps_set_bar_life(s, 0);
	feed(text);
	ok(seen.n > 0 && seen.last.total_may_be_of_epoch == of_epoch &&
	   seen.last.counts_from_0 == from_0, what);
}

static void test_end(void)
{
	is_end("step 0/4\nstep 1/4\nstep 2/4\nstep 3/4\n", false, true,
	       "a counter from 0 has the training's total and counts from 0");
	is_end("step 1/4\nstep 2/4\nstep 3/4\nstep 4/4\n", false, false,
	       "a counter from 1 has the training's total");
	is_end("  0%|  | 0/4 [00:00<?, ?it/s]\n100%|##| 4/4 [00:40<00:00,  9.00s/it]\n", true,
	       false, "a bar may have the total of an epoch");
	is_end("{'loss': 1, 'epoch': 1.0}\n100%|##| 4/4 [00:40<00:00,  9.00s/it]\n", false, false,
	       "a bar of Hugging Face's Trainer has the training's total");
	is_end("Epoch 1/3: 100%|##| 4/4 [00:40<00:00,  9.00s/it]\n"
	       "Epoch 2/3:  25%|##| 1/4 [00:10<00:00,  9.00s/it]\n"
	       "Epoch 2/3: 100%|##| 4/4 [00:40<00:00,  9.00s/it]\n", false, false,
	       "a bar whose epochs are known has the training's total");
	is_end("batch 2/4\nbatch 3/4\nbatch 4/4\n", true, false,
	       "a counter of batches may have the total of an epoch");
	is_end("Batch 2 of 4 loss 1\nBatch 3 of 4 loss 1\nBatch 4 of 4 loss 1\n", true, false,
	       "batches in other words may have the total of an epoch");
	is_end("[2/4] loss: 1\n[3/4] loss: 1\n[4/4] loss: 1\n", true, false,
	       "a counter without a name may have the total of an epoch");
	is_end("[epoch=1][batch=2/4]:\n[epoch=1][batch=3/4]:\n[epoch=1][batch=4/4]:\n", true, false,
	       "Composer's batches of an epoch may have the total of an epoch");
	is_end("[batch=2/4]:\n[batch=3/4]:\n[batch=4/4]:\n", false, false,
	       "Composer's batches of the training have its total");
	is_end("iter 2/4\niter 3/4\niter 4/4\n", false, false,
	       "a counter of iterations has the training's total");
	is_end("global step 2/4, epoch: 1\nglobal step 3/4, epoch: 1\nglobal step 4/4, epoch: 1\n",
	       false, false, "global steps beside an epoch have the training's total");
	is_end("Epoch 1\nstep 1/9\nstep 2/9\nstep 3/9\nstep 4/9\n", true, false,
	       "steps below the first epoch may have the total of an epoch");
	is_end("Epoch 1\nstep 1/9\nstep 2/9\nstep 3/9\nstep 4/9\nEpoch 2\nstep 5/9\n", false,
	       false, "steps that a second epoch goes on with have the training's total");
	is_end("batch 2/4\nbatch 3/4\nbatch 4/4\nbatch 1/4\nbatch 2/4\n", false, false,
	       "batches that begin again have the training's total");
}

static void test_throttle(void)
{
	begin(NULL);
	for (int i = 0; i < 200000; i++)
		feed_at("a step and a batch, and no number\n", 1);
	feed_at("step 1\nstep 2\nstep 3\n", 1);
	is_str(locked(), "none", "lines beyond the time there is are passed over");
	ok(summary.n_skipped > 0, "lines that are passed over are counted as skipped");
	for (int i = 0; i < 200000; i++)
		feed_format(i % 10 ? "a step, a batch, and no number\n" : "step %d\n%.0d", i, 0,
			    1 + 1e-5 * i);
	is_str(locked(), "generic_num", "steps in a flood that goes on are found all the same");

	begin(NULL);
	for (int i = 0; i < 100000; i++)
		feed("a step and a batch, and no number\n");
	steps_summary(s, &summary);
	is_int(summary.n_skipped, 0, "no line of a file is skipped");
}

static double cpu_now_s;

static double slow_clock(void)
{
	return cpu_now_s += 0.01;
}

/* Each line tried takes 10 ms, of which there are 5 a second. */
static void test_cpu_budget(void)
{
	int early;

	begin("u=([0-9]+)");
	steps_set_cpu_clock(s, slow_clock);
	for (int i = 1; i <= 1000; i++)
		feed_format("u=%d\n%.0d", i, 0, 1);
	early = seen.n;
	ok(early >= 9 && early <= 11, "a burst of lines is tried with a slow expression");
	for (int i = 1001; i <= 2000; i++)
		feed_format("u=%d\n%.0d", i, 0, 1 + (i - 1000) * 0.1);
	ok(seen.n - early >= 49 && seen.n - early <= 52,
	   "as many lines as there is time for are tried after the burst");
	steps_summary(s, &summary);
	is_int(summary.n_skipped, 2000 - seen.n,
	       "the lines that a slow expression skips are counted");
}

/* Pieces of any size: the same events. */
static void test_pieces(void)
{
	scoped(text_release) struct text all = TEXT_INIT;
	struct seen whole;

	for (size_t f = 0; f < sizeof(formats) / sizeof(formats[0]); f++)
		for (int i = 0; i < 3; i++)
			text_addf(&all, "[rank0]: %s%s", formats[f].lines[i], i % 2 ? "\r" : "\n");
	begin(NULL);
	steps_feed(s, all.data, all.length, 5, sink, &seen);
	whole = seen;
	for (size_t size = 1; size < 200; size += 13) {
		begin(NULL);
		for (size_t at = 0; at < all.length; at += size)
			steps_feed(s, all.data + at,
				   at + size < all.length ? size : all.length - at, 5, sink, &seen);
		ok(seen.n == whole.n && same(seen.last.position, whole.last.position),
		   "lines in pieces of any size give the same events");
	}
}

/* Lines that count one training of several. */
static void test_parts(void)
{
	static const char *const words[] = {
		"Fold", "trial", "STAGE", "phase", "seed", "task", "run", "round", "split", "part",
		"experiment",
	};
	static const char path[] = "saved to out/fold-2/model.pt";
	double part = 7;
	bool left = true;

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		begin(NULL);
		feed("step 1/20 loss 0.5\nstep 2/20 loss 0.5\nstep 3/20 loss 0.5\n");
		ok(seen.last.total >= 20, "steps of the only training have a total");
		feed(words[i]);
		feed(" 2/5\nstep 4/20 loss 0.5\n");
		ok(isnan(seen.last.total), words[i]);
	}
	ok(!steps_part(path, strlen(path), &part, &left) && left && part >= 7,
	   "a path with the name of a part counts none");
}

int main(void)
{
	test_formats();
	test_table();
	test_lines();
	test_ranks();
	test_locking();
	test_own_regex();
	test_dialects();
	test_limits();
	test_needles();
	test_pauses();
	test_epochs();
	test_unknown();
	test_arrivals();
	test_bars();
	test_parts();
	test_end();
	test_throttle();
	test_cpu_budget();
	test_pieces();
	steps_free(s);
	return done();
}
