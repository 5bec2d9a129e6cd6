/* When jobs will end: alone, behind others, of lengths that are known, alike, or not known. */
#include <math.h>
#include <string.h>

#include "pollux/ends.h"
#include "tap.h"

static const struct ends_stream none = { .gap_s = (double)NAN }, some = { .gap_s = 500 };
static const double goodput[] = { 0, 1, 2 };

/* A job that has run for 100 s on one device, without restarts, and has this much left there. */
static struct sched_job running(int id, double left_s)
{
	return (struct sched_job){
		.id = id, .min_replicas = 1, .max_replicas = 1, .weight = 1, .preemptible = true,
		.replicas = 1, .launched_s = 0, .attained_service_device_s = 100,
		.offers = { offers_of(2, goodput) }, .goodput_now = (double)NAN,
		.remaining_samples = left_s,
	};
}

static struct sched_job waiting(int id, double left_s)
{
	struct sched_job job = running(id, left_s);

	job.replicas = 0;
	job.attained_service_device_s = 0;
	return job;
}

static struct sched_input input_of(const struct sched_job *jobs, int n, int n_devices)
{
	return (struct sched_input){ .jobs = jobs, .n_jobs = n, SCHED_ONE_KIND(n_devices, 0),
				     .now_s = 100, .slice_s = 600 };
}

static void known(void)
{
	struct sched_job jobs[] = { running(2, 1000), waiting(1, 5000) };
	struct sched_input in = input_of(jobs, 1, 1);
	struct job_ends alone, ends[2];
	bool first[] = { true, false };

	ends_of(&in, &none, NULL, &alone);
	ok(alone.from_s > 850 && alone.from_s < 980,
	   "a job alone may end a little before its rate says");
	near(alone.middle_s, 1000, 0.03, "a job alone ends about when its rate says");
	ok(alone.to_s > 1020 && alone.to_s < 1150,
	   "a job alone may end a little after its rate says");

	in.n_jobs = 2;
	ends_of(&in, &none, NULL, ends);
	near(ends[0].middle_s, 1000, 0.03, "a longer job that waits does not delay a running one");
	near(ends[1].middle_s, 1000 + 30 + 5000, 0.03,
	     "a job that waits ends after the running one and a restart");
	ends_of(&in, &some, first, ends);
	ok(ends[0].to_s > 1.2 * alone.to_s, "a job may be delayed by jobs still to come");
	in.kinds[0].n_devices = 2;
	ends_of(&in, &none, NULL, ends);
	near(ends[1].middle_s, 5030, 0.03, "a job beside another one on two devices does not wait");

	jobs[0].offers[0] = offers_of(2, goodput);
	jobs[0].max_replicas = 2;
	in.n_jobs = 1;
	ends_of(&in, &none, NULL, ends);
	near(ends[0].middle_s, 500, 0.05, "a job that grows to free devices ends sooner");
	jobs[0].adapts = true;
	ends_of(&in, &none, NULL, &alone);
	ok(alone.middle_s < ends[0].middle_s, "a job whose batch grows, too, ends sooner still");
}

/* By ended siblings: what remains is told with a spread. */
static void learned(void)
{
	struct sched_job job = running(1, 1000);
	double ended_device_s[] = { 900, 36000 };
	struct sched_input in = input_of(&job, 1, 1);
	struct job_ends known, alike, differ, guess;

	in.ended_device_s = ended_device_s;
	in.n_ended = 2;
	ends_of(&in, &none, NULL, &known);
	job.remaining_spread = 0.3;
	ends_of(&in, &none, NULL, &alike);
	ok(alike.from_s < 0.8 * known.from_s && alike.to_s > 1.2 * known.to_s,
	   "by siblings that were much alike an end is known as well as they were alike");
	job.remaining_spread = 2.3;
	ends_of(&in, &none, NULL, &differ);
	job.remaining_samples = (double)NAN;
	job.remaining_spread = 0;
	ends_of(&in, &none, NULL, &guess);
	ok(differ.to_s / differ.from_s > 5 * alike.to_s / alike.from_s,
	   "by siblings that differ an end is known as little as they were alike");
	ok(differ.length_known && !guess.length_known,
	   "a length that nothing tells is not known, one that siblings tell is");
}

/* Starts on one device, behind the job that runs. */
static void starts(void)
{
	struct sched_job jobs[] = { running(1, 1000), waiting(2, (double)NAN),
				    waiting(3, (double)NAN) };
	struct sched_input in = input_of(jobs, 2, 1);
	struct job_ends ends[3];

	ends_of(&in, &none, NULL, ends);
	near(ends[1].start_middle_s, 1000, 0.05,
	     "a job starts about when the running one ends, whose length is known");
	ok(!ends[1].length_known && ends[0].length_known,
	   "lengths are known where something tells them");
	jobs[0].remaining_samples = (double)NAN;
	ends_of(&in, &none, NULL, ends);
	ok(isnan(ends[1].start_middle_s), "no start is told that rests on a job of unknown length");
	jobs[1].time_left_s = 300;
	jobs[0].attained_service_device_s = 1e4;
	jobs[0].launched_s = 50;
	jobs[0].restarts = 1;
	ends_of(&in, &none, NULL, ends);
	near(ends[1].start_middle_s, 550, 0.05,
	     "a brief job starts when the slice of the other ends");
	jobs[0].relaunch_s = 30;
	jobs[0].restart_s = 0.1;
	jobs[0].launched_s = 35;
	ends_of(&in, &none, NULL, ends);
	ok(ends[1].start_middle_s < 300,
	   "a brief job starts sooner where the other can be suspended");

	/* Siblings: the pilot runs on, and tells the length of the others by its end. */
	for (int i = 0; i < 3; i++)
		jobs[i] = i ? waiting(i + 1, (double)NAN) : running(1, (double)NAN);
	in.n_jobs = 3;
	ends_of(&in, &none, NULL, ends);
	for (int i = 0; i < 3; i++)
		jobs[i].workload = 7;
	ends_of(&in, &none, NULL, ends);
	ok(ends[0].middle_s < ends[1].middle_s && ends[1].middle_s < ends[2].middle_s,
	   "of siblings of unknown length one ends after the other");
	for (int i = 0; i < 3; i++) {
		jobs[i].remaining_samples = i ? 1000 : 900;
		jobs[i].remaining_spread = 0.3;
		jobs[i].typical_work = 1000;
		jobs[i].done_work = i ? 0 : 100;
	}
	ends_of(&in, &none, NULL, ends);
	near(ends[1].start_middle_s, 900, 0.2, "a start is told by what siblings took");
	ok(ends[2].start_to_s - ends[2].start_from_s > ends[1].start_to_s - ends[1].start_from_s,
	   "a later start is known less well");
}

/* Short jobs of one workload, by the service that others of it had: that includes their start. */
static void short_ones(void)
{
	enum { N = 10 };
	struct sched_job jobs[N];
	struct sched_input in = input_of(jobs, N, 1);
	struct job_ends ends[N];

	for (int i = 0; i < N; i++) {
		jobs[i] = i ? waiting(i + 1, (double)NAN) : running(1, (double)NAN);
		jobs[i].attained_service_device_s = 0;
		jobs[i].launched_s = in.now_s;
		jobs[i].restart_s = 30;
		jobs[i].workload = 7;
		jobs[i].remaining_device_s = jobs[i].typical_work = 2;
		jobs[i].remaining_spread = 0.1;
	}
	ends_of(&in, &none, NULL, ends);
	ok(ends[0].middle_s < 10, "no start is added to what a running job takes by its siblings");
	near(ends[N - 1].start_middle_s, 2 * (N - 1), 0.3,
	     "nor to what those take that start before another");
	for (int i = 0; i < N; i++) {
		jobs[i].restarts = 1;
		jobs[i].attained_service_device_s = 1;
	}
	ends_of(&in, &none, NULL, ends);
	ok(ends[N - 1].start_middle_s > 30 * (N - 1), "a start again is no part of that");
}

static void unknown(void)
{
	struct sched_job job = running(1, (double)NAN);
	struct sched_input in = input_of(&job, 1, 1);
	double alike[50];
	struct job_ends wide, ends;

	ends_of(&in, &none, NULL, &wide);
	ok(wide.from_s > 0 && wide.to_s > 20 * wide.from_s,
	   "a job of unknown length has ends far apart");
	for (int i = 0; i < 50; i++)
		alike[i] = 3000 + 10 * i;
	in.ended_device_s = alike;
	in.n_ended = 50;
	ends_of(&in, &none, NULL, &ends);
	ok(ends.to_s / ends.from_s < wide.to_s / wide.from_s / 2,
		"a job of unknown length has nearer ends if others ended alike");
	ok(ends.middle_s > 2000 && ends.middle_s < 4500,
	   "a job of unknown length ends about when others ended");
	job.min_replicas = job.max_replicas = 4;
	ends_of(&in, &none, NULL, &ends);
	ok(isnan(ends.from_s) && isnan(ends.to_s), "a job too wide to run has no end");
}

/* The mean of the middle ends of eight jobs of unknown length that wait for one device. Lengths are
 * such that a job which has had a slice is near its end as often as far from it. */
static double mean_end_s(bool tells_its_work)
{
	static const double ended[] = { 700, 800, 900, 1000, 9000, 9500, 10000, 11000 };
	enum { N = sizeof(ended) / sizeof(ended[0]) };
	struct sched_job jobs[N];
	struct job_ends ends[N];
	double sum = 0;

	for (int i = 0; i < N; i++) {
		jobs[i] = waiting(i + 1, (double)NAN);
		jobs[i].tells_its_work = tells_its_work;
	}
	ends_of(&(struct sched_input){
			.jobs = jobs, .n_jobs = N, SCHED_ONE_KIND(1, 0), .now_s = 100,
			.slice_s = 600, .ended_device_s = ended, .n_ended = N,
		}, &none, NULL, ends);
	for (int i = 0; i < N; i++)
		sum += ends[i].middle_s;
	return sum / N;
}

static void any_input(void)
{
	static const double odd[] = { 0, -1, 1e-300, 1e300, (double)INFINITY, (double)NAN };
	enum { N = sizeof(odd) / sizeof(odd[0]) };
	bool ordered = true;

	for (int i = 0; i < N * N * N; i++) {
		struct sched_job jobs[] = { running(1, odd[i % N]), waiting(2, odd[i / N % N]) };
		struct sched_input in = input_of(jobs, 2, 1);
		struct job_ends ends[2];

		jobs[1].attained_service_device_s = jobs[0].restart_s = odd[i / N / N];
		ends_of(&in, &(struct ends_stream){ odd[i % N], odd[i / N % N] }, NULL, ends);
		for (int k = 0; k < 2; k++)
			ordered &= isnan(ends[k].from_s) ||
				   (ends[k].from_s >= 0 && ends[k].from_s <= ends[k].middle_s &&
				    ends[k].middle_s <= ends[k].to_s && isfinite(ends[k].to_s));
	}
	ok(ordered, "any input gives ends in order and finite, or none");
	ends_of(&(struct sched_input){ .n_jobs = 0, SCHED_ONE_KIND(1, 0) }, &some, NULL, NULL);
	ok(true, "no jobs are accepted");
}

static void gaps(void)
{
	double times[] = { 50, 10, 30, 20, 40, 0, 5, 60, 70, 80 };

	ok(isnan(ends_stream_of(times, 1, 100).gap_s), "one job gives no gap");
	ok(isnan(ends_stream_of((double[]){ 50, 51, 52 }, 3, 100).gap_s),
	   "jobs that come together give no gap");
	near(ends_stream_of((double[]){ 50, 51, 10 }, 3, 1000).gap_s, 990, 0,
	     "jobs that come together count as one in the gaps");
	near(ends_stream_of(times, 2, 1000).gap_s, 990, 0,
	     "two jobs give the gap from the first until now");
	/* The newest eight: from 10 on. */
	near(ends_stream_of(times, 10, 1000).gap_s, 990 / 7.0, 1e-12,
	     "the gap counts the newest jobs only");
	near(ends_stream_of(times, 10, 100).gap_s, 600 / 7.0, 1e-12,
	     "the gap of a burst is not below its span");
	/* Gaps of 10 s; 20 s after the last, at 80, the odds of an end are 0.05 e^2 to 1. */
	near(ends_stream_of(times, 10, 100).stopped, 1 / (1 + 20 * exp(-2)), 1e-12,
	     "two gaps without a job make the end of a stream likely");
	near(ends_stream_of(times, 10, 1000).stopped, 1, 1e-9,
	     "many gaps without a job end a stream");
}

int main(void)
{
	known();
	learned();
	starts();
	short_ones();
	unknown();
	ok(mean_end_s(true) < 0.9 * mean_end_s(false),
		"jobs end sooner if short ones are known once measured");
	any_input();
	gaps();
	return done();
}
