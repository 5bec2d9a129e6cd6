/* supervisor_use.c - what a run does with its devices, by looks at them: memory, utilization,
 * temperature. Each answer of the driver is a look (supervisor_driver.c), which stands for the
 * running time since the look before. */
#include "supervisor_parts.h"

struct device_use supervisor_use_of(struct supervisor *s, const struct device_process *list, int n,
				    int device)
{
	struct device_use use = { .memory_bytes = -1, .utilization = NAN };
	struct proc_marks marks = supervisor_marks(s);
	bool sees_all = proc_sees_all();

	for (int i = 0; i < n; i++) {
		const struct device_process *p = &list[i];

		if (p->device != device || (sees_all && !proc_bears((pid_t)p->pid, &marks)))
			continue;
		if (p->memory_bytes > 0)
			use.memory_bytes = (use.memory_bytes > 0 ? use.memory_bytes : 0) +
					   p->memory_bytes;
		if (!isnan(p->utilization))
			use.utilization = fmin(fmax(use.utilization, 0) + p->utilization, 1);
	}
	return use;
}

/* The mean of a value so far and of one that holds for the next seconds. */
static double mean_on(double mean, double seconds, double value, double more_s)
{
	if (isnan(value))
		return mean;
	return isnan(mean) ? value : (mean * seconds + value * more_s) / (seconds + more_s);
}

/* --- a low utilization --- */

#define LOW 0.2
#define LOW_S 600.0

static void tell_of_low(struct supervisor *s, double utilization)
{
	bool was_told;

	if (supervisor_note(s, store_job_was_told(&s->store, s->job.id, EVENT_LOW_USE, &was_told,
						  &s->err)))
		return;
	s->use.told = true;
	if (was_told)
		return;
	supervisor_tell_event(s, EVENT_LOW_USE, "its GPU%s computed %.0f %% of the time for %.0f "
			      "minutes: more processes that load data, or a larger batch, may "
			      "help; with --share other jobs run beside it",
			      plural(s->run.configuration.replicas), 100 * utilization,
			      LOW_S / 60);
}

static void watch_for_low(struct supervisor *s, double utilization, double span_s)
{
	struct supervisor_use *u = &s->use;

	if (u->told || isnan(utilization))
		return;
	u->computed_s += utilization * span_s;
	u->span_s += span_s;
	if (u->span_s < LOW_S)
		return;
	if (u->computed_s < LOW * u->span_s)
		tell_of_low(s, u->computed_s / u->span_s);
	u->computed_s = u->span_s = 0;
}

/* --- a look --- */

void supervisor_count_use(struct supervisor *s, const struct device_taken *taken,
			  const struct device_process *list, int n)
{
	double ran_s = run_clock_s(&s->run, clock_boot_s()) - s->run.launch_boot_s, computed = 0;
	struct run_use *use = &s->run.use;
	double span_s = ran_s - use->watched_s, bytes = 0;
	int devices = s->run.configuration.replicas;

	if (s->state != ST_RUNNING || s->run.suspension > SUSPENSION_NONE || !(span_s > 0))
		return;
	for (int d = 0; d < devices; d++) {
		struct device_use one = supervisor_use_of(s, list, n, d);

		/* the device's own reading is of all who compute there */
		if (isnan(one.utilization) && s->run.configuration.share == 0)
			one.utilization = taken[d].utilization;
		computed += one.utilization / devices;
		bytes += one.memory_bytes < 0 ? (double)NAN : (double)one.memory_bytes / devices;
		if (one.memory_bytes > use->memory_bytes)
			use->memory_bytes = one.memory_bytes;
		use->temperature_c = fmax(use->temperature_c, taken[d].temperature_c);
	}
	use->mean_memory_bytes = mean_on(use->mean_memory_bytes, use->watched_s, bytes, span_s);
	use->utilization = mean_on(use->utilization, use->watched_s, computed, span_s);
	use->watched_s = ran_s;
	watch_for_low(s, computed, span_s);
	s->recorder.changed = true;
}
