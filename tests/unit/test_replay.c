/* A replay of jobs whose rates are given: times worked out by hand, with policies of which one
 * knows what they will do. */
#include <math.h>
#include <sysexits.h>

#include "pollux/replay.h"
#include "tap.h"

static double best[2][3] = { { 0, 10, 20 }, { 0, 10, 40 } },
	      own[2][3] = { { 0, 5, 8 }, { 0, 5, 16 } };

/* The most, from the first job on. */
static void give_most(const struct sched_input *in, struct sched_choice *choice)
{
	int left = sched_devices(in);

	for (int i = 0; i < in->n_jobs; i++) {
		int most = in->jobs[i].max_replicas;

		choice[i] = (struct sched_choice){ .replicas = most <= left ? most : 0 };
		left -= choice[i].replicas;
	}
}

/* One device in the first minute, then two. */
static void give_later(const struct sched_input *in, struct sched_choice *choice)
{
	for (int i = 0; i < in->n_jobs; i++)
		choice[i] = (struct sched_choice){ .replicas = in->now_s < 60 ? 1 : 2 };
}

static void give_nothing(const struct sched_input *in, struct sched_choice *choice)
{
	for (int i = 0; i < in->n_jobs; i++)
		choice[i] = (struct sched_choice){ .replicas = 0 };
}

/* What was told of the first job while it waited, and at the last pass. */
static struct sched_job first_told, last_told;

static void give_and_remember(const struct sched_input *in, struct sched_choice *choice)
{
	last_told = in->jobs[0];
	if (!last_told.replicas)
		first_told = last_told;
	give_later(in, choice);
}

static const struct policy most = { .name = "most", .models_goodput = true, .decide = give_most };
static const struct policy owners = { .name = "owners", .decide = give_most };
static const struct policy later = { .name = "later",
				     .models_goodput = true,
				     .decide = give_later };
static const struct policy remembers = {
	.name = "remembers", .models_goodput = true, .decide = give_and_remember,
};
static const struct policy nothing = { .name = "nothing", .decide = give_nothing };

/* 100 at the first rates, then 200 at the second. */
static struct replay_phase phases[2] = {
	{ .until = 100, .best = best[0], .own = own[0] },
	{ .until = 300, .best = best[1], .own = own[1] },
};

static struct replay_job job_at(double submit_s)
{
	return (struct replay_job){
		.id = 1,
		.submit_s = submit_s,
		.release_s = submit_s,
		.min_replicas = 1,
		.max_replicas = 2,
		.weight = 1,
		.preemptible = true,
		.modelled = true,
		.told_work = 300,
		.start_s = 3,
		.restart_s = 7,
		.phases = phases,
		.n_phases = 2,
	};
}

static int replay_under(const struct policy *policy, const struct replay_job *jobs, int n,
			struct sim_job_result *results, struct err *err)
{
	struct sim_options options = {
		.policy = policy, .nodes = 1, .gpus_per_node = 2, .interval_s = 60, .slice_s = 60,
	};

	return replay(&options, jobs, n, results, err);
}

static void test_rates(void)
{
	struct replay_job job = job_at(0);
	struct sim_job_result result;
	struct err err;

	is_int(replay_under(&most, &job, 1, &result, &err), 0, "a job alone is replayed");
	near(result.finish_s, 3 + 100 / 20.0 + 200 / 40.0, 1e-12,
	     "a job alone runs at its best rate in each phase");
	is_int(replay_under(&owners, &job, 1, &result, &err), 0,
	       "a policy that looks at no goodput is replayed");
	near(result.finish_s, 3 + 100 / 8.0 + 200 / 16.0, 1e-12,
	     "without goodput a job runs at the rate of its own batch size");
	best[0][2] = (double)NAN;
	is_int(replay_under(&most, &job, 1, &result, &err), 0,
	       "a job whose best rate is unknown on two devices is replayed");
	near(result.finish_s, 3 + 100 / 8.0 + 200 / 40.0, 1e-12,
	     "a job with no best rate runs at its own rate");
	best[0][2] = 20;
	phases[0].pause_s = 2;
	phases[1].pause_s = 4;
	is_int(replay_under(&most, &job, 1, &result, &err), 0,
	       "a job with time that is no step is replayed");
	near(result.finish_s, 13 + 6, 1e-12, "time that is no step lengthens a job");
	phases[0].pause_s = 62;
	is_int(replay_under(&later, &job, 1, &result, &err), 0,
	       "a job stopped within time that is no step is replayed");
	near(result.finish_s, 60 + 7 + 5 + 100 / 20.0 + 4 + 200 / 40.0, 1e-12,
	     "a stopped job keeps what it had of the time that is no step");
	phases[0].pause_s = phases[1].pause_s = 0;
	job.modelled = false;
	is_int(replay_under(&most, &job, 1, &result, &err), 0, "a job without a model is replayed");
	near(result.finish_s, 28, 1e-12, "a job without a model runs at the best rates too");
}

/* Submitted at 50, seen at 60, on two devices: 3 + 5 + 5 s. Submitted at 0: 57 s of work at 1 a
 * second by the
 60th second, then twice that. */
static void test_passes(void)
{
	struct replay_job slow = job_at(0);
	struct sim_job_result result;
	double first[3] = { 0, 1, 2 };
	struct err err;

	slow.submit_s = slow.release_s = 50;
	is_int(replay_under(&later, &slow, 1, &result, &err), 0,
	       "a job submitted between passes is replayed");
	near(result.start_s, 60, 1e-12, "a job submitted between passes starts at the next pass");
	near(result.finish_s, 73, 1e-12, "a job ends between passes, when its work is done");
	slow.submit_s = slow.release_s = 0;
	phases[0].best = first;
	is_int(replay_under(&later, &slow, 1, &result, &err), 0,
	       "a job given more devices later is replayed");
	near(result.finish_s, 60 + 7 + (100 - 57) / 2.0 + 5, 1e-12,
	     "a job given more devices stands still for its restart first");
	is_int(result.restarts, 1, "a change of devices counts as one restart");
	phases[0].best = best[0];
}

static void test_order(void)
{
	struct replay_job jobs[2] = { job_at(0), job_at(0) };
	struct sim_job_result results[2];
	int after = 1;
	struct err err;

	jobs[1].id = 2;
	is_int(replay_under(&most, jobs, 2, results, &err), 0,
	       "two jobs that want two devices each are replayed");
	near(results[1].finish_s, 26, 1e-12,
	     "the end of the first job makes a pass that starts the second");
	jobs[0].after = &after;
	jobs[0].n_after = 1;
	is_int(replay_under(&most, jobs, 2, results, &err), 0,
	       "a job that waits for a later one is replayed");
	near(results[1].finish_s, 13, 1e-12, "the job that another waits for runs first");
	near(results[0].finish_s, 26, 1e-12, "a job waits for the end of the one it comes after");
	jobs[0].n_after = 0;
	jobs[0].release_s = 130;
	is_int(replay_under(&most, jobs, 2, results, &err), 0,
	       "a job with a time of release is replayed");
	near(results[0].start_s, 180, 1e-12, "a job starts at the pass after its time of release");
}

/* Nobody is there for 60 days: no job is stuck. */
static void test_idle(void)
{
	double days_60_s = 60 * 86400;
	struct replay_job jobs[2] = { job_at(0), job_at(days_60_s) };
	struct sim_job_result results[2];
	struct err err;

	jobs[1].id = 2;
	is_int(replay_under(&most, jobs, 2, results, &err), 0,
	       "a job that comes 60 days after the others is replayed");
	near(results[1].finish_s, days_60_s + 13, 1e-12,
	     "a job that comes 60 days later runs when it comes");
}

/* Submitted at 0, at 1 a second after 3 s: at the pass of 60 it has had 57. */
static void test_told(void)
{
	struct replay_job job = job_at(0);
	struct sim_job_result result;
	double first[3] = { 0, 1, 2 };
	struct err err;

	phases[0].best = first;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "a policy that remembers what it is told is replayed");
	near(last_told.remaining_samples, 300 - 57, 1e-12, "a policy is told what work remains");
	job.told_work = 57 / 1.04;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "a job a little longer than declared is replayed");
	near(last_told.remaining_samples, 0, 0,
	     "a job a little longer than declared has no work left at its end");
	job.told_work = 57 / 1.06;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "a job much longer than declared is replayed");
	is_int(isnan(last_told.remaining_samples), 1,
	       "what remains of a job much longer than declared is unknown");
	near(last_told.goodput_now, 1, 0, "a policy is told the rate at which a job runs");
	near(first_told.waiting_since_s, 0, 0, "a policy is told since when a job has waited");
	is_int(isnan(first_told.goodput_now), 1, "a job that waits has no goodput");
	job.submit_s = 10;
	job.release_s = 20;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "a job released after its submission is replayed");
	near(first_told.waiting_since_s, 20, 0,
	     "a job waits from its release on, not from its submission");
	phases[0].best = best[0];
}

/* Nothing comes of nothing, in the second phase only. */
static void test_rates_that_are_none(void)
{
	static double none[][3] = {
		{ 0, 0, 0 }, { 0, NAN, NAN }, { 0, INFINITY, INFINITY }, { 0, -1, -1 }
	};
	struct replay_job job = job_at(0);
	struct sim_job_result result;
	struct err err;

	for (size_t i = 0; i < sizeof(none) / sizeof(none[0]); i++) {
		phases[1].own = none[i];
		is_int(replay_under(&owners, &job, 1, &result, &err), -1,
		       "a rate that is not positive and finite fails the replay");
		is_int(err.exit_status, EX_DATAERR, "a bad rate is an error of data");
	}
	is_str(err.text, "job 1 does work at a rate of -1 on 2 devices",
	       "the error of a bad rate names the job and the devices");
	phases[1].own = own[1];
}

static void test_figures(void)
{
	struct sim_job_result was[3] = {
		{ .submit_s = 10, .finish_s = 20, .restarts = 1, .gpu_hours = 0.5 },
		{ .submit_s = 20, .finish_s = 40, .gpu_hours = 0.5 },
		{ .submit_s = 30, .finish_s = 60, .restarts = 2, .gpu_hours = 1 },
	}, other[3] = { was[0], was[1], was[2] };
	struct sim_figures f = sim_figures_of(was, 3, was[0].submit_s);

	near(f.avg_jct_s, 20, 1e-12, "the mean JCT is the mean of the three");
	near(f.p99_jct_s, 29.8, 1e-12, "the 99th percentile lies between ranks");
	near(f.makespan_s, 50, 1e-12, "the makespan is from the first submission to the last end");
	near(f.restarts, 3, 1e-12, "restarts are added up");
	near(f.gpu_hours, 2, 1e-12, "device hours are added up");
	other[0].finish_s = 21;
	other[1].finish_s = 34;
	near(replay_median_error(other, was, 3), 0.1, 1e-12,
	     "the median error of 0.1, 0.3 and 0 is 0.1");
	is_int(isnan(replay_median_error(other, was, 0)), 1, "no jobs have no median error");
	f = sim_figures_of(was, 0, 0);
	is_int(isnan(f.avg_jct_s) && isnan(f.makespan_s), 1,
	       "no jobs have no mean JCT and no makespan");
}

int main(void)
{
	struct replay_job job = job_at(0);
	struct sim_job_result result;
	struct err err;

	test_rates();
	test_passes();
	test_order();
	test_idle();
	test_told();
	test_rates_that_are_none();
	test_figures();
	is_int(replay_under(&nothing, &job, 1, &result, &err), -1,
	       "a policy that never gives anything fails the replay");
	is_int(err.exit_status, EX_UNAVAILABLE,
	       "a policy that never gives anything is given up as unavailable");
	is_int(replay_under(&most, NULL, 0, NULL, &err), 0, "a replay of no job is no error");
	return done();
}
