/* Least attained service: cases worked by hand, then random mixes of jobs over many passes, held to
 * the rules and to the bound on waiting that policy.h states. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "pollux/policy.h"
#include "tap.h"
#include "words.h"

#define SLICE_S 600.0
#define NOW_S 10000.0
#define MAX_JOBS 32

/* --- by hand --- */

/* A job: id, minimum, maximum, attained service; then what it holds and for how long. */
static struct sched_job waits(int64_t id, int min, int max, double service)
{
	return (struct sched_job){
		.id = id, .min_replicas = min, .max_replicas = max, .weight = 1,
		.attained_service_device_s = service, .preemptible = true,
	};
}

static struct sched_job holds(struct sched_job job, int replicas, double age_s)
{
	job.replicas = replicas;
	job.launched_s = NOW_S - age_s;
	return job;
}

static struct sched_job fixed(struct sched_job job)
{
	job.preemptible = false;
	return job;
}

static struct sched_job weighs(struct sched_job job, double weight)
{
	job.weight = weight;
	return job;
}

struct wanted {
	int replicas;
	double next_start_s;	/* from NOW_S; -1: NaN */
	const char *reason;	/* NULL: any */
};

static void check(const char *name, int n_devices, const struct sched_job *jobs, int n_jobs,
		  const struct wanted *wanted)
{
	struct sched_choice choices[MAX_JOBS];
	struct sched_input in = { jobs, n_jobs, NOW_S, SLICE_S, SCHED_ONE_KIND(n_devices, 0) };
	char what[256];

	policy_las.decide(&in, choices);
	for (int i = 0; i < n_jobs; i++) {
		double want_s = wanted[i].next_start_s;

		snprintf(what, sizeof(what), "%s: job %d has its devices", name, (int)jobs[i].id);
		is_int(choices[i].replicas, wanted[i].replicas, what);
		snprintf(what, sizeof(what), "%s: job %d has its next start",
			 name, (int)jobs[i].id);
		if (want_s < 0)
			ok(isnan(choices[i].next_start_s), what);
		else
			near(choices[i].next_start_s, NOW_S + want_s, 1e-9, what);
		snprintf(what, sizeof(what), "%s: job %d has its reason", name, (int)jobs[i].id);
		if (wanted[i].reason)
			is_str(said(&choices[i]), wanted[i].reason, what);
	}
}

#define CHECK(name, n_devices, jobs, wanted) \
	check(name, n_devices, jobs, sizeof(jobs) / sizeof((jobs)[0]), wanted)

static void test_one_device(void)
{
	const struct sched_job in_slice[] = { holds(waits(1, 1, 1, 500), 1, 500),
					      waits(2, 1, 1, 0) };
	const struct wanted keeps[] = {
		{ 1, -1, "1 device for a slice of 600 s" },
		{ 0, 100, "1st in line; needs 1 device; waits for job 1 to end its slice" },
	};
	const struct sched_job over[] = { holds(waits(1, 1, 1, 600), 1, 600), waits(2, 1, 1, 0) };
	const struct wanted swaps[] = {
		/* 2 has devices for a slice, and is then before 1 until it has had 600 too */
		{ 0, 600, "1st in line; needs 1 device; waits for job 2 to end its slice" },
		{ 1, -1, "1 device for a slice of 600 s" },
	};
	const struct sched_job tie[] = { holds(waits(2, 1, 1, 600), 1, 600), waits(1, 1, 1, 600) };
	const struct wanted stays[] = {
		{ 1, -1, "1 device; no waiting job has had less service" },
		{ 0, 0, "1st in line; needs 1 device" },
	};
	const struct sched_job alone[] = { holds(waits(1, 1, 1, 9000), 1, 9000) };
	const struct wanted goes_on[] = { { 1, -1, "1 device; no other job waits" } };
	const struct sched_job fresh[] = { waits(2, 1, 1, 0), waits(1, 1, 1, 0) };
	const struct wanted earlier[] = {
		{ 0, 600, "1st in line; needs 1 device; waits for job 1 to end its slice" },
		{ 1, -1, NULL },
	};

	CHECK("a job keeps its device within its slice", 1, in_slice, keeps);
	CHECK("a job that was served more gives way after its slice", 1, over, swaps);
	CHECK("a job that was served as much goes on after its slice", 1, tie, stays);
	CHECK("a job alone goes on after its slice", 1, alone, goes_on);
	CHECK("the smaller id starts among equal new jobs", 1, fresh, earlier);
}

static void test_weight(void)
{
	/* 1,000 at weight 2 counts 500, less than 600 at weight 1. */
	const struct sched_job jobs[] = {
		holds(waits(1, 1, 1, 600), 1, 600), weighs(waits(2, 1, 1, 1000), 2),
	};
	/* 2's key reaches 600 after 200 s, within its slice. */
	const struct wanted wanted[] = { { 0, 600, NULL }, { 1, -1, NULL } };
	/* Shared out by weight: 6 devices at 1 : 2. */
	const struct sched_job two[] = { waits(1, 1, 6, 0), weighs(waits(2, 1, 6, 0), 2) };
	const struct wanted shares[] = {
		{ 2, -1, "2 devices (1 to 6 asked) for a slice of 600 s" },
		{ 4, -1, "4 devices (1 to 6 asked) for a slice of 600 s" },
	};

	CHECK("a weight of 2 counts service half", 1, jobs, wanted);
	CHECK("devices are shared by weight", 6, two, shares);
}

static void test_wide_job(void)
{
	/* Slices end at 100 and 400: the wide job starts then, nobody before it. */
	const struct sched_job staggered[] = {
		holds(waits(1, 1, 1, 9000), 1, 500), holds(waits(2, 1, 1, 9000), 1, 200),
		waits(3, 2, 2, 800), waits(4, 1, 1, 900),
	};
	const struct wanted waiting[] = {
		{ 1, -1, NULL },
		{ 1, -1, NULL },
		{ 0, 400,
		  "1st in line; needs 2 devices; waits for jobs 1 and 2 to end their slices" },
		/* 400 + 600: 3 has had 1,200 more by then, and is behind 4 */
		{ 0, 1000, "2nd in line, after job 3; needs 1 device; has had 0.25 device-hours" },
	};
	/* One slice is over: its job runs on, as 3 cannot start yet; 4 does not get its device. */
	const struct sched_job half[] = {
		holds(waits(1, 1, 1, 9000), 1, 700), holds(waits(2, 1, 1, 9000), 1, 200),
		waits(3, 2, 2, 800), waits(4, 1, 1, 900),
	};
	const struct wanted runs_on[] = {
		{ 1, -1, "1 device until job 3, served less, can have 2" }, { 1, -1, NULL },
		{ 0, 400, "1st in line; needs 2 devices; waits for job 2 to end its slice" },
		{ 0, 1000, NULL },
	};
	/* A free device, too: still not for 4. */
	const struct sched_job idle[] = {
		holds(waits(2, 1, 1, 9000), 1, 200), waits(3, 2, 2, 800), waits(4, 1, 1, 900),
	};
	const struct wanted no_backfill[] = { { 1, -1, NULL },
					      { 0, 400, NULL },
					      { 0, 1000, NULL } };
	const struct sched_job over[] = {
		holds(waits(1, 1, 1, 9000), 1, 1000), holds(waits(2, 1, 1, 9000), 1, 600),
		waits(3, 2, 2, 800), waits(4, 1, 1, 900),
	};
	const struct wanted starts[] = {
		/* 4 takes one of 3's devices after its slice, 1 the other, and then waits 2 for
		 * 1 */
		{ 0, 600, NULL }, { 0, 1200, NULL }, { 2, -1, NULL }, { 0, 600, NULL },
	};

	CHECK("a wide job waits for both slices", 2, staggered, waiting);
	CHECK("a wide job waits for the second slice after one is over", 2, half, runs_on);
	CHECK("a wide job keeps an idle device from others", 2, idle, no_backfill);
	CHECK("a wide job starts when both slices are over", 2, over, starts);
}

static void test_backfill(void)
{
	/* 1 goes before 3 until it has had as much: 1,440 s from now. A slice fits in before. */
	const struct sched_job fits[] = {
		waits(1, 1, 1, 0), waits(3, 2, 2, 1440), waits(4, 1, 1, 3600),
	};
	const struct wanted both[] = {
		{ 1, -1, NULL },
		{ 0, 1440, "1st in line; needs 2 devices; waits for jobs 1 and 4 to end their "
			   "slices or to have had as much" },
		{ 1, -1, "1 device for a slice of 600 s" },
	};
	/* 599 s from now: it does not. */
	const struct sched_job late[] = {
		holds(waits(1, 1, 1, 841), 1, 700), waits(3, 2, 2, 1440), waits(4, 1, 1, 3600),
	};
	const struct wanted idle[] = {
		{ 1, -1, "1 device; no waiting job has had less service" },
		{ 0, 599, "1st in line; needs 2 devices; waits for job 1 to have had as much" },
		/* 3 starts at 599 on 2 devices and has had as much after (3,600 - 1,440) / 2 */
		{ 0, 1679, "2nd in line, after job 3; needs 1 device; has had 1 device-hours" },
	};

	/* 1 has 2 devices, so it has had 2,100 in 550 s, not in 1,100. */
	const struct sched_job pace[] = {
		holds(waits(1, 1, 2, 1000), 2, 700), waits(3, 4, 4, 2100), waits(4, 1, 1, 5000),
	};
	const struct wanted at_its_pace[] = { { 2, -1, NULL },
					      { 0, 550, NULL },
					      { 0, 1275, NULL } };

	CHECK("a job starts whose slice fits before the wide job", 2, fits, both);
	CHECK("a job with 2 devices is served at its pace", 4, pace, at_its_pace);
	CHECK("a job waits whose slice does not fit before the wide job", 2, late, idle);
}

static void test_not_preemptible(void)
{
	const struct sched_job jobs[] = {
		holds(fixed(waits(1, 1, 2, 90000)), 1, 90000),
		waits(2, 2, 2, 0),
		waits(3, 1, 1, 50),
		fixed(waits(4, 1, 1, 40)),
	};
	const struct wanted wanted[] = {
		{ 1, -1, "1 device (1 to 2 asked) to its end: not preemptible" },
		{ 0, -1, "needs 2 devices of 2; job 1, not preemptible, keeps 1" },
		{ 1, -1, "1 device for a slice of 600 s" },
		/* It would add to what 2 waits for. */
		{ 0, -1, "needs 1 device of 2; not preemptible, so not before job 2" },
	};
	const struct sched_job first[] = { fixed(waits(1, 1, 1, 0)), waits(2, 1, 1, 0) };
	const struct wanted starts[] = {
		{ 1, -1, "1 device to its end: not preemptible" },
		{ 0, -1, "needs 1 device of 1; job 1, not preemptible, keeps 1" },
	};

	/* The pass has told why they cannot be stopped now. */
	struct sched_job unsaved[] = {
		holds(fixed(waits(1, 2, 2, 0)), 2, 0), fixed(waits(2, 1, 1, 0)),
	};
	const struct wanted why[] = {
		{ 2, -1, "keeps 2 devices: it has saved nothing" },
		{ 1, -1, "1 device, not preemptible: it has saved nothing" },
	};

	/* 3 waits for what 2 has had; 1 starts on its minimum, since it would keep more for
	 * ever. */
	const struct sched_job greedy[] = {
		fixed(waits(1, 1, 3, 0)), waits(2, 1, 1, 0), waits(3, 3, 3, 1440),
	};
	const struct wanted modest[] = {
		{ 1, -1, "1 device (1 to 3 asked) to its end: not preemptible" },
		{ 1, -1, NULL }, { 0, 1440, NULL },
	};

	CHECK("other jobs run beside one that is not preemptible", 2, jobs, wanted);
	CHECK("a job that is not preemptible takes its least beside others", 4, greedy, modest);
	CHECK("a job that is not preemptible starts as any other", 1, first, starts);
	unsaved[0].why_kept = unsaved[1].why_kept = KEPT_UNSAVED;
	CHECK("the reason tells what keeps a job on its devices", 3, unsaved, why);
}

static void test_shares(void)
{
	const struct sched_job fresh[] = { waits(1, 1, 4, 0), waits(2, 1, 4, 0),
					   waits(3, 1, 1, 0) };
	const struct wanted even[] = { { 3, -1, NULL }, { 2, -1, NULL }, { 1, -1, NULL } };
	/* The odd device stays where it is, though 2 has had less. */
	const struct sched_job odd[] = {
		holds(waits(1, 1, 4, 9000), 2, 700), holds(waits(2, 1, 4, 3000), 1, 700),
	};
	const struct wanted stays[] = {
		{ 2, -1, "2 devices (1 to 4 asked); no other job waits" }, { 1, -1, NULL },
	};
	const struct sched_job uneven[] = {
		holds(waits(1, 1, 4, 9000), 3, 700), holds(waits(2, 1, 4, 3000), 1, 700),
	};
	const struct wanted evened[] = { { 2, -1, NULL }, { 2, -1, NULL } };
	const struct sched_job in_slice[] = {
		holds(waits(1, 1, 4, 9000), 3, 700), holds(waits(2, 1, 4, 3000), 1, 100),
	};
	const struct wanted untouched[] = {
		{ 3, -1, "3 devices (1 to 4 asked); no other job waits" },
		{ 1, -1, "1 device (1 to 4 asked) for a slice of 600 s" },
	};
	/* A newcomer takes from the larger; the others are not touched. */
	const struct sched_job newcomer[] = {
		holds(waits(1, 1, 4, 9000), 2, 700), holds(waits(2, 1, 4, 3000), 2, 700),
		waits(3, 1, 1, 20000),
	};
	const struct wanted makes_room[] = { { 1, -1, NULL }, { 2, -1, NULL }, { 1, -1, NULL } };
	const struct sched_job grows[] = { holds(waits(1, 1, 3, 9000), 1, 700) };
	const struct wanted grown[] = { { 3, -1, "3 devices for a slice of 600 s" } };
	/* While 2 gathers devices, 1 keeps its two and does not grow into the free one. */
	const struct sched_job gathering[] = {
		holds(waits(1, 1, 4, 9000), 2, 700), waits(2, 3, 3, 100),
		holds(waits(3, 1, 1, 5000), 1, 100),
	};
	const struct wanted kept[] = {
		{ 0, 8900 / 3.0, NULL },	/* 2 has had 9,000 too */
		{ 3, -1, NULL }, { 1, -1, NULL },
	};
	const struct wanted kept_of_3[] = {
		{ 2, -1, "2 devices (1 to 4 asked) until job 2, served less, can have 3" },
		{ 0, 500, "1st in line; needs 3 devices; waits for job 3 to end its slice" },
		{ 1, -1, NULL },
	};

	CHECK("devices are shared evenly", 6, fresh, even);
	CHECK("an odd device stays where it is", 3, odd, stays);
	CHECK("a difference of two devices is evened out", 4, uneven, evened);
	CHECK("a difference is not evened out within a slice", 4, in_slice, untouched);
	CHECK("a newcomer takes a device from the later job", 4, newcomer, makes_room);
	CHECK("devices left over make a job grow", 3, grows, grown);
	CHECK("a wide job fits beside jobs at their least", 4, gathering, kept);
	CHECK("a job keeps all its devices while another gathers", 3, gathering, kept_of_3);
}

static void test_devices_vanish(void)
{
	const struct sched_job jobs[] = {
		holds(waits(1, 1, 2, 100), 2, 50), holds(waits(2, 1, 2, 900), 2, 50),
		waits(3, 4, 4, 0),
	};
	const struct wanted of_3[] = {
		{ 2, -1, NULL }, { 1, -1, NULL }, { 0, -1, "needs 4 devices; 3 can be used here" },
	};
	const struct wanted of_2[] = {
		{ 2, -1, NULL }, { 0, 550, NULL }, { 0, -1, "needs 4 devices; 2 can be used here" },
	};
	const struct wanted of_0[] = {
		{ 0, -1, "needs 1 device; none can be used here" },
		{ 0, -1, NULL },
		{ 0, -1, NULL },
	};
	const struct sched_job fixed_one[] = {
		holds(waits(1, 1, 1, 0), 1, 50), holds(fixed(waits(2, 1, 1, 900)), 1, 50),
	};
	const struct wanted fixed_stays[] = { { 0, -1, NULL }, { 1, -1, NULL } };

	CHECK("the job served most shrinks if one of four devices is lost", 3, jobs, of_3);
	CHECK("the job served most waits if two of four devices are lost", 2, jobs, of_2);
	CHECK("all jobs wait if all devices are lost", 0, jobs, of_0);
	CHECK("a job that is not preemptible keeps the last device", 1, fixed_one, fixed_stays);
}

static void test_odd_input(void)
{
	struct sched_input none = { NULL, 0, NOW_S, SLICE_S, SCHED_ONE_KIND(4, 0) };
	struct sched_job nan_service = waits(1, 1, 1, (double)NAN);
	struct sched_job bad_weight = weighs(waits(2, 1, 1, 100), 0);
	const struct sched_job odd[] = { bad_weight, nan_service };
	const struct wanted wanted[] = { { 0, 600, NULL }, { 1, -1, NULL } };
	/* Launched in the future: the clock was set back. */
	const struct sched_job future[] = { holds(waits(1, 1, 1, 900), 1, -5000),
					    waits(2, 1, 1, 0) };
	const struct wanted replaced[] = { { 0, 900, NULL }, { 1, -1, NULL } };
	const struct sched_job huge[] = { waits(INT64_MAX, 1, 1, 0),
					  waits(INT64_MIN, 1, 1, 1e300) };
	const struct wanted told[] = {
		{ 1, -1, NULL }, { 0, 1e300, NULL },
	};

	policy_las.decide(&none, NULL);
	ok(true, "no jobs are accepted");
	CHECK("a service of NaN and a weight of 0 are accepted", 1, odd, wanted);
	CHECK("a launch in the future ends a slice at once", 1, future, replaced);
	CHECK("the ends of the ranges are accepted", 1, huge, told);
}

/* --- at random --- */

struct sim_job {
	struct sched_job job;
	double work_device_s;	/* ends then */
	bool here;
	bool waiting;		/* in an episode of waiting */
	double deadline_s;	/* of the episode, by the bound */
	double since_s;
	double estimate_s;	/* of the last pass; NaN where it was not the first in line */
};

struct sim {
	uint64_t random;
	struct sim_job jobs[MAX_JOBS];
	int n_jobs, n_devices;
	double now_s, pass_s;	/* the time between passes is in [pass_s / 2, pass_s] */
	double previous_s;
	bool fixed;		/* some jobs are not preemptible: no bound holds */
	bool steady;		/* nobody comes, nobody ends */
	double worst;		/* largest waiting time / bound */
	int launches, episodes;
	const char *fault;	/* the first rule broken */
	double fault_s;
};

static uint64_t draw(struct sim *s)
{
	uint64_t z = s->random += 0x9e3779b97f4a7c15;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;	/* splitmix64 */
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return z ^ (z >> 31);
}

static int below(struct sim *s, int n)
{
	return (int)(draw(s) % (uint64_t)n);
}

static double uniform(struct sim *s)
{
	return (double)(draw(s) >> 11) / 9007199254740992.0;
}

static void require(struct sim *s, bool holds_true, const char *rule)
{
	if (holds_true || s->fault)
		return;
	s->fault = rule;
	s->fault_s = s->now_s;
}

static void sim_init(struct sim *s, uint64_t seed)
{
	static const double weights[] = { 0.5, 1, 1, 1, 2, 3 };

	*s = (struct sim){ .random = seed };
	s->n_devices = 1 + below(s, 8);
	s->n_jobs = 2 + below(s, MAX_JOBS - 2);
	s->pass_s = SLICE_S / (1 + below(s, 10));
	s->fixed = !below(s, 4);
	s->steady = !s->fixed && !below(s, 3);
	for (int i = 0; i < s->n_jobs; i++) {
		struct sim_job *j = &s->jobs[i];

		j->job = waits(i + 1, 1 + below(s, s->n_devices), 0, 0);
		if (below(s, 3))
			j->job.min_replicas = 1;
		if (!below(s, 20))
			j->job.min_replicas = s->n_devices + 1;
		j->job.max_replicas = j->job.min_replicas + below(s, 2) * below(s, 9);
		j->job.weight = weights[below(s, 6)];
		j->job.preemptible = !s->fixed || below(s, 5);
		j->work_device_s = s->steady ? HUGE_VAL : SLICE_S * pow(10, 2 * uniform(s) - 0.5);
		j->here = s->steady;
	}
}

static bool is_possible(const struct sim *s, const struct sim_job *j)
{
	return j->here && j->job.min_replicas <= s->n_devices;
}

static double key(const struct sim_job *j)
{
	return j->job.attained_service_device_s / j->job.weight;
}

static void advance(struct sim *s)
{
	double dt = s->pass_s * (0.5 + 0.5 * uniform(s));

	s->previous_s = s->now_s;
	s->now_s += dt;
	for (int i = 0; i < s->n_jobs; i++) {
		struct sim_job *j = &s->jobs[i];

		if (!j->here || !j->job.replicas)
			continue;
		j->job.attained_service_device_s += dt * j->job.replicas;
		if (j->job.attained_service_device_s >= j->work_device_s)
			j->here = false;
	}
}

/* The bound grows by what a newcomer may take first. */
static void arrive(struct sim *s)
{
	for (int i = 0; i < s->n_jobs; i++) {
		struct sim_job *j = &s->jobs[i];

		if (j->here || j->job.attained_service_device_s > 0 || below(s, 8))
			continue;
		j->here = true;
		for (int k = 0; k < s->n_jobs; k++)
			if (s->jobs[k].waiting && is_possible(s, j))
				s->jobs[k].deadline_s +=
					key(&s->jobs[k]) * j->job.weight + SLICE_S + s->pass_s;
	}
}

static double bound_s(const struct sim *s, const struct sim_job *w)
{
	double service_s = 0;
	int ahead = 0;

	for (int i = 0; i < s->n_jobs; i++) {
		const struct sim_job *j = &s->jobs[i];

		if (j == w || !is_possible(s, j) || key(j) > key(w))
			continue;
		service_s += (key(w) - key(j)) * j->job.weight;
		ahead++;
	}
	return service_s + (ahead + 1) * (SLICE_S + s->pass_s);
}

static void check_choice(struct sim *s, const struct sched_job *job, const struct sched_choice *c)
{
	double age_s = s->now_s - job->launched_s;
	bool locked = job->replicas && (!job->preemptible || age_s < SLICE_S);

	require(s, !locked || c->replicas == job->replicas, "protected jobs are not touched");
	require(s, !c->replicas || (c->replicas >= job->min_replicas &&
				    c->replicas <= job->max_replicas), "minimum and maximum");
	require(s, strlen(said(c)) < VERDICT_SIZE && *said(c), "a reason");
	require(s, strlen(said(c)) <= 110, "a short reason");
	require(s, isnan(c->next_start_s) || (!c->replicas && c->next_start_s >= s->now_s),
		"the next start is not in the past");
}

static bool is_first(const struct sched_choice *c)
{
	return !strncmp(said(c), "1st in line", strlen("1st in line"));
}

/* Rules that relate the jobs to each other. */
static void check_decision(struct sim *s, const struct sched_job *jobs, int n,
			   const struct sched_choice *choices)
{
	double least_launched = HUGE_VAL;
	int left = s->n_devices, grown = 0, shrunk = 0;

	for (int i = 0; i < n; i++) {
		double k = jobs[i].attained_service_device_s / jobs[i].weight;

		check_choice(s, &jobs[i], &choices[i]);
		left -= choices[i].replicas;
		grown += choices[i].replicas > jobs[i].replicas;
		shrunk += choices[i].replicas < jobs[i].replicas;
		if (choices[i].replicas && !jobs[i].replicas)
			least_launched = fmin(least_launched, k);
	}
	require(s, left >= 0, "no more devices than there are");
	require(s, !shrunk || grown, "nobody shrinks for nothing");
	for (int i = 0; i < n; i++) {
		double k = jobs[i].attained_service_device_s / jobs[i].weight;

		require(s, choices[i].replicas || !jobs[i].replicas || least_launched < k,
			"replaced only by a job with less service");
		require(s, !is_first(&choices[i]) || left < jobs[i].min_replicas,
			"the first in line does not fit");
	}
}

static bool same_choice(const struct sched_choice *a, const struct sched_choice *b)
{
	return a->replicas == b->replicas && !strcmp(said(a), said(b)) &&
	       (a->next_start_s == b->next_start_s ||
		(isnan(a->next_start_s) && isnan(b->next_start_s)));
}

/* The order of the input does not matter; what was decided stays decided. */
static void check_again(struct sim *s, const struct sched_input *in,
			const struct sched_choice *choices)
{
	struct sched_job jobs[MAX_JOBS];
	struct sched_choice again[MAX_JOBS];
	struct sched_input other = *in;
	bool same = true, stable = true;

	other.jobs = jobs;
	for (int i = 0; i < in->n_jobs; i++)
		jobs[i] = in->jobs[in->n_jobs - 1 - i];
	policy_las.decide(&other, again);
	for (int i = 0; i < in->n_jobs; i++)
		same = same && same_choice(&choices[i], &again[in->n_jobs - 1 - i]);
	require(s, same, "the order of the input does not matter");

	for (int i = 0; i < in->n_jobs; i++) {
		jobs[i] = in->jobs[i];
		if (jobs[i].replicas != choices[i].replicas)
			jobs[i].launched_s = s->now_s;
		jobs[i].replicas = choices[i].replicas;
	}
	policy_las.decide(&other, again);
	for (int i = 0; i < in->n_jobs; i++)
		stable = stable && same_choice(&choices[i], &again[i]);
	require(s, stable, "what was decided stays decided, reasons too");
}

static void follow_waiting(struct sim *s, struct sim_job *j, const struct sched_choice *c)
{
	bool possible = is_possible(s, j);

	if (j->waiting && c->replicas) {
		s->worst = fmax(s->worst, (s->now_s - j->since_s) / (j->deadline_s - j->since_s));
		require(s, !s->steady || isnan(j->estimate_s) ||
			(j->estimate_s <= s->now_s + 1e-6 && j->estimate_s >= s->previous_s - 1e-6),
			"the first in line starts at the pass after the estimate");
	}
	if (possible && !j->waiting && !c->replicas) {
		j->waiting = true;
		j->since_s = s->now_s;
		j->deadline_s = s->now_s + bound_s(s, j);
		s->episodes++;
	}
	require(s, s->fixed || !j->waiting || s->now_s <= j->deadline_s + 1e-6,
		"every job starts within the bound");
	if (c->replicas)
		j->waiting = false;
	j->estimate_s = is_first(c) ? c->next_start_s : (double)NAN;
}

static void pass(struct sim *s)
{
	struct sched_job jobs[MAX_JOBS];
	struct sched_choice choices[MAX_JOBS];
	int of[MAX_JOBS] = { 0 };
	struct sched_input in = { jobs, 0, s->now_s, SLICE_S, SCHED_ONE_KIND(s->n_devices, 0) };

	for (int i = 0; i < s->n_jobs; i++) {
		if (!s->jobs[i].here)
			continue;
		of[in.n_jobs] = i;
		jobs[in.n_jobs++] = s->jobs[i].job;
	}
	policy_las.decide(&in, choices);
	check_decision(s, jobs, in.n_jobs, choices);
	check_again(s, &in, choices);
	for (int i = 0; i < in.n_jobs; i++) {
		struct sim_job *j = &s->jobs[of[i]];

		follow_waiting(s, j, &choices[i]);
		if (choices[i].replicas == j->job.replicas)
			continue;
		s->launches += choices[i].replicas > 0;
		j->job.replicas = choices[i].replicas;
		j->job.launched_s = s->now_s;
	}
}

static bool simulate(uint64_t seed, struct sim *s)
{
	sim_init(s, seed);
	for (int n = 0; n < 300 && !s->fault; n++) {
		advance(s);
		arrive(s);
		pass(s);
	}
	if (s->fault)
		printf("# seed %llu, at %.0f s: broken: %s\n", (unsigned long long)seed,
		       s->fault_s, s->fault);
	return !s->fault;
}

static void test_at_random(void)
{
	int broken = 0, launches = 0, episodes = 0, fixed_mixes = 0;
	double worst = 0;

	for (uint64_t seed = 1; seed <= RANDOM_CASES(600); seed++) {
		struct sim s;

		broken += !simulate(seed, &s);
		launches += s.launches;
		episodes += s.episodes;
		fixed_mixes += s.fixed;
		if (!s.fixed)
			worst = fmax(worst, s.worst);
	}
	is_int(broken, 0, "random mixes over 300 passes keep every rule and the bound");
	printf("# %d launches, %d waits; the longest was %.2f of its bound; %d mixes with jobs "
	       "that are not preemptible\n", launches, episodes, worst, fixed_mixes);
	ok(launches > RANDOM_CASES(10000) && episodes > RANDOM_CASES(10000),
	   "the random mixes launch and wait");
}

/* Jobs that hold anything at all, on more or fewer devices than they hold together. */
static void test_any_holdings(void)
{
	struct sim s = { .random = 3, .fixed = true };

	for (int n = 0; n < 20000; n++) {
		struct sched_job jobs[MAX_JOBS];
		struct sched_choice choices[MAX_JOBS];
		struct sched_input in = {
			jobs, below(&s, MAX_JOBS), NOW_S, SLICE_S, SCHED_ONE_KIND(below(&s, 9), 0)
		};
		int given = 0;

		for (int i = 0; i < in.n_jobs; i++) {
			int min = 1 + below(&s, 4);

			jobs[i] = waits(i + 1, min, min + below(&s, 4), below(&s, 2000));
			jobs[i] = holds(jobs[i], below(&s, 2) * below(&s, 9), below(&s, 1200));
			jobs[i].preemptible = below(&s, 6) > 0;
		}
		policy_las.decide(&in, choices);
		for (int i = 0; i < in.n_jobs; i++) {
			int r = choices[i].replicas;

			given += r;
			require(&s, !r || r == jobs[i].replicas ||
				(r >= jobs[i].min_replicas && r <= jobs[i].max_replicas),
				"minimum and maximum");
			require(&s, *said(&choices[i]), "a reason");
		}
		require(&s, given <= in.kinds[0].n_devices, "no more devices than there are");
	}
	is_str(s.fault, NULL, "20,000 arbitrary holdings keep the rules");
}

/* Two devices, jobs of 1 whose slices never end together, and one job of 2: over a long time each
 * gets the same service. */
static void test_fairness(void)
{
	struct sim s = { .n_jobs = 4, .n_devices = 2, .pass_s = 60, .steady = true, .random = 7 };
	double least = HUGE_VAL, most = 0;

	for (int i = 0; i < s.n_jobs; i++) {
		s.jobs[i] =
			(struct sim_job){ .job = waits(i + 1, i == 3 ? 2 : 1, i == 3 ? 2 : 1, 0),
					  .work_device_s = HUGE_VAL,
					  .here = i != 1 };
	}
	for (int n = 0; n < 3000; n++) {
		advance(&s);
		s.jobs[1].here = n > 5;
		pass(&s);
	}
	for (int i = 0; i < s.n_jobs; i++) {
		least = fmin(least, s.jobs[i].job.attained_service_device_s);
		most = fmax(most, s.jobs[i].job.attained_service_device_s);
	}
	is_str(s.fault, NULL, "a wide job among staggered narrow ones breaks no rule");
	printf("# service %.0f to %.0f device-seconds\n", least, most);
	ok(most - least <= 3 * (SLICE_S + s.pass_s),
	   "the service of the jobs differs by a few slices");
}

/* A line of 14: 11th, 12th and 13th are not 11st, 12nd, 13rd. */
static void test_reasons(void)
{
	struct sched_job jobs[17];
	struct sched_choice choices[17];
	struct sched_input in = { jobs, 17, NOW_S, SLICE_S, SCHED_ONE_KIND(3, 0) };

	for (int i = 0; i < 17; i++)
		jobs[i] = waits(i + 1, i < 3 ? 1 : 3, 3, i);
	for (int i = 0; i < 3; i++)
		jobs[i] = holds(jobs[i], 1, 100);
	policy_las.decide(&in, choices);
	is_str(said(&choices[3]), "1st in line; needs 3 devices; waits for jobs 1, 2 and 1 more to "
	       "end their slices", "the reason tells three jobs to wait for");
	for (int i = 1; i < 14; i++) {
		static const char *const ordinals[] = { "2nd",	"3rd",	"4th", "5th",  "6th",
							"7th",	"8th",	"9th", "10th", "11th",
							"12th", "13th", "14th" };

		ok(!strncmp(said(&choices[3 + i]), ordinals[i - 1], strlen(ordinals[i - 1])),
		   ordinals[i - 1]);
	}
}

static void test_large(void)
{
	static struct sched_job jobs[1000];
	static struct sched_choice choices[1000];
	struct sched_input in = { jobs, 1000, NOW_S, SLICE_S, SCHED_ONE_KIND(16, 0) };
	int given = 0;

	for (int i = 0; i < 1000; i++)
		jobs[i] = waits(i + 1, 1 + i % 16, 16, i * 37 % 1000);
	policy_las.decide(&in, choices);
	for (int i = 0; i < 1000; i++)
		given += choices[i].replicas;
	is_int(given, 16, "1,000 jobs are given all of 16 devices");
}

int main(void)
{
	test_one_device();
	test_weight();
	test_wide_job();
	test_backfill();
	test_not_preemptible();
	test_shares();
	test_devices_vanish();
	test_odd_input();
	test_at_random();
	test_any_holdings();
	test_fairness();
	test_reasons();
	test_large();
	return done();
}
