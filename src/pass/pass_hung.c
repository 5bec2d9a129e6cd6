/* pass_hung.c - a pass that has held the lock of the passes for too long is named. */
#include <math.h>
#include <poll.h>
#include <stdlib.h>

#include "pollux/advice.h"
#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pass.h"
#include "pollux/proc.h"

/* Less than the minute between passes of cron: the next of them finds it. */
#define LONG_S 55.0
#define STOPPED_S 10.0	/* the same for a pass that was stopped by a signal */
#define SECOND_LOOK_MS 300

static char *duration_in_words(double seconds)
{
	if (seconds < LONG_S)
		return xasprintf("%.0f s", seconds);
	return seconds < 3600 ? xasprintf("%.0f min", seconds / 60)
			      : xasprintf("%.1f h", seconds / 3600);
}

/* A holder that has not signed has just taken the lock, unless it is stopped. */
static bool look(const struct paths *paths, struct lock_holder *h)
{
	if (lock_holder_find(paths->schedule_lock, h))
		return clock_boot_s() - h->since_boot_s >= (h->is_stopped ? STOPPED_S : LONG_S);
	return lock_holder_search(paths->schedule_lock, h) && h->is_stopped;
}

/* Looks twice: only the same holder that did nothing in between is in the way, for the sentence
 * about this holder names a command that kills. */
bool pass_find_hung(const struct paths *paths, struct lock_holder *holder)
{
	struct lock_holder first;
	int64_t ticks;

	if (!look(paths, &first))
		return false;
	ticks = proc_cpu_ticks((pid_t)first.pid);
	poll(NULL, 0, SECOND_LOOK_MS);
	return look(paths, holder) && holder->pid == first.pid &&
	       (isnan(holder->since_boot_s) ? isnan(first.since_boot_s)
					    : holder->since_boot_s - first.since_boot_s < 1e-6) &&
	       holder->is_stopped == first.is_stopped &&
	       proc_cpu_ticks((pid_t)holder->pid) == ticks;
}

void pass_describe_hung(const struct lock_holder *holder, struct text *t)
{
	long long pid = (long long)holder->pid;
	char *age = isnan(holder->since_boot_s) ? NULL
		: duration_in_words(clock_boot_s() - holder->since_boot_s);

	text_addf(t, "the pass of process %lld has been at work%s%s and lets no other one begin: "
		  "it ", pid, age ? " for " : "", age ? age : "");
	if (holder->is_stopped) {
		text_add(t, "is stopped; ");
		advice_add_continue(t, (pid_t)pid);
		text_add(t, " continues it, '");
	} else {
		text_add(t, "may hang; '");
	}
	advice_add_kill(t, "KILL", (pid_t)pid);
	text_add(t, "' ends it without harm");
	free(age);
}

int pass_refuse_hung(const struct paths *paths, struct err *err)
{
	struct lock_holder holder;
	struct text t = TEXT_INIT;

	if (!pass_find_hung(paths, &holder))
		return 0;
	pass_describe_hung(&holder, &t);
	err_set(err, EX_TEMPFAIL, "%s", t.data);
	text_release(&t);
	return -1;
}
