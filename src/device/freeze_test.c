/* freeze_test.c - freeze a program of our own, and see whether it comes back right. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/freeze.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

#define START_S 120.0		/* a driver that is not kept loaded, and the kernel's compilation */
#define STEP_S 60.0
#define CALLS_S 300.0
#define BLOCKED_S 0.2		/* a frozen program must not answer within it */
#define END_S 10.0		/* of a program that was killed, unless it hangs in the driver */
#define FREE_S 5.0		/* memory may become free some time after the call */
#define ROUNDS 16
#define LEAST_BYTES (INT64_C(1) << 20)

/* The program: orders go to its standard input, answers come from its standard output. */
struct worker {
	pid_t pid;
	int orders, answers;
	char *weaker;			/* of the result */
};

struct test {
	const struct device *device;
	const struct device_backend *backend;
	struct worker worker;
	struct freezer freezer;
	struct freezer_order order;
	struct freeze_test *result;
};

/* --- the program --- */

static _Noreturn void worker_main(const struct test *t, int in, int out, pid_t parent)
{
	struct strings env = { 0 };
	struct err err = { 0 };
	char text[sizeof(err.text) + 1];
	int n;

	setsid();
	if (!proc_dies_with(parent, SIGKILL) || dup2(in, 0) < 0 || dup2(out, 1) < 0)
		_exit(1);
	close_range(3, ~0U, 0);
	devices_environment(t->device, 1, &env);
	for (size_t i = 0; i < env.count; i++)
		putenv(env.items[i]);		/* the environment keeps the text */
	if (t->backend->freezer->work(t->result->bytes, ROUNDS, &err) == 0)
		_exit(0);
	n = snprintf(text, sizeof(text), "e%s", err.text);
	_exit(write(1, text, (size_t)n) == n ? 1 : 2);
}

static int worker_start(struct test *t, struct err *err)
{
	struct worker *w = &t->worker;
	pid_t parent = getpid();
	int in[2], out[2];

	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	w->pid = fork();
	if (w->pid == 0)
		worker_main(t, in[0], out[1], parent);
	close(in[0]);
	close(out[1]);
	w->orders = in[1];
	w->answers = out[0];
	if (w->pid > 0)
		return 0;
	return err_set(err, EX_OSERR, "cannot start a process: %s", strerror(errno));
}

static bool can_be_read(int fd, double limit_s)
{
	struct pollfd from = { .fd = fd, .events = POLLIN };
	int n;

	do
		n = poll(&from, 1, (int)(limit_s * 1e3));
	while (n < 0 && errno == EINTR);
	return n > 0;
}

/* Reads one answer. 'e' is followed by the program's error, 'w' by why it is weaker than others. */
static int hear(struct worker *w, double limit_s, char wanted, struct err *err)
{
	char text[1024];
	ssize_t n;

	if (!can_be_read(w->answers, limit_s))
		return err_set(err, EX_OSERR, "the test's program does not go on after %g s",
			       limit_s);
	n = read(w->answers, text, sizeof(text) - 1);
	if (n <= 0)
		return err_set(err, EX_OSERR, "the test's program has died");
	text[n] = '\0';
	if (text[0] == wanted)
		return 0;
	if (text[0] == 'w' && wanted == 'k' && !*w->weaker) {
		snprintf(w->weaker, FREEZE_TEST_WEAKER, "%.*s", FREEZE_TEST_WEAKER - 1, text + 1);
		return write(w->orders, "x", 1) == 1 ? hear(w, limit_s, wanted, err) : -1;
	}
	if (text[0] == 'e')
		return err_set(err, EX_UNAVAILABLE, "%s", text + 1);
	return err_set(err, EX_OSERR, "the test's program came to a wrong result");
}

/* Orders a step. If the program has ended, its last answer says why. */
static int order_step(struct worker *w, struct err *err)
{
	if (write(w->orders, "x", 1) == 1)
		return 0;
	return hear(w, 0, '\0', err);
}

static void worker_end(struct worker *w)
{
	if (w->orders >= 0)
		close(w->orders);
	if (w->answers >= 0)
		close(w->answers);
	if (w->pid <= 0)
		return;
	kill(w->pid, SIGKILL);
	kill(w->pid, SIGCONT);
	proc_reap(w->pid, END_S, NULL);
}

/* --- the device's memory --- */

/* Runs in a child: the driver may hang. */
static void answer_free(int fd, void *arg)
{
	const struct test *t = arg;
	int64_t bytes = t->backend->freezer->free_bytes(t->device->id);

	file_write_all(fd, &bytes, sizeof(bytes));
}

/* -1: unknown. */
static int64_t free_bytes(struct test *t)
{
	struct err ignored;
	size_t n = 0;
	autofree void *answer = driver_child_ask(answer_free, t, &n, &ignored);
	int64_t bytes = -1;

	if (answer && n == sizeof(bytes))
		memcpy(&bytes, answer, n);
	return bytes;
}

static int check_released(struct test *t, int64_t before, struct err *err)
{
	double until = clock_boot_s() + FREE_S;
	int64_t released;

	do {
		int64_t now = free_bytes(t);

		if (now < 0)
			return err_set(err, EX_OSERR, "the driver does not tell how much memory "
				       "is free");
		released = now - before;
		if (released >= t->result->bytes / 10 * 9)
			break;
		poll(NULL, 0, 50);
	} while (clock_boot_s() < until);
	t->result->released_bytes = released;
	if (released >= t->result->bytes / 10 * 9)
		return 0;
	return err_set(err, EX_OSERR, "%lld MiB were to become free on the device, and %lld MiB "
		       "did", (long long)(t->result->bytes >> 20), (long long)(released >> 20));
}

static int choose_bytes(struct test *t, int64_t bytes, struct err *err)
{
	int64_t available = t->backend->freezer->host_bytes(), free_now = free_bytes(t);

	if (bytes == 0) {
		bytes = FREEZE_TEST_BYTES;
		if (free_now >= 0 && bytes > free_now / 4)
			bytes = free_now / 4;
		bytes -= bytes % LEAST_BYTES;
	}
	if (bytes < LEAST_BYTES)
		return err_set(err, EX_TEMPFAIL, "too little memory is free on '%s' for a test",
			       t->device->id);
	t->result->bytes = bytes;
	return freeze_check_room(bytes, available, bytes, err);
}

/* --- freezing it --- */

static int carry_out(struct test *t, enum freezer_task task, struct freezer_news *news,
		     struct err *err)
{
	t->order.task = task;
	if (freezer_carry_out(&t->freezer, &t->order, NULL, CALLS_S, news, err))
		return -1;
	t->order.state = news->state;
	return 0;
}

/* The first order only starts the driver: the program runs, and a mending finds nothing. */
static int start_freezer(struct test *t, struct err *err)
{
	double begun = clock_boot_s();
	struct freezer_news news;

	t->order = (struct freezer_order){ .pids = { t->worker.pid }, .n = 1 };
	if (freezer_start(&t->freezer, t->backend->freezer, -1, err) ||
	    carry_out(t, FREEZER_MEND, &news, err))
		return -1;
	t->result->start_s = clock_boot_s() - begun;
	return 0;
}

static int freeze_it(struct test *t, struct err *err)
{
	int64_t before = free_bytes(t);
	struct freezer_news news;

	if (carry_out(t, FREEZER_FREEZE, &news, err))
		return -1;
	t->result->lock_s = news.took_s[STEP_LOCK];
	t->result->save_s = news.took_s[STEP_SAVE];
	if (order_step(&t->worker, err) || check_released(t, before, err))
		return -1;
	if (can_be_read(t->worker.answers, BLOCKED_S))
		return err_set(err, EX_OSERR, "the test's program went on while it was frozen");
	kill(t->worker.pid, SIGSTOP);
	return 0;
}

static int thaw_it(struct test *t, struct err *err)
{
	struct freezer_news news;

	kill(t->worker.pid, SIGCONT);
	if (carry_out(t, FREEZER_THAW, &news, err))
		return -1;
	t->result->restore_s = news.took_s[STEP_RESTORE];
	t->result->unlock_s = news.took_s[STEP_UNLOCK];
	return hear(&t->worker, STEP_S, 'k', err);
}

static int run_test(struct test *t, int64_t bytes, struct err *err)
{
	struct worker *w = &t->worker;

	if (choose_bytes(t, bytes, err))
		return -1;
	if (worker_start(t, err) == 0 && order_step(w, err) == 0 &&
	    hear(w, START_S, 'k', err) == 0 && start_freezer(t, err) == 0 &&
	    freeze_it(t, err) == 0 && thaw_it(t, err) == 0 &&
	    order_step(w, err) == 0 && hear(w, STEP_S, 'k', err) == 0) {
		/* at the end of its orders the program checks all that it computed */
		close(w->orders);
		w->orders = -1;
		if (hear(w, STEP_S, 'y', err) == 0)
			return 0;
	}
	/* a later try may help a job, but not this idle program */
	if (err->exit_status == EX_TEMPFAIL)
		err->exit_status = EX_OSERR;
	return -1;
}

int freeze_test(const struct device *d, int64_t bytes, struct freeze_test *t, struct err *err)
{
	struct test test = {
		.device = d, .backend = device_backend_of(d->id),
		.worker = { .orders = -1, .answers = -1, .weaker = t->weaker },
		.freezer = FREEZER_NONE, .result = t,
	};
	struct sigaction ignore = { .sa_handler = SIG_IGN }, before;
	int rc;

	*t = (struct freeze_test){ 0 };
	if (!test.backend || !test.backend->freezer)
		return err_set(err, EX_UNAVAILABLE, "'%s' has no memory of its own that could be "
			       "moved to the host's", d->id);
	sigaction(SIGPIPE, &ignore, &before);
	rc = run_test(&test, bytes, err);
	freezer_stop(&test.freezer);
	worker_end(&test.worker);
	sigaction(SIGPIPE, &before, NULL);
	return rc;
}
