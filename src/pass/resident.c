/* resident.c - a suspended run on GPUs keeps its memory there, and goes on there alone. What is to
 * run beside it has to fit into what is left; else the decision is taken back. */
#include <math.h>
#include <stdio.h>

#include "decision.h"

/* The part of a device's memory that runs may fill together. */
#define FILLED 0.92

static int device_index(const struct snapshot *s, const struct device *wanted)
{
	for (int i = 0; i < s->devices.count; i++)
		if (device_is_same(&s->devices.items[i], wanted))
			return i;
	return -1;
}

static bool has(const struct snapshot *s, const struct run *run, int device)
{
	for (int i = 0; i < run->configuration.replicas; i++)
		if (device_index(s, &run->devices[i]) == device)
			return true;
	return false;
}

bool is_resident(const struct snapshot *s, const struct run *run)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);
	bool freezes = run->suspension > SUSPENSION_NONE ? run->freezes : run_freezes(s, run);

	return backend && backend->resident && !freezes;
}

int64_t device_memory_now(const struct snapshot *s, const struct run *run)
{
	int64_t most = 0;

	for (int d = 0; d < s->devices.count; d++) {
		int64_t bytes = 0;

		for (int i = 0; i < s->users.count; i++) {
			const struct device_user *u = &s->users.items[i];

			if (u->process.device == d && u->job_id == run->job_id && u->in_place &&
			    u->info.lives && u->process.memory_bytes > 0)
				bytes += u->process.memory_bytes;
		}
		most = bytes > most ? bytes : most;
	}
	return most;
}

/* Memory that a job takes of each of its devices; 0: not known. */
static int64_t device_memory(const struct snapshot *s, const struct job *job,
			     const struct run *run)
{
	int64_t bytes = s->device_needs ? s->device_needs[job - s->jobs.items] : 0;
	int64_t now = run ? device_memory_now(s, run) : 0;

	if (job->declared.gpu_memory_bytes > (double)bytes)
		bytes = (int64_t)job->declared.gpu_memory_bytes;
	return now > bytes ? now : bytes;
}

static const struct job *job_of(const struct snapshot *s, int64_t id)
{
	for (int i = 0; i < s->jobs.count; i++)
		if (s->jobs.items[i].id == id)
			return &s->jobs.items[i];
	return NULL;
}

bool device_memory_is_known(const struct snapshot *s, const struct run *run)
{
	const struct job *job = job_of(s, run->job_id);

	return !is_resident(s, run) || (job && device_memory(s, job, run) > 0);
}

/* What suspended runs of other jobs keep on the device, those that this decision suspends too. */
static int64_t kept_on(const struct snapshot *s, const struct decision *d, int device, int j)
{
	int64_t bytes = 0;

	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct job *job = job_of(s, run->job_id);
		bool keeps = run->state == RUN_RUNNING && (run->suspension == SUSPENSION_DONE ||
							   run->suspension == SUSPENSION_ASKED);

		for (int k = 0; k < d->n; k++)
			keeps = keeps || (d->candidates[k].run == run &&
					  is_to_be_suspended(d, k));
		if (keeps && is_resident(s, run) && job && job != d->candidates[j].job &&
		    has(s, run, device))
			bytes += device_memory(s, job, run);
	}
	return bytes;
}

#define GIB_SIZE 32

static const char *gib(char text[GIB_SIZE], int64_t bytes)
{
	long long tenths = (bytes + 53687091) / 107374182;

	snprintf(text, GIB_SIZE, "%lld.%lld GiB", tenths / 10, tenths % 10);
	return text;
}

static bool fits(const struct snapshot *s, const struct decision *d, int j, char *why)
{
	const struct candidate *c = &d->candidates[j];
	int64_t needs = device_memory(s, c->job, c->run ? c->run : c->suspended);
	char there[GIB_SIZE], here[GIB_SIZE];

	for (int i = 0; i < s->devices.count; i++) {
		const struct device *device = &s->devices.items[i];
		int64_t kept = d->owner[i] == j ? kept_on(s, d, i, j) : 0;

		if (kept == 0 || (needs > 0 && (double)(kept + needs) <=
				  FILLED * (double)device->memory_bytes))
			continue;
		snprintf(why, SCHED_REASON_SIZE, "%s: suspended jobs would keep %s there; "
			 "it needs %s%s", device->name, gib(there, kept),
			 needs ? "" : "an unknown part of ",
			 gib(here, needs ? needs : device->memory_bytes));
		return false;
	}
	return true;
}

/* A run whose memory is on devices goes on there alone. */
static bool is_elsewhere(const struct snapshot *s, const struct decision *d, int j, char *why)
{
	for (int i = 0; comes_back(d, j) && i < s->devices.count; i++)
		if (d->owner[i] == j && is_resident(s, d->candidates[j].suspended) &&
		    !has(s, d->candidates[j].suspended, i)) {
			snprintf(why, SCHED_REASON_SIZE, "waits for %s, where its memory is",
				 d->candidates[j].suspended->devices[0].id);
			return true;
		}
	return false;
}

/* The jobs that were to leave what nobody takes now stay. */
static void give_back(const struct snapshot *s, struct decision *d)
{
	for (int k = 0; k < d->n; k++) {
		const struct run *run = d->candidates[k].run;
		bool free = run && is_to_be_suspended(d, k);

		for (int i = 0; free && i < s->devices.count; i++)
			free = !has(s, run, i) || (d->owner[i] < 0 && d->usable[i]);
		if (!free)
			continue;
		for (int i = 0; i < s->devices.count; i++)
			if (has(s, run, i))
				d->owner[i] = k;
		d->choices[k].replicas = run->configuration.replicas;
		d->choices[k].next_start_s = (double)NAN;
		snprintf(d->choices[k].reason, SCHED_REASON_SIZE,
			 "keeps its devices: no other job fits beside its memory");
	}
}

void check_device_memory(const struct snapshot *s, struct decision *d)
{
	char why[SCHED_REASON_SIZE];

	for (int j = 0; j < d->n; j++) {
		if (d->choices[j].replicas == 0 || d->candidates[j].run ||
		    (fits(s, d, j, why) && !is_elsewhere(s, d, j, why)))
			continue;
		d->choices[j].replicas = 0;
		d->choices[j].next_start_s = (double)NAN;
		snprintf(d->choices[j].reason, SCHED_REASON_SIZE, "%s", why);
		for (int i = 0; i < s->devices.count; i++)
			if (d->owner[i] == j)
				d->owner[i] = ASSIGN_FREE;
		give_back(s, d);
	}
}
