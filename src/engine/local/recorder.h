/* recorder.h - what a supervisor learns from reports, gathered until it is written; private to src/engine/local.
 *
 * Steps go into a robust aggregate of the run's configuration, gradient statistics into sums over windows,
 * the rest is remembered as last said: a job that reports a thousand steps a second writes a few rows
 * every two seconds, and adds two a minute.
 *
 * A window of gradients is closed after 30 s; earlier, at a write, where it covers a tenth of the
 * position and 50 updates, since the gradient changes fast early in a training; and whenever the
 * program changes to another configuration. What it reports before pollux knows of the change, or after
 * it changed to one that has been replaced already, counts as progress, but measures nothing. */
#ifndef POLLUX_RUN_RECORDER_H
#define POLLUX_RUN_RECORDER_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/report_message.h"
#include "pollux/step_stats.h"
#include "pollux/steps.h"
#include "pollux/store.h"

struct recorder {
	struct report_message message;	/* the last one; here because it is large */
	bool changed;			/* since the last write */
	double written_boot_s;		/* when that was */
	bool positions_only;		/* an adopted run: its earlier aggregate is in the store */
	struct step_stats stats;
	struct observation earlier;	/* of the same configuration, before the run had another */
	double steps, loss, epoch;	/* NaN: not reported */
	char status[REPORT_STATUS_SIZE];
	int64_t parameters;		/* of the model; 0: not reported */
	bool steps_are_reported, samples_are_reported;	/* then the log is not asked */
	double printed_total_steps;	/* in the log; 0: none; NaN: the log was not asked */
	enum step_unit logged_unit;	/* what the log counts */
	double first_logged_position;	/* in that, since the pattern began; NaN */
	double base_samples;		/* there; NaN */
	int64_t last_step;		/* -1: none yet */
	double last_step_boot_s;
	struct gradient_window gradient;
	double gradient_start_boot_s;	/* NaN: no window open */
};

void recorder_init(struct recorder *r);
void recorder_release(struct recorder *r);

/* Take in one datagram of n bytes (n above the buffer: it was cut off, and is malformed). run's
 * positions and checkpoint are brought up to date, and its configuration where the program has changed to
 * the one wanted of it: then what was learnt of the last one is written to the store (not used otherwise).
 * Returns whether the message asks to look into the store. */
bool recorder_add(struct recorder *r, struct store *store, struct run *run, const char *bytes, size_t n,
		  double now_boot_s);

/* recorder_log.c. Steps that were recognised in the log, of a program that reports none: once it has
 * reported one these do nothing. begin: by that pattern, of which the first line came at first_boot_s; what
 * was measured before is dropped. */
void recorder_begin_log(struct recorder *r, struct run *run, const char *pattern, double first_boot_s);
void recorder_add_logged(struct recorder *r, struct run *run, const struct job *job,
			 const struct step_event *e);

/* Write what changed since the last time, if anything (the running time alone: every 30 s). On failure it is kept for the next. */
int recorder_write(struct recorder *r, struct store *store, struct run *run, struct err *err);

#endif
