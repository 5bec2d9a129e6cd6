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
	struct replay_options options = {
		.policy = policy, .n_devices = 2, .interval_s = 60, .slice_s = 60,
	};

	return replay(&options, jobs, n, results, err);
}

static void test_rates(void)
{
	struct replay_job job = job_at(0);
	struct sim_job_result result;
	struct err err;

	is_int(replay_under(&most, &job, 1, &result, &err), 0, "a job alone");
	near(result.finish_s, 3 + 100 / 20.0 + 200 / 40.0, 1e-12, "at its best, phase by phase");
	is_int(replay_under(&owners, &job, 1, &result, &err), 0,
	       "a policy that looks at no goodput");
	near(result.finish_s, 3 + 100 / 8.0 + 200 / 16.0, 1e-12, "runs it at its own batch size");
	best[0][2] = (double)NAN;
	is_int(replay_under(&most, &job, 1, &result, &err), 0,
	       "on a number of devices that is not to be");
	near(result.finish_s, 3 + 100 / 8.0 + 200 / 40.0, 1e-12, "it runs as it was submitted");
	best[0][2] = 20;
	phases[0].pause_s = 2;
	phases[1].pause_s = 4;
	is_int(replay_under(&most, &job, 1, &result, &err), 0, "with time that is no step");
	near(result.finish_s, 13 + 6, 1e-12, "it takes that longer");
	phases[0].pause_s = 62;
	is_int(replay_under(&later, &job, 1, &result, &err), 0,
	       "and stopped 57 s into such a time");
	near(result.finish_s, 60 + 7 + 5 + 100 / 20.0 + 4 + 200 / 40.0, 1e-12,
	     "it keeps what it had of it");
	phases[0].pause_s = phases[1].pause_s = 0;
	job.modelled = false;
	is_int(replay_under(&most, &job, 1, &result, &err), 0, "without a model");
	near(result.finish_s, 28, 1e-12, "likewise");
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
	is_int(replay_under(&later, &slow, 1, &result, &err), 0, "a job between passes");
	near(result.start_s, 60, 1e-12, "starts at the next one");
	near(result.finish_s, 73, 1e-12, "and ends by itself");
	slow.submit_s = slow.release_s = 0;
	phases[0].best = first;
	is_int(replay_under(&later, &slow, 1, &result, &err), 0,
	       "one that is given more meanwhile");
	near(result.finish_s, 60 + 7 + (100 - 57) / 2.0 + 5, 1e-12,
	     "stands still for its restart first");
	is_int(result.restarts, 1, "which counts");
	phases[0].best = best[0];
}

static void test_order(void)
{
	struct replay_job jobs[2] = { job_at(0), job_at(0) };
	struct sim_job_result results[2];
	int after = 1;
	struct err err;

	jobs[1].id = 2;
	is_int(replay_under(&most, jobs, 2, results, &err), 0, "two jobs for two devices each");
	near(results[1].finish_s, 26, 1e-12,
	     "run one after the other, by a pass at the end of the first");
	jobs[0].after = &after;
	jobs[0].n_after = 1;
	is_int(replay_under(&most, jobs, 2, results, &err), 0, "the first after the second");
	near(results[1].finish_s, 13, 1e-12, "then it is so");
	near(results[0].finish_s, 26, 1e-12, "and it waits for it");
	jobs[0].n_after = 0;
	jobs[0].release_s = 130;
	is_int(replay_under(&most, jobs, 2, results, &err), 0,
	       "one that may not start before a time");
	near(results[0].start_s, 180, 1e-12, "starts at the pass after it");
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
	       "the last job may come 60 days after the others");
	near(results[1].finish_s, days_60_s + 13, 1e-12, "and is run then");
}

/* Submitted at 0, at 1 a second after 3 s: at the pass of 60 it has had 57. */
static void test_told(void)
{
	struct replay_job job = job_at(0);
	struct sim_job_result result;
	double first[3] = { 0, 1, 2 };
	struct err err;

	phases[0].best = first;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0, "a policy is told");
	near(last_told.remaining_samples, 300 - 57, 1e-12, "what remains");
	job.told_work = 57 / 1.04;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "where it takes a little longer than is told");
	near(last_told.remaining_samples, 0, 0, "that nothing does");
	job.told_work = 57 / 1.06;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "and where it takes much longer");
	is_int(isnan(last_told.remaining_samples), 1, "that nobody knows");
	near(last_told.goodput_now, 1, 0, "and at what rate it runs");
	near(first_told.waiting_since_s, 0, 0, "before that, since when it waited");
	is_int(isnan(first_told.goodput_now), 1, "when it had no rate");
	job.submit_s = 10;
	job.release_s = 20;
	is_int(replay_under(&remembers, &job, 1, &result, &err), 0,
	       "of one that was not to start before a time");
	near(first_told.waiting_since_s, 20, 0, "since then");
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
		is_int(replay_under(&owners, &job, 1, &result, &err), -1, "a rate that is none");
		is_int(err.exit_status, EX_DATAERR, "is an error");
	}
	is_str(err.text, "job 1 does work at a rate of -1 on 2 devices", "that says whose");
	phases[1].own = own[1];
}

static void test_figures(void)
{
	struct sim_job_result was[3] = {
		{ .submit_s = 10, .finish_s = 20, .restarts = 1, .gpu_hours = 0.5 },
		{ .submit_s = 20, .finish_s = 40, .gpu_hours = 0.5 },
		{ .submit_s = 30, .finish_s = 60, .restarts = 2, .gpu_hours = 1 },
	}, other[3] = { was[0], was[1], was[2] };
	struct replay_figures f;

	replay_figures(was, 3, &f);
	near(f.avg_jct_s, 20, 1e-12, "mean");
	near(f.p99_jct_s, 29.8, 1e-12, "99th percentile, between ranks");
	near(f.makespan_s, 50, 1e-12, "from the first submission to the last end");
	near(f.restarts, 3, 1e-12, "restarts");
	near(f.device_hours, 2, 1e-12, "device hours");
	other[0].finish_s = 21;
	other[1].finish_s = 34;
	near(replay_median_error(other, was, 3), 0.1, 1e-12, "the median of 0.1, 0.3 and 0");
	is_int(isnan(replay_median_error(other, was, 0)), 1, "of none there is none");
	replay_figures(was, 0, &f);
	is_int(isnan(f.avg_jct_s) && isnan(f.makespan_s), 1, "nor any figure");
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
	       "a policy that gives nothing, ever");
	is_int(err.exit_status, EX_UNAVAILABLE, "is given up");
	is_int(replay_under(&most, NULL, 0, NULL, &err), 0, "no job is no error");
	return done();
}
