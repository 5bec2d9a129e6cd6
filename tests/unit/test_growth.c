/* test_growth.c - whose batch may grow: what ends the training, and which optimizer it has. */
#include <math.h>

#include "pollux/growth.h"
#include "tap.h"

static struct growth_facts nothing(void)
{
	return (struct growth_facts){
		.declared_samples = NAN, .declared_steps = NAN, .total_samples = NAN,
		.total_epochs = NAN, .total_steps = NAN, .epoch = NAN,
	};
}

static void test_ends(void)
{
	struct growth_facts f = nothing();

	is_int(growth_veto(&f), GROWTH_END_UNKNOWN, "nothing is known: it does not grow");
	f.epoch = 1.5;
	is_int(growth_veto(&f), GROWTH_END_UNKNOWN, "in its first epoch nothing is known");
	f.epoch = 2;
	is_int(growth_veto(&f), GROWTH_ALLOWED, "after an epoch it grows");
	f.total_steps = 6000;
	is_int(growth_veto(&f), GROWTH_COUNTS_STEPS, "unless a total of updates is known");
	f.total_epochs = 10;
	is_int(growth_end(&f), END_EPOCHS, "a total of epochs tells more than one of updates");
	f.declared_steps = 6000;
	is_int(growth_veto(&f), GROWTH_COUNTS_STEPS, "what was declared of this job tells more");
	f.declared_samples = 192000;
	is_int(growth_end(&f), END_SAMPLES, "samples were declared as well: these end it");
	f.reported = END_STEPS;
	is_int(growth_veto(&f), GROWTH_COUNTS_STEPS, "a loop that was seen counts more than words");
	f.passes_steps = true;
	is_int(growth_veto(&f), GROWTH_ALLOWED, "it takes {steps}: the number follows the batch");
	f = nothing();
	f.total_samples = 1000;
	is_int(growth_end(&f), END_SAMPLES, "a total of samples was seen");
	for (int end = END_SAMPLES; end < N_TRAINING_ENDS; end++) {
		f.reported = (enum training_end)end;
		is_int(growth_veto(&f), GROWTH_ALLOWED, training_end_names.names[end]);
		is_int(training_end_parse(training_end_names.names[end]), end, "its word is read");
	}
	is_int(training_end_parse("never"), END_UNKNOWN, "another word is none");
	is_int(training_end_parse(""), END_UNKNOWN, "nor is an empty one");
}

static void test_optimizers(void)
{
	struct growth_facts f = nothing();

	f.reported = END_EPOCHS;
	is_int(optimizer_family_of("adam AdamW, RMSprop"), OPTIMIZER_ADAM,
	       "AdamW is of Adam's kin");
	is_int(optimizer_family_of("sgd SGD"), OPTIMIZER_SGD, "SGD");
	is_int(optimizer_family_of("adamant X"), OPTIMIZER_UNKNOWN, "no such family");
	is_str(optimizer_names_of("other Lion, SGD"), "Lion, SGD", "the names of the optimizers");
	is_str(optimizer_names_of(""), "", "nothing was reported");
	f.optimizer = optimizer_family_of("other Lion");
	is_int(growth_veto(&f), GROWTH_OPTIMIZER, "no rule is known for Lion: it does not grow");
	f.rule_is_given = true;
	is_int(growth_veto(&f), GROWTH_ALLOWED, "unless a person chose a rule");
	f.optimizer = optimizer_family_of("search LBFGS");
	is_int(growth_veto(&f), GROWTH_OPTIMIZER, "L-BFGS never grows");
	f.passes_steps = true;
	is_int(growth_veto(&f), GROWTH_OPTIMIZER, "not even with {steps}");
}

static void test_steps(void)
{
	near(growth_steps(6000, 32, 32, NAN, NAN), 6000, 0, "its own batch: its own number");
	near(growth_steps(6000, 32, 64, NAN, NAN), 3000, 0, "twice the batch: half of it");
	near(growth_steps(6000, 32, 100, NAN, NAN), 1920, 0, "192,000 samples");
	near(growth_steps(10, 32, 100, NAN, NAN), 4, 0, "rounded up");
	near(growth_steps(6000, 32, 64, 2000, 64000), 4000, 0,
		  "2,000 were done at its own batch: half of what is left");
	near(growth_steps(6000, 32, 32, 4000, 192000), 4000, 0, "all samples were seen");
	near(growth_steps(6000, 32, 64, 2000, NAN), 4000, 0,
		  "samples are not known: the updates had its own batch");
	near(growth_steps(6000, 32, 16, NAN, NAN), 12000, 0, "half the batch: twice of it");
}

static void test_replicas(void)
{
	struct growth_facts f = nothing();

	ok(!growth_keeps_replicas(&f), "nothing is known: more replicas may help");
	f.declared_steps = 100;
	ok(!growth_keeps_replicas(&f), "a number that a person gave may follow the replicas");
	f.reported = END_STEPS;
	ok(growth_keeps_replicas(&f), "each replica makes the updates that are counted");
	f.has_batch = true;
	ok(!growth_keeps_replicas(&f), "replicas that share a batch make each update faster");
	f.has_batch = false;
	f.passes_steps = true;
	ok(!growth_keeps_replicas(&f), "its command is told how many");
}

int main(void)
{
	test_ends();
	test_replicas();
	test_optimizers();
	test_steps();
	return done();
}
