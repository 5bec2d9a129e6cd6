/* suspension.c - which runs may be suspended, and what their memory leaves to others: it stays, so
 * it has to fit beside what runs meanwhile; or runs leave their GPU with its memory moved to the
 * host's.
 *
 * A run that is suspended on GPUs continues on these GPUs only. Unless its memory went to the
 * host's, it keeps that there: a job that is to run beside it has to fit into the memory left; if
 * the job does not fit, the decision is taken back.
 *
 * A frozen run comes back to its own GPU, too: the driver's map of GPUs has to name every GPU that
 * the process sees, one pair is refused (NVIDIA/cuda-checkpoint issue 35), and a process with
 * CUDA_VISIBLE_DEVICES is not moved at all (NVIDIA/cuda-python issue 1983). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/store_machine.h"
#include "stages.h"

/* The part of a device's memory that runs may fill together. */
#define FILLED 0.92

bool run_loses(const struct snapshot *s, const struct run *run)
{
	return s->loses && s->loses[run - s->runs.items];
}

/* --- on a GPU whose memory moves to the host's --- */

int read_freezable(struct store *store, struct snapshot *s, struct err *err)
{
	const struct engine *engine = engine_for_new_runs();

	free(s->move_s_per_byte);
	s->move_s_per_byte = xcalloc((size_t)s->devices.count + 1, sizeof(*s->move_s_per_byte));
	for (int d = 0; d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];
		const struct device_driver *driver = devices_driver_of(&s->devices, device->id);
		struct freeze_tested tested;

		s->move_s_per_byte[d] = (double)NAN;
		if (!driver || !engine->freezes || !engine->freezes(device))
			continue;
		if (store_freeze_test_get(store, device->id, driver->version, &tested, err))
			return -1;
		if (!tested.passed || tested.bytes <= 0)
			continue;
		s->move_s_per_byte[d] = (tested.freeze_s + tested.thaw_s) / (double)tested.bytes;
		s->suspends = true;
	}
	return 0;
}

static int device_of(const struct snapshot *s, const struct run *run)
{
	for (int d = 0; s->move_s_per_byte && d < s->devices.count; d++)
		if (!strcmp(s->devices.items[d].id, run->devices[0].id))
			return d;
	return -1;
}

bool run_freezes(const struct snapshot *s, const struct run *run)
{
	int d = run->configuration.replicas == 1 ? device_of(s, run) : -1;

	return d >= 0 && isfinite(s->move_s_per_byte[d]);
}

/* The memory that the run has on its device, or had when it was frozen. */
static int64_t run_device_bytes(const struct snapshot *s, const struct run *run)
{
	int d = device_of(s, run);
	int64_t bytes = 0;

	if (run->frozen_bytes > 0)
		return run->frozen_bytes;
	for (int i = 0; i < s->users.count; i++) {
		const struct device_user *u = &s->users.items[i];

		if (u->process.device == d && u->job_id == run->job_id &&
		    u->process.memory_bytes > 0)
			bytes += u->process.memory_bytes;
	}
	return bytes > run->peak_device_memory_bytes ? bytes : run->peak_device_memory_bytes;
}

double run_move_s(const struct snapshot *s, const struct run *run)
{
	int d = device_of(s, run);

	return run_freezes(s, run) ? s->move_s_per_byte[d] * (double)run_device_bytes(s, run) : 0;
}

/* --- on a GPU where memory stays --- */

bool run_is_bound(const struct run *run)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);

	return backend && backend->resident;
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

/* --- which runs --- */

/* True if the run's devices share the machine's memory, or its memory on them is known. */
static bool device_memory_is_known(const struct snapshot *s, const struct run *run)
{
	const struct job *job = snapshot_job(s, run->job_id);

	return !is_resident(s, run) || (job && device_memory(s, job, run) > 0);
}

/* Memory of the host that a suspended run keeps, or would keep: with the device's, if that goes
 * there when the run is frozen. */
static int64_t memory_with_device(const struct snapshot *s, const struct run *run)
{
	if (run->suspension == SUSPENSION_DONE || run->suspension == SUSPENSION_RESUMING)
		return run->kept_memory_bytes;
	return run->peak_memory_bytes + (run_freezes(s, run) ? run_device_bytes(s, run) : 0);
}

static bool is_on_its_way(const struct run *run)
{
	return run->state != RUN_ASSIGNED && run->suspension > SUSPENSION_NONE;
}

double suspend_memory_left(const struct snapshot *s)
{
	double left = s->config->suspend_memory * (double)s->memory.total_bytes;

	for (int i = 0; i < s->runs.count; i++)
		if (is_on_its_way(&s->runs.items[i]))
			left -= (double)memory_with_device(s, &s->runs.items[i]);
	return left;
}

/* Memory stays where it is on devices that share the machine's, and on one GPU if it is known how
 * much that is. Kernels of NCCL on other GPUs would go on, waiting for the stopped process, so only
 * runs on one GPU may be suspended with their memory there; and no context may stay on an exclusive
 * GPU. */
static enum suspend_bar device_bar(const struct snapshot *s, const struct run *run)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);
	int device = run->configuration.replicas == 1
		? snapshot_device(s, &run->devices[0]) : -1;

	if (run_freezes(s, run))
		return SUSPEND_MAY;
	if (!backend || !(backend->shares_memory || backend->resident))
		return SUSPEND_BAR_ENGINE;
	if (run_is_bound(run) && run->configuration.replicas > 1)
		return SUSPEND_BAR_SEVERAL;
	if (run_is_bound(run) && (device < 0 || s->devices.items[device].exclusive))
		return SUSPEND_BAR_EXCLUSIVE;
	return device_memory_is_known(s, run) ? SUSPEND_MAY : SUSPEND_BAR_UNKNOWN;
}

/* A run that was launched just now, without a sample yet, counts as 0 bytes. */
enum suspend_bar suspend_bar_of(const struct snapshot *s, const struct run *run, double left,
				int64_t *bytes)
{
	enum suspend_bar bar = device_bar(s, run);
	int64_t next;

	*bytes = memory_with_device(s, run);
	/* A job that never ran is taken to need as much as the run that leaves. */
	next = s->memory.largest_waiting_bytes > *bytes ? s->memory.largest_waiting_bytes : *bytes;
	if (run->suspension == SUSPENSION_CANNOT && !engine_of(run)->suspends)
		return SUSPEND_BAR_ENGINE;
	if (run->suspension == SUSPENSION_CANNOT)
		return run->configuration.share > 0 ? SUSPEND_BAR_SHARES : SUSPEND_BAR_TRIED;
	if (bar != SUSPEND_MAY)
		return bar;
	if (s->starts_containers && s->starts_containers[run - s->runs.items])
		return SUSPEND_BAR_CONTAINER;
	if (left <= 0 || (double)*bytes > left)
		return SUSPEND_BAR_MEMORY;
	return next > s->memory.available_bytes ? SUSPEND_BAR_ROOM : SUSPEND_MAY;
}

bool *suspendable_runs(const struct snapshot *s)
{
	bool *may = xcalloc((size_t)s->runs.count, sizeof(*may));
	double left = suspend_memory_left(s);

	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		int64_t bytes;

		may[i] = is_on_its_way(run);
		if (may[i] || suspend_bar_of(s, run, left, &bytes) != SUSPEND_MAY)
			continue;
		may[i] = true;
		left -= (double)bytes;
	}
	return may;
}

/* --- what fits beside them --- */

int64_t device_memory_kept(const struct snapshot *s, const struct decision *d, int device,
			   const struct job *but)
{
	int64_t bytes = 0;

	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct job *job = snapshot_job(s, run->job_id);
		bool keeps = run->state == RUN_RUNNING && (run->suspension == SUSPENSION_DONE ||
							   run->suspension == SUSPENSION_ASKED);

		for (int k = 0; d && !keeps && k < d->n; k++)
			keeps = d->candidates[k].run == run && is_to_be_suspended(d, k);
		if (keeps && is_resident(s, run) && job && job != but &&
		    run_has(run, &s->devices.items[device]))
			bytes += device_memory(s, job, run);
	}
	return bytes;
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

/* True if the job finds room on the device; needs 0: not known. */
static bool has_room(const struct device *device, int64_t kept, int64_t others, int64_t needs)
{
	if (needs == 0)
		return kept == 0;
	return kept + others == 0 ||
	       (double)(kept + others + needs) <= FILLED * (double)device->memory_bytes;
}

static struct fact no_room_on(const struct device *device, int64_t kept, int64_t others,
			      int64_t needs)
{
	return (struct fact){
		needs ? FACT_MEMORY_KEPT : FACT_MEMORY_KEPT_UNKNOWN, .name = device->name,
		.memory = { kept, others, needs ? needs : device->memory_bytes },
	};
}

static bool fits(const struct snapshot *s, const struct decision *d, int j, struct fact *why)
{
	const struct candidate *c = &d->candidates[j];
	int64_t needs = device_memory(s, c->job, run_of(c));	/* 0: not known */

	for (int i = 0; i < s->devices.count; i++) {
		const struct device *device = &s->devices.items[i];
		int64_t kept, others;

		if (d->owner[i] != j || (c->run && run_has(c->run, device)))
			continue;
		kept = device_memory_kept(s, d, i, c->job);
		others = device_memory_of_others(s, i);
		if (has_room(device, kept, others, needs))
			continue;
		*why = no_room_on(device, kept, others, needs);
		return false;
	}
	return true;
}

/* True if every device of the run can be given out and is to be nobody's. */
static bool nobody_takes(const struct snapshot *s, const struct decision *d, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		int device = snapshot_device(s, &run->devices[i]);

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
		if (run_has(run, &s->devices.items[i]))
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
		d->choices[k].verdict = verdict_of((struct fact){
			.kind = c->run ? FACT_KEEPS_AS_UNFIT : FACT_GOES_ON_AS_UNFIT,
		});
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
	for (int j = 0; j < d->n; j++) {
		struct fact why = { .kind = FACT_KEEPS_AS_UNFIT };
		const struct run *bound = comes_back(d, j) ? d->candidates[j].suspended : NULL;
		bool goes = d->choices[j].replicas == 0 || fits(s, d, j, &why);

		if (bound && !run_is_bound(bound))
			bound = NULL;
		/* it can continue only on the devices that it had */
		for (int i = 0; bound && goes && i < s->devices.count; i++)
			if (d->owner[i] == j && !run_has(bound, &s->devices.items[i])) {
				why = (struct fact){ FACT_WAITS_FOR_DEVICE,
						     .name = bound->devices[0].id };
				goes = false;
			}
		if (goes)
			continue;
		take_back(s, d, j);
		d->choices[j].verdict = verdict_of(why);
		give_back(s, d);
	}
}
