/* report_message.h - the datagrams a job sends: KEY=VALUE lines. client.h is the sending side.
 *
 * STEP SAMPLES STEP_NS SYNC_NS GRAD_SQR GRAD_VAR LOSS EPOCH CHECKPOINT STATUS; PARAMETERS: of the
 * model; CONFIG: the version of the configuration in use, 0 as launched, which says that the
 * program takes other configurations; WAKE: sent by pollux itself, look into the store.
 *
 * TOTAL_STEPS, TOTAL_SAMPLES, TOTAL_EPOCHS: to the end of the job. ENDS: what ends it, a word of
 * growth.h. OPTIMIZER: its family and its class, as in growth.h. RESUMED: the program continues
 * from this checkpoint, at the STEP and SAMPLES of the same message. GRAD_SAMPLES: the number of
 * updates whose mean GRAD_SQR and GRAD_VAR are. OUT_OF_MEMORY: bytes that could not be had, 0:
 * unknown; PEAK_BYTES and LIMIT_BYTES: of the allocator of one device. FRAMEWORK and HELPER: the
 * helper for PyTorch is on, and what it does not do. RESUMES: 1: the program continues from its
 * checkpoints when it is launched again; 2: it also saves when it is told to stop; 0: neither.
 * STAGE: the training that begins is the second, third, ... of the run, at the STEP and SAMPLES of
 * the same message; what was told of the end is over. ENDED: 1: the program has done all its work;
 * 2: its training has ended by itself, unless it had been told to stop; 0: another training
 * begins. METRIC.name: a number of the program's own, for people.
 *
 * Only the user's processes can write to the socket, but a program may have gone mad: the worst
 * that a message can do is to be counted as malformed. */
#ifndef POLLUX_REPORT_MESSAGE_H
#define POLLUX_REPORT_MESSAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sys/types.h>

#include "pollux/err.h"

#define REPORT_MESSAGE_SIZE 8192	/* longer ones are malformed */
#define REPORT_STATUS_SIZE 256		/* longer ones are clipped */

struct report_line {
	bool given;				/* an empty text says something too */
	char text[REPORT_STATUS_SIZE];		/* control characters are '?' */
};

struct report_value {
	bool given;
	double value;				/* text.h: it need not be finite */
};

#define REPORT_METRICS_MAX 64	/* of a job; more names are passed over */

struct report_metric {
	char name[64];		/* metric_is_name() of steps.h */
	double value;				/* text.h: it need not be finite */
};

/* Unknown: -1 for the integers, NaN for the numbers, "" for the texts. */
struct report_message {
	int64_t step, samples, step_ns, sync_ns;
	int64_t config, parameters;
	int64_t total_steps, total_samples, grad_samples;
	int64_t peak_bytes, out_of_memory, limit_bytes, resumes, ended, stage;
	double grad_sqr, grad_var, epoch, total_epochs;
	struct report_value loss;
	char checkpoint[PATH_MAX], resumed[PATH_MAX];
	/* control characters are '?' */
	char status[REPORT_STATUS_SIZE], framework[REPORT_STATUS_SIZE];
	char ends[REPORT_STATUS_SIZE], optimizer[REPORT_STATUS_SIZE];
	struct report_line helper;
	bool wake;
	struct report_metric metrics[REPORT_METRICS_MAX];
	int n_metrics;
};

/* Parses length bytes; unknown keys are skipped. Returns the number of malformed lines. A bad value
 * leaves its field unknown. A NUL byte, or a message without a good line, counts as one malformed
 * line. */
int report_message_parse(const char *bytes, size_t length, struct report_message *m);

/* The key number i of those that a program may report, from 0; NULL beyond the last. */
const char *report_key_at(size_t i);

/* True for a key of those, and for "METRIC." with a name behind it. */
bool report_key_is_known(const char *key);

/* Makes all but position, loss, epoch, checkpoint and status unknown: for a report whose sender
 * could not be looked at. */
void report_message_drop_measurements(struct report_message *m);

/* True if all of KEY=VALUE is understood: for 'pollux report'. */
bool report_line_is_valid(const char *line);

/* ---- the socket ---- */

/* The Unix datagram socket that a run's reports go to, and the file beside it with those that
 * nobody took. */

/* True if a socket can have this path: it has at most 107 bytes. */
bool report_socket_fits(const char *path);

/* Makes the socket with mode 0600, and replaces an older one. Returns a descriptor (close-on-exec,
 * non-blocking), or -1 with *err. */
int report_socket_open(const char *path, struct err *err);

/* Reads one datagram without waiting. Returns its length, which is above size if the datagram was
 * cut off, or -1. *sender: the process that sent the datagram, as the kernel tells; 0: the kernel
 * cannot name it here. */
ssize_t report_socket_receive(int fd, void *bytes, size_t size, pid_t *sender);

/* Tells who sent the next datagram, and leaves the datagram unread: as long as it is unread, its
 * sender waits in report_socket_send and can be looked at. False: there is no datagram. */
bool report_socket_next_sender(int fd, pid_t *sender);

/* Sends one datagram, and waits at most wait_s for a slow receiver, and as long again until the
 * receiver has read the datagram. *read (NULL: not wanted): whether the receiver has, as far as can
 * be known. -1 with *err (EX_UNAVAILABLE): nobody took the datagram. */
int report_socket_send(const char *path, const void *bytes, size_t n, int wait_s, bool *read,
		       struct err *err);

/* Keeps a report that nobody took for the supervisor that comes next: appends it to the file
 * PATH.kept, in the form that pollux-report(1) documents. Nothing is kept if path is no socket, or
 * in a directory that is not there. */
int report_socket_keep(const char *path, const char *bytes, size_t n, struct err *err);

/* The file is SOCKET.kept. Programs append to it (pollux-report(1) has the form), and supervisors
 * only read it, until it goes with the other files of the run:
 *
 * Any process of the user can write the file: one that is not a plain file is passed over, and only
 * its last KEPT_REPORTS_MAX bytes are read. */

#define KEPT_REPORTS_MAX (2 << 20)
#define KEPT_LAST_BYTES 128

/* How far the file was read. A program that finds the file large begins the file anew
 * (kept_file.h), and the new one may be as long before it is read: the last bytes that were read
 * tell the two files apart. */
struct kept_place {
	int64_t offset;
	char last[KEPT_LAST_BYTES];	/* the bytes before the offset */
	int n_last;
};

/* One message without its line KEPT_NS, and when it was made by the wall clock. */
typedef void kept_report_taker(const char *bytes, size_t n, double time_wall_s, void *arg);

/* Calls take for each whole message behind the place, in the order of the file, and sets the place
 * to where the next call begins. */
void kept_reports_read(const char *socket_path, struct kept_place *place, kept_report_taker *take,
		       void *arg);
void kept_reports_remove(const char *socket_path);

#endif
