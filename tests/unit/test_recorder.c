/* test_recorder.c - from reports to rows: step times, windows of gradients, and a change of
 * configuration while the program runs. The store is real. */
#include <math.h>
#include <unistd.h>

#include "engine/local/recorder.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"
#include "tap.h"

static char root[] = "/tmp/test_recorder.XXXXXX";
static struct paths paths;
static struct store store;
static struct recorder r;
static struct run run;
static struct err err;
static double now;

/* A store with a job whose one run is running: batch 128 on one device. */
static void begin(void)
{
	static int n;
	autofree char *dir = xasprintf("%s/%d", root, ++n);
	struct job_command c = { .program = xstrdup("/bin/true"), .directory = xstrdup("/") };
	struct dependency_list none = { 0 };
	scoped(job_release) struct job job = { 0 };
	bool claimed = false;

	setenv("POLLUX_DIR", dir, 1);
	job_init(&job);
	job.declared.name = xstrdup("x");
	job.declared.workload = xstrdup("w");
	job.submit_time_s = 1;
	run_init(&run);
	if (paths_init(&paths, &err) || store_open(&store, &paths, STORE_WRITE, &err) ||
	    store_job_insert(&store, &job, &c, &none, &err))
		printf("# %s\n", err.text);
	run.job_id = job.id;
	run.configuration.replicas = 1;
	run.configuration.accumulation_steps = 1;
	run.configuration.local_batch_size = 128;
	run.assigned_time_s = run.assigned_boot_s = 1;
	run.devices = xcalloc(1, sizeof(*run.devices));
	snprintf(run.devices[0].id, sizeof(run.devices[0].id), "cpu:0");
	snprintf(run.devices[0].kind, sizeof(run.devices[0].kind), "cpu");
	if (store_run_add(&store, &run, &err) ||
	    store_run_claim(&store, run.id, "local", 1, &claimed, &err) || !claimed)
		printf("# %s\n", err.text);
	run.launch_boot_s = now = clock_boot_s();
	recorder_init(&r);
	job_command_release(&c);
}

static void end(void)
{
	run_release(&run);
	store_close(&store);
	paths_release(&paths);
}

static void report(const char *text)
{
	recorder_add(&r, &store, &run, text, strlen(text), now);
}

/* A window of steps of these ms, n of them, with what else each report says; and a write. */
static void steps(double ms, int n, const char *rest)
{
	char *text = xasprintf("STEP_NS=%.0f\n%s", ms * 1e6, rest);

	for (int i = 0; i < n; i++)
		report(text);
	free(text);
	if (recorder_write(&r, &store, &run, &err))
		printf("# %s\n", err.text);
}

static struct observation_list observations(void)
{
	struct observation_list list;

	if (store_observations_of_job(&store, 1, &list, &err))
		printf("# %s\n", err.text);
	return list;
}

static struct gradient_list gradients(void)
{
	struct gradient_list list;

	if (store_gradients_of_workload(&store, "w", &list, &err))
		printf("# %s\n", err.text);
	return list;
}

static void want(int64_t local, int accum, double scale)
{
	struct configuration c = configuration_make(1, local, accum);

	if (store_run_set_wanted(&store, run.id, &c, scale, &err) ||
	    store_run_read_wanted(&store, &run, &err))
		printf("# %s\n", err.text);
}

static struct run stored(void)
{
	struct run now_stored;

	if (store_run_get(&store, run.id, &now_stored, &err))
		printf("# %s\n", err.text);
	return now_stored;
}

static void test_change(void)
{
	struct observation_list list;
	struct run kept;

	begin();
	steps(100, 4, "CONFIG=0\nGRAD_SQR=1\nGRAD_VAR=2\n");
	steps(100, 4, "CONFIG=0\nGRAD_SQR=1\nGRAD_VAR=2\n");
	kept = stored();
	ok(kept.takes_configs && kept.config_version == 0,
	   "CONFIG=0 tells that a program takes configurations");
	run_release(&kept);
	want(64, 4, 1.5);
	steps(100, 4, "CONFIG=0\n");
	is_int(configuration_batch_size(&run.configuration), 128,
	       "a wanted configuration changes nothing before it is in use");
	for (int i = 0; i < 3; i++)	/* not written when the change comes */
		report("STEP_NS=100000000\nCONFIG=0\n");
	steps(400, 4, "CONFIG=1\nSTEP=99\n");
	steps(400, 4, "CONFIG=1\nGRAD_SQR=3\nGRAD_VAR=4\n");
	ok(run.config_version == 1 && configuration_batch_size(&run.configuration) == 256 &&
	   run.configuration.local_batch_size == 64 &&
	   run.configuration.accumulation_steps == 4 && run.learning_rate_scale == 1.5,
	   "a configuration that is in use is the run's");
	kept = stored();
	ok(kept.config_version == 1 && configuration_batch_size(&kept.configuration) == 256 &&
	   kept.learning_rate_scale == 1.5 && kept.wanted_version == 1,
	   "a configuration that is in use is stored");
	run_release(&kept);
	list = observations();
	is_int(list.count, 2, "each configuration has its observation");
	for (int i = 0; i < list.count; i++) {
		const struct observation *row = &list.items[i];
		bool old = row->configuration.local_batch_size == 128 &&
			   row->configuration.accumulation_steps == 1;

		near(row->step_time_s, old ? 0.100 : 0.400, 1e-12,
		     "an observation has the time of its own steps");
		is_int(row->n_steps, old ? 15 : 8, "an observation counts all of its steps");
	}
	observation_list_release(&list);

	scoped(gradient_list_release) struct gradient_list g = gradients();

	ok(g.count == 2 && configuration_batch_size(&g.items[0].window.configuration) == 128 &&
	   g.items[0].window.n == 8 &&
	   configuration_batch_size(&g.items[1].window.configuration) == 256 &&
	   g.items[1].window.configuration.accumulation_steps == 4 &&
	   g.items[1].window.n == 4 && g.items[1].window.sum_grad_sqr == 12,
	   "a window of gradients is of one configuration");

	want(128, 1, 1);
	steps(200, 4, "CONFIG=2\n");
	steps(200, 4, "CONFIG=2\n");
	list = observations();
	is_int(list.count, 2, "a configuration that comes back has no third observation");
	for (int i = 0; i < list.count; i++)
		if (list.items[i].configuration.local_batch_size == 128) {
			is_int(list.items[i].n_steps, 23,
			       "an observation counts the steps of both times");
			is_int(list.items[i].n_windows, 6,
			       "an observation counts the windows of both times");
			near(list.items[i].step_time_s, (4 * 0.100 + 2 * 0.200) / 6,
			     1e-12, "an observation has one mean of both times");
		}
	near(run.step_time_s, 0.200, 1e-12, "the run's step time is the present one");
	observation_list_release(&list);
	end();
}

/* The only observation: its windows and its mean. */
static void is_observed(int n_windows, double step_time_s, const char *name)
{
	scoped(observation_list_release) struct observation_list list = observations();

	ok(list.count == 1 && list.items[0].n_windows == n_windows &&
	   fabs(list.items[0].step_time_s - step_time_s) < 1e-9, name);
}

/* While windows differ, the last one is written, but not beside what was measured earlier. */
static void test_warm_up(void)
{
	begin();
	steps(500, 4, "");
	steps(300, 4, "");
	is_observed(1, 0.300, "a second window that differs from the first is written");
	near(run.step_time_s, 0.300, 1e-12, "a provisional window gives the run's step time");
	steps(200, 4, "CONFIG=0\n");
	is_observed(1, 0.200, "a second provisional window replaces the first");
	steps(200, 4, "CONFIG=0\n");
	is_observed(2, 0.200, "windows that agree replace the provisional one");
	run.config_version = 0;
	step_stats_init(&r.stats);
	r.earlier = (struct observation){ .n_windows = 2, .step_time_s = 0.2 };
	steps(900, 4, "CONFIG=0\n");
	steps(500, 4, "CONFIG=0\n");
	is_observed(2, 0.200, "provisional windows do not replace earlier measurements");
	end();
}

/* A report of the mean time of 60 steps holds enough for a window, that of one step does not. */
static void test_means_of_steps(void)
{
	begin();
	steps(5, 1, "STEP=1\n");
	steps(5, 1, "STEP=2\n");
	steps(5, 1, "STEP=62\n");
	steps(5, 1, "STEP=122\n");
	is_observed(2, 0.005, "a report of many steps makes a window");
	end();
}

static void test_not_changed(void)
{
	struct observation_list list;
	scoped(gradient_list_release) struct gradient_list g = { 0 };

	begin();
	steps(100, 4, "CONFIG=5\nGRAD_SQR=1\nGRAD_VAR=2\n");
	steps(100, 4, "CONFIG=5\nSAMPLES=640\nSTEP=5\nGRAD_SQR=1\nGRAD_VAR=2\n");
	ok(run.config_version == 0 && configuration_batch_size(&run.configuration) == 128,
	   "a configuration that nobody wanted is not in use");
	list = observations();
	g = gradients();
	ok(list.count == 0 && g.count == 0, "steps in an unknown configuration measure nothing");
	near(run.last_samples, 640, 0, "steps in an unknown configuration count as progress");
	observation_list_release(&list);
	want(64, 2, 1);
	want(32, 4, 1);
	steps(100, 4, "CONFIG=1\n");
	steps(100, 4, "CONFIG=1\n");
	ok(run.config_version == 0, "a configuration that was replaced unheard is not in use");
	steps(300, 4, "CONFIG=2\n");
	steps(300, 4, "CONFIG=2\n");
	steps(100, 4, "CONFIG=1\n");
	list = observations();
	ok(run.config_version == 2 && list.count == 1 &&
	   list.items[0].configuration.local_batch_size == 32 &&
	   list.items[0].n_steps == 8,
	   "the last configuration stays in use though an earlier is told");
	observation_list_release(&list);
	end();
}

/* numpy: x = [1, 2, 4, 8.5]; x.sum() = 15.5; ((x - x.mean()) ** 2).sum() = 33.1875 */
static void test_moments(void)
{
	static const double x[] = { 1, 2, 4, 8.5 };
	scoped(gradient_list_release) struct gradient_list g = { 0 };
	char text[128];

	begin();
	for (int i = 0; i < 4; i++) {
		snprintf(text, sizeof(text), "SAMPLES=%d\nGRAD_SQR=%g\nGRAD_VAR=%.17g\n",
			 128 * (i + 1), x[i], 1e6 + 1e-3 * x[i]);
		report(text);
	}
	report("GRAD_SQR=1e300\nGRAD_VAR=1\n");
	report("GRAD_SQR=1\nGRAD_VAR=-1e300\n");
	report("GRAD_SQR=1\n");
	steps(1, 1, "");
	g = gradients();
	is_int(g.count, 1, "gradients make a window");
	is_int(g.items[0].window.n, 4,
	       "a window counts updates that told both, and not beyond measure");
	near(g.items[0].window.sum_grad_sqr, 15.5, 0, "a window has the sum of its squares");
	near(g.items[0].window.m2_grad_sqr, 33.1875, 1e-14,
	     "a window has the squared deviations of its squares");
	near(g.items[0].window.m2_grad_var, 33.1875e-6, 1e-4,
	     "a window has small deviations from a large mean");
	ok(g.items[0].window.first_samples == 128 && g.items[0].window.last_samples == 512 &&
	   configuration_batch_size(&g.items[0].window.configuration) == 128,
	   "a window has its position and batch");
	end();
}

/* n updates of a batch of 128 from a position on, then a write. */
static void updates(int64_t *samples, int n)
{
	char text[96];

	for (int i = 0; i < n; i++) {
		*samples += 128;
		snprintf(text, sizeof(text), "SAMPLES=%lld\nGRAD_SQR=1\nGRAD_VAR=2\n",
			 (long long)*samples);
		report(text);
	}
	recorder_write(&r, &store, &run, &err);
}

static void test_windows(void)
{
	int64_t samples = 0;
	struct gradient_list g;

	begin();
	updates(&samples, 49);
	updates(&samples, 1);
	updates(&samples, 1);
	g = gradients();
	ok(g.count == 2 && g.items[0].window.n == 50 && g.items[1].window.n == 1,
	   "50 updates that cover a tenth of the position fill a window");
	gradient_list_release(&g);
	updates(&samples, 448);
	g = gradients();
	is_int(g.count, 2, "the write that fills a window is its last");
	gradient_list_release(&g);
	updates(&samples, 40);
	updates(&samples, 10);
	updates(&samples, 1);
	g = gradients();
	ok(g.count == 3 && g.items[2].window.n == 51, "50 updates that cover less fill no window");
	gradient_list_release(&g);
	now -= 31;
	r.gradient_start_boot_s -= 31;		/* as if it had been opened so long ago */
	updates(&samples, 1);
	updates(&samples, 1);
	g = gradients();
	ok(g.count == 4 && g.items[2].window.n == 52 && g.items[3].window.n == 1,
	   "a window is full after 30 s all the same");
	gradient_list_release(&g);
	end();
}

static void test_no_position(void)
{
	scoped(gradient_list_release) struct gradient_list g = { 0 };

	begin();
	for (int i = 0; i < 3; i++)
		steps(1, 50, "SAMPLES=0\nGRAD_SQR=1\nGRAD_VAR=2\n");
	g = gradients();
	ok(g.count == 1 && g.items[0].window.n == 150, "a position that stays 0 fills no window");
	end();
}

/* numpy: repeat([1, 4, 2.5], [2, 1, 3]): sum 13.5, squared deviations 6.375, of y =
 * 10 - x the same, their products -6.375 */
static void test_groups(void)
{
	scoped(gradient_list_release) struct gradient_list g = { 0 };

	begin();
	report("SAMPLES=128\nGRAD_SQR=1\nGRAD_VAR=9\nGRAD_SAMPLES=2\n");
	report("SAMPLES=256\nGRAD_SQR=4\nGRAD_VAR=6\n");
	report("SAMPLES=384\nGRAD_SQR=2.5\nGRAD_VAR=7.5\nGRAD_SAMPLES=3\n");
	steps(1, 1, "");
	g = gradients();
	ok(g.items[0].window.n == 6 && g.items[0].window.entries == 3,
	   "reports of means of several updates count as that many");
	near(g.items[0].window.sum_grad_sqr, 13.5, 1e-15,
	     "means of several updates are summed as that many");
	near(g.items[0].window.m2_grad_sqr, 6.375, 1e-14,
	     "means of several updates deviate as that many");
	near(g.items[0].window.cross_grad, -6.375, 1e-14,
	     "means of several updates have products as that many");
	end();
}

/* --- the helper for PyTorch --- */

static struct job stored_job(void)
{
	struct job job;

	if (store_job_get(&store, run.job_id, &job, &err))
		printf("# %s\n", err.text);
	return job;
}

static void test_totals(void)
{
	struct job job;

	begin();
	report("FRAMEWORK=torch 2.15.0\nHELPER=no gradient noise: torch.compile\n"
	       "TOTAL_STEPS=500\nPEAK_BYTES=7\n");
	steps(1, 1, "SAMPLES=300\nEPOCH=1.5\nTOTAL_EPOCHS=10\nPEAK_BYTES=5\n");
	job = stored_job();
	ok(job.progress.reported_total_steps == 500 && job.progress.total_epochs == 10,
	   "reported totals are kept with the job");
	near(job.progress.reported_total_samples, 2000, 1e-12,
	     "reported epochs tell the total of samples");
	near(job_total_samples(&job), 2000, 1e-12, "the total of samples is that told by epochs");
	job.declared.total_steps = 7;
	ok(isnan(job_total_samples(&job)) && job_total_steps(&job) == 7,
	   "declared steps count before the told total of samples");
	job_release(&job);
	steps(1, 1, "SAMPLES=400\nEPOCH=1\nTOTAL_SAMPLES=2500\n");
	job = stored_job();
	near(job.progress.reported_total_samples, 2500, 0,
	     "a reported total of samples counts before that by epochs");
	job.profile = true;
	ok(isnan(job_total_samples(&job)), "a profile has no total");
	job_release(&job);
	steps(1, 1, "STAGE=2\nSTEP=50\nSAMPLES=400\n");
	job = stored_job();
	ok(isnan(job_total_samples(&job)) && isnan(job.progress.total_epochs),
	   "a second training of the run has none of the totals of the first");
	job_release(&job);
	steps(1, 1, "SAMPLES=500\nEPOCH=1\nTOTAL_EPOCHS=3\n");
	job = stored_job();
	near(job.progress.reported_total_samples, 700, 1e-12,
	     "epochs of a second training count from where that began");
	job_release(&job);
	struct run kept = stored();

	is_str(kept.framework, "torch 2.15.0", "the framework is kept with the run");
	is_str(kept.helper, "no gradient noise: torch.compile",
	       "the run keeps what the helper refuses");
	is_int(kept.peak_allocated_bytes, 7, "the run keeps the highest peak of memory");
	run_release(&kept);
	report("HELPER=\n");
	is_str(run.helper, "", "an empty HELPER takes back what the helper refused");
	end();
}

/* A run of a job that stood at so many samples and had lost some. */
static void begin_at(double samples, double lost_samples)
{
	scoped(job_release) struct job job = { 0 };

	begin();
	job_init(&job);
	job.progress.samples = samples;
	job.progress.lost_samples = lost_samples;
	job.progress.lost_s = 10;
	job.progress.run_time_s = 100;
	recorder_begin(&r, &job);
}

static void test_metrics(void)
{
	scoped(job_metric_list_release) struct job_metric_list list = { 0 };
	struct job job;
	char line[64];

	begin_at(1000, 300);
	report("METRIC.acc=0.5\nSAMPLES=1010\n");
	report("METRIC.acc=0.25\nSAMPLES=1020\nRESUMES=2\n");
	for (int i = 0; i < REPORT_METRICS_MAX + 5; i++) {
		snprintf(line, sizeof(line), "METRIC.m%02d=%d\n", i, i);
		report(line);
	}
	r.changed = true;
	is_int(recorder_write(&r, &store, &run, &err), 0, "metrics are written");
	job = stored_job();
	ok(job.progress.resumes && job.progress.saves_when_asked == 1 &&
	   job_may_be_preempted(&job, &run), "a job that says so saves when it is asked");
	is_int(store_metrics_of_job(&store, job.id, &list, &err), 0, "metrics are read");
	is_int(list.count, REPORT_METRICS_MAX, "no more metrics than the most are kept");
	is_str(list.items[0].name, "acc", "metrics are kept by name");
	ok(list.items[0].last == 0.25 && list.items[0].samples == 1020,
	   "a metric has its last value");
	job_release(&job);
	end();
}

static void test_resumed(void)
{
	struct job job;

	begin_at(1000, 300);
	report("FRAMEWORK=torch\n");
	report("RESUMED=/c.pt\nSTEP=8\nSAMPLES=800\n");
	near(run.lost_samples, 200, 0, "a program that resumes at an earlier position lost work");
	near(run.lost_s, 20, 1e-12, "a program that resumes earlier lost the time of that work");
	ok(run.first_samples == 800 && run.checkpoint_samples == 800 && run.last_samples == 800,
	   "a program that resumes stands at its checkpoint");
	steps(1, 4, "STEP=9\nSAMPLES=900\n");
	near(run.lost_samples, 200, 0, "work after a resumption is not lost");
	job = stored_job();
	ok(job.progress.resumes && job.progress.steps == 9,
	   "a job that resumed is known to resume");
	job_release(&job);
	end();
	begin_at(1000, 300);
	report("FRAMEWORK=torch\nSTEP=0\nSAMPLES=0\n");
	report("RESUMED=/c.pt\nSTEP=11\nSAMPLES=1100\n");
	near(run.lost_samples, -100, 0, "a program that resumes later lost less than was thought");
	end();
	begin_at(1000, 50);
	report("FRAMEWORK=torch\nRESUMED=/c.pt\nSTEP=11\nSAMPLES=1100\n");
	near(run.lost_samples, -50, 0,
	     "a program that resumes later gets back no more than was lost");
	end();
	begin_at(1000, 300);
	report("FRAMEWORK=torch\nRESUMED=/c.pt\nSTEP=10\nSAMPLES=1000\n");
	report("STEP=15\nSAMPLES=1500\n");
	report("CHECKPOINT=/d.pt\nSTEP=14\nSAMPLES=1400\n");
	ok(run.last_samples == 1500 && run.checkpoint_samples == 1400 && r.steps == 15,
	   "a checkpoint that is told late does not put the program back");
	report("RESUMED=/c.pt\nSTEP=10\nSAMPLES=1000\n");
	near(run.lost_samples, 500, 0, "a program that goes back while it runs lost that work");
	end();
	begin_at(1000, 300);
	steps(1, 4, "FRAMEWORK=torch\nSTEP=1\nSAMPLES=100\n");
	near(run.lost_samples, 1000, 0, "a program that begins anew lost everything");
	job = stored_job();
	ok(!job.progress.resumes, "a program that begins anew does not resume");
	job_release(&job);
	end();
	begin_at(1000, 300);
	steps(1, 4, "STEP=1\nSAMPLES=100\n");
	near(run.lost_samples, 0, 0, "a program without the helper is not known to lose work");
	end();
}

/* Two reports of a program that tells no more than its position. */
static void positions(double samples, double first, double second, bool has_reported)
{
	char text[64];

	begin_at(samples, 300);
	r.start.has_reported = has_reported;
	snprintf(text, sizeof(text), "SAMPLES=%g\n", first);
	report(text);
	snprintf(text, sizeof(text), "SAMPLES=%g\n", second);
	report(text);
}

static void in_doubt(enum position_doubt doubt)
{
	scoped(job_release) struct job job = { 0 };

	begin();
	job_init(&job);
	job.progress.samples = job.progress.checkpoint_samples = 500;
	job.progress.lost_samples = 900;
	job.progress.position_doubt = doubt;
	recorder_begin(&r, &job);
	report("SAMPLES=1000\n");
	report("SAMPLES=1100\n");
}

static void test_doubt(void)
{
	in_doubt(POSITION_KNOWN);
	near(run.lost_samples, 0, 0, "a job whose position is known is believed");
	end();
	in_doubt(POSITION_AT_LEAST);
	near(run.lost_samples, -400, 0, "a job that saved more than was heard of lost less");
	end();
	in_doubt(POSITION_OLD);
	near(run.lost_samples, 0, 0, "a job of an old position loses nothing by a later one");
	end();
}

static void test_begin(void)
{
	positions(1000, 100, 200, true);
	near(run.lost_samples, 1000, 0, "a program that begins at 0 has lost everything");
	near(run.lost_s, 100, 1e-9, "a program that begins at 0 lost the time of its job");
	end();
	positions(1000, 1100, 1200, true);
	near(run.lost_samples, 0, 0, "a program that goes on has lost nothing");
	end();
	positions(1000, 1060, 1160, true);
	near(run.lost_samples, 0, 0, "a program that reports at round numbers has lost nothing");
	end();
	positions(1000, 900, 1000, true);
	near(run.lost_samples, 200, 0,
	     "a program that goes on from an earlier checkpoint lost work");
	end();
	positions(0, 800, 900, false);
	near(run.lost_samples, -300, 0, "a program that saved without a word lost less");
	end();
	positions(0, 800, 900, true);
	near(run.lost_samples, 0, 0, "a job that tells what it saves is believed");
	end();
	positions(0, 250, 350, false);
	near(run.lost_samples, 0, 0, "a program whose first report is late did not begin later");
	end();
}

static void test_memory(void)
{
	begin();
	report("OUT_OF_MEMORY=2048\nPEAK_BYTES=10\nLIMIT_BYTES=11\n");
	ok(r.oom.bytes == 2048 && r.oom.peak_bytes == 10 && r.oom.limit_bytes == 11,
	   "an allocation that failed is kept with peak and limit");
	steps(1, 1, "STEP=1\n");
	is_int(r.oom.bytes, -1, "an allocation that failed is forgotten when steps go on");
	end();
}

/* --- from the log --- */

static void logged(enum step_unit unit, double position, double n, double unit_s)
{
	struct step_event e = {
		.unit = unit, .basis = n > 0 ? STEP_BY_ARRIVAL : STEP_UNTIMED, .position = position,
		.total = 1000, .n = n, .unit_s = unit_s,
	};
	scoped(job_release) struct job job = { 0 };

	job_init(&job);
	recorder_add_logged(&r, &run, &job, &e);
}

/* Two windows of steps of so many seconds, four lines each. */
static void logged_windows(enum step_unit unit, double first, double n, double unit_s)
{
	for (int i = 1; i <= 8; i++) {
		logged(unit, first + i * n, n, unit_s);
		if (i % 4 == 0)
			recorder_write(&r, &store, &run, &err);
	}
}

static void test_logged(void)
{
	struct observation_list list;
	struct job job;
	struct run kept;

	begin();
	recorder_begin_log(&r, &run, "nanogpt", run.launch_boot_s + 3);
	logged_windows(STEP_UPDATES, 100, 5, 0.25);
	list = observations();
	ok(list.count == 1 && list.items[0].step_time_s == 0.25 &&
	   list.items[0].n_steps == 40, "steps of the log are measured as reported ones");
	observation_list_release(&list);
	kept = stored();
	is_str(kept.step_source, "log:nanogpt", "the run knows that its steps come from the log");
	near(kept.first_step_s, 3, 1e-9, "the run knows when the first step of the log came");
	ok(kept.first_samples == 105 * 128 && kept.last_samples == 140 * 128,
	   "samples of the log are steps of a batch");
	run_release(&kept);
	store_job_get(&store, 1, &job, &err);
	ok(job.progress.steps == 140 && job.progress.printed_total_steps == 1000 &&
	   job_total_steps(&job) == 1000, "the job has the steps and the total of the log");
	job_release(&job);

	report("LOSS=1\nSAMPLES=7\n");
	logged(STEP_UPDATES, 150, 0, NAN);
	ok(run.last_samples == 7 && r.steps == 150,
	   "reported samples count before those of the log");
	steps(400, 4, "STEP=9\n");
	steps(400, 4, "STEP=10\n");
	list = observations();
	ok(list.count == 1 && fabs(list.items[0].step_time_s - 0.4) < 1e-9 &&
	   r.steps == 10, "reported steps take the place of those of the log");
	observation_list_release(&list);
	logged(STEP_UPDATES, 160, 5, 9);
	recorder_begin_log(&r, &run, "nanogpt", 1);
	ok(r.steps == 10 && !strcmp(run.step_source, "reports"),
	   "a log is not read after reported steps");
	end();

	begin();
	r.start = (struct recorder_start){ .samples = 17664, .run_time_s = 10, .lost_samples = 0,
					   .lost_s = 0, .has_reported = true };
	recorder_begin_log(&r, &run, "generic_num", NAN);
	logged(STEP_UPDATES, 128, 0, NAN);
	logged(STEP_UPDATES, 138, 0, NAN);
	ok(run.lost_samples > 0, "a line that is no step looks like a return to the start");
	report("STEP=139\nSAMPLES=17792\n");
	report("STEP=140\nSAMPLES=17920\n");
	ok(run.first_samples == 17792 && run.lost_samples == 0 && run.lost_s == 0,
	   "a reported position corrects a line that is no step");
	end();

	begin();
	run.configuration.accumulation_steps = 4;
	run.configuration.local_batch_size = 32;
	recorder_begin_log(&r, &run, "timm", NAN);
	logged_windows(STEP_BATCHES, 0, 8, 0.1);
	ok(fabs(run.step_time_s - 0.4) < 1e-12 && r.steps == 16 && run.last_samples == 16 * 128,
	   "accumulated batches of the log make steps");
	end();

	begin();
	recorder_begin_log(&r, &run, "mnist_example", NAN);
	logged_windows(STEP_SAMPLES, 0, 640, 0.001);
	ok(fabs(run.step_time_s - 0.128) < 1e-12 && r.steps == 40 && run.last_samples == 5120,
	   "samples of the log make steps");
	run.configuration.local_batch_size = 0;
	logged(STEP_SAMPLES, 6000, 640, 0.001);
	ok(r.steps == 40 && run.last_samples == 6000,
	   "samples of the log make no steps without a batch");
	end();

	begin();
	recorder_begin_log(&r, &run, "generic_num", NAN);
	logged_windows(STEP_UPDATES, 0, 1, 5);
	recorder_begin_log(&r, &run, "nanogpt", NAN);
	logged_windows(STEP_UPDATES, 0, 1, 0.5);
	near(run.step_time_s, 0.5, 1e-12, "times by another pattern are dropped");
	logged(STEP_UPDATES, 9, 1, 600);
	recorder_write(&r, &store, &run, &err);
	logged(STEP_UPDATES, 10, 1, 0.5);
	recorder_write(&r, &store, &run, &err);
	near(run.step_time_s, 0.5, 1e-12, "one huge step of a machine that slept is dropped");
	end();
}

/* A job whose batch size changes: steps before this run were of others. */
static void test_logged_range(void)
{
	struct step_event e = { .unit = STEP_UPDATES, .position = 500, .total = NAN, .n = NAN,
				.unit_s = NAN };
	struct job job;

	begin();
	job_init(&job);
	job.declared.batch.size = 64;
	job.declared.batch.max = 512;
	job.progress.samples = 32000;
	recorder_begin_log(&r, &run, "nanogpt", NAN);
	recorder_add_logged(&r, &run, &job, &e);
	e.position = 510;
	recorder_add_logged(&r, &run, &job, &e);
	ok(run.first_samples == 32000 && run.last_samples == 32000 + 10 * 128,
	   "steps of a job with a range count on from where it stood");
	job_release(&job);
	end();
}

static void logged_of(const struct job *job, enum step_unit unit, double position, double total)
{
	struct step_event e = { .unit = unit, .position = position, .total = total, .n = NAN,
				.unit_s = NAN };

	recorder_add_logged(&r, &run, job, &e);
}

/* A pattern takes over from another; a program begins anew. */
static void test_logged_again(void)
{
	struct job job;

	begin();
	job_init(&job);
	job.declared.batch.size = 64;
	job.declared.batch.max = 512;
	job.progress.samples = 1000;
	job.progress.steps = 10;
	recorder_begin_log(&r, &run, "tqdm_total", NAN);
	logged_of(&job, STEP_UPDATES, 10, NAN);
	logged_of(&job, STEP_UPDATES, 20, NAN);
	recorder_begin_log(&r, &run, "tqdm_total", NAN);
	logged_of(&job, STEP_UPDATES, 1, NAN);
	logged_of(&job, STEP_UPDATES, 6, NAN);
	ok(run.last_samples == 1000 + 15 * 128 && run.lost_samples == 0,
	   "a bar that follows another one goes on from it");
	end();

	begin();
	recorder_begin_log(&r, &run, "nanogpt", NAN);
	logged_of(&job, STEP_UPDATES, 0, NAN);
	logged_of(&job, STEP_UPDATES, 5, NAN);
	ok(run.first_samples == 0 && run.last_samples == 5 * 128 && run.lost_samples == 1000,
	   "a program that begins anew in the log is not credited twice");
	end();

	begin();
	recorder_begin_log(&r, &run, "nanogpt", NAN);
	logged_of(&job, STEP_UPDATES, 8, NAN);
	ok(fabs(run.last_samples - 800) < 1e-9 && fabs(run.lost_samples - 200) < 1e-9,
	   "a program that goes back in the log is not credited twice");
	end();

	begin();
	job.progress.checkpoint_samples = 1000;
	recorder_begin_log(&r, &run, "nanogpt", NAN);
	logged_of(&job, STEP_UPDATES, 8, NAN);
	ok(run.last_samples == 1000 && run.lost_samples == 0,
	   "a checkpoint that was told is where the log goes on");
	job_release(&job);
	end();
}

/* In its second epoch a bar turns out to be of batches. */
static void test_logged_unit(void)
{
	struct job job;

	begin();
	run.configuration.accumulation_steps = 4;
	run.configuration.local_batch_size = 32;
	recorder_begin_log(&r, &run, "tqdm_total", NAN);
	logged_windows(STEP_UPDATES, 0, 8, 0.1);
	logged_windows(STEP_BATCHES, 64, 8, 0.1);
	near(run.step_time_s, 0.4, 1e-12, "times in another unit are dropped");
	ok(r.steps == 32 && run.last_samples == 32 * 128, "steps in another unit are counted anew");
	logged(STEP_UPDATES, 200, 0, NAN);
	recorder_write(&r, &store, &run, &err);
	store_job_get(&store, 1, &job, &err);
	near(job.progress.printed_total_steps, 1000, 0, "a printed total is stored");
	job_release(&job);
	job_init(&job);
	logged_of(&job, STEP_BATCHES, 208, NAN);
	recorder_write(&r, &store, &run, &err);
	store_job_get(&store, 1, &job, &err);
	ok(isnan(job.progress.printed_total_steps),
	   "a printed total that was an epoch's is withdrawn");
	job_release(&job);
	end();
}

/* A suspension of 1000 s between two steps. */
static void test_suspension(void)
{
	scoped(observation_list_release) struct observation_list list = { 0 };

	begin();
	steps(100, 8, "");
	steps(100, 8, "");
	run.suspended_s = 1000;
	recorder_skip_pause(&r);
	steps(1000100, 1, "");
	steps(100, 7, "");
	steps(100, 8, "");
	list = observations();
	near(list.count > 0 ? list.items[0].step_time_s : 0, 0.1, 1e-9,
	     "a step that spans a suspension is not timed");
	near(list.count > 0 ? (double)list.items[0].n_outliers : 9, 0, 0,
	     "a step that spans a suspension is no outlier");
	ok(run.duration_s < 0 && run.duration_s > -1001, "a run's duration is by its own clock");
	end();
}

static void steps_on(enum configuration_tier tier, double ms)
{
	run.configuration.tier = tier;
	for (int i = 0; i < 3; i++)
		steps(ms, 8, "");
}

static const struct observation *of_tier(const struct observation_list *list,
					     enum configuration_tier tier)
{
	static const struct observation none;

	for (int i = 0; i < list->count; i++)
		if (list->items[i].configuration.tier == tier)
			return &list->items[i];
	return &none;
}

/* A suspended run has come back to devices that are joined otherwise, then to the first ones. */
static void test_tier(void)
{
	const struct observation *near_by;
	struct observation_list list;
	int64_t n_steps;

	begin();
	steps_on(TIER_FAST, 100);
	list = observations();
	n_steps = of_tier(&list, TIER_FAST)->n_steps;
	observation_list_release(&list);
	steps_on(TIER_FAR, 150);
	list = observations();
	is_int(list.count, 2, "a run has step times for each tier");
	near(of_tier(&list, TIER_FAR)->step_time_s, .15, 1e-9,
	     "step times of a tier have none of the tier before");
	near_by = of_tier(&list, TIER_FAST);
	ok(n_steps > 0 && near_by->n_steps == n_steps, "step times of the tier before are kept");
	observation_list_release(&list);
	steps_on(TIER_FAST, 100);
	list = observations();
	near_by = of_tier(&list, TIER_FAST);
	is_int(list.count, 2, "a tier that comes back has no third observation");
	ok(near_by->n_steps > n_steps, "step times of a tier that comes back are added");
	near(near_by->step_time_s, .1, 1e-9,
	     "step times of a tier that comes back keep their mean");
	observation_list_release(&list);
	end();
}

/* Another supervisor goes on with the run, which has come back to devices of another tier. */
static void test_tier_of_other_supervisor(void)
{
	scoped(observation_list_release) struct observation_list list = { 0 };

	begin();
	steps_on(TIER_FAST, 100);
	recorder_init(&r);
	recorder_go_on(&r, &store, &run, &err);
	steps_on(TIER_FAR, 150);
	list = observations();
	near(of_tier(&list, TIER_FAR)->step_time_s, .15, 1e-9,
	     "another supervisor keeps the step times of tiers apart");
	end();
}

/* A run with 4 processors for its device on one tier has 2 on another. */
static void test_cores_by_tier(void)
{
	begin();
	strcpy(run.cores, "0-3");
	run.configuration.tier = TIER_FAST;
	report("STEP_NS=1\n");
	recorder_write(&r, &store, &run, &err);
	is_int(run.measured_cores, 0, "a run without step times was measured with no cores");
	steps_on(TIER_FAST, 100);
	is_int(run.measured_cores, 4, "a run with step times was measured with its cores");
	strcpy(run.cores, "0-1");
	steps(150, 1, "");
	is_int(run.measured_cores, 4, "a run with fewer cores is not measured with them at once");
	steps_on(TIER_FAST, 150);
	is_int(run.measured_cores, 2, "step times with other cores are dropped");
	strcpy(run.cores, "0-3");
	steps_on(TIER_FAR, 100);
	is_int(run.measured_cores, RUN_CORES_DIFFER,
	       "step times with other cores stay on another tier");
	end();
}

/* What a report says is believed only of a process of the run. */
static void test_senders(void)
{
	scoped(gradient_list_release) struct gradient_list list = { 0 };
	struct run now_stored;

	begin();
	r.sender = SENDER_FOREIGN;
	report("SAMPLES=100\nLOSS=1\n");
	ok(isnan(run.last_samples) && !r.loss.given,
	   "a report of a foreign process is not believed");
	is_int(run.refused_reports, 1, "a report of a foreign process is counted");
	is_str(run.refusal, "sent by a process that is not the job's",
	       "a report of a foreign process is refused with a reason");
	ok(recorder_add(&r, &store, &run, "WAKE=1\n", 7, now),
	   "a foreign process may wake the supervisor");
	is_int(run.refused_reports, 1, "a wake of a foreign process is not counted");
	r.sender = SENDER_GONE;
	report("SAMPLES=100\nSTEP_NS=5000000\nGRAD_SQR=1\nGRAD_VAR=1\nPARAMETERS=7\n");
	near(run.last_samples, 100, 0, "a process that has ended tells where it stood");
	ok(isnan(run.step_time_s) && r.gradient.n == 0 && r.parameters == 0,
	   "a process that has ended measures nothing");
	r.sender = SENDER_OURS;
	steps(5, 8, "GRAD_SQR=1\nGRAD_VAR=1\n");
	list = gradients();
	is_int(list.count, 1, "a process of the run measures gradients");
	now_stored = stored();
	is_int(now_stored.refused_reports, 1, "the number of refused reports is stored");
	run_release(&now_stored);
	end();
}

/* A report that was kept tells only what is not known. */
static void test_kept(void)
{
	begin();
	report("STEP=1\nSAMPLES=10\n");
	now += 1;
	report("STEP=2\nSAMPLES=20\n");
	report("STEP=2\nSAMPLES=20\nCHECKPOINT=x\n");
	r.sender = SENDER_KEPT;
	now += 1;
	report("STEP=1\nSAMPLES=10\nLOSS=9\n");
	report("CHECKPOINT=w\nSAMPLES=10\n");
	report("RESUMED=w\nSAMPLES=10\n");
	ok(run.reports == 3 && run.refused_reports == 0 && !r.loss.given,
	   "an earlier report that was kept is passed over");
	near(run.last_samples, 20, 0, "an earlier report that was kept leaves the position");
	near(run.checkpoint_samples, 20, 0,
	     "an earlier report that was kept leaves the checkpoint");
	report("STEP=3\nSAMPLES=30\nSTEP_NS=5\nLOSS=2\n");
	near(run.last_samples, 30, 0, "a later report that was kept tells the position");
	near(r.steps, 3, 0, "a later report that was kept tells the steps");
	near(r.loss.value, 2, 0, "a later report that was kept tells the loss");
	is_int(r.stats.n_seen, 1, "a later report that was kept tells no time");
	report("CHECKPOINT=y\nSAMPLES=25\n");
	near(run.checkpoint_samples, 25, 0, "a later checkpoint that was kept is news");
	near(run.last_samples, 30, 0, "a later checkpoint that was kept does not set the run back");
	report("SAMPLES=1000000\n");
	near(run.last_samples, 30, 0, "a jump in a report that was kept is refused");
	r.kept_s = now;
	report("STATUS=kept\nLOSS=3\n");
	is_str(r.status, "kept", "a status that was kept after all that was heard is news");
	r.sender = SENDER_OURS;
	report("STATUS=heard\nLOSS=1\n");
	r.sender = SENDER_KEPT;
	r.kept_s = now - 0.5;
	report("STATUS=kept\nLOSS=3\n");
	is_str(r.status, "heard", "a status that was kept before another was heard is no news");
	near(r.loss.value, 1, 0, "a loss that was kept before another was heard is no news");
	end();
}

static void test_positions(void)
{
	begin();
	run.last_samples = 6400;
	report("CHECKPOINT=x\nSAMPLES=100\n");
	near(run.last_samples, 100, 0, "the first reported position counts before that of a log");
	end();
	begin();
	for (int i = 0; i < 4; i++) {
		autofree char *text = xasprintf("SAMPLES=%d\nSTEP=%d\n", 100 * i, i);

		report(text);
		now += 1;
	}
	report("SAMPLES=1000000000000\nSTEP=1000\nLOSS=2\n");
	near(run.last_samples, 300, 0, "a position that cannot be is refused");
	near(r.loss.value, 2, 0, "the loss of a report with a refused position counts");
	is_str(run.refusal, "SAMPLES jumped from 300 to 1000000000000",
	       "the refusal tells the position that cannot be");
	report("SAMPLES=100\nSTEP=1\nLOSS=3\n");
	near(run.last_samples, 300, 0, "a position that falls is refused");
	near(r.loss.value, 3, 0, "the loss of a report with a fallen position counts");
	is_int(run.refused_reports, 2, "both refused positions are counted");
	report("SAMPLES=200\nCHECKPOINT=/x\n");
	near(run.last_samples, 300, 0, "a checkpoint of an earlier position leaves the position");
	near(run.checkpoint_samples, 200, 0,
	     "a checkpoint of an earlier position is the checkpoint");
	is_int(run.refused_reports, 2, "a checkpoint of an earlier position is not refused");
	report("SAMPLES=50\nSTEP=0\nRESUMED=/x\n");
	near(run.last_samples, 50, 0, "a program that resumes may go back");
	is_int(run.refused_reports, 2, "a program that goes back to resume is not refused");
	end();
}

static void test_other_boot(void)
{
	struct run r1;

	run_init(&r1);
	r1.boot_id = xstrdup("another");
	r1.assigned_time_s = 5000;
	r1.assigned_boot_s = 900;
	r1.launch_boot_s = 910;
	r1.wanted_boot_s = 930;
	run_take_boot(&r1, 5200, 50);
	near(r1.assigned_boot_s, -150, 0, "a run of another boot was assigned as long ago");
	near(r1.launch_boot_s, -140, 0, "a run of another boot was launched as long ago");
	near(r1.wanted_boot_s, -120, 0, "a run of another boot was told to change as long ago");
	ok(isnan(r1.checkpoint_boot_s), "a run of another boot that never saved has no checkpoint");
	free(r1.boot_id);
	r1.boot_id = xstrdup(clock_boot_id());
	run_take_boot(&r1, 9000, 70);
	near(r1.launch_boot_s, -140, 0, "a run of this boot keeps its times");
	run_release(&r1);
}

static void test_run_clock(void)
{
	scoped(run_release) struct run r1 = { 0 };

	run_init(&r1);
	near(run_clock_s(&r1, 100), 100, 0, "the clock of a run never suspended is the boot clock");
	r1.suspended_s = 10;
	near(run_clock_s(&r1, 100), 90, 0, "the clock of a run leaves out its suspensions");
	r1.suspended_boot_s = 80;
	near(run_clock_s(&r1, 100), 70, 0, "the clock of a suspended run stands still");
	near(run_clock_s(&r1, 75), 65, 0, "the clock of a run goes on until its suspension");
	r1.configuration.replicas = 2;
	is_int(run_held(&r1), 2, "a run holds its devices");
	r1.state = RUN_RUNNING;
	r1.suspension = SUSPENSION_DONE;
	is_int(run_held(&r1), 0, "a suspended run holds no devices");
	r1.state = RUN_ENDED;
	is_int(run_held(&r1), 2, "a run that ended suspended shows its last devices");
}

/* --- at the end --- */

/* True if a run of a job with these totals is at its end after a report. */
static bool ends(double samples, double steps, const char *text)
{
	scoped(job_release) struct job job = { 0 };
	bool is;

	job_init(&job);
	job.declared.total_samples = samples;
	job.declared.total_steps = steps;
	report(text);
	is = recorder_is_at_its_end(&r, &run, &job);
	job.profile = true;
	if (recorder_is_at_its_end(&r, &run, &job))
		printf("# a profile has no end\n");
	return is;
}

static void test_reported_end(void)
{
	begin();
	ok(!ends(NAN, NAN, "STEP=9\n"), "a run without totals has no end");
	ok(!ends(NAN, 20, "STEP=19\n"), "a run with a step left is not at its end");
	ok(ends(NAN, 20, "STEP=20\n"), "a run with the declared steps done is at its end");
	ok(!ends(NAN, 40, "TOTAL_STEPS=20\n"), "a declared total counts before a reported one");
	ok(ends(NAN, NAN, "STATUS=x\n"), "a reported total counts where none is declared");
	end();
	begin();
	ok(!ends(1000, NAN, "SAMPLES=872\n"), "a run with a whole batch left is not at its end");
	ok(ends(1000, NAN, "SAMPLES=896\n"), "a run with less than a batch left is at its end");
	end();
	begin();
	ok(!ends(NAN, NAN, "SAMPLES=1280\nEPOCH=3\nTOTAL_EPOCHS=3\n"),
	   "a run that reports its last epoch may just begin it");
	end();
	begin();
	ok(ends(NAN, 20, "STEP=5\nENDED=1\n"),
	   "a run that says so is at its end, short of the total");
	ok(ends(NAN, 20, "STEP=5\nLOSS=1\n"), "a run that reports the same step stays at its end");
	ok(!ends(NAN, 20, "STEP=6\n"), "a run that reports a later step is not at its end");
	ok(ends(NAN, 20, "ENDED=2\n"), "a run that ended by itself is at its end");
	ok(!ends(NAN, 20, "ENDED=0\n"), "a run that takes its end back is not at its end");
	r.told_to_stop = true;
	ok(!ends(NAN, 20, "ENDED=2\n"),
	   "a run told to stop that ended by itself is not at its end");
	ok(ends(NAN, 20, "ENDED=1\n"), "a run told to stop that did all is at its end");
	end();
}

/* True if a run is at its end by a line of its log. */
static bool ends_in_log(struct step_event e)
{
	struct job job;
	bool is;

	begin();
	job_init(&job);
	recorder_begin_log(&r, &run, "x", NAN);
	recorder_add_logged(&r, &run, &job, &e);
	is = recorder_is_at_its_end(&r, &run, &job);
	job_release(&job);
	end();
	return is;
}
#define LINE(...) ((struct step_event){ .n = NAN, .unit_s = NAN, __VA_ARGS__ })

static void test_printed_end(void)
{
	ok(ends_in_log(LINE(.unit = STEP_UPDATES, .position = 20, .total = 20)),
	   "a log that reaches its total is at its end");
	ok(!ends_in_log(LINE(.unit = STEP_UPDATES, .position = 19, .total = 20)),
	   "a log with a step left is not at its end");
	ok(ends_in_log(LINE(.unit = STEP_UPDATES, .position = 19, .total = 20,
			    .counts_from_0 = true)),
	   "a log that counts from 0 is at its end a step before");
	ok(!ends_in_log(LINE(.unit = STEP_UPDATES, .position = 20, .total = 20,
			     .total_may_be_of_epoch = true)),
	   "a log whose total may be of an epoch is not at its end");
	ok(!ends_in_log(LINE(.unit = STEP_UPDATES, .position = 20, .total = NAN)),
	   "a log without a total is not at its end");
	ok(ends_in_log(LINE(.unit = STEP_EPOCHS, .position = 20, .total = 20)),
	   "a log with all epochs done is at its end");
	ok(!ends_in_log(LINE(.unit = STEP_EPOCHS, .position = 19, .total = 20)),
	   "a log with an epoch left is not at its end");
	ok(ends_in_log(LINE(.unit = STEP_SAMPLES, .position = 1000, .total = 1000)),
	   "a log with all samples done is at its end");
}

/* A program that reports its steps, of which each takes so many units of its log, which has this
 * total; NaN: none. totals: that it reports itself. Returns the total that is used. */
static double total_in_log(double units, double total, const char *totals)
{
	struct job job;
	double found;

	begin();
	job_init(&job);
	recorder_begin_log(&r, &run, "x", NAN);
	for (int i = 1; i <= 30; i++) {
		char text[64];

		snprintf(text, sizeof(text), "STEP=%d\n%s", i, totals);
		report(text);
		if (recorder_wants_log(&r, &run, &job))
			recorder_add_logged(&r, &run, &job, &LINE(.unit = STEP_BATCHES,
								  .position = i * units,
								  .total = total));
	}
	found = r.printed_total_steps;
	near(r.steps, 30, 0, "the log leaves the steps that are reported");
	ok(!recorder_is_at_its_end(&r, &run, &job), "a total of the log makes no end before it");
	ok(recorder_wants_log(&r, &run, &job) == (total > 0 && !*totals),
	   "the log is read as long as it has a total and reports have none");
	job_release(&job);
	end();
	return found;
}

/* A program whose step takes 16 batches, and lines of batches within a step. */
static void test_log_total_stays(void)
{
	double found = 0;
	int changes = 0;
	struct job job;

	begin();
	job_init(&job);
	recorder_begin_log(&r, &run, "x", NAN);
	for (int batch = 1; batch <= 450; batch++) {
		char text[64];

		snprintf(text, sizeof(text), "STEP=%d", batch / 16);
		report(text);
		recorder_add_logged(&r, &run, &job, &LINE(.unit = STEP_BATCHES, .position = batch,
							  .total = 480));
		changes += batch > 160 && fabs(r.printed_total_steps - found) > 0;
		found = r.printed_total_steps;
	}
	near(found, 30, 1, "a log that counts batches gives the total within a step");
	ok(changes <= 1, "a total of the log does not waver with the batches of a step");
	job_release(&job);
	end();
}

static void test_log_total(void)
{
	near(total_in_log(1, 360, ""), 360, 0,
	     "a log that counts the reported steps gives their total");
	near(total_in_log(4, 360, ""), 90, 0,
	     "a log that counts batches gives the total of the steps");
	near(total_in_log(1, 20, ""), 0, 0, "a total of the log that was passed is dropped");
	near(total_in_log(1, NAN, ""), 0, 0, "a log without a total gives none");
	near(total_in_log(1, 360, "TOTAL_STEPS=300\n"), 0, 0,
	     "a total of the log does not count beside one that is reported");
}

/* --- the part of its total that a run has done --- */

/* Returns the part that may be done, in percent; after what the log or a report says. */
static double most_done(const char *text, struct step_event e, double declared, double *least)
{
	double most;
	struct job job;

	begin();
	job_init(&job);
	job.declared.total_steps = declared;
	if (text)
		report(text);
	else
		recorder_begin_log(&r, &run, "x", NAN);
	if (!text)
		recorder_add_logged(&r, &run, &job, &e);
	*least = 100 * recorder_done_ratio(&r, &run, &job, &most);
	job_release(&job);
	end();
	return 100 * most;
}

static void test_done_ratio(void)
{
	double least;

	near(most_done(NULL, LINE(.unit = STEP_UPDATES, .position = 24, .total = 100), NAN, &least),
	     24, 1e-9, "where each step has a line, no more than the last are done");
	near(least, 24, 1e-9, "the part that is done is that of the last line");
	near(most_done(NULL, LINE(.unit = STEP_UPDATES, .position = 90, .total = 100, .unseen = 9),
		       NAN, &least), 99, 1e-9,
	     "where each tenth step has a line, nine more may be done");
	near(least, 90, 1e-9, "the last line tells what is done at least");
	near(most_done(NULL, LINE(.unit = STEP_UPDATES, .position = 24, .total = 100), 50, &least),
	     48, 1e-9, "a declared total counts before that of the log");
	ok(isnan(most_done(NULL, LINE(.unit = STEP_UPDATES, .position = 24, .total = 100,
				      .total_may_be_of_epoch = true), NAN, &least)),
	   "a total that may be of an epoch tells no part");
	ok(isnan(most_done(NULL, LINE(.unit = STEP_UPDATES, .position = 24, .total = NAN), NAN,
			   &least)), "without a total there is no part");
	near(most_done(NULL, LINE(.unit = STEP_EPOCHS, .position = 9, .total = 10), NAN, &least),
	     100, 1e-9, "the epoch that the last line begins may be over");
	near(most_done("STEP=6\nTOTAL_STEPS=25\n", LINE(.position = NAN), NAN, &least), 24, 1e-9,
	     "reported steps and totals tell the part");
}

int main(void)
{
	autofree char *command = NULL;

	if (!mkdtemp(root))
		return 1;
	test_change();
	test_warm_up();
	test_means_of_steps();
	test_not_changed();
	test_moments();
	test_windows();
	test_no_position();
	test_groups();
	test_totals();
	test_metrics();
	test_resumed();
	test_begin();
	test_doubt();
	test_memory();
	test_reported_end();
	test_printed_end();
	test_log_total();
	test_log_total_stays();
	test_done_ratio();
	test_logged();
	test_logged_range();
	test_logged_again();
	test_logged_unit();
	test_suspension();
	test_tier();
	test_tier_of_other_supervisor();
	test_cores_by_tier();
	test_senders();
	test_kept();
	test_positions();
	test_run_clock();
	test_other_boot();
	command = xasprintf("rm -rf '%s'", root);
	if (system(command))
		return 1;
	return done();
}
