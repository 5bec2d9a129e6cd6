/* gpu_remarks.c - runs whose processes compute on GPUs that are not theirs, or on none, or that
 * take a card's memory at their start. Each is one sentence, an event when it changes; 'pollux
 * status' shows the last one. */
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "stages.h"

/* A job may prepare its data for this long before it is told that it computes on no GPU. */
#define NONE_S 300.0

static bool is_on_gpus(const struct run *run)
{
	return run->state == RUN_RUNNING && run_held(run) > 0 && run->stop_reason == STOP_NONE &&
	       device_backend_of(run->devices[0].id) == &device_nvidia;
}

int read_remarks(struct store *store, struct snapshot *s, struct err *err)
{
	if (!s->listed || !devices_tell_processes(&s->devices))
		return 0;
	s->remarks = xcalloc((size_t)s->runs.count + 1, sizeof(*s->remarks));
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];

		if (is_on_gpus(run) &&
		    store_run_remark(store, run->job_id, run->id, &s->remarks[i], err))
			return -1;
	}
	return 0;
}

/* The process on a device that its run was not given, with the lowest number; job_id 0: of any job.
 * NULL: there is none. */
static const struct device_user *stray_on(const struct snapshot *s, int device, int64_t job_id,
					  int64_t but)
{
	const struct device_user *found = NULL;

	for (const struct device_user *u = s->users.items; u < s->users.items + s->users.count; u++)
		if (u->process.device == device && u->blocks && u->job_id != but &&
		    (job_id ? u->job_id == job_id : u->job_id != 0) &&
		    (!found || u->process.pid < found->process.pid))
			found = u;
	return found;
}

/* "process 12", "container 4f2a1b22c3d4" */
static void add_process(struct text *t, const struct device_user *u)
{
	if (u->container[0])
		text_addf(t, "container %.12s", u->container);
	else
		text_addf(t, "process %lld", (long long)u->process.pid);
}

/* Begins one more remark. */
static void separate(struct text *t)
{
	if (t->length)
		text_add(t, "; ");
}

/* What the run does on the GPUs of others, and others on its own. */
static void add_strays(const struct snapshot *s, const struct run *run, struct text *t)
{
	for (int d = 0; d < s->devices.count; d++) {
		const struct device *device = &s->devices.items[d];
		const struct device_user *own = stray_on(s, d, run->job_id, 0);
		const struct device_user *other = stray_on(s, d, 0, run->job_id);
		const struct run *holder = NULL;

		for (int i = s->runs.count - 1; i >= 0; i--)
			if (run_holds(&s->runs.items[i], device))
				holder = &s->runs.items[i];
		if (own) {
			separate(t);
			text_add(t, "its ");
			add_process(t, own);
			text_addf(t, " computes on %s, which it was not given", device->name);
			if (holder)
				text_addf(t, " (job %lld has it)", (long long)holder->job_id);
			text_add(t, own->container[0]
				 ? ": docker run --gpus '\"device={gpu_list}\"'"
				 : ": the program must leave CUDA_VISIBLE_DEVICES as it is");
		}
		if (other && run_holds(run, device)) {
			separate(t);
			add_process(t, other);
			text_addf(t, " of job %lld computes on its %s, too",
				  (long long)other->job_id, device->name);
		}
	}
}

static void add_none(const struct snapshot *s, const struct run *run, struct text *t)
{
	double age_s = run_clock_s(run, s->now_boot_s) - run->launch_boot_s;

	if (!(age_s >= NONE_S) || run->device_memory_bytes > 0)
		return;
	for (int i = 0; i < s->users.count; i++)
		if (s->users.items[i].job_id == run->job_id ||
		    run_holds(run, &s->devices.items[s->users.items[i].process.device]))
			return;
	for (int d = 0; d < s->devices.count; d++)
		if (run_holds(run, &s->devices.items[d]) &&
		    s->devices.items[d].now.utilization > DEVICE_USER_SHARE)
			return;
	separate(t);
	text_add(t, "no process of it was seen on a GPU in the 5 minutes since its start: does its "
		    "program use CUDA?");
}

static void add_takers(const struct snapshot *s, const struct run *run, struct text *t)
{
	static const char counts[] = "at its start, which counts as its need:";

	for (int i = 0; i < s->users.count; i++) {
		const struct device_user *u = &s->users.items[i];
		const char *name = s->devices.items[u->process.device].name;

		if (u->job_id != run->job_id || u->taker == TAKER_NONE)
			continue;
		separate(t);
		if (u->taker == TAKER_JAX)
			text_addf(t, "JAX took 75 %% of %s's memory %s "
				  "XLA_PYTHON_CLIENT_PREALLOCATE=false (--preset jax) or "
				  "XLA_PYTHON_CLIENT_MEM_FRACTION lets it take less", name, counts);
		else
			text_addf(t, "TensorFlow took nearly all of %s's memory %s "
				  "TF_FORCE_GPU_ALLOW_GROWTH=true lets it take less", name, counts);
		return;
	}
}

void remark_on_gpus(const struct snapshot *s, struct actions *p)
{
	for (int i = 0; s->remarks && i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		struct text t = TEXT_INIT;

		if (!s->remarks[i])
			continue;
		add_strays(s, run, &t);
		add_takers(s, run, &t);
		add_none(s, run, &t);
		if (strcmp(s->remarks[i], t.length ? t.data : "") != 0)
			actions_add(p, ACTION_REMARK, run->job_id, run, t.length ? t.data : "");
		text_release(&t);
	}
}
