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

	is_int(growth_veto(&f), GROWTH_END_UNKNOWN,
	       "a batch does not grow while the end is not known");
	f.epoch = 1.5;
	is_int(growth_veto(&f), GROWTH_END_UNKNOWN, "a batch does not grow in the first epoch");
	f.epoch = 2;
	is_int(growth_veto(&f), GROWTH_ALLOWED, "a batch may grow after an epoch");
	f.total_steps = 6000;
	is_int(growth_veto(&f), GROWTH_COUNTS_STEPS,
	       "a batch does not grow if a total of updates is known");
	f.total_epochs = 10;
	is_int(growth_end(&f), END_EPOCHS, "a total of epochs counts before a total of updates");
	f.declared_steps = 6000;
	is_int(growth_veto(&f), GROWTH_COUNTS_STEPS,
	       "a declared number of updates counts before totals");
	f.declared_samples = 192000;
	is_int(growth_end(&f), END_SAMPLES,
	       "a declared number of samples counts before declared updates");
	f.reported = END_STEPS;
	is_int(growth_veto(&f), GROWTH_COUNTS_STEPS,
	       "a loop that counts updates counts before what was declared");
	f.passes_steps = true;
	is_int(growth_veto(&f), GROWTH_ALLOWED, "a batch may grow if the command takes {steps}");
	f = nothing();
	f.total_samples = 1000;
	is_int(growth_end(&f), END_SAMPLES, "a total of samples ends the training");
	for (int end = END_SAMPLES; end < N_TRAINING_ENDS; end++) {
		f.reported = (enum training_end)end;
		is_int(growth_veto(&f), GROWTH_ALLOWED, training_end_names.names[end]);
		is_int(training_end_parse(training_end_names.names[end]), end,
		       "the word of an end of training is read");
	}
	is_int(training_end_parse("never"), END_UNKNOWN, "an unknown word is no end of training");
	is_int(training_end_parse(""), END_UNKNOWN, "an empty word is no end of training");
}

static void test_optimizers(void)
{
	struct growth_facts f = nothing();

	f.reported = END_EPOCHS;
	is_int(optimizer_family_of("adam AdamW, RMSprop"), OPTIMIZER_ADAM,
	       "AdamW belongs to the family of Adam");
	is_int(optimizer_family_of("sgd SGD"), OPTIMIZER_SGD, "SGD belongs to the family of SGD");
	is_int(optimizer_family_of("adamant X"), OPTIMIZER_UNKNOWN,
	       "an unknown family counts as unknown");
	is_str(optimizer_names_of("other Lion, SGD"), "Lion, SGD",
	       "the names of the optimizers follow their family");
	is_str(optimizer_names_of(""), "", "an empty report names no optimizers");
	f.optimizer = optimizer_family_of("other Lion");
	is_int(growth_veto(&f), GROWTH_OPTIMIZER,
	       "a batch does not grow with Lion, for which no rule is known");
	f.rule_is_given = true;
	is_int(growth_veto(&f), GROWTH_ALLOWED,
	       "a batch may grow with Lion if a person chose a rule");
	f.optimizer = optimizer_family_of("search LBFGS");
	is_int(growth_veto(&f), GROWTH_OPTIMIZER, "a batch does not grow with L-BFGS");
	f.passes_steps = true;
	is_int(growth_veto(&f), GROWTH_OPTIMIZER,
	       "a batch does not grow with L-BFGS though it takes {steps}");
}

static void test_steps(void)
{
	near(growth_steps(6000, 32, 32, NAN, NAN), 6000, 0,
	     "the initial batch keeps its number of updates");
	near(growth_steps(6000, 32, 64, NAN, NAN), 3000, 0,
	     "twice the batch takes half of the updates");
	near(growth_steps(6000, 32, 100, NAN, NAN), 1920, 0,
	     "a batch of 100 takes 1,920 updates for 192,000 samples");
	near(growth_steps(10, 32, 100, NAN, NAN), 4, 0, "the number of updates is rounded up");
	near(growth_steps(6000, 32, 64, 2000, 64000), 4000, 0,
		  "twice the batch halves the updates that are left");
	near(growth_steps(6000, 32, 32, 4000, 192000), 4000, 0,
	     "no updates are left when all samples were seen");
	near(growth_steps(6000, 32, 64, 2000, NAN), 4000, 0,
		  "updates of unknown samples count with the initial batch");
	near(growth_steps(6000, 32, 16, NAN, NAN), 12000, 0,
	     "half the batch takes twice the updates");
}

static void test_replicas(void)
{
	struct growth_facts f = nothing();

	ok(!growth_keeps_replicas(&f), "replicas may change while nothing is known");
	f.declared_steps = 100;
	ok(!growth_keeps_replicas(&f), "replicas may change though a person declared the updates");
	f.reported = END_STEPS;
	ok(growth_keeps_replicas(&f), "replicas stay if the program counts updates");
	f.has_batch = true;
	ok(!growth_keeps_replicas(&f), "replicas may change if they share a batch");
	f.has_batch = false;
	f.passes_steps = true;
	ok(!growth_keeps_replicas(&f), "replicas may change if the command is told its updates");
}

int main(void)
{
	test_ends();
	test_replicas();
	test_optimizers();
	test_steps();
	return done();
}
