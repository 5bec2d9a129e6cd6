/* profile_report.h - what a profile has found out, read from the store, and its ways to show it. */
#ifndef POLLUX_PROFILE_REPORT_H
#define POLLUX_PROFILE_REPORT_H

#include "pollux/explain.h"

struct profile_row {
	const struct run *run;
	struct observation observation;	/* n_windows 0: no step time */
	double half_width;		/* of the confidence interval (steady.h), relative; NaN: too few windows */
	double model_step_time_s;	/* NaN: no model */
	const char *why;		/* it was tried; "" not known */
	bool stopped;			/* with the whole profile, by a person */
};

struct profile_report {
	struct explanation e;		/* of the profile's job: model, curves, noise scale, restart */
	struct status_details details;	/* its runs, observations, events */
	struct profile_row *rows;	/* owned; one for each run, in their order */
	int n_rows;
	/* The fewest devices whose goodput is within PROFILE_ENOUGH of the most; goodput 0: nothing is known. */
	struct goodput_choice recommended;
};

#define PROFILE_ENOUGH 0.95

/* Its supervisor was killed: its end says nothing of its sizes. */
bool profile_row_is_lost(const struct profile_row *row);

/* EX_NOINPUT where there is no such job, or it is no profile. */
int profile_report_read(struct session *s, int64_t job_id, struct profile_report *r, struct err *err);
void profile_report_release(struct profile_report *r);

void profile_report_print(const struct profile_report *r, const struct output *out);
void profile_report_print_json(const struct profile_report *r, FILE *out);
/* The picture of 'pollux explain'. */
int profile_report_draw(const struct profile_report *r, const char *path, struct err *err);

#endif
