/* test_freezer.c - the process that freezes: orders and records pass through its socket, a driver
 * that hangs or crashes harms nobody else, and no call is made that was not recorded. */
#include "pollux/freeze.h"
#include "pollux/proc.h"
#include "tap.h"

#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seen by both processes. */
static struct shared {
	enum freeze_found state;
	int n_locks, n_saves, n_unlocks;
	bool cannot_open, hangs, crashes;
} *shared;

static int open_it(void **driver, struct err *err)
{
	*driver = shared;
	return shared->cannot_open ? err_set(err, EX_UNAVAILABLE, "no driver") : 0;
}

static int find(void *driver, pid_t pid, enum freeze_found *found, struct err *err)
{
	(void)pid;
	(void)err;
	*found = ((struct shared *)driver)->state;
	return 0;
}

static int lock(void *driver, pid_t pid, double limit_s, struct err *err)
{
	(void)driver;
	(void)pid;
	shared->n_locks++;
	if (shared->hangs)
		pause();
	if (shared->crashes)
		kill(getpid(), SIGKILL);
	shared->state = FOUND_LOCKED;
	return limit_s > 0 ? 0 : err_set(err, EX_OSERR, "no limit");
}

static int save(void *driver, pid_t pid, struct err *err)
{
	(void)driver;
	(void)pid;
	(void)err;
	shared->n_saves++;
	shared->state = FOUND_SAVED;
	return 0;
}

static int restore(void *driver, pid_t pid, struct err *err)
{
	(void)driver;
	(void)pid;
	(void)err;
	shared->state = FOUND_LOCKED;
	return 0;
}

static int unlock(void *driver, pid_t pid, struct err *err)
{
	(void)driver;
	(void)pid;
	(void)err;
	shared->n_unlocks++;
	shared->state = FOUND_RUNNING;
	return 0;
}

static int step(void *driver, pid_t pid, enum freeze_step what, double limit_s, struct err *err)
{
	if (what == STEP_LOCK)
		return lock(driver, pid, limit_s, err);
	if (what == STEP_SAVE)
		return save(driver, pid, err);
	return what == STEP_RESTORE ? restore(driver, pid, err) : unlock(driver, pid, err);
}

static const struct device_freezer functions = {
	.open = open_it, .find = find, .step = step,
};

static char recorded[256];

static int write_down(enum freeze_state state, void *arg, struct err *err)
{
	(void)err;
	(void)arg;
	strncat(recorded, freeze_state_names.names[state], sizeof(recorded) - strlen(recorded) - 2);
	strcat(recorded, " ");
	return 0;
}

static const struct freeze_record record = { write_down, NULL };

static struct freezer start(struct freezer_order *order)
{
	struct freezer f;
	struct err err;

	memset(shared, 0, sizeof(*shared));
	recorded[0] = '\0';
	*order = (struct freezer_order){ .task = FREEZER_FREEZE, .pids = { getpid() }, .n = 1 };
	ok(freezer_start(&f, &functions, -1, &err) == 0, "a freezer starts");
	return f;
}

/* The freezer ends by itself when its socket is closed, in seconds. */
static void ends(pid_t pid, const char *what)
{
	pid_t got = 0;

	for (int i = 0; i < 2000 && got == 0; i++) {
		got = waitpid(pid, NULL, WNOHANG);
		poll(NULL, 0, 5);
	}
	ok(got == pid || got < 0, what);	/* < 0: it was reaped by freezer_stop */
}

static void test_there_and_back(void)
{
	struct freezer_order order;
	struct freezer f = start(&order);
	struct freezer_news news;
	struct err err = { 0 };
	pid_t pid = f.pid;

	ok(freezer_carry_out(&f, &order, &record, 60, &news, &err) == 0 &&
	   news.state == FREEZE_FROZEN && shared->state == FOUND_SAVED,
	   "the freezer freezes a process");
	is_str(recorded, "locking saving frozen ", "the freezer asks before it enters each state");
	order.task = FREEZER_THAW;
	order.state = news.state;
	ok(freezer_carry_out(&f, &order, &record, 60, &news, &err) == 0 &&
	   news.state == FREEZE_NONE && shared->state == FOUND_RUNNING,
	   "the freezer thaws a process");
	ok(f.pid == pid, "one process freezes and thaws");
	shared->state = FOUND_SAVED;
	order.task = FREEZER_MEND;
	order.state = FREEZE_SAVING;
	ok(freezer_carry_out(&f, &order, &record, 60, &news, &err) == 0 &&
	   news.mended == MENDED_KEPT && news.state == FREEZE_FROZEN, "the freezer mends a freeze");
	freezer_stop(&f);
	ends(pid, "the freezer ends when its socket is closed");
}

static void test_no_driver(void)
{
	struct freezer_order order;
	struct freezer f = start(&order);
	struct freezer_news news;
	struct err err = { 0 };

	shared->cannot_open = true;
	ok(freezer_carry_out(&f, &order, &record, 60, &news, &err) == -1 &&
	   err.exit_status == EX_UNAVAILABLE,
	   "the freezer refuses an order if its driver cannot be opened");
	is_str(err.text, "no driver", "the freezer tells why its driver cannot be opened");
	shared->cannot_open = false;
	ok(freezer_carry_out(&f, &order, &record, 60, &news, &err) == 0,
	   "the freezer tries to open its driver with the next order");
	freezer_stop(&f);
}

static bool is_left(pid_t pid)
{
	const struct pid_list *left = driver_children_left();

	for (int i = 0; i < left->count; i++)
		if (left->items[i] == pid)
			return true;
	return false;
}

static void test_hanging(void)
{
	struct freezer_order order;
	struct freezer f = start(&order);
	struct freezer_news news;
	struct err err = { 0 };
	pid_t pid = f.pid;

	shared->hangs = true;
	ok(freezer_carry_out(&f, &order, &record, 0.3, &news, &err) == -1 &&
	   err.exit_status == EX_TEMPFAIL, "an order to a driver that hangs is given up");
	is_str(err.text, "the driver does not answer",
	       "the error says that the driver does not answer");
	is_str(recorded, "locking ", "the record tells in which state the driver hangs");
	ok(f.fd < 0 && kill(pid, 0) == 0, "a freezer that hangs is not killed");
	ok(is_left(pid), "a freezer that hangs is known to be left");
	kill(pid, SIGTERM);
	poll(NULL, 0, 100);
	ok(waitpid(pid, NULL, WNOHANG) == 0, "a freezer that hangs survives SIGTERM");
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	ok(driver_child_reaped(pid) && !is_left(pid) && !driver_child_reaped(pid),
	   "a freezer that was reaped is left no longer");
}

static void test_crashing(void)
{
	struct freezer_order order;
	struct freezer f = start(&order);
	struct freezer_news news;
	struct err err = { 0 };

	shared->crashes = true;
	ok(freezer_carry_out(&f, &order, &record, 60, &news, &err) == -1 &&
	   news.says == FREEZER_DIED, "a driver that crashes kills the freezer alone");
	is_str(err.text, "the process that freezes has ended in a call",
	       "the error says that the freezer has ended in a call");
}

/* The supervisor dies while it is asked to record a state. */
static void test_death(void)
{
	struct freezer_order order;
	struct freezer f = start(&order);
	struct freezer_news news;
	struct err err = { 0 };
	pid_t pid = f.pid;

	ok(freezer_order(&f, &order, &err) == 0 && freezer_read(&f, &news) == FREEZER_ENTERS &&
	   news.state == FREEZE_LOCKING, "the freezer asks before the first state");
	freezer_allow(&f);
	ok(freezer_read(&f, &news) == FREEZER_ENTERS && news.state == FREEZE_SAVING,
	   "the freezer asks before the second state");
	freezer_stop(&f);
	ends(pid, "the freezer ends if nobody answers");
	ok(shared->n_locks == 1 && shared->n_saves == 0 && shared->n_unlocks == 0,
	   "the freezer makes no call of a state that was not recorded");
}

int main(void)
{
	signal(SIGPIPE, SIG_IGN);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	test_there_and_back();
	test_no_driver();
	test_hanging();
	test_crashing();
	test_death();
	return done();
}
