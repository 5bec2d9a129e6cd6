/* measure.c - starts the process that measures, and collects its results. */
#include "pollux/measure.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "backend.h"
#include "pollux/mem.h"
#include "pollux/proc.h"

#define SILENCE_S 900		/* after this time without a message the process hangs */
#define END_S 10.0		/* and after this time in its exit */

static const struct measure_backend *const backends[] = { &measure_cpu, &measure_gpu };

/* --- the pipe --- */

enum message_kind {
	MESSAGE_MEASUREMENT, MESSAGE_PEAK, MESSAGE_BASIS, MESSAGE_NOTE, MESSAGE_ERROR, MESSAGE_END
};

/* Both ends of the pipe are the same program. A message is written at once. */
struct message {
	enum message_kind kind;
	struct device_measurement measurement;
	struct measure_peak peak;
	int exit_status;
	char text[256];
};
_Static_assert(sizeof(struct message) <= 512,
	       "a write to a pipe is whole up to PIPE_BUF, 512 at least");

static void send(const struct sink *sink, const struct message *message)
{
	ssize_t n;

	do
		n = write(sink->fd, message, sizeof(*message));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(*message))
		_exit(EX_IOERR);	/* nobody reads the results */
}

__attribute__((format(printf, 3, 0)))
static void send_text(const struct sink *sink, enum message_kind kind, const char *format,
		      va_list ap)
{
	struct message message = { .kind = kind };

	vsnprintf(message.text, sizeof(message.text), format, ap);
	send(sink, &message);
}

int sink_time(struct sink *sink, struct device_measurement *m, repeat_run *run, void *state)
{
	struct message message = { .kind = MESSAGE_MEASUREMENT };
	struct repeated s;

	if (repeat_time(&s, run, state, sink->limits))
		return -1;
	m->time_s = s.mean_s;
	m->time_sd_s = s.sd_s;
	m->repetitions = s.n;
	m->steady = s.steady;
	message.measurement = *m;
	send(sink, &message);
	return 0;
}

void sink_peak(struct sink *sink, const char *variant, double per_s)
{
	struct message message = { .kind = MESSAGE_PEAK, .peak.per_s = per_s };

	snprintf(message.peak.variant, sizeof(message.peak.variant), "%s", variant);
	send(sink, &message);
}

void sink_peak_basis(struct sink *sink, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	send_text(sink, MESSAGE_BASIS, format, ap);
	va_end(ap);
}

void sink_note(struct sink *sink, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	send_text(sink, MESSAGE_NOTE, format, ap);
	va_end(ap);
}

/* --- the process --- */

_Noreturn static void child(struct sink *sink, const struct device *devices, int n, pid_t parent)
{
	struct message end = { .kind = MESSAGE_END };
	struct err err = { 0 };

	signal(SIGPIPE, SIG_IGN);
	if (!proc_dies_with(parent, SIGKILL))
		_exit(EX_IOERR);
	if (device_backend_of(devices[0].id)->bind(devices, n, &err) ||
	    (n == 1 ? sink->backend->device(sink, devices, &err)
		    : sink->backend->exchange(sink, devices, n, &err))) {
		end.kind = MESSAGE_ERROR;
		end.exit_status = err.exit_status;
		snprintf(end.text, sizeof(end.text), "%.*s", (int)sizeof(end.text) - 1, err.text);
	}
	send(sink, &end);
	_exit(0);
}

/* --- results --- */

static void take_message(struct measure_result *r, const struct message *message, struct err *err)
{
	struct device_measurement_list *list = &r->list;

	switch (message->kind) {
	case MESSAGE_MEASUREMENT:
		list->items = xreallocarray(list->items, (size_t)list->count + 1,
					    sizeof(*list->items));
		list->items[list->count++] = message->measurement;
		break;
	case MESSAGE_PEAK:
		if (r->n_peaks < MEASURE_PEAKS)
			r->peaks[r->n_peaks++] = message->peak;
		break;
	case MESSAGE_BASIS:
		snprintf(r->peak_basis, sizeof(r->peak_basis), "%.*s",
			 (int)sizeof(r->peak_basis) - 1, message->text);
		break;
	case MESSAGE_NOTE:
		strings_add(&r->notes, message->text);
		break;
	case MESSAGE_ERROR:
		err_set(err, message->exit_status, "%s", message->text);
		break;
	case MESSAGE_END:
		break;
	}
}

static int collect_messages(pid_t pid, int fd, const char *id, struct measure_result *r,
			    struct err *err)
{
	struct message message = { .kind = MESSAGE_NOTE };
	struct pollfd from = { .fd = fd, .events = POLLIN };
	ssize_t got = sizeof(message);
	int n, status = 0;
	bool ended;

	while (got == sizeof(message) && message.kind != MESSAGE_END &&
	       message.kind != MESSAGE_ERROR) {
		do
			n = poll(&from, 1, SILENCE_S * 1000);
		while (n < 0 && errno == EINTR);
		if (n == 0) {
			/* Killed without waiting: a process that hangs in a driver may not even
			 * die. */
			kill(pid, SIGKILL);
			waitpid(pid, NULL, WNOHANG);
			return err_set(err, EX_OSERR, "cannot measure %s: the measuring process "
				       "sent nothing for %d s, and was killed", id, SILENCE_S);
		}
		do
			got = read(fd, &message, sizeof(message));
		while (got < 0 && errno == EINTR);
		if (got == sizeof(message))
			take_message(r, &message, err);
	}
	/* nothing is left to do for it but to exit, where it may hang, too */
	if (message.kind == MESSAGE_END || message.kind == MESSAGE_ERROR)
		kill(pid, SIGKILL);
	ended = proc_reap(pid, END_S, &status);
	if (message.kind == MESSAGE_END || message.kind == MESSAGE_ERROR)
		return message.kind == MESSAGE_END ? 0 : -1;
	if (!ended)
		return err_set(err, EX_OSERR, "cannot measure %s: the measuring process hangs in "
			       "its exit", id);
	if (WIFSIGNALED(status))
		return err_set(err, EX_OSERR,
			       "cannot measure %s: signal %d ended the measuring process", id,
			       WTERMSIG(status));
	return err_set(err, EX_OSERR,
		       "cannot measure %s: the measuring process ended with status %d", id,
		       WEXITSTATUS(status));
}

int measure_device(const struct device *d, const struct measure_options *o,
		   struct measure_result *r, struct err *err)
{
	return measure_exchange(d, 1, o, r, err);
}

int measure_exchange(const struct device *devices, int n, const struct measure_options *o,
		     struct measure_result *r, struct err *err)
{
	const struct device_backend *backend = device_backend_of(devices[0].id);
	struct sink sink = {
		.quick = o->quick, .limits = o->quick ? &REPEAT_QUICK : &REPEAT_FULL,
	};
	pid_t parent = getpid(), pid;
	int ends[2], rc;

	*r = (struct measure_result){ 0 };
	for (size_t i = 0; backend && i < sizeof(backends) / sizeof(backends[0]); i++)
		if (!strcmp(backends[i]->name, backend->name))
			sink.backend = backends[i];
	if (!sink.backend)
		return err_set(err, EX_UNAVAILABLE, "cannot measure %s: this pollux cannot measure "
			       "devices of its sort", devices[0].id);
	if (pipe(ends))
		return err_set(err, EX_OSERR, "cannot make a pipe: %s", strerror(errno));
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		sink.fd = ends[1];
		child(&sink, devices, n, parent);
	}
	close(ends[1]);
	rc = pid < 0 ? err_set(err, EX_OSERR, "cannot start a process: %s", strerror(errno))
		     : collect_messages(pid, ends[0], devices[0].id, r, err);
	close(ends[0]);
	if (rc)
		measure_result_release(r);
	return rc;
}

void measure_result_release(struct measure_result *r)
{
	free(r->list.items);
	strings_release(&r->notes);
	*r = (struct measure_result){ 0 };
}

double measure_peak_of(const struct measure_result *r, const char *variant)
{
	for (int i = 0; i < r->n_peaks; i++)
		if (!strcmp(r->peaks[i].variant, variant))
			return r->peaks[i].per_s;
	return (double)NAN;
}
