/* log_watch.h - read a job's log as it grows; private to src/engine/local.
 *
 * The supervisor looks at the file every LOG_LOOK_S. inotify(7) would queue an event for each write
 * of the job; the looks cost five calls of fstat a second. The time of the last bytes is the file's
 * time of modification, exact to a tick of the kernel (mostly 4 ms). On file systems that keep
 * whole seconds, the time of the look is taken instead. */
#ifndef POLLUX_RUN_LOG_WATCH_H
#define POLLUX_RUN_LOG_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/metric_lines.h"
#include "pollux/steps.h"

#define LOG_LOOK_S 0.2
/* Bytes read in one look. If the job writes more, only the end is read. */
#define LOG_LOOK_BYTES (32 << 20)

#define LOG_LEARN_BYTES (128 << 10)
#define LOG_LAST_LINES 20	/* looked at for metrics in any case */

struct log_watch {
	int fd;				/* -1: not watched */
	int64_t begin, offset;		/* read from, and up to, here */
	int64_t line_offset;		/* the beginning of the first line that is not whole yet */
	double next_look_boot_s;	/* INFINITY while not watched */
	/* no arrival is earlier than this; by the boot clock without the time stopped */
	double last_boot_s;
	double stopped_s;		/* seconds for which the program was suspended so far */
	struct steps *steps;		/* NULL while not watched, and where reports tell steps */
	struct metric_lines *metrics;	/* NULL: none are looked for */
};

void log_watch_init(struct log_watch *w);
/* Starts at offset. step_regex NULL: the built-in patterns. On failure nothing is watched. */
int log_watch_open(struct log_watch *w, const char *path, int64_t offset, const char *step_regex,
		   struct err *err);
/* Learns from the log of the job's runs before, up to LOG_LEARN_BYTES of its beginning and of its
 * end: which lines tell steps, how epochs are numbered, how many steps an epoch has. */
void log_watch_learn(struct log_watch *w);
/* Makes counters go on behind this offset, at the beginning of a line: another supervisor read the
 * log up to there. Only the beginning and the end of a long part are read. */
void log_watch_catch_up(struct log_watch *w, int64_t offset);
void log_watch_close(struct log_watch *w);		/* harmless when nothing is watched */
/* Looks for these metrics, too. -1: an expression is none; nothing is looked for. */
int log_watch_add_metrics(struct log_watch *w, const struct strings *list, struct err *err);
/* Steps are not looked for any more: the watch ends if no metrics are. */
void log_watch_end_steps(struct log_watch *w);

/* Reads what came since the last look. last: the program has ended. */
struct log_sinks {
	steps_sink *step;
	metric_sink *metric;
	void *arg;
};
void log_watch_look(struct log_watch *w, double now_boot_s, bool last,
		    const struct log_sinks *sinks);

#endif
