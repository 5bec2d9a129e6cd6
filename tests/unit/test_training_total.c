/* test_training_total.c - which total of a training is believed: declared, reported or printed. */
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

#include "pollux/training_total.h"
#include "tap.h"

#define NO NAN

static const struct row {
	const char *what;
	struct training_amount declared, reported;
	double printed;
	struct training_amount at;
	enum total_source source;
	struct training_amount total;
} rows[] = {
	{ "nothing is known", { NO, NO, NO }, { NO, NO, NO }, NO, { NO, NO, NO },
	  TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "what a person declared counts before all others",
	  { 6400, NO, NO }, { 9600, 300, 30 }, 500, { 640, 20, 2 },
	  TOTAL_DECLARED, { 6400, NO, NO } },
	{ "a declared total that is passed stays", { NO, 100, NO }, { NO, NO, NO }, NO,
	  { 6400, 200, NO }, TOTAL_DECLARED, { NO, 100, NO } },
	{ "a declared total that is passed hides a reported one", { NO, 100, NO },
	  { NO, 300, NO }, NO, { NO, 200, NO }, TOTAL_DECLARED, { NO, 100, NO } },
	{ "a reported total counts before a printed one", { NO, NO, NO }, { NO, 300, NO }, 500,
	  { NO, 20, NO }, TOTAL_REPORTED, { NO, 300, NO } },
	{ "a total of 0 is none", { 0, 0, 0 }, { 0, 0, 0 }, 500, { NO, 20, NO },
	  TOTAL_PRINTED, { NO, 500, NO } },
	{ "a printed total counts where there is no other", { NO, NO, NO }, { NO, NO, NO }, 500,
	  { NO, 20, NO }, TOTAL_PRINTED, { NO, 500, NO } },
	{ "a printed total counts once a reported one is passed", { NO, NO, NO },
	  { NO, 96, NO }, 480, { NO, 200, NO }, TOTAL_PRINTED, { NO, 480, NO } },
	{ "both are passed: the end is not known", { NO, NO, NO }, { NO, 96, NO }, 96,
	  { NO, 200, NO }, TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "a printed total that is passed is none", { NO, NO, NO }, { NO, NO, NO }, 96,
	  { NO, 100, NO }, TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "a total that is reached is none that is passed", { NO, NO, NO },
	  { 6400, 200, 20 }, NO, { 6400, 200, 20 }, TOTAL_REPORTED, { 6400, 200, 20 } },
	{ "the last batch may go beyond the samples", { NO, NO, NO }, { 6400, NO, NO }, NO,
	  { 6431, 201, NO }, TOTAL_REPORTED, { 6400, NO, NO } },
	{ "two batches beyond the samples are too many", { NO, NO, NO }, { 6400, NO, NO }, NO,
	  { 6464, 202, NO }, TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "two steps beyond the total may be rounding", { NO, NO, NO }, { NO, 200, NO }, NO,
	  { NO, 202, NO }, TOTAL_REPORTED, { NO, 200, NO } },
	{ "three are too many", { NO, NO, NO }, { NO, 200, NO }, NO,
	  { NO, 203, NO }, TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "samples tell more than steps, whose size may change", { NO, NO, NO },
	  { 6400, 100, NO }, NO, { 3200, 150, NO }, TOTAL_REPORTED, { 6400, 100, NO } },
	{ "steps tell where no samples do", { NO, NO, NO }, { 6400, 100, NO }, NO,
	  { NO, 150, NO }, TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "epochs tell where nothing else does", { NO, NO, NO }, { NO, NO, 8 }, NO,
	  { NO, 900, 9.5 }, TOTAL_UNKNOWN, { NO, NO, NO } },
	{ "the last epoch may be told as one more", { NO, NO, NO }, { NO, NO, 8 }, NO,
	  { NO, 900, 9 }, TOTAL_REPORTED, { NO, NO, 8 } },
	{ "epochs alone are known beside the steps of the log", { NO, NO, NO }, { NO, NO, 8 }, 8,
	  { NO, 3, 3 }, TOTAL_PRINTED, { NO, 8, 8 } },
	{ "epochs that are passed are not", { NO, NO, NO }, { NO, NO, 8 }, 100,
	  { NO, 12, 12 }, TOTAL_PRINTED, { NO, 100, NO } },
	{ "epochs of what was passed are passed", { NO, NO, NO }, { NO, 8, 8 }, 100,
	  { NO, 12, 1 }, TOTAL_PRINTED, { NO, 100, NO } },
	{ "a total without a position is none that is passed", { NO, NO, NO }, { NO, 300, NO },
	  NO, { NO, NO, NO }, TOTAL_REPORTED, { NO, 300, NO } },
};

static bool is_same(double a, double b)
{
	return isnan(b) ? isnan(a) : a >= b && a <= b;
}

int main(void)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *row = &rows[i];
		struct training_total t = training_total_of(&(struct total_facts){
			.declared = row->declared, .reported = row->reported,
			.printed_steps = row->printed, .position = row->at, .batch_size = 32,
		});

		ok(t.source == row->source && is_same(t.amount.samples, row->total.samples) &&
		   is_same(t.amount.steps, row->total.steps) &&
		   is_same(t.amount.epochs, row->total.epochs), row->what);
	}
	return done();
}
