/* profile_report.h - what a profile has found out, read from the store, and its ways to show it. */
#ifndef POLLUX_PROFILE_REPORT_H
#define POLLUX_PROFILE_REPORT_H

#include "pollux/explain.h"

struct profile_row {
	const struct run *run;
	struct observation observation;	/* n_windows 0: no step time */
	double half_width;		/* of the confidence interval (step_stats.h), over the step
					   time; NaN: too few windows */
	double model_step_time_s;	/* NaN: no model */
	const char *why;		/* this point was tried; "": unknown */
	bool stopped;			/* a person stopped the whole profile */
};

struct profile_report {
	struct explanation e;		/* the profile's job: model, curves, noise, restart */
	struct status_details details;	/* runs, observations and events of that job */
	struct profile_row *rows;	/* owned; one for each run, in the order of runs */
	int n_rows;
	/* The smallest number of devices whose goodput is at least PROFILE_ENOUGH times the
	 * greatest goodput; its goodput is 0 if nothing is known. */
	struct goodput_choice recommended;
};

#define PROFILE_ENOUGH 0.95

/* True if the supervisor of the run was killed: how the run ended then tells nothing of its
 * sizes. */
bool profile_row_is_lost(const struct profile_row *row);

/* EX_NOINPUT: there is no such job, or the job is not a profile. */
int profile_report_read(struct session *s, int64_t job_id, struct profile_report *r,
			struct err *err);
void profile_report_release(struct profile_report *r);

void profile_report_print(const struct profile_report *r, const struct output *out);
void profile_report_print_json(const struct profile_report *r, FILE *out);

#endif
