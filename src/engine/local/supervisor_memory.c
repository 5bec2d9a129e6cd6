/* supervisor_memory.c - the limit of the host's memory that a job declares. The kernel keeps it for
 * the run's control group, where that has a controller for memory; and the supervisor looks, and
 * kills a run that has more. */
#include "supervisor_parts.h"

#define LEAST_LOOK_S 0.25
#define LOOK_PART 0.01		/* of the time may go into looks */

static int64_t limit_of(const struct supervisor *s)
{
	double limit = s->job.declared.memory_limit_bytes;

	return limit > 0 ? (int64_t)limit : 0;
}

void supervisor_limit_memory(struct supervisor *s)
{
	int64_t limit = limit_of(s);

	/* those of other nodes are not seen */
	s->memory.look_boot_s = limit && run_n_nodes(&s->run) == 1 ? clock_boot_s()
								   : (double)INFINITY;
	if (s->handle.group[0] && (limit || s->memory.limits_group))
		s->memory.limits_group = run_group_limit_memory(s->handle.group, limit);
}

/* Resident pages are added up first, which is quick; where that is too much, shared pages, as those
 * of the workers of a loader of data, count once. */
void supervisor_watch_memory(struct supervisor *s)
{
	double begin_s = clock_boot_s();
	struct proc_marks marks = supervisor_marks(s);
	int64_t limit = limit_of(s), bytes;

	marks.variable = NULL;
	bytes = proc_resident_bytes(&marks);
	if (bytes > limit)
		bytes = proc_used_bytes(&marks);
	s->memory.look_boot_s = begin_s + fmax((clock_boot_s() - begin_s) / LOOK_PART,
					      LEAST_LOOK_S);
	if (bytes <= limit)
		return;
	if (bytes > s->run.peak_memory_bytes)
		s->run.peak_memory_bytes = bytes;
	if (!s->memory.over_bytes)
		supervisor_log(s, "it has %lld bytes of memory, more than its limit of %lld",
			       (long long)bytes, (long long)limit);
	s->memory.over_bytes = bytes;
	supervisor_signal_all(s, SIGKILL);
}

void supervisor_end_memory(struct supervisor *s)
{
	int64_t peak;

	if (s->memory.limits_group && !s->memory.over_bytes &&
	    run_group_memory_kills(s->handle.group, &peak) > 0)
		s->memory.over_bytes = peak > 0 ? peak : limit_of(s);
}

static void add_size(struct text *t, double bytes)
{
	double gib = bytes / 0x1p30;

	if (gib < 1)
		text_addf(t, "%.0f MiB", bytes / 0x1p20);
	else
		text_addf(t, gib < 999.5 ? "%.3g GiB" : "%.0f GiB", gib);
}

bool supervisor_diagnose_memory(struct supervisor *s)
{
	struct text t = TEXT_INIT;

	if (!s->memory.over_bytes)
		return false;
	text_add(&t, "out of memory: used ");
	add_size(&t, (double)s->memory.over_bytes);
	text_add(&t, ", limit ");
	add_size(&t, (double)limit_of(s));
	s->run.out_of_memory = true;
	supervisor_set_diagnosis(s, "%s", t.data);
	text_release(&t);
	return true;
}
