/* test_knowledge.c - from what is known of a workload to a model of one job: worked out by hand. */
#include <math.h>

#include "pollux/knowledge.h"
#include "pollux/mem.h"
#include "tap.h"

#define UNKNOWN ((double)NAN)

/* 10 ms and 0.1 ms a sample, measured on one device at 64; synchronising costs nothing. */
static struct knowledge known(void)
{
	return (struct knowledge){
		.modelled = true, .restart_s = 3, .typical_samples = UNKNOWN,
		.model = {
			.max_replicas = 1, .max_local_batch_size = 64,
			.fit.params = { 0.01, 0.0001, 1e-8, 1e-8, 1e-8, 1e-8, 1,
					{ 0 } },
		},
	};
}

static struct job_model model_of(struct knowledge k, const struct job *job)
{
	struct job_model m;

	knowledge_of_job(&k, job, &m);
	return m;
}

static struct job job_of(int64_t batch_size, int64_t max_batch_size)
{
	struct job job;

	job_init(&job);
	job.id = 7;
	job.declared.batch.size = batch_size;
	job.declared.batch.min = max_batch_size ? 1 : 0;
	job.declared.batch.max = max_batch_size;
	job.progress.total_epochs = 10;
	job.declared.min_replicas = 1;
	return job;
}

static void test_what_remains(void)
{
	struct knowledge k = known();
	struct job job = job_of(64, 0);

	ok(isnan(model_of(k, &job).remaining_samples),
	   "no remaining samples are known if nobody tells a length");
	k.typical_samples = 1000;
	near(model_of(k, &job).remaining_samples, 1000, 0,
	     "the remaining samples are those of other jobs of the workload");
	job.progress.samples = 400;
	near(model_of(k, &job).remaining_samples, 600, 0,
	     "the remaining samples are less by those that were done");
	job.progress.samples = 1000;
	near(model_of(k, &job).remaining_samples, 0, 0,
	     "no samples remain of a job as long as the others");
	job.progress.samples = 1050;
	near(model_of(k, &job).remaining_samples, 0, 0,
	     "no samples remain of a job a little longer than the others");
	job.progress.samples = 1051;
	ok(isnan(model_of(k, &job).remaining_samples),
	   "no remaining samples are known of a job much longer");
	job.declared.total_steps = 100;
	job.progress.steps = 50;
	job.progress.samples = 6400;
	near(model_of(k, &job).remaining_samples, 6400, 0,
	     "50 steps that remain have the samples of those done");
	job.declared.total_samples = 10000;
	near(model_of(k, &job).remaining_samples, 3600, 0,
	     "the declared samples count before those of steps");
	job.progress.samples = 10001;
	near(model_of(k, &job).remaining_samples, 0, 0,
	     "no samples remain in the last evaluation of a job");
	job.progress.samples = 20000;
	ok(isnan(model_of(k, &job).remaining_samples),
	   "no remaining samples are known of a job that goes on and on");
	job.declared.total_samples = UNKNOWN;
	job.progress.steps = 100;
	near(model_of(k, &job).remaining_samples, 0, 0, "no samples remain after the last step");
	job.progress.steps = 106;
	ok(isnan(model_of(k, &job).remaining_samples),
	   "no remaining samples are known after too many steps");
}

static struct observation timed(int64_t job_id, int replicas, double step_time_s)
{
	return (struct observation){
		.job_id = job_id, .configuration.replicas = replicas, .step_time_s = step_time_s,
	};
}

/* Two seconds a step on four devices for job 7, which is asked for; 1 s on one and on two for
 * others. */
static void test_time_that_remains(void)
{
	struct observation times[] = { timed(8, 1, 1), timed(7, 4, 2), timed(9, 2, 1),
				       timed(10, 1, 1.2) };
	struct knowledge k = known();
	struct job job = job_of(0, 0);
	struct job_model m;

	k.step_times = (struct observation_list){ times, 4 };
	ok(isnan(model_of(k, &job).remaining_s), "no remaining time is known by a step time alone");
	job.declared.total_steps = 100;
	job.progress.steps = 40;
	m = model_of(k, &job);
	near(m.remaining_s, 120, 0, "60 steps of 2 s remain without a batch size");
	is_int(m.timed_replicas, 4, "the remaining time is that on four devices");
	job.progress.steps = 102;
	near(model_of(k, &job).remaining_s, 0, 0, "no time remains after the last step");
	job.id = 11;
	job.progress.steps = UNKNOWN;
	m = model_of(k, &job);
	near(m.remaining_s, 110, 1e-12, "100 steps remain as other jobs take them");
	is_int(m.timed_replicas, 1, "the remaining time is that on as many devices as asked for");
	times[3].step_time_s = 5;
	ok(isnan(model_of(k, &job).remaining_s),
	   "no remaining time is known where other jobs differ much");
	job.declared.min_replicas = 3;
	ok(isnan(model_of(k, &job).remaining_s),
	   "no remaining time is known on three devices, where nobody was");
	job.id = 7;
	job.declared.total_samples = 1000;
	ok(isnan(model_of(k, &job).remaining_s), "no remaining time is known by samples alone");
	job.progress.samples = 200;
	job.progress.steps = 20;
	near(model_of(k, &job).remaining_s, 160, 1e-12,
	     "the remaining time is known by samples and steps that were done");
	job.declared.batch.size = 10;
	ok(isnan(model_of(k, &job).remaining_s), "no remaining time is told with a batch size");
}

static void test_noise(void)
{
	struct knowledge k = known();
	struct job job = job_of(64, 4096);
	struct noise_window window = {
		.job_id = 8, .first_samples = 0, .last_samples = 640, .batch_size = 64, .n = 100,
		.mean_sqr = 1, .m2_sqr = 1, .mean_var = 500, .m2_var = 1,
	};

	is_int(model_of(k, &job).noise_basis, NOISE_UNKNOWN,
	       "the noise is unknown without gradients");
	k.windows = &window;
	k.n_windows = 1;
	is_int(model_of(k, &job).noise_basis, NOISE_SHARED,
	       "the noise is shared if another job measured it");
	near(model_of(k, &job).noise.noise_scale, 500, 1e-12,
	     "the shared noise is that of the other job");
	near(model_of(k, &job).goodput.noise_scale, 500, 1e-12,
	     "the expected noise is the shared one");
	job.declared.noise_scale = 70;
	is_int(model_of(k, &job).noise_basis, NOISE_DECLARED,
	       "the declared noise counts before the shared one");
	near(model_of(k, &job).goodput.noise_scale, 70, 0,
	     "the expected noise is the declared one");
	ok(model_of(k, &job).goodput.noise_is_measured,
	   "one pass counts as measured where there cannot be two");
	job.declared.batch.accumulates = true;
	ok(!model_of(k, &job).goodput.noise_is_measured,
	   "one pass does not count as measured where there can be two");
	job.declared.torch = xstrdup("auto");
	ok(model_of(k, &job).goodput.noise_is_measured,
	   "one pass counts as measured with the helper for PyTorch");
	free(job.declared.torch);
	job.declared.torch = NULL;
	job.progress.runs = 1;
	job.progress.samples = 0;
	window.job_id = 7;
	is_int(model_of(k, &job).noise_basis, NOISE_OWN,
	       "the job's own noise counts before all others");
}

static struct goodput_choice best(struct knowledge k, const struct job *job, int replicas)
{
	struct job_model m = model_of(k, job);
	struct goodput_choice choice;

	job_model_best(&m, replicas, &choice);
	return choice;
}

static int64_t best_batch(struct knowledge k, const struct job *job, int replicas)
{
	struct goodput_choice choice = best(k, job, replicas);

	return configuration_batch_size(&choice.configuration);
}

static void test_sizes(void)
{
	struct knowledge k = known();
	struct job job = job_of(64, 4096);
	struct goodput_choice choice;

	job.declared.noise_scale = 1e6;
	is_int(best(k, &job, 1).configuration.local_batch_size, 128,
	       "a batch grows to twice what was measured, and no more");
	is_int(best_batch(k, &job, 4), 512, "a batch on four replicas grows by four");
	near(best(k, &job, 5).goodput, 0, 0, "five replicas have no goodput if one was measured");
	job.progress.end = END_STEPS;
	is_int(best_batch(k, &job, 1), 64, "a batch stays if the job counts updates");
	job.declared.passes_steps = true;
	is_int(best_batch(k, &job, 1), 128,
	       "a batch grows if the job is passed its number of updates");
	job.declared.batch.max_local = 100;
	is_int(best(k, &job, 1).configuration.local_batch_size, 100,
	       "a local batch keeps to its owner's limit, 96 would cost 3 %");
	job.declared.batch.max_local = 0;
	k.model.max_local_batch_size = 4096;
	/* sqrt(phi alpha / beta) = 316.2 is best, with 10 and 0.1 ms and 1,000; 64 to a unit
	 * there. */
	job.declared.noise_scale = 1000;
	choice = best(k, &job, 1);
	is_int(choice.configuration.local_batch_size, 256,
	       "a local batch is rounded down if that costs 1 % at most");
	near(choice.goodput, 256 / 0.0356 * 1064 / 1256, 1e-12,
	     "the goodput is that of the rounded local batch");

	job = job_of(100, 0);
	is_int(best_batch(k, &job, 1), 100, "a batch without a range is not rounded");
	job.declared.min_replicas = 3;
	job.declared.batch.size = 128;
	is_int(best_batch(k, &job, 3), 129, "a batch that does not divide is as submitted");
	k.model.max_local_batch_size = 8;
	ok(best(k, &job, 3).goodput > 0,
	   "a job runs with more than was measured if it could not else");
	k.modelled = false;
	ok(!model_of(k, &job).known, "no model is known without step times");
	job.declared.batch.size = 0;
	k.modelled = true;
	ok(!model_of(k, &job).known, "no model is known without a batch size");
}

/* Two replicas of 100 ran out of memory, 80 did not. */
static void test_memory(void)
{
	struct observation out = { .run_id = 2, .configuration = configuration_make(2, 100, 1) };
	struct observation fit = { .run_id = 1, .configuration = configuration_make(2, 80, 1) };
	struct knowledge k = known();
	struct job job = job_of(64, 4096);

	job.declared.noise_scale = 1e6;
	k.model.max_replicas = 2;
	k.memory = (struct memory_bounds){ .ran_out = &out, .n_ran_out = 1, .fitted = &fit,
					   .n_fitted = 1 };
	is_int(best(k, &job, 1).configuration.local_batch_size, 80,
	       "a size that ran out on two GPUs is too large on one");
	k.memory.shared = true;
	is_int(best(k, &job, 1).configuration.local_batch_size, 128,
	       "a size that ran out on two slots says nothing of one");
	is_int(best(k, &job, 2).configuration.local_batch_size, 80,
	       "two slots have room for what was measured");
	is_int(best(k, &job, 4).configuration.local_batch_size, 49,
	       "four slots have room for less than half of what ran out");
	out.configuration.replicas = 1;
	out.configuration.local_batch_size = 3;
	is_int(best_batch(k, &job, 4), 0, "no batch is given where nothing fits");
}

/* What was submitted ran out of memory: 512, and 267; 250 did not. It does not do two passes. */
static void test_own_batch_too_large(void)
{
	struct observation out = { .run_id = 2, .configuration = configuration_make(1, 267, 1) };
	struct observation fit = { .run_id = 1, .configuration = configuration_make(1, 250, 1) };
	struct knowledge k = known();
	struct job job = job_of(512, 1024);
	struct goodput_choice choice;
	struct job_model m;

	k.model.max_local_batch_size = 250;
	k.memory = (struct memory_bounds){ .ran_out = &out, .n_ran_out = 1, .fitted = &fit,
					   .n_fitted = 1 };
	is_int(best_batch(k, &job, 1), 250, "a batch that ran out becomes smaller where it may");
	is_int(best_batch(k, &job, 2), 500, "a batch on two replicas is what fits on each");
	job.declared.batch.accumulates = true;
	is_int(best_batch(k, &job, 1), 513,
	       "a batch that ran out takes more passes where it does them");
	job = job_of(512, 0);
	m = model_of(k, &job);
	ok(job_model_best(&m, 1, &choice) && !job_model_fits(&m, &choice.configuration),
	   "a batch without a range is given and told not to fit");
}

/* 200 fitted, 1024 ran out of memory: nobody knows of 700. */
static void test_own_batch_untried(void)
{
	struct observation out = { .run_id = 2, .configuration = configuration_make(1, 1024, 1) };
	struct observation fit = { .run_id = 1, .configuration = configuration_make(1, 200, 1) };
	struct knowledge k = known();
	struct job job = job_of(700, 1000);

	job.declared.batch.min = 100;
	k.model.max_local_batch_size = 200;
	k.memory = (struct memory_bounds){ .ran_out = &out, .n_ran_out = 1, .fitted = &fit,
					   .n_fitted = 1 };
	is_int(best_batch(k, &job, 1), 700, "a batch is given up only where it failed");
	out.configuration.local_batch_size = 700;
	is_int(best_batch(k, &job, 1), 200, "a batch that failed becomes what fitted");
}

/* It does one replica only: 256 worked, two of 128 did not. */
static void test_replicas_that_fail(void)
{
	struct observation failed = { .run_id = 2,
				       .configuration = configuration_make(2, 128, 1) };
	struct observation worked = { .run_id = 1,
				       .configuration = configuration_make(1, 256, 1) };
	struct knowledge k = known();
	struct job job = job_of(256, 0);
	struct goodput_choice choice;
	struct job_model m;

	k.model.max_local_batch_size = 256;
	k.failed = (struct failed_sizes){ .failed = &failed, .n_failed = 1, .worked = &worked,
					  .n_worked = 1 };
	m = model_of(k, &job);
	ok(job_model_best(&m, 1, &choice) && configuration_batch_size(&choice.configuration) == 256,
	   "one replica runs as it was submitted");
	ok(!job_model_best(&m, 2, &choice), "two replicas that failed are not given");
	near(choice.goodput, 0, 0, "two replicas that failed are worth nothing");
	is_int(best_batch(k, &job, 3), 255, "three replicas may run with less on each");
	job.declared.min_replicas = 2;
	m = model_of(k, &job);
	ok(job_model_best(&m, 2, &choice),
	   "two replicas that failed are given if they are the least");
}

static struct observation seen(int replicas, int width, int nodes, double step_time_s)
{
	struct configuration c = configuration_make(replicas, 64, 1);

	c.width = width;
	c.nodes = nodes;
	return (struct observation){
		.configuration = c, .weight = 1, .step_time_s = step_time_s, .sync_time_s = UNKNOWN,
	};
}

/* What was measured on one node counts there, also if as many replicas ran on several. */
static void test_places(void)
{
	struct observation both[] = { seen(2, 0, 1, 0.0328), seen(2, 0, 2, 0.0656) };
	struct knowledge k = known();
	double one, two;

	k.model.max_replicas = 2;
	k.seen = (struct observation_list){ both, 2 };
	knowledge_set_residuals(&k, &k.model.fit.params, NULL, 0);
	one = residuals_factor(&k.residuals, throughput_place_on(1, 2), 64);
	two = residuals_factor(&k.residuals, throughput_place_on(2, 2), 64);
	near(one, 2, 0.05, "two replicas on a node take twice the modelled time");
	near(two, 4, 0.15, "two replicas on two nodes take four times the modelled time");
	residuals_release(&k.residuals);
}

/* A replica of four devices on two nodes has no other replica to synchronise with. */
static void test_wide_on_nodes(void)
{
	struct observation wide = seen(4, 4, 2, 0.0164);
	struct fit_options options = FIT_OPTIONS_DEFAULT;
	struct fit_result fit = fit_throughput(&wide, 1, &options);
	struct throughput_place place = throughput_place_on(2, 4);
	struct knowledge k = known();
	struct job job = job_of(64, 0);
	struct goodput_choice choice;
	struct job_model m;

	is_int(fit.n_observations, 1, "a wide replica on several nodes is measured");
	k.width = 4;
	m = model_of(k, &job);
	ok(job_model_best_at(&m, place, &choice), "a wide replica may run on several nodes");
	is_int(choice.configuration.replicas, 4, "a wide replica runs on four devices");
	is_int(choice.configuration.nodes, 2, "a wide replica runs on two nodes");
	near(choice.throughput, 64 / 0.0164, 1, "a wide replica is as fast as one replica");
}

int main(void)
{
	test_places();
	test_wide_on_nodes();

	test_own_batch_untried();
	test_replicas_that_fail();
	test_own_batch_too_large();
	test_what_remains();
	test_time_that_remains();
	test_noise();
	test_sizes();
	test_memory();
	return done();
}
