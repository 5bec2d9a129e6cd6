/* metric_lines.h - numbers in what a program prints, by expressions of the user's.
 *
 *	struct metric_lines *m = metric_lines_new(&list, err);	// "NAME=REGEX", ...
 *	metric_lines_feed(m, bytes, n, arrival_s, sink, arg);	// pieces of any size
 *	metric_lines_free(m);
 *
 * Group 1 of an expression is the value (text.h), in its first match of a line. Lines are cut as
 * in steps.h, and have the same limits of length and processor time; lines beyond those are
 * skipped. */
#ifndef POLLUX_METRIC_LINES_H
#define POLLUX_METRIC_LINES_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/err.h"
#include "pollux/text.h"

#define METRIC_NAME_SIZE 64
#define METRIC_LINES_MAX 16	/* expressions */

/* Names that are worth a column in a table: letters, digits and ._-/:@%+, at most 63 of them. */
bool metric_is_name(const char *name, size_t length);

typedef void metric_sink(const char *name, double value, void *arg);

struct metric_lines;

/* NULL with EX_USAGE for an entry that is not NAME=REGEX with a group. */
struct metric_lines *metric_lines_new(const struct strings *list, struct err *err);
void metric_lines_free(struct metric_lines *m);		/* NULL is harmless */
/* cpu_s: processor seconds of the calling thread; NULL: expressions are not timed. */
void metric_lines_set_cpu_clock(struct metric_lines *m, double (*cpu_s)(void));
void metric_lines_feed(struct metric_lines *m, const char *bytes, size_t n, double arrival_s,
		       metric_sink *sink, void *arg);
void metric_lines_end(struct metric_lines *m, metric_sink *sink, void *arg);
/* True if lines were skipped for want of processor time. Lines that are fed from here on are not
 * timed, so the caller feeds only a few. */
bool metric_lines_look_again(struct metric_lines *m);

#endif
