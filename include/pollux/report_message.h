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
 * ENDED: 1: the program has done all its work; 2: its training has ended by itself, unless it had
 * been told to stop; 0: another training begins. METRIC.name: a number of the program's own, for
 * people.
 *
 * Only the user's processes can write to the socket, but a program may have gone mad: the worst
 * that a message can do is to be counted as malformed. */
#ifndef POLLUX_REPORT_MESSAGE_H
#define POLLUX_REPORT_MESSAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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
	char name[64];		/* metric_is_name() of metric_lines.h */
	double value;				/* text.h: it need not be finite */
};

/* Unknown: -1 for the integers, NaN for the numbers, "" for the texts. */
struct report_message {
	int64_t step, samples, step_ns, sync_ns;
	int64_t config, parameters;
	int64_t total_steps, total_samples, grad_samples;
	int64_t peak_bytes, out_of_memory, limit_bytes, resumes, ended;
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

#endif
