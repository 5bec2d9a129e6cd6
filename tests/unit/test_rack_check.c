/* The checker of allocations with tiers: each kind of illegal allocation is found. */
#include <string.h>

#include "pollux/sim_racks.h"
#include "sim/rack_check.h"
#include "tap.h"

static const struct sim_racks tiers = {
	.cluster = { .racks = 1, .machines_per_rack = 2, .gpus_per_machine = 4 },
};
static const int none[2], two[] = { 2, 0 }, both[] = { 1, 1 }, minus[] = { 3, -1 };

static struct rack_holding holds(const int *held)
{
	return (struct rack_holding){ .name = "a", .gpus = 2, .held = held, .held_before = none,
				      .runs = true, .lease_s = 101, .part = 0.5,
				      .part_most = 0.5 };
}

static const char *check(struct rack_holding job, int free_0, int free_1)
{
	static struct err err;
	int free[] = { free_0, free_1 };

	return rack_check(&tiers, free, &job, 1, 100, &err) ? err.text : "";
}

int main(void)
{
	struct rack_holding job = holds(two);

	is_str(check(job, 2, 4), "", "two GPUs of a machine are legal");
	is_str(check(job, 1, 4), "machine 0 has 4 GPUs, of which 2 are held and 1 free",
	       "a GPU is lost");
	is_str(check(holds(minus), 1, 4), "job 'a' has -1 GPUs", "less than none");
	job.gpus = 3;
	is_str(check(job, 2, 4), "job 'a' of 3 GPUs runs with 2", "too few");
	job = holds(two);
	job.runs = false;
	is_str(check(job, 2, 4), "job 'a' of 2 GPUs waits with 2", "a job that waits has some");
	job = holds(both);
	job.ran = true;
	job.held_before = two;
	is_str(check(job, 3, 3), "job 'a' lost GPUs within its lease", "others within a lease");
	job.ended = true;
	is_str(check(job, 3, 3), "", "others after it are legal");
	job = holds(none);
	job.ran = true;
	job.runs = false;
	job.held_before = two;
	is_str(check(job, 4, 4), "job 'a' lost GPUs within its lease", "none within a lease");
	job = holds(two);
	job.lease_s = 102;
	is_str(check(job, 2, 4), "job 'a' has a lease of 102 s", "too long");
	job = holds(two);
	job.part = 0.6;
	is_str(check(job, 2, 4), "job 'a' computes for 0.6 of its time, not 0.5",
	       "faster than its tier");
	return done();
}
