/* past.h - what the jobs of the last days took and reached, summed by day, name, workload, group or
 * user: 'pollux history'.
 *
 *	struct past p;
 *	if (past_read(&session, &period, &p, err)) ...
 *	past_print_table(&p, &output);
 *	past_release(&p);
 */
#ifndef POLLUX_PAST_H
#define POLLUX_PAST_H

#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/report.h"
#include "pollux/session.h"

enum past_key { PAST_DAY, PAST_NAME, PAST_WORKLOAD, PAST_GROUP, PAST_USER, N_PAST_KEYS };
extern const char *const past_key_names[];	/* "day", ...; the end is NULL */

/* Wall clock. Time before since_s does not count: of a run that began earlier, only the part after
 * since_s counts. */
struct past_period {
	double since_s, now_s;
	enum past_key by;
};

/* Sums over the jobs, or the parts of their runs, that belong to a row. */
struct past_row {
	char *key;		/* owned; a day as YYYY-MM-DD, local time */
	/* jobs that had devices then, or ended then; those that ended, by their states */
	int jobs, ended[N_JOB_STATES];
	/* devices times the time that a run had them; suspended time is none */
	double device_s;
	double lost_device_s;	/* the part of it whose work was lost */
	double energy_j;	/* of the devices, of the runs for which it is known; */
	bool knows_energy;	/* false: of none */
	int started;		/* jobs that started for the first time then, */
	double waited_s;	/* and the sum of their times from submission to that start */
	double completion_s;	/* sum over jobs done: from submission to end */
	/* Runs with a known model: their device time, and the device time that the same progress
	 * would have taken at the batch sizes that were submitted, on the same devices. */
	double modelled_device_s, submitted_device_s;
	int adapted;		/* jobs that had another batch than their own */
	/* the last job counted in jobs, and in adapted: each job counts once in a row */
	int64_t last_job, last_adapted;
};

struct past {
	struct past_period period;
	/* whose store it is: all its jobs are that user's, and nobody reads another's store */
	char user[40];
	struct past_row *rows;	/* owned; days in their order, others by device time, most first */
	int n;
	struct past_row total;
};


/* Adds a job with its runs. gain[i]: the goodput of run i over its goodput at the submitted batch
 * size on the same devices; NaN: unknown. Calls no clock; days are those of the local time zone. */
void past_add(struct past *p, const struct job *job, const struct run *runs, int n_runs,
	      const double *gain);
void past_sort(struct past *p);
/* NaN: nothing is known */
double past_energy_j(const struct past_row *row);
/* submitted over modelled device time; NaN: nothing is known */
double past_gain(const struct past_row *row);

/* Reads and sums up; the caller releases *p. */
int past_read(struct session *s, const struct past_period *period, struct past *p,
	      struct err *err);
void past_release(struct past *p);

/* past_print.c */
void past_print_table(const struct past *p, const struct output *out);
void past_print_csv(const struct past *p, FILE *out);
void past_print_json(const struct past *p, FILE *out);

/* past_plot.c: device time and waiting by row, by gnuplot. EX_FAILED: there is nothing to draw;
 * other errors as those of picture_draw. */
int past_draw(const struct past *p, const char *path, struct err *err);

#endif
