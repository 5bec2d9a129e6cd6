/* pass_hung.c - a pass that has held the lock of the passes for too long is named. */
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/mem.h"
#include "pollux/pass.h"

/* Less than the minute between passes of cron: the next of them finds it. */
#define LONG_S 55.0
#define STOPPED_S 10.0	/* the same for a pass that was stopped by a signal */

static char *duration_in_words(double seconds)
{
	if (seconds < LONG_S)
		return xasprintf("%.0f s", seconds);
	return seconds < 3600 ? xasprintf("%.0f min", seconds / 60)
			      : xasprintf("%.1f h", seconds / 3600);
}

bool pass_find_hung(const struct paths *paths, struct lock_holder *holder)
{
	return (lock_holder_find(paths->schedule_lock, holder) ||
		lock_holder_search(paths->schedule_lock, holder)) &&
	       clock_boot_s() - holder->since_boot_s >= (holder->is_stopped ? STOPPED_S : LONG_S);
}

bool pass_describe_hung(const struct paths *paths, struct text *t)
{
	struct lock_holder holder;
	long long pid;
	char *age;

	if (!pass_find_hung(paths, &holder))
		return false;
	pid = (long long)holder.pid;
	age = duration_in_words(clock_boot_s() - holder.since_boot_s);
	text_addf(t, "the pass of process %lld has been at work for %s and lets no other one "
		  "begin: it ", pid, age);
	if (holder.is_stopped)
		text_addf(t, "is stopped; 'kill -CONT %lld' continues it, 'kill -KILL %lld' ends "
			  "it without harm", pid, pid);
	else
		text_addf(t, "may hang; 'kill -KILL %lld' ends it without harm", pid);
	free(age);
	return true;
}

int pass_refuse_hung(const struct paths *paths, struct err *err)
{
	struct text t = TEXT_INIT;
	int rc = 0;

	if (pass_describe_hung(paths, &t))
		rc = err_set(err, EX_TEMPFAIL, "%s", t.data);
	text_release(&t);
	return rc;
}
