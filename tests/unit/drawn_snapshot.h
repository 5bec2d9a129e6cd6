/* drawn_snapshot.h - what a pass reads, made by hand or drawn: up to MOST_JOBS jobs of a workload
 * with a model, on DEVICES devices, which may be joined. The file that includes this header defines
 * both, and may define DRAWN_JOBS, the most jobs of a drawn one. */
#ifndef POLLUX_TEST_DRAWN_SNAPSHOT_H
#define POLLUX_TEST_DRAWN_SNAPSHOT_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "pass/decision.h"
#include "pollux/mem.h"

#ifndef DRAWN_JOBS
#define DRAWN_JOBS MOST_JOBS
#endif
#define NOW_BOOT_S 10000.0
#define NOW_WALL_S 50000.0

static const struct config config = { .slice_s = 600, .locality_wait_s = (double)INFINITY };
static uint64_t state;

static int draw(int n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (int)((state >> 33) % (uint64_t)n);
}

/* All pairs of devices have this distance. -1: none is told; -2: there are two near pairs. */
static struct snapshot snapshot_new(int link)
{
	struct snapshot s = {
		.config = &config, .policy = policy_find("goodput"),
		.now_boot_s = NOW_BOOT_S, .now_wall_s = NOW_WALL_S,
	};

	for (int i = 0; i < DEVICES; i++) {
		struct device *d = devices_append(&s.devices);

		snprintf(d->id, sizeof(d->id), "gpu:%d", i);
		snprintf(d->name, sizeof(d->name), "gpu:%d", i);
		snprintf(d->kind, sizeof(d->kind), "k");
		d->cores = 1;
		d->usable = true;
	}
	for (int a = 0; link != -1 && a < DEVICES; a++)
		for (int b = 0; b < a; b++)
			devices_set_link(&s.devices, a, b, link >= 0 ? (enum device_link)link
					 : a / 2 == b / 2 ? DEVICE_LINK_FAST : DEVICE_LINK_MACHINE);
	return s;
}

static void add_workload(struct snapshot *s, enum configuration_tier base)
{
	struct knowledge k = knowledge_of_nothing();
	struct workload *w = xcalloc(1, sizeof(*w));

	k.modelled = true;
	k.restart_s = 3;
	k.model.max_replicas = DEVICES;
	k.model.max_local_batch_size = 64;
	k.model.fit.params = (struct throughput_params){ .01, .001, .02, .002, 1e-8, 1e-8, 1,
							   { 0 } };
	for (int t = TIER_FAST; base != TIER_UNKNOWN && t < CONFIGURATION_TIERS; t++)
		k.model.fit.params.ln_tier[t] = t == (int)base ? 0 : t > (int)base ? 2 : -2;
	*w = (struct workload){ .name = xstrdup("w"), .measured = true, .k = k };
	snprintf(w->kind, sizeof(w->kind), "k");
	s->workloads.items = w;
	s->workloads.count = 1;
}

static struct job *add_job(struct snapshot *s, int least, int most, double samples)
{
	struct job *job;

	if (!s->jobs.items) {
		s->jobs.items = xcalloc(MOST_JOBS, sizeof(*job));
		s->setbacks = xcalloc(MOST_JOBS, sizeof(*s->setbacks));
		s->runs.items = xcalloc(MOST_JOBS, sizeof(*s->runs.items));
		s->answers = xcalloc(MOST_JOBS, sizeof(*s->answers));
		s->windows = xcalloc(MOST_JOBS, sizeof(*s->windows));
	}
	job = &s->jobs.items[s->jobs.count++];
	job_init(job);
	job->id = s->jobs.count;
	job->reason = xstrdup("");
	job->submit_time_s = NOW_WALL_S - 10 * (MOST_JOBS - s->jobs.count);
	job->declared.name = xstrdup("job");
	job->declared.workload = xstrdup("w");
	job->declared.min_replicas = least;
	job->declared.max_replicas = most;
	job->declared.preemption = PREEMPT_ALWAYS;
	job->declared.batch.size = job->declared.batch.min = 64;
	job->declared.total_samples = samples;
	return job;
}

static void add_run(struct snapshot *s, struct job *job, int first, int n,
		    enum configuration_tier tier)
{
	struct run *run = &s->runs.items[s->runs.count];

	s->answers[s->runs.count++] = ENGINE_ALIVE;
	run_init(run);
	run->id = 100 + job->id;
	run->job_id = job->id;
	run->number = 1;
	run->state = RUN_RUNNING;
	run->configuration = configuration_make(n, 64 / n, 1);
	run->configuration.tier = n > 1 ? tier : TIER_UNKNOWN;
	run->launch_boot_s = NOW_BOOT_S - 5000;
	run->first_step_s = 1;
	run->devices = xcalloc((size_t)n, sizeof(*run->devices));
	for (int i = 0; i < n; i++)
		run->devices[i] = s->devices.items[first + i];
	job->state = JOB_RUNNING;
	job->progress.runs = job->progress.launches = 1;
	job->progress.samples = 0;
}

static void snapshot_free(struct snapshot *s)
{
	s->config = NULL;
	snapshot_release(s);
}

/* Jobs drawn by a seed, of which the first may run. */
static inline struct snapshot drawn(uint64_t seed, int link)
{
	enum configuration_tier tier = link < 0 ? TIER_UNKNOWN
						: (enum configuration_tier)(TIER_FAST + link);
	struct snapshot s = snapshot_new(link);
	int taken = 0, n;

	state = seed;
	add_workload(&s, tier);
	n = 1 + draw(DRAWN_JOBS - 1);
	for (int i = 0; i < n; i++) {
		int least = 1 + draw(3), most = least + draw(DEVICES + 1 - least);
		struct job *job = add_job(&s, least, most,
					  draw(3) ? 1e3 * (1 + draw(2000)) : (double)NAN);

		if (taken + least <= DEVICES && draw(2)) {
			add_run(&s, job, taken, least, tier);
			taken += least;
		}
	}
	return s;
}

#endif
