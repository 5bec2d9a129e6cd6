/* log_lines.h - cuts pieces of a log into clean lines; private to src/steps.
 *
 * A line ends at \n or \r; empty lines are dropped. Backspaces, ESC [ ... and ESC ] ... sequences
 * and other two-byte escapes are removed. At most STEPS_LINE_MAX bytes of a line are kept. */
#ifndef POLLUX_STEPS_LOG_LINES_H
#define POLLUX_STEPS_LOG_LINES_H

#include <stdint.h>

#include "pollux/steps.h"

enum escape { ESCAPE_NONE, ESCAPE_BEGUN, ESCAPE_CSI, ESCAPE_OSC };

struct log_lines {
	char line[STEPS_LINE_MAX];	/* the beginning of a line that has not ended */
	size_t length;
	bool clipped;
	enum escape escape;
	double arrival_s;		/* of the last byte that counts; bars end at the next bar */
	int64_t n_lines, n_clipped;
};

/* One line, not terminated; may hold anything but \n, \r, \b and ESC. */
typedef void log_line_sink(const char *line, size_t n, double arrival_s, void *arg);

void log_lines_init(struct log_lines *l);
void log_lines_feed(struct log_lines *l, const char *bytes, size_t n, double arrival_s,
		    log_line_sink *sink, void *arg);
void log_lines_end(struct log_lines *l, log_line_sink *sink, void *arg);

#endif
