/* explain.h - why a job has its devices and sizes, and what a profile has found out. */
#ifndef POLLUX_EXPLAIN_H
#define POLLUX_EXPLAIN_H

#include "pollux/config.h"
#include "pollux/job.h"
#include "pollux/outlook.h"
#include "pollux/report.h"
#include "pollux/status.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"

/* --- a job --- */

/* Why a job has its devices and sizes: what is known of the job, and what follows for each number
 * of devices and each batch size; printed for people, as JSON, or drawn. The words are those of
 * pollux-goodput(7). */

/* Unknown is NaN. A goodput is 0 if no sizes are within the job's limits. */
struct explanation {
	struct status status;		/* of this job alone */
	const struct status_job *item;	/* the job, in status */
	const struct job *job;		/* the job, in status */
	bool loses;	/* a stop of its run would lose work, or it is suspended already */
	struct decision_row decision;	/* the last one that changed something; policy NULL: none */
	const struct policy *policy;	/* of the last pass, else as configured; NULL: unknown */
	struct config config;		/* of the last pass, else as configured */
	char *split;		/* owned; how its sweep's workload was split; NULL: it was not */
	struct outlook outlook;		/* what the decision makes of it */
	const struct outlook_kind *kind;	/* in outlook: the one that is shown */
	char device_kind[128];		/* its name; "": no device can be used */
	int n_devices;			/* for which it is weighed */

	struct job_metric_list metrics;	/* that programs of the job sent last */
	int64_t n_reports;		/* that programs of the job sent, on any device */
	/* In outlook, or `unmeasured`, owned: what is known without step times. */
	const struct knowledge *knowledge;
	struct knowledge unmeasured;
	bool restart_was_timed;		/* else knowledge->restart_s ends at the first report */
	bool fitted_now;		/* the model was fitted here, since no pass has fitted it:
					   policies that do not model goodput fit nothing */
	struct job_model model;
	struct goodput_choice *best;	/* owned; the best sizes on r devices, r = 0..n_devices */
	int least;			/* fewest devices that the job may be given; 0: none here */
	int replicas;			/* that the job has, else least; batches are for these */
	struct goodput_choice now;	/* at the present sizes; replicas 0: the job does not run */
	struct goodput_choice *batches;	/* owned; at M0, 2 M0, 4 M0, ..., the largest batch, and
					   those of now and best */
	int n_batches;
	struct observation_list *plan_sizes;	/* owned; tried, by plan of its command */
	struct share_pair_list pairs;	/* of its workload, on one device */
	enum lr_rule rule;
	bool leaves_learning_rate;	/* environment_leaves_learning_rate(); the program has
					   taken no configuration either */
};

/* EX_NOINPUT: there is no such job. */
int explanation_read(struct session *s, int64_t job_id, struct explanation *e, struct err *err);
void explanation_release(struct explanation *e);

/* explain_text.c, explain_end.c, explain_tables.c: for people. */
void explanation_print(const struct explanation *e, const struct output *out);

/* explain_json.c: for programs. */
void explanation_print_json(const struct explanation *e, FILE *out);

/* explain_kinds.c: prints nothing where there is only one kind. */
void explanation_print_kinds(const struct explanation *e, const struct output *out);

/* explain_plot.c: draw goodput against devices and batch sizes, by gnuplot. EX_FAILED: there is
 * nothing to draw. Further errors are those of picture_draw. */
int explanation_draw(const struct explanation *e, const char *path, struct err *err);

/* --- what a profile has found out, read from the store, and its ways to show it --- */

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

/* EX_NOINPUT: there is no such job, or the job is not a profile. */
int profile_report_read(struct session *s, int64_t job_id, struct profile_report *r,
			struct err *err);
void profile_report_release(struct profile_report *r);

void profile_report_print(const struct profile_report *r, const struct output *out);
void profile_report_print_json(const struct profile_report *r, FILE *out);

#endif
