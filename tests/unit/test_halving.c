/* test_halving.c - the option --halving as it is read and written; runs at rungs, by hand; a sweep
 * played to its end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/halving.h"
#include "pollux/mem.h"
#include "tap.h"
#include "words.h"

/* --- the option --- */

static const struct {
	const char *text;
	double total;
	const char *want;		/* as it is written; else the error */
} options[] = {
	{ "loss,rungs=100/300", NAN, "loss:max,eta=3,rungs=100/300" },
	{ "loss:min,rungs=100/300", NAN, "loss:min,eta=3,rungs=100/300" },
	{ "a:b:max,rungs=7,eta=2.5", NAN, "a:b:max,eta=2.5,rungs=7" },
	{ "loss:min,first=10", 100, "loss:min,eta=3,rungs=10/30/90" },
	{ "loss:min,first=10,eta=10", 100, "loss:min,eta=10,rungs=10" },
	{ "loss:min", 2700, "loss:min,eta=3,rungs=100/300/900" },
	{ "loss:min", 600000, "loss:min,eta=3,rungs=22222/66666/199998" },
	{ "loss:min,eta=2.5", 1001, "loss:min,eta=2.5,rungs=64/160/400" },
	{ "loss:min", 2, "loss:min,eta=3,rungs=1" },
	{ "loss:min,eta=2", 80, "loss:min,eta=2,rungs=10/20/40" },
	{ "loss:min", NAN, "where its end is not declared (--samples, --epochs), it needs "
			   "rungs=A/B/C" },
	{ "loss:min,first=100", 100, "rung 100 is not below the end, 100 samples" },
	{ "loss,rungs=100/100", NAN, "rung 100 is not above 100" },
	{ "loss,rungs=100/200", 200, "rung 200 is not below the end, 200 samples" },
	{ "loss,rungs=1/2/3/4/5/6/7/8/9/10/11/12/13/14/15/16/17", NAN, "more than 16 rungs" },
	{ "loss,rungs=", NAN, "'' is no number of samples" },
	{ "loss,rungs=10/x", NAN, "'x' is no number of samples" },
	{ "loss,first=0", 100, "'0' is no number of samples" },
	{ "loss,rungs=10,first=10", 100, "give one of rungs= and first=" },
	{ "loss,rungs=10,eta=1", NAN, "eta is a number above 1, at most 100" },
	{ "loss,rung=10", NAN, "'rung=10' is none of eta=X, rungs=A/B/C, first=N" },
	{ "acc:foo,rungs=10", NAN, "behind 'acc:' comes min or max, not 'foo'" },
	{ "acc:,rungs=10", NAN, "behind 'acc:' comes min or max, not ''" },
	{ ":min,rungs=10", NAN, "it needs the name of a metric first" },
	{ "", NAN, "it needs the name of a metric first" },
};

static void test_option(void)
{
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		scoped(text_release) struct text text = TEXT_INIT;
		struct halving h;
		struct err err;

		if (halving_parse(options[i].text, options[i].total, &h, &err))
			text_add(&text, err.text);
		else
			halving_format(&h, &text);
		is_str(text.data ? text.data : "", options[i].want, options[i].text);
	}
}

/* --- by hand --- */

#define MOST 9

/* Runs as text: the state (g going, p paused, d done, o out) and the values at rungs, as
 * "p0.5/0.4"; wanted: the turns, and "over" if the sweep is over. */
static const struct {
	const char *name;
	const char *runs[MOST + 1];
	const char *want;
} cases[] = {
	{ "a sweep without runs is over", { NULL }, "over" },
	{ "a run that goes gets no turn", { "g" }, "0" },
	{ "the first run at a rung waits for others", { "p0.5", "g", "g" }, "0 0 0" },
	{ "two runs of three at a rung wait for the third", { "p0.5", "p0.4", "g" }, "0 0 0" },
	{ "the best run of three goes on", { "p0.5", "p0.4", "p0.6" }, "0 1 0" },
	{ "the best run of three goes on while others go, too",
	  { "p0.5", "p0.4", "p0.6", "g", "g" }, "0 1 0 0 0" },
	{ "the two best runs of six go on", { "p1", "p2", "p3", "p4", "p5", "p6" }, "1 2 0 0 0 0" },
	{ "a run that went on counts at its rung",
	  { "g1", "p2", "p3", "p4", "p5", "p6" }, "0 1 0 0 0 0" },
	{ "a run that is done or failed counts at its rung",
	  { "d1/1", "o2", "p3", "p4", "p5", "p6" },
	  "0 0 0 0 0 0 over" },
	{ "a failed run counts and takes the place of one that goes on",
	  { "o1", "p2", "p3", "g" }, "0 0 0 0" },
	{ "runs at higher rungs go on first", { "p1/9", "p2/8", "p3/7", "p4", "p5", "p6", "p0.5" },
	  "0 0 1 0 0 0 2" },
	{ "a later, better run goes on beside the first", { "g2", "p1", "p3" }, "0 1 0" },
	{ "the lower number goes on among equal values", { "p1", "p1", "p1" }, "1 0 0" },
	{ "a run without a value is the worst", { "pnan", "pnan", "p7" }, "0 0 1" },
	{ "the better one of two goes on at the end", { "p2", "p1" }, "0 1" },
	{ "the best run at the highest rung goes on at the end",
	  { "p5", "p2/3", "p3/2", "o", "p6" },
	  "0 0 1 0 0" },
	{ "no run goes on at the end if a better one is done", { "p2", "d1/1" }, "0 0 over" },
	{ "no run goes on at the end if one as good is done", { "p2", "d2" }, "0 0 over" },
	{ "a run goes on at the end if the one that is done was worse", { "p2", "d3/3" }, "1 0" },
	{ "a run goes on at the end if the one that is done told nothing", { "p2", "d" }, "1 0" },
	{ "a run goes on at the end if the one that is done diverged", { "p2", "d1/nan" }, "1 0" },
	{ "a run goes on if the one that is done diverged after its rungs",
	  { "p2", "D1/1" }, "1 0" },
	{ "the best run goes on among those that nobody beat", { "p4", "p3", "d" }, "0 1 0" },
	{ "no run goes on at the end while one goes", { "p2", "g1" }, "0 0" },
	{ "the best run that is left goes on where better ones failed",
	  { "o1", "p2", "p3" }, "0 1 0" },
	{ "a run that diverged never goes on", { "pnan", "p2", "p3", "p4", "p5", "p6" },
	  "0 1 2 0 0 0" },
	{ "a run that diverged does not go on though its place would do",
	  { "p1", "pnan", "pnan", "pnan", "pnan", "pnan" },
	  "1 0 0 0 0 0" },
	{ "a run of infinite loss does not go on", { "pinf", "p-inf", "p7" }, "0 0 1" },
	{ "a sweep of which all runs diverged is over", { "pnan", "pinf", "p-inf" }, "0 0 0 over" },
	{ "the other one of two goes on if one diverged", { "pnan", "p9" }, "0 1" },
	{ "the other one goes on if the one at a higher rung diverged", { "p1/nan", "p9" }, "0 1" },
	{ "runs that diverged do not go on while one goes",
	  { "pnan", "pnan", "pnan", "g" }, "0 0 0 0" },
	{ "a sweep of which all runs are out is over", { "o1", "o" }, "0 0 over" },
};

static void read_run(const char *text, struct halving_run *run)
{
	static const char letters[] = "gpdoD";
	char copy[80], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text + 1);
	run->state = (enum halving_state)(strchr(letters, *text) - letters);
	run->diverged = *text == 'D';	/* done */
	if (run->diverged)
		run->state = HALVING_DONE;
	while (*copy && (word = strsep(&rest, "/")))
		run->values[run->rung++] = strtod(word, NULL);
}

static void decide(const struct halving *h, const char *const *texts, struct text *out)
{
	struct halving_run runs[MOST] = { { .id = 0 } };
	int n = 0;
	bool over;

	for (; texts[n]; n++) {
		runs[n].id = n + 1;
		read_run(texts[n], &runs[n]);
		for (int k = 0; k < runs[n].rung && !h->low_is_best; k++)
			runs[n].values[k] = -runs[n].values[k];
	}
	over = halving_decide(h, runs, n);
	for (int i = 0; i < n; i++)
		text_addf(out, "%s%d", i ? " " : "", runs[i].turn);
	if (over)
		text_addf(out, "%sover", n ? " " : "");
}

static void test_by_hand(void)
{
	struct halving low, high;
	struct err err;

	halving_parse("loss:min,rungs=10/30", NAN, &low, &err);
	halving_parse("acc:max,rungs=10/30", NAN, &high, &err);
	for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
		scoped(text_release) struct text text = TEXT_INIT;

		decide(i % 2 ? &high : &low, cases[i / 2].runs, &text);
		is_str(text.data, cases[i / 2].want, cases[i / 2].name);
	}
}

static void test_words(void)
{
	static const struct { int rank; const char *want; } ranks[] = {
		{ 1, "1st" }, { 2, "2nd" }, { 3, "3rd" }, { 4, "4th" }, { 11, "11th" },
		{ 12, "12th" }, { 13, "13th" }, { 21, "21st" }, { 102, "102nd" }, { 111, "111th" },
	};
	struct halving h;
	struct err err;

	halving_parse("val_loss:min,rungs=1024/4096/8192/16384", NAN, &h, &err);
	for (size_t i = 0; i < sizeof(ranks) / sizeof(ranks[0]); i++) {
		struct halving_run run = {
			.rung = 2, .values = { 0.5, 0.42 }, .rank = ranks[i].rank, .of = 200,
		};
		struct verdict v = verdict_of((struct fact){ FACT_PAUSED, .rung = { &h, &run } });
		scoped(text_release) struct text want = TEXT_INIT;

		text_addf(&want, "paused at rung 2 of 4 (4096 samples): val_loss 0.42 is %s of 200",
			  ranks[i].want);
		is_str(words(&v), want.data, "the words tell the rank of a run");
	}
}

static void test_diverged_words(void)
{
	struct halving_run run = { .rung = 1, .values = { -(double)NAN }, .rank = 4, .of = 4 };
	struct halving h;
	struct verdict v = verdict_of((struct fact){ FACT_PAUSED, .rung = { &h, &run } });
	struct err err;

	halving_parse("val_loss:min,rungs=200/600", NAN, &h, &err);
	is_str(words(&v), "paused at rung 1 of 2 (200 samples): val_loss nan is 4th of 4: it has "
	       "diverged, and goes no further", "the words say that a run has diverged");
}

/* --- a whole sweep --- */

/* Plays 27 runs on some devices, run i having the value order[i] at each rung: who has devices goes
 * to the next rung, or to the end after the last one. Returns the steps from rung to rung. */
static int play(const struct halving *h, int devices, const int *order, struct halving_run *runs)
{
	bool has_device[27] = { false };
	int steps = 0, next_new = 0;

	for (int i = 0; i < 27; i++)
		runs[i] = (struct halving_run){ .id = i + 1, .state = HALVING_GOING };
	for (int round = 0; round < 1000 && !halving_decide(h, runs, 27); round++) {
		int used = 0;

		for (int turn = 1; turn <= 27 && used < devices; turn++)
			for (int i = 0; i < 27; i++)
				if (runs[i].turn == turn && used < devices)
					used += has_device[i] = true;
		while (used < devices && next_new < 27)
			used += has_device[next_new++] = true;
		for (int i = 0; i < 27; i++) {
			if (!has_device[i])
				continue;
			has_device[i] = false;
			steps++;
			runs[i].state = runs[i].rung < h->n_rungs ? HALVING_PAUSED : HALVING_DONE;
			if (runs[i].state == HALVING_PAUSED)
				runs[i].values[runs[i].rung++] = order[i];
		}
	}
	return steps;
}

static int count_at(const struct halving_run *runs, int rung)
{
	int n = 0;

	for (int i = 0; i < 27; i++)
		n += runs[i].rung >= rung;
	return n;
}

static void test_whole_sweep(void)
{
	int best_first[27], best_last[27];
	struct halving_run runs[27];
	struct halving h;
	struct err err;

	for (int i = 0; i < 27; i++) {
		best_first[i] = i;
		best_last[i] = 26 - i;
	}
	halving_parse("loss:min,rungs=1/3/9", NAN, &h, &err);
	is_int(play(&h, 27, best_first, runs), 27 + 9 + 3 + 1,
	       "a sweep on 27 devices takes 40 steps, as if synchronous");
	ok(runs[0].state == HALVING_DONE && count_at(runs, 2) == 9 && count_at(runs, 3) == 3,
	   "a sweep on 27 devices ends the best and lifts 9 and 3");
	is_int(play(&h, 1, best_first, runs), 40,
	       "a sweep on one device takes 40 steps, the best one first");
	ok(runs[0].state == HALVING_DONE && count_at(runs, 2) == 9,
	   "a sweep on one device ends the best one that comes first");
	play(&h, 1, best_last, runs);
	ok(runs[26].state == HALVING_DONE,
	   "a sweep on one device ends the best one that comes last");
	ok(count_at(runs, 2) > 9 && count_at(runs, 1) == 27,
	   "a sweep on one device lifts others before the best one comes");
}

int main(void)
{
	test_option();
	test_by_hand();
	test_words();
	test_diverged_words();
	test_whole_sweep();
	return done();
}
