/* test_past.c - sums of past jobs: days, parts of runs, what each job counts. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "pollux/mem.h"
#include "pollux/view.h"
#include "tap.h"

#define H 3600.0
#define DAY (24 * H)
#define FRIDAY (20000 * DAY)		/* 2024-10-04 00:00 UTC */

static struct job job_of(int64_t id, enum job_state state, double submit_s, double start_s,
			 double end_s)
{
	struct job job;

	job_init(&job);
	job.id = id;
	job.state = state;
	job.declared.name = strdup(id % 2 ? "odd" : "even");
	job.declared.workload = strdup("w");
	job.submit_time_s = submit_s;
	job.start_time_s = start_s;
	job.end_time_s = end_s;
	return job;
}

/* As the store reads it: only what the sums look at. */
static struct run run_of(double launch_s, double end_s, double duration_s, int replicas,
			 double lost_s)
{
	return (struct run){
		.launch_time_s = launch_s, .end_time_s = end_s, .duration_s = duration_s,
		.lost_s = lost_s, .configuration = { .replicas = replicas },
	};
}

static const struct past_row *row(const struct past *p, const char *key)
{
	static const struct past_row none = { .key = NULL };

	for (int i = 0; i < p->n; i++)
		if (!strcmp(p->rows[i].key, key))
			return &p->rows[i];
	return &none;
}

/* Two devices from 22:00 to 04:00, of which three hours were suspended, and one hour lost. */
static void test_midnight(void)
{
	struct past p = { .period = { .since_s = FRIDAY, .now_s = FRIDAY + 3 * DAY } };
	struct job job = job_of(1, JOB_DONE, FRIDAY + 20 * H, FRIDAY + 22 * H, FRIDAY + 28 * H);
	struct run run = run_of(FRIDAY + 22 * H, FRIDAY + 28 * H, 3 * H, 2, 1 * H);
	double gain = 1.5;

	past_add(&p, &job, &run, 1, &gain);
	past_sort(&p);
	is_int(p.n, 2, "a run over midnight counts in two days");
	is_str(p.rows[0].key, "2024-10-04", "the first row is the day in which the run began");
	is_str(p.rows[1].key, "2024-10-05", "the second row is the day in which the run ended");
	/* A third of the time lies in the first day: of 3 h on 2 devices, 2 device-hours. */
	near(p.rows[0].device_s, 2 * H, 1e-9, "the first day has its part of the device time");
	near(p.rows[1].device_s, 4 * H, 1e-9, "the second day has the rest of the device time");
	near(p.total.device_s, 6 * H, 1e-9, "the total has all of the device time");
	near(p.total.lost_device_s, 2 * H, 1e-9, "the total has the lost hour of two devices");
	near(p.rows[0].lost_device_s, 2 * H / 3, 1e-9,
	     "the first day has its part of the lost time");
	near(past_gain(&p.total), 1.5, 1e-12, "the total has the gain of its run");
	is_int(p.total.jobs, 1, "the total counts one job");
	is_int(p.rows[0].jobs + p.rows[1].jobs, 2, "each of the two days counts the job");
	is_int(p.rows[0].started, 1, "the first day counts the start of the job");
	near(p.rows[0].waited_s, 2 * H, 1e-9, "the first day has the wait of two hours");
	is_int(p.rows[1].ended[JOB_DONE], 1, "the second day counts the end of the job");
	near(p.rows[1].completion_s, 8 * H, 1e-9,
	     "the second day has the completion time of eight hours");
	past_release(&p);
	job_release(&job);
}

static void test_period(void)
{
	struct past p = { .period = { .since_s = FRIDAY, .now_s = FRIDAY + 4 * H } };
	struct job old = job_of(1, JOB_RUNNING, FRIDAY - 8 * H, FRIDAY - 6 * H, (double)NAN);
	struct run run = run_of(FRIDAY - 6 * H, (double)NAN, 10 * H, 1, 0);
	struct job gone = job_of(2, JOB_DONE, FRIDAY - 8 * H, FRIDAY - 6 * H, FRIDAY - 1);
	struct run before = run_of(FRIDAY - 6 * H, FRIDAY - 1, 6 * H, 1, 0);
	double unknown = (double)NAN;

	past_add(&p, &old, &run, 1, &unknown);
	past_add(&p, &gone, &before, 1, &unknown);
	near(p.total.device_s, 4 * H, 1e-9, "a run counts from the beginning of the period");
	is_int(p.total.jobs, 1, "a job that ended before the period does not count");
	is_int(p.total.started, 0, "a start before the period does not count");
	is_int(p.total.ended[JOB_DONE], 0, "an end before the period does not count");
	ok(isnan(past_gain(&p.total)), "the gain is unknown where no run tells it");
	past_release(&p);
	job_release(&old);
	job_release(&gone);
}

/* Gains are weighted by device time: (1 h x 2 + 3 h x 1) / 4 h. */
static void test_names(void)
{
	struct past p = { .period = { .since_s = FRIDAY, .now_s = FRIDAY + DAY, .by = PAST_NAME } };
	scoped(job_release) struct job a = job_of(1, JOB_FAILED, FRIDAY, FRIDAY, FRIDAY + 4 * H);
	struct job b = job_of(2, JOB_CANCELLED, FRIDAY, (double)NAN, FRIDAY + H);
	struct run runs[3] = {
		run_of(FRIDAY, FRIDAY + H, H, 1, 9 * H),
		run_of(FRIDAY + H, FRIDAY + 4 * H, 3 * H, 1, 0),
		run_of((double)NAN, FRIDAY + 4 * H, 0, 1, 0),
	};
	double gains[3] = { 2, 1, (double)NAN };

	past_add(&p, &a, runs, 3, gains);
	past_add(&p, &b, NULL, 0, NULL);
	past_sort(&p);
	is_str(p.rows[0].key, "odd", "the row with the most device time comes first");
	is_int(row(&p, "odd")->jobs, 1, "a job with several runs counts once");
	near(past_gain(row(&p, "odd")), 1.25, 1e-12,
	     "the gain of two runs is weighted by device time");
	near(row(&p, "odd")->lost_device_s, H, 1e-9, "a run loses no more than it ran");
	is_int(row(&p, "odd")->ended[JOB_FAILED], 1, "the row counts the failed job");
	is_int(row(&p, "even")->jobs, 1, "a job that ended without a run counts");
	is_int(row(&p, "even")->started, 0, "a job that ended without a run never started");
	past_release(&p);
	job_release(&b);
}

/* 2024-10-27 has 25 hours in Berlin. */
static void test_summer_time(void)
{
	double begin = 20022 * DAY + 22 * H;	/* 2024-10-26 22:00 UTC: midnight there */
	struct past p = { .period = { .since_s = begin, .now_s = begin + 2 * DAY } };
	scoped(job_release) struct job job = job_of(1, JOB_RUNNING, begin, begin, (double)NAN);
	struct run run = run_of(begin, begin + 26 * H, 26 * H, 1, 0);
	double unknown = (double)NAN;

	setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3", 1);
	tzset();
	past_add(&p, &job, &run, 1, &unknown);
	near(row(&p, "2024-10-27")->device_s, 25 * H, 1e-9,
	     "the day that summer time ends has 25 hours");
	near(row(&p, "2024-10-28")->device_s, H, 1e-9, "the day after the long one has the rest");
	past_release(&p);
}

int main(void)
{
	setenv("TZ", "UTC", 1);
	tzset();
	test_midnight();
	test_period();
	test_names();
	test_summer_time();
	return done();
}
