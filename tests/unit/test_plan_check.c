/* The checker of rounds with execution plans: each kind of illegal round is found. */
#include <string.h>

#include "pollux/sim_plans.h"
#include "sim/plan_check.h"
#include "tap.h"

static char dp[] = "dp", zero[] = "zero";
static struct plan_row rows[] = {
	{ zero, "44", 8, 1 }, { dp, "4", 4, 2 }, { zero, "12", 3, 2.5 }, { dp, "2", 2, 4 },
};
static struct plan_application application = { .rows = rows, .n_rows = 4 };
static const struct plan_job plain = { .application = &application, .cores = 8, .owner_s = 3 };
static const struct plan_job sure = {
	.application = &application, .cores = 8, .owner_s = 3, .guaranteed = true,
};
static int on_first[] = { 0 }, on_second[] = { 1 }, on_both[] = { 0, 1 };
static int g2[] = { 2 }, g4[] = { 4 }, g22[] = { 2, 2 }, g21[] = { 2, 1 }, g44[] = { 4, 4 };
static const struct placement none, four = { 1, 4, on_first, g4 }, two = { 1, 2, on_second, g2 };

static struct plan_state state(const struct plan_job *job, const struct placement *held,
			       const char *plan, double iteration_s)
{
	return (struct plan_state){ job, "a", held, 0, plan, iteration_s };
}

static int check(struct plan_state a, struct plan_state b, const char **text)
{
	static struct err err;
	struct plan_state states[] = { a, b };
	int rc = plan_check(states, 2, 2, 4, 32, &err);

	*text = rc ? err.text : "";
	return rc;
}

int main(void)
{
	static const struct placement over = { 2, 4, on_both, g22 }, ring = { 2, 3, on_both, g21 },
				      both = { 2, 8, on_both, g44 };
	const struct plan_state waits = state(&plain, &none, NULL, 0);
	struct plan_state loses = state(&sure, &none, NULL, 0);
	struct plan_job hungry = plain;
	const char *text;

	is_int(check(state(&plain, &four, "dp", 2), state(&plain, &two, "dp", 4), &text), 0,
	       "two jobs on two nodes");
	is_int(check(state(&plain, &ring, "zero", 2.5), waits, &text), 0,
	       "placements are rings: 21 is 12");
	is_int(check(state(&plain, &both, "zero", 1), waits, &text), 0, "a job on both");
	check(state(&plain, &both, "zero", 1), state(&plain, &two, "dp", 4), &text);
	is_str(text, "6 of 4 GPUs of node 1 are held", "no GPU twice");
	check(state(&plain, &none, "dp", 4), waits, &text);
	is_str(text, "job 'a' has 0 GPUs and makes iterations", "none runs without GPUs");
	check(state(&plain, &two, NULL, 0), waits, &text);
	is_str(text, "job 'a' has 2 GPUs and makes no iterations", "nor holds them idle");
	ok(check(state(&plain, &over, "dp", 2), waits, &text) != 0, "a placement without row");
	ok(check(state(&plain, &four, "zero", 2), waits, &text) != 0, "a plan without row");
	ok(check(state(&plain, &four, "dp", 1.9), waits, &text) != 0, "faster than the row");
	is_int(check(state(&sure, &four, "dp", 2), waits, &text), 0, "a guarantee that is kept");
	check(state(&sure, &two, "dp", 4), waits, &text);
	is_str(text, "guaranteed job 'a' is slower than asked", "and not");
	loses.had = 4;
	check(loses, waits, &text);
	is_str(text, "guaranteed job 'a' loses its GPUs", "or lost");
	hungry.cores = 9;
	check(state(&hungry, &four, "dp", 2), waits, &text);
	is_str(text, "36 of 32 cores of node 0 are wanted", "cores");
	return done();
}
