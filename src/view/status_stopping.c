/* status_stopping.c - says why a run is being stopped, and how much of its grace is over. */
#include "pollux/report.h"
#include "pollux/status.h"

void status_add_stopping(struct text *t, const struct status *status, const struct status_job *item)
{
	static const char *const words[N_STOP_REASONS] = {
		[STOP_NONE] = "stopping", [STOP_PREEMPT] = "stopping to give way",
		[STOP_REQUEUE] = "stopping to be queued again",
		[STOP_HOLD] = "stopping to be held", [STOP_CANCEL] = "stopping to be cancelled",
		[STOP_TIME_LIMIT] = "stopping at its time limit",
		[STOP_ORPHAN] = "stopping: it lost its supervisor",
		[STOP_SHUTDOWN] = "stopping for a shutdown", [STOP_MEASURED] = "stopping: measured",
		[STOP_RUNG] = "stopping at a rung",
		[STOP_DIVERGED] = "stopping, as it has diverged",
	};
	const struct run *run = item->run;

	text_add(t, words[run->stop_reason]);
	if (status->now_boot_s - run->stop_boot_s > item->job->declared.grace_s + 1)
		text_addf(t, ", for %s, beyond its grace of %s",
			  format_duration(status->now_boot_s - run->stop_boot_s).s,
			  format_duration(item->job->declared.grace_s).s);
	else if (status->now_boot_s >= run->stop_boot_s)
		text_addf(t, ", %s of %s", format_duration(status->now_boot_s - run->stop_boot_s).s,
			  format_duration(item->job->declared.grace_s).s);
	else
		text_addf(t, ", grace %s", format_duration(item->job->declared.grace_s).s);
	if (run->diagnosis && *run->diagnosis)
		text_addf(t, "; %s", run->diagnosis);
}
