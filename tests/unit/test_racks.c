/* Machines in racks: sets of GPUs, timers from waits, the order and the answers of jobs, on
 * histories by hand. */
#include <math.h>
#include <string.h>

#include "pollux/racks.h"
#include "tap.h"

enum { MACHINES = 4 };
static const double lease_s = 100;

static struct rack_cluster cluster(int *free)
{
	return (struct rack_cluster){
		.racks = 2, .machines_per_rack = 2, .gpus_per_machine = 4, .free = free,
	};
}

static bool is_held(const int *held, int a, int b, int c, int d)
{
	return held[0] == a && held[1] == b && held[2] == c && held[3] == d;
}

static void test_find(void)
{
	int free[MACHINES] = { 3, 2, 4, 2 }, held[MACHINES];
	struct rack_cluster c = cluster(free);

	ok(racks_find(&c, IN_MACHINE, 2, held) && is_held(held, 0, 2, 0, 0),
	   "two GPUs are taken on the fullest machine with room");
	ok(racks_distance(&c, held) == IN_MACHINE, "GPUs of one machine are within a machine");
	ok(racks_find(&c, IN_RACK, 5, held) && is_held(held, 3, 2, 0, 0),
	   "five GPUs are taken in the fullest rack with room");
	ok(racks_distance(&c, held) == IN_RACK, "GPUs of two machines of a rack are within a rack");
	ok(racks_find(&c, IN_RACK, 6, held) && is_held(held, 0, 0, 4, 2),
	   "six GPUs are taken in the rack that has as many");
	ok(racks_find(&c, ANYWHERE, 8, held) && is_held(held, 3, 1, 4, 0),
	   "eight GPUs are taken anywhere, on the emptiest machines first");
	ok(racks_distance(&c, held) == ANYWHERE, "GPUs of two racks are farther apart than a rack");
	ok(!racks_find(&c, IN_RACK, 7, held) && is_held(held, 0, 0, 0, 0),
	   "no GPUs are found in a rack if no rack has as many");
	ok(!racks_find(&c, ANYWHERE, 12, held),
	   "no GPUs are found if all racks together have too few");
}

static void test_tune(void)
{
	struct rack_history machine = { 0 }, rack = { 0 };
	struct rack_timers t = rack_tune(&machine, &rack, 4, 0, lease_s);

	ok(t.rack_s == 600 && t.network_s == 1200, "the timers are 6 and 12 leases without waits");
	rack_history_add(&machine, (struct rack_wait){ 4, 1000, 8 }, lease_s);
	rack_history_add(&machine, (struct rack_wait){ 4, 1000, 10 }, lease_s);
	rack_history_add(&machine, (struct rack_wait){ 2, 1000, 90 }, lease_s);
	rack_history_add(&rack, (struct rack_wait){ 4, 1000, 90 }, lease_s);
	t = rack_tune(&machine, &rack, 4, 1000, lease_s);
	ok(t.rack_s == 1100, "the timer of a rack is the mean and twice the deviation of waits");
	ok(t.network_s == 2400, "the timer of any GPUs is 24 leases at most");
	t = rack_tune(&machine, &rack, 2, 1000, lease_s);
	ok(t.rack_s == 2000, "the timer of a rack is 20 leases at most");
	ok(t.network_s == 1200, "waits of other demands do not count");
	t = rack_tune(&machine, &rack, 4, 3399, lease_s);
	ok(t.rack_s == 1100, "waits count for 24 leases");
	t = rack_tune(&machine, &rack, 4, 3400, lease_s);
	ok(t.rack_s == 600, "waits do not count after 24 leases");
	rack_history_add(&machine, (struct rack_wait){ 4, 3400, 7 }, lease_s);
	ok(machine.n == 1, "waits that no longer count are dropped");
	free(machine.waits);
	free(rack.waits);
}

static bool asks(struct rack_state *s, const char *policy, struct rack_job j, int *held,
		 double *alarm_s)
{
	return rack_policy_find(policy)->offer(s, &j, held, alarm_s);
}

static void test_offer(void)
{
	int free[MACHINES] = { 1, 1, 1, 1 }, held[MACHINES];
	struct rack_state s = { .cluster = cluster(free), .now_s = 500, .lease_s = lease_s,
				.timers = { 600, 1200 } };
	struct rack_job j = { .gpus = 2 };
	double alarm_s;

	ok(!asks(&s, "dally", j, held, &alarm_s) && alarm_s == 600,
	   "dally refuses a rack before its timer");
	s.now_s = 600;
	ok(asks(&s, "dally", j, held, &alarm_s) && is_held(held, 1, 1, 0, 0),
	   "dally takes a rack at its timer");
	ok(s.rack.n == 1 && s.rack.waits[0].leases == 6, "dally remembers the wait for a rack");
	j.gpus = 3;
	ok(!asks(&s, "dally", j, held, &alarm_s) && alarm_s == 1200,
	   "dally refuses more than a rack has until the other timer");
	s.now_s = 1200;
	ok(asks(&s, "dally", j, held, &alarm_s) && is_held(held, 1, 1, 1, 0),
	   "dally takes any GPUs at the other timer");
	ok(s.rack.n == 1 && s.machine.n == 0, "dally does not remember the wait for any GPUs");
	j = (struct rack_job){ .gpus = 5 };
	ok(!asks(&s, "dally", j, held, &alarm_s) && isinf(alarm_s),
	   "dally has no timer for a job of more GPUs than are free");
	s.timers = (struct rack_timers){ HUGE_VAL, HUGE_VAL };
	j = (struct rack_job){ .gpus = 2 };
	ok(!asks(&s, "dally", j, held, &alarm_s) && isinf(alarm_s),
	   "dally waits for full consolidation where timers never end");
	ok(asks(&s, "gandiva-net", j, held, &alarm_s), "gandiva-net takes any free GPUs");
	ok(!asks(&s, "tiresias-net", j, held, &alarm_s), "tiresias-net waits for consolidation");
	j.insensitive = true;
	ok(asks(&s, "tiresias-net", j, held, &alarm_s),
	   "tiresias-net takes any GPUs for a model that does not mind");
	free[0] = free[1] = 4;
	j = (struct rack_job){ .gpus = 5 };
	ok(asks(&s, "dally", j, held, &alarm_s) && is_held(held, 4, 1, 0, 0),
	   "dally takes a rack at once for more GPUs than a machine has");
	free[2] = 4;
	j.gpus = 9;
	ok(asks(&s, "dally", j, held, &alarm_s) && is_held(held, 4, 4, 1, 0),
	   "dally takes any GPUs at once for more than a rack has");
	rack_state_release(&s);
}

static int order(const char *policy, struct rack_job a, struct rack_job b)
{
	return rack_compare(rack_policy_find(policy), &a, &b);
}

static void test_order(void)
{
	struct rack_job slow = { .index = 1, .gpus = 2, .since_s = 9, .work_s = 100, .left_s = 50,
				 .on_s = 100 };
	struct rack_job fast = { .index = 2, .gpus = 1, .since_s = 5, .work_s = 100, .left_s = 10,
				 .on_s = 100 };
	struct rack_job new = { .index = 3, .gpus = 1, .since_s = 7, .work_s = 100, .left_s = 100 };

	ok(order("dally", slow, fast) < 0, "dally puts the job that was slowed first");
	ok(order("dally", new, slow) < 0, "dally puts a job that never ran before all others");
	ok(order("las-net", new, fast) < 0 && order("las-net", fast, slow) < 0,
	   "las-net puts the job of least GPU time first");
	ok(order("srtf-net", fast, slow) < 0 && order("srtf-net", slow, new) < 0,
	   "srtf-net puts the job of least remaining time first");
	ok(order("gandiva-net", fast, new) < 0,
	   "gandiva-net puts the job that waits longest first");
	fast.on_s = slow.on_s = new.on_s = 0;
	ok(order("dally", fast, slow) < 0, "the job that waits longer is first among equals");
	slow.since_s = 5;
	ok(order("dally", slow, fast) < 0,
	   "the job of the smaller index is first among all equals");
}

static bool offers(struct rack_state *s, struct rack_job *j, int *held)
{
	double alarm_s;

	return rack_policy_find("goodput")->offer(s, j, held, &alarm_s);
}

static void prepare(struct rack_state *s, struct rack_job *a, struct rack_job *b)
{
	struct rack_job *jobs[] = { a, b };

	rack_policy_find("goodput")->prepare(s, jobs, b ? 2 : 1);
}

/* On the first machine a GPU is free now, and three more after 1000 s. */
static void test_goodput_wait(void)
{
	static const int three[MACHINES] = { 3, 0, 0, 0 }, all[MACHINES] = { 0, 3, 4, 4 };
	const struct rack_lease leases[] = { { three, 1500 }, { all, 90000 } };
	int free[MACHINES] = { 1, 1, 0, 0 }, held[MACHINES];
	struct rack_state s = { .cluster = cluster(free), .now_s = 500, .lease_s = 3600,
				.leases = leases, .n_leases = 2 };
	struct rack_job j = { .gpus = 2, .since_s = 500, .part = { 0.9, 0.5, 0.2 },
			      .remaining_s = 9000 };
	struct rack_job other = j;

	/* 9000 s are 18000 s now, 1000 + 1 + 10000 s later */
	prepare(&s, &j, NULL);
	ok(!offers(&s, &j, held), "goodput leaves GPUs of two machines to others at first");
	s.second_pass = true;
	ok(!offers(&s, &j, held), "goodput waits for one machine if a long job ends sooner then");
	other.index = 1;
	prepare(&s, &j, &other);
	ok(!offers(&s, &j, held) && s.promised_s[0] == 1500 + 3600,
	   "goodput promises the machine for a lease");
	other.remaining_s = other.length_s = 4000;
	ok(offers(&s, &other, held), "goodput gives a shorter job GPUs at once beside a promise");
	j.remaining_s = 1000;
	prepare(&s, &j, NULL);
	ok(offers(&s, &j, held) && is_held(held, 1, 1, 0, 0),
	   "goodput gives a short job GPUs of two machines at once");
	j.part[IN_RACK] = 0.89;
	j.remaining_s = 9000;
	prepare(&s, &j, NULL);
	ok(offers(&s, &j, held), "goodput gives GPUs of two machines to a job that does not mind");
	rack_state_release(&s);
}

static void test_goodput_bound(void)
{
	static const int busy[MACHINES] = { 3, 3, 3, 3 };
	const struct rack_lease leases[] = { { busy, 90000 } };
	int free[MACHINES] = { 1, 1, 1, 1 }, held[MACHINES];
	struct rack_state s = { .cluster = cluster(free), .now_s = 24 * 3600, .lease_s = 3600,
				.leases = leases, .n_leases = 1 };
	struct rack_job late = { .gpus = 2, .part = { 0.9, 0.5, 0.2 }, .remaining_s = 1e9 };
	struct rack_job small = { .index = 1, .gpus = 1, .since_s = s.now_s, .part = { 1, 1, 1 },
				  .remaining_s = 1 };

	s.second_pass = true;
	prepare(&s, &late, &small);
	ok(!offers(&s, &late, held), "goodput lets a long job wait until the bound");
	ok(order("goodput", small, late) < 0,
	   "goodput puts a short job before a long one that waits");
	s.now_s += 1;
	prepare(&s, &late, &small);
	ok(order("goodput", late, small) < 0,
	   "goodput puts a job that waited beyond the bound first");
	ok(offers(&s, &late, held), "goodput gives a job that waited beyond the bound any GPUs");
	s.second_pass = false;
	late.gpus = 5;
	prepare(&s, &late, &small);
	ok(!offers(&s, &late, held) && s.reserved[0] && s.reserved[1] && !s.reserved[2],
	   "goodput reserves machines for a late job of too many GPUs");
	ok(offers(&s, &small, held) && is_held(held, 0, 0, 1, 0),
	   "goodput gives other jobs the machines that are not reserved");
	rack_state_release(&s);
}

static void test_goodput_order(void)
{
	static double ended_s[200];
	int free[MACHINES] = { 0 };
	struct rack_state s = { .cluster = cluster(free), .lease_s = 3600 };
	struct rack_job fresh = { .gpus = 2, .remaining_s = (double)NAN };
	struct rack_job old = { .gpus = 2, .remaining_s = (double)NAN, .on_s = 36000 };

	prepare(&s, &fresh, &old);
	ok(order("goodput", fresh, old) < 0,
	   "goodput puts the job of less time first where lengths are unknown");
	for (int i = 0; i < 200; i++)
		ended_s[i] = 40000;
	s.ended_s = ended_s;
	s.n_ended = 200;
	prepare(&s, &fresh, &old);
	ok(order("goodput", old, fresh) < 0,
	   "goodput puts the job nearer to its end first among equal lengths");
	rack_state_release(&s);
}

int main(void)
{
	test_find();
	test_tune();
	test_offer();
	test_order();
	test_goodput_wait();
	test_goodput_bound();
	test_goodput_order();
	return done();
}
