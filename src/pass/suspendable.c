/* suspendable.c - which runs may be suspended: their memory stays, so it has to fit beside what
 * runs meanwhile. */
#include <stdlib.h>

#include "decision.h"
#include "pollux/mem.h"

bool is_suspended(const struct run *run)
{
	return run->suspension == SUSPENSION_DONE && run->stop_reason == STOP_NONE;
}

bool run_loses(const struct snapshot *s, const struct run *run)
{
	return s->loses && s->loses[run - s->runs.items];
}

/* Memory that a suspended run keeps, or would keep. */
static int64_t memory_of(const struct run *run)
{
	bool kept = run->suspension == SUSPENSION_DONE || run->suspension == SUSPENSION_RESUMING;

	return kept ? run->kept_memory_bytes : run->peak_memory_bytes;
}

/* The same, with the device's memory that will go to the host's when the run is frozen. */
static int64_t memory_with_device(const struct snapshot *s, const struct run *run)
{
	bool kept = run->suspension == SUSPENSION_DONE || run->suspension == SUSPENSION_RESUMING;

	return memory_of(run) + (kept || !run_freezes(s, run) ? 0 : run_device_bytes(s, run));
}

/* Memory stays where it is on devices that share the machine's, and on one GPU if it is known how
 * much that is. */
static bool has_a_way(const struct snapshot *s, const struct run *run)
{
	const struct device_backend *backend = device_backend_of(run->devices[0].id);

	return run_freezes(s, run) ||
	       (backend && (backend->shares_memory || backend->resident) &&
		(run_is_bound(run) ? may_stay_resident(s, run) : device_memory_is_known(s, run)));
}

static bool is_on_its_way(const struct run *run)
{
	return run->state != RUN_ASSIGNED && run->suspension > SUSPENSION_NONE;
}

bool *suspendable_runs(const struct snapshot *s)
{
	bool *may = xcalloc((size_t)s->runs.count, sizeof(*may));
	double left = s->config->suspend_memory * (double)s->memory.total_bytes;

	for (int i = 0; i < s->runs.count; i++)
		if (is_on_its_way(&s->runs.items[i]))
			left -= (double)memory_with_device(s, &s->runs.items[i]);
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		int64_t bytes = memory_with_device(s, run);
		/* A job that never ran is taken to need as much as the run that leaves. */
		int64_t next = s->memory.largest_waiting_bytes > bytes
			? s->memory.largest_waiting_bytes : bytes;

		may[i] = is_on_its_way(run);
		/* A run that was launched just now, without a sample yet, counts as 0 bytes. */
		if (may[i] || run->suspension != SUSPENSION_NONE || !has_a_way(s, run) ||
		    left <= 0 || (double)bytes > left || next > s->memory.available_bytes ||
		    (s->starts_containers && s->starts_containers[i]))
			continue;
		may[i] = true;
		left -= (double)bytes;
	}
	return may;
}
