/* report_message.h - the datagrams a job sends: KEY=VALUE lines (client.h is the sending side).
 *
 * STEP SAMPLES STEP_NS SYNC_NS GRAD_SQR GRAD_VAR LOSS EPOCH CHECKPOINT STATUS PARAMETERS (of the
 * model), CONFIG (the version of the configuration in use, 0 as launched: the program takes others), and WAKE (from pollux itself: look into
 * the store). Whoever can write to the socket is the user, but his program may have
 * gone mad: nothing in a message can do more than be counted as malformed. */
#ifndef POLLUX_REPORT_MESSAGE_H
#define POLLUX_REPORT_MESSAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REPORT_MESSAGE_SIZE 8192	/* longer ones are malformed */
#define REPORT_STATUS_SIZE 256		/* longer ones are clipped */

/* Unknown: -1 for the integers, NaN for the numbers, "" for the texts. */
struct report_message {
	int64_t step, samples, step_ns, sync_ns;
	int64_t config, parameters;
	double grad_sqr, grad_var, loss, epoch;
	char checkpoint[PATH_MAX];
	char status[REPORT_STATUS_SIZE];	/* control characters are '?' */
	bool wake;
};

/* Parse length bytes; unknown keys are passed over. Returns the number of malformed lines (a bad value
 * leaves its field unknown; a NUL byte, or a message without a single good line, counts as one). */
int report_message_parse(const char *bytes, size_t length, struct report_message *m);

/* Whether KEY=VALUE would be understood whole: for 'pollux report'. */
bool report_line_is_valid(const char *line);

#endif
