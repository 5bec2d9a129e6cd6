/* page.h - one HTML file that shows the machine: what runs, what waits and why, which device did
 * what, and how jobs go on. It loads nothing, runs no script, and can be printed.
 *
 *	struct page p;
 *	if (page_read(&session, since_s, &p, err)) ...
 *	page_print(&p, refresh_s, &text);
 *	page_release(&p);
 */
#ifndef POLLUX_PAGE_H
#define POLLUX_PAGE_H

#include "pollux/results.h"
#include "pollux/session.h"
#include "pollux/status.h"
#include "pollux/store_metrics.h"
#include "pollux/store_groups.h"

/* A time in which a device was a job's. Wall clock. */
struct page_turn {
	char device[DEVICE_ID_SIZE];
	int64_t job_id;
	char *job_name;			/* owned */
	int run_number;
	double from_s, to_s;
	struct configuration configuration;
	char how[96];			/* it ended, or "running" */
};

/* A running job, as it went on. */
struct page_job {
	const struct status_job *item;
	struct curve_list curves;	/* the noise scale among them, where it was measured */
};

#define PAGE_CHART_LINES 60	/* in the picture of a group */

struct page_group {
	struct job_group group;
	struct results results;		/* of its jobs, by their index */
	struct curve_list *curves;	/* owned; of each job of results, or of those of its
					 * first jobs with curves that a picture has room for */
};

struct page {
	char host[64];
	double now_s, since_s;		/* wall clock */
	double from_s;			/* begin of the timeline: since_s, or the first turn */
	struct status status;		/* jobs that have not ended, or ended since since_s */
	struct page_turn *turns;	/* owned; by device, then by time */
	int n_turns;
	struct page_job *jobs;		/* owned */
	int n_jobs;
	struct page_group *groups;	/* owned; those that have a job in status */
	int n_groups;
};

/* A store that does not exist yet (s->store.db NULL) has no jobs. */
int page_read(struct session *s, double since_s, struct page *p, struct err *err);
void page_release(struct page *p);
/* Appends the document. refresh_s: a browser loads it anew so often; 0: never. */
void page_print(const struct page *p, double refresh_s, struct text *out);

#endif
