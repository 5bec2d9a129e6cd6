/* supervisor_freeze.c - a suspended run's GPU memory goes to the host's, and comes back.
 *
 * A freeze comes before SIGSTOP and a thaw after SIGCONT, because the processes take part in both.
 * A child makes the driver's calls (pollux/freeze.h) and asks before each state, which is then in
 * the store before it is entered. */
#include <time.h>

#include "pollux/store_machine.h"
#include "supervisor_parts.h"

#define FIND_S 5.0		/* for the driver to list the processes */
/* After this time the driver hangs: more than the slowest reported, at 0.1 GB/s. */
#define CALLS_S 120.0
#define SLOWEST_BYTES_PER_S 1e8
#define AGAIN_S 5.0		/* after a thaw that failed, as where there was no room */
#define TRIES 5			/* of a thaw for which there was room */
#define MEND_S 60.0		/* for the driver, after a death */
#define BUSY_S 0.5		/* while an earlier question to the driver has no answer */

/* --- the child --- */

void supervisor_leave_freezer(struct supervisor *s)
{
	freezer_stop(&s->freeze.freezer);
	s->freeze.until_boot_s = INFINITY;
}

static int send_order(struct supervisor *s, enum freezer_task task, struct err *err)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct supervisor_freeze *f = &s->freeze;

	f->order.task = task;
	f->order.state = s->run.freeze_state;
	f->order.bytes = task == FREEZER_THAW ? s->run.frozen_bytes : 0;
	snprintf(f->order.device, sizeof(f->order.device), "%s", s->run.devices[0].id);
	f->order.lock_limit_s = fmin(FREEZE_LOCK_S, driver_limit_s());
	f->until_boot_s = clock_boot_s() + CALLS_S +
			  (double)s->run.frozen_bytes / SLOWEST_BYTES_PER_S;
	if (f->freezer.fd < 0 &&
	    freezer_start(&f->freezer, backend->freezer, s->lock.fd, err))
		return -1;
	return freezer_order(&f->freezer, &f->order, err);
}

static bool record(struct supervisor *s, enum freeze_state state)
{
	enum freeze_state before = s->run.freeze_state;
	bool written;

	s->run.freeze_state = state;
	written = !supervisor_note(s, store_run_set_freeze(&s->store, &s->run, &s->err));
	if (!written)
		s->run.freeze_state = before;
	return written;
}

/* --- what came of it --- */

/* The processes can neither go on nor be saved. The job goes back to the queue. by_driver: no other
 * run is frozen on the device before a self-test has passed there again. */
static void lose_run(struct supervisor *s, const char *why, bool by_driver)
{
	supervisor_tell_event(s, "freeze", "its GPU memory cannot be brought back, so the run is "
			      "ended: %.500s", why);
	if (!record(s, FREEZE_LOST))
		s->run.freeze_state = FREEZE_LOST;	/* a request to stop goes by it */
	supervisor_leave_freezer(s);
	if (by_driver)
		supervisor_note(s, store_freeze_test_revoke(&s->store, s->run.devices[0].id, why,
							    &s->err));
	supervisor_stop_for(s, STOP_PREEMPT);
}

/* Lets the run stay on its devices. A run that cannot be frozen at all is not asked again. */
static void stay(struct supervisor *s, const struct err *why)
{
	struct text t = TEXT_INIT;

	text_addf(&t, "it keeps its GPU: %.600s", why->text);
	supervisor_log(s, "%s", t.data);
	s->run.suspension = why->exit_status == EX_UNAVAILABLE ? SUSPENSION_CANNOT
							       : SUSPENSION_NONE;
	s->run.frozen_bytes = 0;
	supervisor_note(s, store_run_refuse_suspension(&s->store, &s->run, "freeze", t.data,
						       &s->err));
	text_release(&t);
	supervisor_handle(s, EV_THAWED);
}

static void stay_unfrozen(struct supervisor *s)
{
	struct err why;

	err_set(&why, EX_UNAVAILABLE, "the driver does not answer for all of its processes, as "
		"where they use NCCL; what it had locked is unlocked");
	stay(s, &why);
}

static void say_times(struct supervisor *s, const char *how, double seconds)
{
	double bytes = (double)s->run.frozen_bytes;

	supervisor_tell_event(s, "freeze", "%.0f MiB of GPU memory %s in %.3g s (%.2f GB/s)",
			      bytes / 1048576, how, seconds,
			      seconds > 0 ? bytes / seconds / 1e9 : 0);
}

static void done(struct supervisor *s, const struct freezer_news *news)
{
	const double *t = news->took_s;

	s->freeze.until_boot_s = INFINITY;
	if (news->state == FREEZE_FROZEN) {
		say_times(s, "went to the host's", t[STEP_LOCK] + t[STEP_SAVE]);
		supervisor_handle(s, EV_FROZEN);
		return;
	}
	if (news->state == FREEZE_LOST) {
		lose_run(s, freeze_mended_text(MENDED_LOST), true);
		return;
	}
	if (s->freeze.order.task == FREEZER_MEND) {
		record(s, FREEZE_NONE);
		stay_unfrozen(s);
		return;
	}
	say_times(s, "came back", t[STEP_RESTORE] + t[STEP_UNLOCK]);
	s->run.frozen_bytes = 0;
	s->freeze.n_failed = 0;
	s->freeze.told_of_room = false;
	record(s, FREEZE_NONE);
	supervisor_handle(s, EV_THAWED);
}

/* A thaw waits for room as long as it takes. What else fails is tried a few times. */
static void try_again(struct supervisor *s, const struct err *why)
{
	static const char later[] = "its memory stays in the host's, and is brought back later: "
				    "%.600s";
	bool has_room = why->exit_status != EX_TEMPFAIL;

	if (s->freeze.order.task == FREEZER_FREEZE) {	/* it failed, and so did the way back */
		supervisor_tell_event(s, "freeze", "%s", why->text);
		supervisor_handle(s, EV_FROZEN);
		return;
	}
	s->freeze.n_failed += has_room;
	if (s->freeze.n_failed >= TRIES) {
		lose_run(s, why->text, true);
		return;
	}
	if (has_room ? s->freeze.n_failed == 1 : !s->freeze.told_of_room)
		supervisor_tell_event(s, "freeze", later, why->text);
	else
		supervisor_log(s, later, why->text);
	s->freeze.told_of_room |= !has_room;
	s->deadline_boot_s = clock_boot_s() + AGAIN_S;
}

static void failed(struct supervisor *s, const struct freezer_news *news)
{
	bool died = news->says == FREEZER_DIED;
	struct err err;

	s->freeze.until_boot_s = INFINITY;
	if (died && s->freeze.order.task == FREEZER_FREEZE &&
	    s->run.freeze_state <= FREEZE_LOCKING) {
		/* Before any memory was moved the driver hung for a process of the run. Another
		 * child unlocks what is locked, and the run stays where it is. */
		supervisor_leave_freezer(s);
		if (s->run.freeze_state == FREEZE_NONE)
			stay_unfrozen(s);
		else if (send_order(s, FREEZER_MEND, &err))
			lose_run(s, err.text, false);
	} else if (news->state == FREEZE_LOST || died || s->freeze.order.task == FREEZER_MEND) {
		lose_run(s, news->err.text, true);
	} else if (news->state == FREEZE_FROZEN) {	/* the pages wait where they are */
		try_again(s, &news->err);
	} else {
		stay(s, &news->err);
	}
}

void supervisor_read_freezer(struct supervisor *s)
{
	struct timespec pause = { .tv_nsec = 200000000 };
	struct freezer_news news;
	bool recorded;

	if (isinf(s->freeze.until_boot_s)) {	/* an idle child ended: the next order starts one */
		supervisor_leave_freezer(s);
		return;
	}
	switch (freezer_read(&s->freeze.freezer, &news)) {
	case FREEZER_ENTERS:
		/* The child waits for its answer: a busy store or a full disk is waited for. */
		while (!(recorded = record(s, news.state)) &&
		       clock_boot_s() < s->freeze.until_boot_s) {
			supervisor_beat(s);
			nanosleep(&pause, NULL);
		}
		if (recorded)
			freezer_allow(&s->freeze.freezer);
		else
			lose_run(s, "the store cannot be written", false);
		break;
	case FREEZER_DONE:
		done(s, &news);
		break;
	case FREEZER_FAILED:
	case FREEZER_DIED:
		failed(s, &news);
		break;
	}
}

void supervisor_give_up_freezer(struct supervisor *s)
{
	lose_run(s, "the driver does not answer", true);
}

void supervisor_freezer_ended(struct supervisor *s)
{
	s->freeze.freezer.pid = 0;
}

/* --- there --- */

/* Chooses the run's processes among the listed ones. -1: there are too many, or nobody can tell
 * whose they are. */
static int choose_processes(struct supervisor *s, const struct device_process *list, int n,
			    struct err *err)
{
	struct freezer_order *o = &s->freeze.order;
	struct pid_list ours;

	if (n < 0 || !proc_sees_all())
		return err_set(err, EX_TEMPFAIL, "the driver does not tell which processes have "
			       "its memory");
	*o = (struct freezer_order){ .n = 0 };
	s->run.frozen_bytes = 0;
	if (supervisor_find_processes(s, &ours))
		return err_set(err, EX_TEMPFAIL, "its processes cannot be listed");
	for (int i = 0; i < n; i++)
		for (int k = 0; k < ours.count; k++) {
			if (list[i].pid != ours.items[k])
				continue;
			if (o->n < FREEZE_PIDS)
				o->pids[o->n] = ours.items[k];
			o->n++;
			s->run.frozen_bytes += list[i].memory_bytes > 0 ? list[i].memory_bytes : 0;
		}
	pid_list_release(&ours);
	if (o->n > FREEZE_PIDS)
		return err_set(err, EX_UNAVAILABLE, "%d of its processes have GPU memory, and %d "
			       "at most can be frozen", o->n, FREEZE_PIDS);
	return 0;
}

/* A run without GPU memory is only stopped. */
static void freeze(struct supervisor *s, struct device_process *list, int n)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	const struct freezer_order *o = &s->freeze.order;
	struct err err = { 0 };
	int rc = choose_processes(s, list, n, &err);
	size_t length = 0;

	free(list);
	if (rc == 0 && o->n == 0) {
		supervisor_handle(s, EV_FROZEN);
		return;
	}
	/* into the store, for the supervisor that takes over if this one dies */
	s->run.frozen_pids[0] = '\0';
	for (int i = 0; i < o->n && i < FREEZE_PIDS; i++)
		length += (size_t)snprintf(s->run.frozen_pids + length,
					   sizeof(s->run.frozen_pids) - length, "%s%d",
					   i ? " " : "", (int)o->pids[i]);
	if (rc == 0)
		rc = freeze_check_room(s->run.frozen_bytes, backend->freezer->host_bytes(),
				       INT64_MAX, &err);
	if (rc || send_order(s, FREEZER_FREEZE, &err))
		stay(s, &err);
}

bool supervisor_freeze(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	enum driver_asked asked;
	struct err err;

	if (!s->run.freezes || s->run.freeze_state == FREEZE_FROZEN)
		return false;
	if (s->run.configuration.replicas != 1 || !backend || !backend->freezer) {
		err_set(&err, EX_UNAVAILABLE, "only the memory of one GPU can be moved to the "
			"host's");
		stay(s, &err);
		return true;
	}
	asked = supervisor_ask_driver(s, FIND_S, freeze);
	if (asked == DRIVER_BUSY)
		s->deadline_boot_s = clock_boot_s() + BUSY_S;
	if (asked == DRIVER_NONE) {
		err_set(&err, EX_TEMPFAIL, "the driver does not answer");
		stay(s, &err);
	}
	return true;
}

/* --- and back --- */

void supervisor_thaw(struct supervisor *s)
{
	struct err err;

	if (s->run.freeze_state == FREEZE_FROZEN && send_order(s, FREEZER_THAW, &err))
		lose_run(s, err.text, false);
}

/* --- after a death --- */

static void read_pids(const struct run *run, struct freezer_order *o)
{
	const char *p = run->frozen_pids;
	char *end;

	for (o->n = 0; o->n < FREEZE_PIDS; p = end) {
		long pid = strtol(p, &end, 10);

		if (end == p)
			break;
		o->pids[o->n++] = (pid_t)pid;
	}
}

void supervisor_stay_frozen(struct supervisor *s)
{
	if (s->run.freeze_state == FREEZE_FROZEN)
		read_pids(&s->run, &s->freeze.order);
}

static int write_state(enum freeze_state state, void *arg, struct err *err)
{
	if (record(arg, state))
		return 0;
	return err_set(err, EX_IOERR, "the store cannot be written");
}

/* For a run that is about to be stopped. Frozen processes stay frozen, because the device may
 * belong to another run. */
void supervisor_mend_freeze(struct supervisor *s)
{
	const struct device_backend *backend = device_backend_of(s->run.devices[0].id);
	struct freezer_order order = { .task = FREEZER_MEND, .state = s->run.freeze_state };
	struct freeze_record book = { write_state, s };
	struct freezer freezer = FREEZER_NONE;
	struct freezer_news news;
	struct err err;

	read_pids(&s->run, &order);
	if (s->run.freeze_state == FREEZE_NONE || !order.n || !backend || !backend->freezer)
		return;
	if (freezer_start(&freezer, backend->freezer, s->lock.fd, &err) ||
	    freezer_carry_out(&freezer, &order, &book, MEND_S, &news, &err))
		supervisor_tell_event(s, "freeze", "%s", err.text);
	else if (freeze_mended_text(news.mended))
		supervisor_tell_event(s, "freeze", "%s", freeze_mended_text(news.mended));
	freezer_stop(&freezer);
}

bool supervisor_was_frozen(const struct supervisor *s, int64_t pid)
{
	const struct freezer_order *o = &s->freeze.order;

	for (int i = 0; s->run.freeze_state == FREEZE_FROZEN && i < o->n; i++)
		if (o->pids[i] == pid)
			return true;
	return false;
}
