/* local_mend.c - notices, continues and replaces supervisors that hang or were stopped.
 *
 * A supervisor signs its lock every 10 seconds of the boot clock, which does not count the time in
 * which the machine sleeps. A silence alone proves nothing: the whole machine may have been
 * stopped. So a pass only notes a silence; a later pass, which sees that the silence lasts,
 * acts. */
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>

#include "local.h"
#include "pollux/clock.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "supervisor.h"

#define NOTED_S 30.0	/* a silence that a pass notes */
#define SILENT_S 60.0	/* a silence after which a pass acts ... */
/* ... if it was noted at least so long ago; cron's passes come each minute */
#define SEEN_S 45.0
#define END_WAIT_MS 2000	/* the wait until a killed supervisor's lock is free */

static void say_mended(const struct engine_context *at, const struct run *run, const char *what,
		       const struct lock_holder *h, struct strings *lines)
{
	struct err ignored;
	char *text = xasprintf("%s the supervisor of job %lld, process %lld%s, which has not "
			       "answered for %.0f s", what, (long long)run->job_id,
			       (long long)h->pid, h->is_stopped ? ", stopped by a signal" : "",
			       clock_boot_s() - h->since_boot_s);

	strings_add(lines, text);
	store_event_add(at->store, run->job_id, run->id, "supervisor", text, &ignored);
	free(text);
}

static bool is_gone(const char *lock)
{
	for (int i = 0; i < END_WAIT_MS / 10; i++) {
		if (lock_look(lock) == LOCK_IS_FREE)
			return true;
		poll(NULL, 0, 10);
	}
	return false;
}

/* Kills the supervisor; the supervisor that the next pass starts takes the run over. A supervisor
 * that sleeps in the kernel for ever, in a disk or a driver, cannot be killed. */
static void replace_supervisor(const struct engine_context *at, const struct run *run,
			       const char *lock, const struct lock_holder *h, struct strings *lines)
{
	kill((pid_t)h->pid, SIGKILL);
	say_mended(at, run, is_gone(lock) ? "replace" : "cannot end", h, lines);
}

static void mend_supervisor(const struct engine_context *at, const struct run *run,
			    const char *lock, struct strings *lines)
{
	double now = clock_boot_s();
	struct lock_holder h;
	struct lock_note note;

	if (!lock_holder_find(lock, &h) || now - h.since_boot_s < NOTED_S)
		return;
	lock_note_read(lock, &h, &note);
	if (isnan(note.first_boot_s)) {
		note.first_boot_s = now;
		lock_note_write(lock, &h, &note);
	} else if (now - h.since_boot_s < SILENT_S || now - note.first_boot_s < SEEN_S) {
		return;
	} else if (h.is_stopped && isnan(note.continued_boot_s)) {
		kill((pid_t)h.pid, SIGCONT);
		note.first_boot_s = note.continued_boot_s = now;
		lock_note_write(lock, &h, &note);
		say_mended(at, run, "continue", &h, lines);
	} else {
		replace_supervisor(at, run, lock, &h, lines);
	}
}

void local_mend(const struct engine_context *at, const struct run *const *runs, int n,
		struct strings *lines)
{
	for (int i = 0; i < n; i++) {
		char *lock = paths_run(at->paths, runs[i]->id, "lock");

		mend_supervisor(at, runs[i], lock, lines);
		free(lock);
	}
}

double local_silent_s(const struct engine_context *at, const struct run *run, int64_t *pid)
{
	char *lock = paths_run(at->paths, run->id, "lock");
	struct lock_holder h;
	bool known = lock_holder_find(lock, &h);

	free(lock);
	*pid = known ? h.pid : 0;
	return known ? fmax(clock_boot_s() - h.since_boot_s, 0) : (double)NAN;
}
