/* training_total.c - see training_total.h. */
#include "pollux/training_total.h"

#include <math.h>
#include <stdbool.h>

/* An epoch that is done is told as n or n + 1. */
#define SLACK_EPOCHS 1.0

static double known(double amount)
{
	return amount > 0 ? amount : (double)NAN;
}

static bool has_work(const struct training_amount *a)
{
	return a->samples > 0 || a->steps > 0;
}

/* True if the position is beyond the total. Samples tell more than steps, whose size may change,
 * and steps more than epochs. */
static bool is_passed(const struct training_amount *total, const struct total_facts *f)
{
	const struct training_amount *at = &f->position;
	double batch_size = f->batch_size > 0 ? f->batch_size : 1;

	if (total->samples > 0 && at->samples >= 0)
		return at->samples >= total->samples + TOTAL_SLACK_STEPS * batch_size;
	if (total->steps > 0 && at->steps >= 0)
		return at->steps > total->steps + TOTAL_SLACK_STEPS;
	return total->epochs > 0 && at->epochs > total->epochs + SLACK_EPOCHS;
}

static struct training_total total_from(enum total_source source, const struct training_amount *a)
{
	return (struct training_total){
		.source = source,
		.amount = { known(a->samples), known(a->steps), known(a->epochs) },
	};
}

struct training_total training_total_of(const struct total_facts *f)
{
	struct training_amount printed = { .steps = f->printed_steps }, none = { .steps = 0 };
	bool is_none = is_passed(&f->reported, f);

	if (has_work(&f->declared))
		return total_from(TOTAL_DECLARED, &f->declared);
	if (has_work(&f->reported) && !is_none)
		return total_from(TOTAL_REPORTED, &f->reported);
	if (has_work(&printed) && !is_passed(&printed, f)) {
		printed.epochs = is_none ? 0 : f->reported.epochs;
		return total_from(TOTAL_PRINTED, &printed);
	}
	if (f->reported.epochs > 0 && !is_none)
		return total_from(TOTAL_REPORTED, &f->reported);
	return total_from(TOTAL_UNKNOWN, &none);
}
