/* goodput_line_first.h - what the files goodput_line*.c share: the line, and what its first job
 * waits for. */
#ifndef SCHED_GOODPUT_LINE_FIRST_H
#define SCHED_GOODPUT_LINE_FIRST_H

#include "goodput_line.h"

/* A waiting job in line. */
struct waiting {
	struct wait *wait;	/* to be filled in */
	int index;		/* of the curve */
	bool overdue;
	int first;		/* put first: sched_job.first */
	double since_s;
	int before;		/* jobs that have waited longer, or as long and come first */
	double density;		/* worth per device, on the least number */
};

/* Running jobs that are not preemptible, or have a guarantee. */
struct keepers {
	struct job_names jobs;
	int devices;		/* that they keep */
	bool guaranteed;	/* some of them */
};

struct line {
	const struct goodput_decision *d;
	struct waiting *items;
	int n;
	/* of each kind: devices that nobody has; those that no job which is not preemptible has */
	int left[SCHED_KINDS], not_fixed[SCHED_KINDS];
	bool any_fixed;		/* jobs which are not preemptible have devices */
	bool has_fixed;		/* such jobs exist, with devices or without */
	struct keepers behind;	/* those started behind the stuck job */
	struct keepers others;
	/* when the next job behind the first becomes overdue, or INFINITY */
	double overdue_s;
};

static inline const struct curve *line_curve_at(const struct line *line, int index)
{
	return &line->d->curves->items[index];
}

/* True if the job starts, or is relaunched, by this decision. */
bool line_starts_now(const struct line *line, int index);
double line_slice_end_s(const struct line *line, int index);

/* The running job whose expected end is the first to leave enough devices, if that end is before
 * w->start_s; w->start_s becomes that end. -1: there is none. */
int line_ends_first(const struct line *line, struct wait *w);
/* Finds the jobs whose slices end soonest, as many as leave enough devices, among the jobs that
 * lose less than the first in line gains. False: too few jobs do, or their slices end after
 * w->start_s or after another job is overdue. */
bool line_slices_do(const struct line *line, const struct waiting *item, struct wait *w);

#endif
