/* The second look at what was decided in a simulation: each kind of illegal round is found, of
 * execution plans and of machines in racks. */
#include <string.h>

#include "sim/world.h"
#include "tap.h"

/* --- execution plans --- */

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

static struct plan_run state(const struct plan_job *job, const struct placement *held,
			       const char *plan, double iteration_s)
{
	return (struct plan_run){ job, "a", held, 0, plan, iteration_s, 0, NULL };
}

static int check_plan(struct plan_run a, struct plan_run b, const char **text)
{
	static struct err err;
	const struct plan_run *const runs[] = { &a, &b };
	int rc = plan_check(runs, 2, 2, 4, 32, &err);

	*text = rc ? err.text : "";
	return rc;
}

static void test_plans(void)
{
	static const struct placement over = { 2, 4, on_both, g22 }, ring = { 2, 3, on_both, g21 },
				      both = { 2, 8, on_both, g44 };
	const struct plan_run waits = state(&plain, &none, NULL, 0);
	struct plan_run loses = state(&sure, &none, NULL, 0);
	struct plan_job hungry = plain;
	const char *text;

	is_int(check_plan(state(&plain, &four, "dp", 2), state(&plain, &two, "dp", 4), &text), 0,
	       "two jobs on two nodes are legal");
	is_int(check_plan(state(&plain, &ring, "zero", 2.5), waits, &text), 0,
	       "a placement counts as a ring: 21 is 12");
	is_int(check_plan(state(&plain, &both, "zero", 1), waits, &text), 0,
	       "a job on both nodes is legal");
	check_plan(state(&plain, &both, "zero", 1), state(&plain, &two, "dp", 4), &text);
	is_str(text, "6 of 4 GPUs of node 1 are held", "GPUs that are held twice are found");
	check_plan(state(&plain, &none, "dp", 4), waits, &text);
	is_str(text, "job 'a' has 0 GPUs and makes iterations",
	       "a job that makes iterations without GPUs is found");
	check_plan(state(&plain, &two, NULL, 0), waits, &text);
	is_str(text, "job 'a' has 2 GPUs and makes no iterations",
	       "a job that holds GPUs idle is found");
	ok(check_plan(state(&plain, &over, "dp", 2), waits, &text) != 0,
	   "a placement without a row is found");
	ok(check_plan(state(&plain, &four, "zero", 2), waits, &text) != 0,
	   "a plan without a row is found");
	ok(check_plan(state(&plain, &four, "dp", 1.9), waits, &text) != 0,
	   "a job that is faster than its row is found");
	is_int(check_plan(state(&sure, &four, "dp", 2), waits, &text), 0,
	       "a guarantee that is kept is legal");
	check_plan(state(&sure, &two, "dp", 4), waits, &text);
	is_str(text, "guaranteed job 'a' is slower than asked",
	       "a guarantee that is not kept is found");
	loses.had = 4;
	check_plan(loses, waits, &text);
	is_str(text, "guaranteed job 'a' loses its GPUs",
	       "a guaranteed job that loses its GPUs is found");
	hungry.cores = 9;
	check_plan(state(&hungry, &four, "dp", 2), waits, &text);
	is_str(text, "36 of 32 cores of node 0 are wanted", "cores that are held twice are found");
}

/* --- machines in racks --- */

static const struct sim_racks racks = {
	.cluster = { .racks = 1, .machines_per_rack = 2, .gpus_per_machine = 4 },
};
static int no_gpu[2], two_of_one[] = { 2, 0 }, one_of_each[] = { 1, 1 }, minus[] = { 3, -1 };

static struct rack_run holds(int *held)
{
	return (struct rack_run){ .name = "a", .told = { .gpus = 2 }, .held = held,
				  .held_before = no_gpu, .runs = true, .ends_s = 101, .part = 0.5,
				  .part_most = 0.5 };
}

static const char *check_rack(struct rack_run job, int free_0, int free_1)
{
	static struct err err;
	int free[] = { free_0, free_1 };

	return rack_check(&racks, free, &job, 1, 100, &err) ? err.text : "";
}

static void test_racks(void)
{
	struct rack_run job = holds(two_of_one);

	is_str(check_rack(job, 2, 4), "", "two GPUs of a machine are legal");
	is_str(check_rack(job, 1, 4), "machine 0 has 4 GPUs, of which 2 are held and 1 free",
	       "a GPU that nobody has is found");
	is_str(check_rack(holds(minus), 1, 4), "job 'a' has -1 GPUs",
	       "a job with a negative number of GPUs is found");
	job.told.gpus = 3;
	is_str(check_rack(job, 2, 4), "job 'a' of 3 GPUs runs with 2",
	       "a job with too few GPUs is found");
	job = holds(two_of_one);
	job.runs = false;
	is_str(check_rack(job, 2, 4), "job 'a' of 2 GPUs waits with 2",
	       "a job that waits with GPUs is found");
	job = holds(one_of_each);
	job.ran = true;
	job.held_before = two_of_one;
	is_str(check_rack(job, 3, 3), "job 'a' lost GPUs within its lease",
	       "a job that gets other GPUs within its lease is found");
	job.ended = true;
	is_str(check_rack(job, 3, 3), "", "a job that gets other GPUs after its lease is legal");
	job = holds(no_gpu);
	job.ran = true;
	job.runs = false;
	job.held_before = two_of_one;
	is_str(check_rack(job, 4, 4), "job 'a' lost GPUs within its lease",
	       "a job that loses all GPUs within its lease is found");
	job = holds(two_of_one);
	job.ends_s = 102;
	is_str(check_rack(job, 2, 4), "job 'a' has a lease of 102 s",
	       "a lease that is too long is found");
	job = holds(two_of_one);
	job.part = 0.6;
	is_str(check_rack(job, 2, 4), "job 'a' computes for 0.6 of its time, not 0.5",
	       "a job that is faster than its links is found");
}

int main(void)
{
	test_plans();
	test_racks();
	return done();
}
