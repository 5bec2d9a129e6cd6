/* log_watch.h - read a job's log as it grows; private to src/engine/local.
 *
 * It is looked at LOG_LOOK_S apart, which costs neither the job anything (a watch by inotify(7) would make
 * each of its writes queue an event) nor the supervisor: five calls of fstat a second. When the last
 * bytes came is known all the same: the time of modification, to a tick of the kernel (4 ms, mostly). On
 * file systems that keep whole seconds only, it is the time of the look. */
#ifndef POLLUX_RUN_LOG_WATCH_H
#define POLLUX_RUN_LOG_WATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/steps.h"

#define LOG_LOOK_S 0.2
/* Of one look; of a job that writes more the end is read. */
#define LOG_LOOK_BYTES (32 << 20)

struct log_watch {
	int fd;				/* -1: not watched */
	int64_t offset;			/* read up to here */
	double next_look_boot_s;	/* INFINITY while not watched */
	double last_boot_s;		/* arrivals do not go back behind it */
	struct steps *steps;		/* NULL while not watched */
};

void log_watch_init(struct log_watch *w);
/* From offset on; step_regex NULL: the built-in patterns. On failure nothing is watched. */
int log_watch_open(struct log_watch *w, const char *path, int64_t offset, const char *step_regex,
		   struct err *err);
void log_watch_close(struct log_watch *w);		/* harmless when it is not open */

/* What came since the last look. last: no more will come. */
void log_watch_look(struct log_watch *w, double now_boot_s, bool last, steps_sink *sink, void *arg);

#endif
