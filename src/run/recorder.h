/* recorder.h - what a supervisor learns from reports, gathered until it is written; private to src/run.
 *
 * Steps go into a robust aggregate of the run's configuration, gradient statistics into sums over windows
 * of 30 s, the rest is remembered as last said: a job that reports a thousand steps a second writes a
 * few rows every two seconds, and adds two a minute. */
#ifndef POLLUX_RUN_RECORDER_H
#define POLLUX_RUN_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/report_message.h"
#include "pollux/step_stats.h"
#include "pollux/store.h"

struct recorder {
	struct report_message message;	/* the last one; here because it is large */
	bool changed;			/* since the last write */
	double written_boot_s;		/* when that was */
	bool positions_only;		/* an adopted run: its earlier aggregate is in the store */
	struct step_stats stats;
	double steps, loss, epoch;	/* NaN: not reported */
	char status[REPORT_STATUS_SIZE];
	int64_t last_step;		/* -1: none yet */
	double last_step_boot_s;
	struct gradient_window gradient;
	double gradient_start_boot_s;	/* NaN: no window open */
	int64_t n_reports, n_malformed;
};

void recorder_init(struct recorder *r);
void recorder_release(struct recorder *r);

/* Take in one datagram of n bytes (n above the buffer: it was cut off, and is malformed). run's
 * positions and checkpoint are brought up to date. Returns whether the message asks to look into the store. */
bool recorder_add(struct recorder *r, struct run *run, const char *bytes, size_t n, double now_boot_s);

/* Write what changed since the last time, if anything (the running time alone: every 30 s). On failure it is kept for the next. */
int recorder_write(struct recorder *r, struct store *store, struct run *run, struct err *err);

#endif
