/* test_metric_lines.c - numbers in lines, in whatever pieces these come. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/local/recorder.h"
#include "pollux/mem.h"
#include "pollux/steps.h"
#include "tap.h"

static void take(const char *name, double value, void *arg)
{
	text_addf(arg, "%s=%g ", name, value);
}

/* What the expressions find in the text, fed in pieces of so many bytes. */
static char *found(const struct strings *list, const char *text, size_t piece)
{
	struct err err;
	struct text got = TEXT_INIT;
	struct metric_lines *m = metric_lines_new(list, &err);
	size_t n = strlen(text);

	for (size_t at = 0; at < n; at += piece)
		metric_lines_feed(m, text + at, n - at < piece ? n - at : piece, (double)NAN, take,
				  &got);
	metric_lines_end(m, take, &got);
	metric_lines_free(m);
	return text_detach(&got);
}

static void test_found(void)
{
	static const char log[] = "loss: 0.5 acc: 90%\n\033[1mloss: 4e-1\033[0m\nloss: nan\n"
				  "loss: 123456789012345678901234567890123456789012345678901"
				  "2345678901234567890123456789012345678901234567890123456789"
				  "01234567890123456789\nLoss: 3\rloss: -.25 loss: 7\nacc: 91%";
	scoped(strings_release) struct strings list = { 0 };

	strings_init(&list);
	strings_add(&list, "loss=loss: ([^ ]+)");
	strings_add(&list, "acc/top-1=acc: ([0-9]+)%");
	for (size_t piece = 1; piece <= sizeof(log); piece += 7) {
		autofree char *got = found(&list, log, piece);

		is_str(got, "loss=0.5 acc/top-1=90 loss=0.4 loss=nan loss=-0.25 acc/top-1=91 ",
		       "expressions give the first value of each line in any pieces");
	}
}

static void test_not_finite(void)
{
	static const char log[] = "loss nan\nloss NaN,\nloss -nan\nloss tensor(nan,\nloss inf.\n"
				  "loss Infinity\nloss -inf\nloss 1e999\nloss banana\nloss info\n"
				  "loss tensor(0.5)\nloss np.float32(0.25),\nloss -\nloss None\n";
	scoped(strings_release) struct strings list = { 0 };
	char *got;

	strings_init(&list);
	strings_add(&list, "l=loss (\\S+)");
	got = found(&list, log, sizeof(log));
	for (char *p = got; (p = strstr(p, "=-nan"));)
		memmove(p + 1, p + 2, strlen(p + 2) + 1);
	is_str(got, "l=nan l=nan l=nan l=nan l=inf l=inf l=-inf l=inf l=0.5 l=0.25 ",
	       "a word such as nan is a value, and another word is none");
	free(got);
}

static void refused(const char *entry, const char *why)
{
	scoped(strings_release) struct strings list = { 0 };
	struct err err;

	strings_init(&list);
	strings_add(&list, entry);
	ok(!metric_lines_new(&list, &err), entry);
	is_int(err.exit_status, EX_USAGE, "a wrong expression is a usage error");
	ok(strstr(err.text, why), why);
}

static double clock_s;

/* A processor that takes 10 ms for each expression. */
static double slow_clock(void)
{
	return clock_s += 0.01;
}

static void count(const char *name, double value, void *arg)
{
	(void)name;
	(void)value;
	++*(int *)arg;
}

/* After a burst of 0.1 s, lines that come at once are skipped; a second later 5 ms are there. */
static void test_limit(void)
{
	scoped(strings_release) struct strings list = { 0 };
	struct err err;
	struct metric_lines *m;
	int n = 0;

	strings_init(&list);
	strings_add(&list, "x=x ([0-9]+)");
	m = metric_lines_new(&list, &err);
	metric_lines_set_cpu_clock(m, slow_clock);
	for (int i = 0; i < 1000; i++)
		metric_lines_feed(m, "x 1\n", 4, 5, count, &n);
	ok(n >= 10 && n <= 11, "only as many lines as fit into the burst are read");
	n = 0;
	for (int i = 0; i < 1000; i++)
		metric_lines_feed(m, "x 1\n", 4, 6.0 + 10 * i, count, &n);
	is_int(n, 1000, "all lines that come slowly are read");
	metric_lines_free(m);
}

/* What --stop-nan reads without --metric. */
static void test_losses(void)
{
	static const char *const lines[][2] = {
		{ "step 7 loss: nan", "nan" },
		{ "step 7 loss: 0.25, lr nan", "0.25" },
		{ "{\"step\": 7, \"train_loss\": NaN}", "nan" },
		{ "{'loss': tensor(nan, device='cuda:0')}", "nan" },
		{ "epoch 1 | loss inf | lr 1", "inf" },
		{ "it 7: loss=-inf", "-inf" },
		{ "loss_cls 0.3 loss_box nan", "nan" },
		{ "Loss: [nan]", "nan" },
		{ "best_loss inf loss np.float64(nan)", "nan" },
		{ "best_loss inf loss 0.5", "0.5" },
		{ "train/loss: 1.5e-3 val/loss: 2", "0.0015" },
		{ "loss is nan, stopping", "nan" },
		{ "12/20 [===>] - ETA: 3s - loss: nan - acc: 0.1", "nan" },
		{ "training loss 3", "3" },
		{ "loss_scale inf", "" },
		{ "lossless nan", "" },
		{ "best loss: inf", "" },
		{ "min_loss=inf", "" },
		{ "grad nan", "" },
		{ "loss info: none", "" },
		{ "loss nanometers", "" },
	};
	scoped(strings_release) struct strings list = { 0 };

	strings_init(&list);
	strings_add(&list, recorder_losses_in_log);
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		char *got = found(&list, lines[i][0], 1000), want[64] = "";

		if (*lines[i][1])
			snprintf(want, sizeof(want), "log_loss=%s ", lines[i][1]);
		is_str(got, want, lines[i][0]);
		free(got);
	}
}

int main(void)
{
	test_losses();
	test_found();
	test_not_finite();
	refused("loss", "NAME=REGEX");
	refused("=(x)", "NAME=REGEX");
	refused("a b=(x)", "NAME=REGEX");
	refused("loss=x", "no group");
	refused("loss=(x", "no regular expression");
	test_limit();
	return done();
}
