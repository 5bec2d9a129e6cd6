/* resident.c - a run that is suspended on GPUs continues on these GPUs only. Unless its memory went
 * to the host's, it keeps that there: a job that is to run beside it has to fit into the memory
 * left; if the job does not fit, the decision is taken back.
 *
 * A frozen run comes back to its own GPU, too: the driver's map of GPUs has to name every GPU that
 * the process sees, one pair is refused (NVIDIA/cuda-checkpoint issue 35), and a process with
 * CUDA_VISIBLE_DEVICES is not moved at all (NVIDIA/cuda-python issue 1983). */
#include <math.h>
#include <stdio.h>

#include "decision.h"
#include "pollux/proc.h"

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

bool run_is_bound(const struct run *run)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);

	return backend && backend->resident;
}

int64_t device_memory_now(const struct snapshot *s, const struct run *run)
{
	int64_t most = 0;

	for (int d = 0; d < s->devices.count; d++) {
		int64_t bytes = 0;

		for (int i = 0; i < s->users.count; i++) {
			const struct device_user *u = &s->users.items[i];

			if (u->process.device == d && u->job_id == run->job_id && u->in_place &&
			    !u->supposed && u->info.lives && u->process.memory_bytes > 0)
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

/* True if the run has left its devices or is about to. */
static bool is_off_devices(const struct run *run)
{
	return run->state == RUN_RUNNING && (run->suspension == SUSPENSION_DONE ||
					     run->suspension == SUSPENSION_ASKED);
}

int64_t device_memory_kept(const struct snapshot *s, int device, const struct job *but)
{
	int64_t bytes = 0;

	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct job *job = job_of(s, run->job_id);

		if (is_off_devices(run) && is_resident(s, run) && job && job != but &&
		    has(s, run, device))
			bytes += device_memory(s, job, run);
	}
	return bytes;
}

bool may_come_back_to(const struct snapshot *s, const struct run *suspended, int device)
{
	return !run_is_bound(suspended) || has(s, suspended, device);
}

bool may_stay_resident(const struct snapshot *s, const struct run *run)
{
	int device = run->configuration.replicas == 1 ? device_index(s, &run->devices[0]) : -1;

	return device >= 0 && !s->devices.items[device].exclusive && device_memory_is_known(s, run);
}

/* In a container the driver lists no process: what is not listed is the run's own there. */
int64_t device_memory_of_others(const struct snapshot *s, int device)
{
	bool sees_all = proc_sees_all();
	int64_t bytes = 0;

	for (int i = 0; i < s->users.count; i++) {
		const struct device_user *u = &s->users.items[i];
		bool is_runs = u->in_place && !(u->process.unlisted && sees_all);

		if (u->process.device == device && !is_runs && u->process.memory_bytes > 0)
			bytes += u->process.memory_bytes;
	}
	return bytes;
}

/* The memory that suspended runs of other jobs keep on the device, with the runs that this decision
 * suspends. */
static int64_t kept_on(const struct snapshot *s, const struct decision *d, int device, int j)
{
	int64_t bytes = 0;

	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct job *job = job_of(s, run->job_id);
		bool keeps = is_off_devices(run);

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

/* What a job would find on a device that it does not have yet. needs 0: not known. */
struct room {
	int64_t kept, others, needs;
};

static bool has_room(const struct room *r, int64_t memory_bytes)
{
	int64_t taken = r->kept + r->others;

	if (r->needs == 0)
		return r->kept == 0;
	return taken == 0 || (double)(taken + r->needs) <= FILLED * (double)memory_bytes;
}

static void say_no_room(const struct room *r, const struct device *device, char *why)
{
	char size[GIB_SIZE];
	struct text t = TEXT_INIT;

	text_addf(&t, "%s: ", device->name);
	if (r->kept)
		text_addf(&t, "suspended jobs would keep %s there", gib(size, r->kept));
	if (r->others)
		text_addf(&t, "%sothers have %s%s", r->kept ? ", and " : "", gib(size, r->others),
			  r->kept ? "" : " there");
	if (r->needs)
		text_addf(&t, "; it needs %s", gib(size, r->needs));
	else
		text_addf(&t, "; it needs an unknown part of %s", gib(size, device->memory_bytes));
	snprintf(why, SCHED_REASON_SIZE, "%s", t.data);
	text_release(&t);
}

static bool fits(const struct snapshot *s, const struct decision *d, int j, char *why)
{
	const struct candidate *c = &d->candidates[j];
	struct room room = { .needs = device_memory(s, c->job, run_of(c)) };

	for (int i = 0; i < s->devices.count; i++) {
		if (d->owner[i] != j || (c->run && has(s, c->run, i)))
			continue;
		room.kept = kept_on(s, d, i, j);
		room.others = device_memory_of_others(s, i);
		if (has_room(&room, s->devices.items[i].memory_bytes))
			continue;
		say_no_room(&room, &s->devices.items[i], why);
		return false;
	}
	return true;
}

/* True if the suspended run had other devices than decided: it can continue only there. */
static bool is_elsewhere(const struct snapshot *s, const struct decision *d, int j, char *why)
{
	for (int i = 0; comes_back(d, j) && i < s->devices.count; i++)
		if (d->owner[i] == j && run_is_bound(d->candidates[j].suspended) &&
		    !has(s, d->candidates[j].suspended, i)) {
			snprintf(why, SCHED_REASON_SIZE, "waits for %s, where it can continue",
				 d->candidates[j].suspended->devices[0].id);
			return true;
		}
	return false;
}

/* True if every device of the run can be given out and is to be nobody's. */
static bool nobody_takes(const struct snapshot *s, const struct decision *d, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		int device = device_index(s, &run->devices[i]);

		if (device < 0 || !d->usable[device] || d->owner[device] >= 0)
			return false;
	}
	return true;
}

/* Job k has the devices of its run again. */
static void keep_devices(const struct snapshot *s, struct decision *d, int k,
			 const struct run *run)
{
	for (int i = 0; i < s->devices.count; i++)
		if (has(s, run, i))
			d->owner[i] = k;
	d->choices[k].replicas = run->configuration.replicas;
	d->choices[k].next_start_s = (double)NAN;
}

/* Gives devices that nobody takes now to the jobs whose memory is there: jobs that were to leave
 * stay, and suspended jobs continue. Otherwise a device would wait for jobs that cannot have it. */
static void give_back(const struct snapshot *s, struct decision *d)
{
	for (int k = 0; k < d->n; k++) {
		const struct candidate *c = &d->candidates[k];
		const struct run *run = run_of(c);
		bool waits = run && (c->run ? is_to_be_suspended(d, k)
					    : run_is_bound(run) && d->choices[k].replicas == 0);

		if (!waits || !nobody_takes(s, d, run))
			continue;
		keep_devices(s, d, k, run);
		snprintf(d->choices[k].reason, SCHED_REASON_SIZE,
			 "%s: no other job fits beside its memory",
			 c->run ? "keeps its devices" : "goes on");
	}
}

/* A job that does not fit on the devices that it was to have keeps those of its run, if it can. */
static void take_back(const struct snapshot *s, struct decision *d, int j)
{
	const struct run *run = d->candidates[j].run;

	d->choices[j].replicas = 0;
	d->choices[j].next_start_s = (double)NAN;
	for (int i = 0; i < s->devices.count; i++)
		if (d->owner[i] == j)
			d->owner[i] = ASSIGN_FREE;
	if (run && nobody_takes(s, d, run))
		keep_devices(s, d, j, run);
}

void check_device_memory(const struct snapshot *s, struct decision *d)
{
	char why[SCHED_REASON_SIZE];

	for (int j = 0; j < d->n; j++) {
		if (d->choices[j].replicas == 0 ||
		    (fits(s, d, j, why) && !is_elsewhere(s, d, j, why)))
			continue;
		take_back(s, d, j);
		snprintf(d->choices[j].reason, SCHED_REASON_SIZE, "%s", why);
		give_back(s, d);
	}
}
