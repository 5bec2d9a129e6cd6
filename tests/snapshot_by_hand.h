/* snapshot_by_hand.h - a snapshot of a pass made by hand, and the actions that come of it as text:
 * nothing here reads a store, a clock or a machine. */
#ifndef SNAPSHOT_BY_HAND_H
#define SNAPSHOT_BY_HAND_H

#include <math.h>

#include "pass/actions.h"
#include "pollux/mem.h"
#include "tap.h"
#include "words.h"

#define UNKNOWN ((double)NAN)
#define NOW_BOOT_S 1000.0
#define NOW_WALL_S 50000.0

static const struct config config = {
	.slots = 0, .slice_s = 600, .guaranteed_devices = -1,
};

/* --- a snapshot --- */

static inline struct snapshot snapshot_new(const struct policy *policy)
{
	return (struct snapshot){
		.config = &config, .policy = policy,
		.now_boot_s = NOW_BOOT_S, .now_wall_s = NOW_WALL_S,
	};
}

static inline void add_device(struct snapshot *s, const char *id, const char *kind)
{
	struct device *d = devices_append(&s->devices);

	snprintf(d->id, sizeof(d->id), "%s", id);
	snprintf(d->name, sizeof(d->name), "%.15s", id);
	snprintf(d->kind, sizeof(d->kind), "%s", kind);
	d->cores = 1;
	d->usable = true;
}

/* A queued job of one device and this batch size; 0: it declares none. */
static inline struct job *add_job(struct snapshot *s, int64_t id, int64_t batch_size)
{
	size_t n = (size_t)s->jobs.count + 1;
	struct job *job;

	s->jobs.items = xreallocarray(s->jobs.items, n, sizeof(*job));
	s->setbacks = xreallocarray(s->setbacks, n, sizeof(*s->setbacks));
	s->setbacks[s->jobs.count] = (struct setback){ 0 };
	job = &s->jobs.items[s->jobs.count++];
	job_init(job);
	job->id = id;
	job->reason = xstrdup("");
	job->submit_time_s = NOW_WALL_S - 100;
	job->declared.name = xstrdup("job");
	job->declared.workload = xstrdup("w");
	job->declared.min_replicas = job->declared.max_replicas = 1;
	job->declared.weight = 1;
	job->declared.preemption = PREEMPT_ALWAYS;
	job->declared.batch.size = job->declared.batch.min = batch_size;
	return job;
}

/* A run of the job on device d, launched so long ago. */
static inline struct run *add_run(struct snapshot *s, struct job *job, int d, double age_s)
{
	size_t n = (size_t)s->runs.count + 1;
	struct run *run;

	s->runs.items = xreallocarray(s->runs.items, n, sizeof(*run));
	s->answers = xreallocarray(s->answers, n, sizeof(*s->answers));
	s->windows = xreallocarray(s->windows, n, sizeof(*s->windows));
	s->answers[s->runs.count] = ENGINE_ALIVE;
	s->windows[s->runs.count] = 0;
	run = &s->runs.items[s->runs.count++];
	run_init(run);
	run->id = 100 + job->id;
	run->job_id = job->id;
	run->number = 1;
	run->state = RUN_RUNNING;
	run->configuration = configuration_make(1, job->declared.batch.size, 1);
	run->launch_boot_s = NOW_BOOT_S - age_s;
	run->first_step_s = 1;
	run->devices = xcalloc(1, sizeof(*run->devices));
	run->devices[0] = s->devices.items[d];
	job->state = JOB_RUNNING;
	job->progress.runs = job->progress.launches = 1;
	return run;
}

/* Measured on one device at 64 samples a pass, 10 ms and 0.1 ms a sample; its noise is large. */
static inline struct knowledge measured(void)
{
	struct knowledge k = knowledge_of_nothing();

	k.modelled = true;
	k.restart_s = 3;
	k.model.max_replicas = 1;
	k.model.max_local_batch_size = 64;
	k.model.fit.params = (struct throughput_params){ 0.01, 0.0001, 1e-8, 1e-8, 1e-8, 1e-8, 1,
							 { 0 } };
	return k;
}

static inline struct workload *add_workload(struct snapshot *s, const char *kind,
					    struct knowledge k, bool known)
{
	struct workload *w;

	s->workloads.items = xreallocarray(s->workloads.items, (size_t)s->workloads.count + 1,
					   sizeof(*w));
	w = &s->workloads.items[s->workloads.count++];
	*w = (struct workload){ .name = xstrdup("w"), .measured = known, .k = k };
	snprintf(w->kind, sizeof(w->kind), "%s", kind);
	return w;
}

/* --- what comes of it --- */

/* The lines of the actions, and in brackets what the store is told of each start, stop and
 * change. */
static inline char *describe(const struct actions *p)
{
	struct text t = TEXT_INIT;
	struct strings lines;

	strings_init(&lines);
	actions_print(p, &lines);
	for (size_t i = 0; i < lines.count; i++)
		text_addf(&t, "%s\n", lines.items[i]);
	for (int i = 0; i < p->count; i++) {
		const struct action *a = &p->items[i];

		if (a->kind == ACTION_REASON)
			text_addf(&t, "[%lld waits or runs: %s]\n", (long long)a->job_id, a->why);
		if (a->kind != ACTION_START && a->kind != ACTION_CHANGE)
			continue;
		text_add(&t, "[");
		action_describe(a, &t);
		text_add(&t, "]\n");
	}
	strings_release(&lines);
	return text_detach(&t);
}

static inline void check(struct snapshot *s, const char *want, const char *name)
{
	struct decision *d = pass_decide(s);
	struct actions *p = actions_of(s, d, verdict_words);
	char *got = describe(p);

	is_str(got, want, name);
	free(got);
	actions_free(p);
	decision_free(d);
	snapshot_release(s);
}

#endif
