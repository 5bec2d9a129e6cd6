/* test_execution_plan.c - what --plan declares, and the names of workloads under plans. */
#include "pollux/execution_plan.h"
#include "pollux/mem.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

static void is_text(char *got, const char *want, const char *name)
{
	ok(!strcmp(got, want), name);
	free(got);
}

static void test_parse(void)
{
	struct execution_plans plans;
	struct err err;

	is_int(execution_plans_parse("dp=\ngc:group=a=--x=1 --y\nzero:group=a=-z", &plans, &err), 0,
	       "a list of three plans is read");
	is_int(plans.count, 3, "a list of three plans has three plans");
	ok(!strcmp(plans.items[0].args, "") && !strcmp(plans.items[0].group, ""),
	   "a plan without arguments and group has empty ones");
	ok(!strcmp(plans.items[1].args, "--x=1 --y") && !strcmp(plans.items[1].group, "a"),
	   "the first '=' after the attributes begins the arguments");
	ok(execution_plans_find(&plans, "zero") == &plans.items[2] &&
	   !execution_plans_find(&plans, "z"), "a plan is found by its whole name");
	ok(execution_plans_share(&plans.items[1], &plans.items[2]) &&
	   !execution_plans_share(&plans.items[0], &plans.items[1]),
	   "plans of one group share their measurements, others do not");
	ok(strcmp(plans.items[1].hash, plans.items[2].hash) != 0,
	   "plans of different arguments have different hashes");
	execution_plans_release(&plans);
	is_int(execution_plans_parse(NULL, &plans, &err), 0, "a list of no plans is read");
	is_int(plans.count, 0, "a list of no plans is empty");
	is_int(execution_plans_parse("a=\nb", &plans, &err), -1, "a plan without '=' is refused");
	is_int(execution_plans_parse("a:group==", &plans, &err), -1,
	       "a plan with a group without a name is refused");
	is_int(execution_plans_parse("", &plans, &err), -1, "an empty list of plans is refused");
	is_int(err.exit_status, EX_USAGE, "an empty list of plans is a usage error");
}

static void test_attributes(void)
{
	struct execution_plans plans;
	struct configuration c = configuration_make(3, 16, 2);
	struct err err;
	autofree char *name = NULL;

	is_int(execution_plans_parse("dp=-x\ntp:width=4,cores=2,group=a=-x\noff:cores=8=", &plans,
				     &err), 0, "a plan takes its attributes in any order");
	ok(plans.items[0].width == 1 && plans.items[0].cores == 0,
	   "a plan without attributes has one device and no wish for cores");
	ok(plans.items[1].width == 4 && plans.items[1].cores == 2 &&
	   !strcmp(plans.items[1].group, "a") && !strcmp(plans.items[1].args, "-x"),
	   "a plan takes width, cores and group together");
	is_int(plans.items[2].cores, 8, "a plan takes a wish for cores alone");
	ok(strcmp(plans.items[0].hash, plans.items[1].hash) != 0,
	   "a plan of another width is another plan");
	name = execution_plan_workload("w", "tp", plans.items[1].hash);
	is_int(execution_plan_width(name), 4, "the name of a workload tells the width of its plan");
	is_int(execution_plan_width("w"), 1, "the width of a workload without plans is 1");
	execution_plans_release(&plans);
	is_int(execution_plans_parse("a:width=1000=", &plans, &err), -1,
	       "a width that is too large is refused");
	is_int(execution_plans_parse("a:cores=0=", &plans, &err), -1,
	       "a wish for 0 cores is refused");
	is_int(execution_plans_parse("a:width=2,=", &plans, &err), -1,
	       "a comma at the end of the attributes is refused");
	configuration_widen(&c, 2);
	is_int(c.replicas, 6, "three replicas of two devices take six devices");
	is_int(configuration_workers(&c), 3, "three replicas of two devices are three workers");
	is_int(configuration_batch_size(&c), 96,
	       "three replicas of two devices have the batch of three");
	is_int(configuration_place(&c).replicas, 3,
	       "three replicas of two devices are three in the model");
}

static void test_names(void)
{
	char *name = execution_plan_workload_of("w x", "dp=\ngc=--gc", "gc");

	ok(text_starts_with(name, "w x" PLAN_SEPARATOR "gc#"),
	   "the workload under a plan has a name of both");
	is_text(execution_plan_base(name), "w x",
		"the name of a workload under a plan tells the workload");
	is_text(execution_plan_base("w x"), "w x", "a name without a plan is the workload");
	is_text(execution_plan_workload_of("w", NULL, ""), "w",
		"a workload without plans keeps its name");
	free(name);
	name = execution_plan_workload_of("w", "dp=\ngc=--gc", "other");
	ok(text_starts_with(name, "w" PLAN_SEPARATOR "dp#"),
	   "an unknown plan counts as the first one");
	free(name);
}

int main(void)
{
	test_parse();
	test_attributes();
	test_names();
	return done();
}
