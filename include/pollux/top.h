/* top.h - what 'pollux top' shows: the jobs as status has them, the devices, and one job that a
 * person has chosen; composed as rows of a screen.
 *
 *	struct top t = TOP_INIT;
 *	top_read(&session, &t, err);		// when the store has changed
 *	top_compose(&t, &canvas);			// looks at nothing but t
 *	top_release(&t);
 */
#ifndef POLLUX_TOP_H
#define POLLUX_TOP_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/canvas.h"
#include "pollux/status.h"
#include "pollux/store.h"
#include "pollux/store_measurements.h"

/* A device as it is read now. Owns nothing, so that it can be sent from one process to another. */
struct top_device {
	char id[DEVICE_ID_SIZE], name[DEVICE_NAME_SIZE];
	char binding[sizeof(((struct device *)NULL)->binding)];
	bool is_accelerator;
	double use;				/* 0 to 1; NaN: unknown */
	double memory_bytes, used_bytes;	/* NaN: it shares the machine's, or unknown */
	char holder[64];			/* who has it besides jobs; "": nobody */
};

/* What is read of the chosen job alone. */
struct top_job {
	int64_t id;			/* 0: none */
	struct curve_list curves;
	struct job_metric_list metrics;
	struct strings log;		/* its last rows */
};

enum top_mode { TOP_JOBS, TOP_LOG, TOP_HELP };

#define TOP_FILTER_SIZE 64

struct top {
	/* what was read */
	struct status status;		/* arranged */
	struct top_device *devices;	/* owned */
	int n_devices;
	struct top_device host;		/* all processors, and the machine's memory */
	struct top_job job;
	char *trouble;			/* owned; why nothing can be read; NULL: it can */

	/* what the person has chosen */
	enum top_mode mode;
	int64_t chosen;			/* top_key() of its row; 0: the first row */
	int at, first;			/* the chosen row, and the first that is shown */
	char filter[TOP_FILTER_SIZE];	/* rows that have this are shown */
	int curve;			/* so many curves behind the first one */
	int log_back;			/* rows of the log below the screen */

	/* the last line: what is asked or was done; NULL: the keys are told */
	const char *says;
	bool is_question;		/* an answer is typed behind it */
};

#define TOP_INIT { .host = { .use = (double)NAN, .memory_bytes = (double)NAN, \
			     .used_bytes = (double)NAN } }

/* top_read.c: reads the jobs, and the curves of the chosen one. ends: tells anew when they start
 * and end, which takes ten times as long as all else; else what was told stays. */
int top_read(struct session *s, struct top *t, bool ends, struct err *err);
int top_read_job(struct session *s, struct top *t, struct err *err);
void top_release(struct top *t);

/* The devices that jobs may run on, *n of them; the caller frees. What their processors do, and who
 * runs there, is not read here. */
int top_read_devices(const struct config *config, struct session *s, struct top_device **list,
		     int *n, struct err *err);

/* top_rows.c: the rows that the filter lets through, *n of them; the caller frees. */
struct status_row *top_rows(const struct top *t, int *n);
/* The number of a job, or that of a group below 0. */
int64_t top_key(const struct status_row *row);
/* Finds the chosen row, or the one that has its place, and chooses that. *n: of all rows. False:
 * there is no row. */
bool top_find_row(struct top *t, struct status_row *row, int *n);
/* Chooses the row so many below; within the rows. */
void top_move(struct top *t, int by);

/* Composes the screen; t->first follows the chosen row. */
void top_compose(struct top *t, struct canvas *g);
/* The rows that a page of jobs has, or of the log. */
int top_page(const struct top *t, const struct canvas *g);

#endif
