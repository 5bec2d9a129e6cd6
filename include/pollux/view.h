/* view.h - what people see besides the status of jobs: devices, the doctor's findings, the page,
 * results, the past. */
#ifndef POLLUX_VIEW_H
#define POLLUX_VIEW_H

#include <stdbool.h>
#include <stdio.h>

#include "pollux/config.h"
#include "pollux/device.h"
#include "pollux/device_users.h"
#include "pollux/doctor.h"
#include "pollux/engine.h"
#include "pollux/job.h"
#include "pollux/outlook.h"
#include "pollux/pass.h"
#include "pollux/profile.h"
#include "pollux/report.h"
#include "pollux/status.h"
#include "pollux/store.h"
#include "pollux/store_groups.h"
#include "pollux/store_jobs.h"
#include "pollux/store_machine.h"
#include "pollux/store_measurements.h"
#include "pollux/store_runs.h"

/* --- what 'pollux devices' has to show, and how it is shown --- */

#define DEVICES_RUNTIME_SIZE 320	/* bytes for a backend's line about its library */

struct devices_view {
	struct device_list list;
	struct run_list runs;		/* those that have not ended */
	struct reserved_list reserved;	/* devices reserved by profiles */
	/* Owned; for each device, who holds its lock without a run, as device_users.h says it;
	 * NULL: nobody. */
	const char **lock_holders;
	char **failed_tests;		/* owned; for each device, why its self-test failed; NULL */
	struct device_user_list users;
	/* How the processes of a run are kept together, and where, or why not in a control group:
	 * see engine.h. */
	enum engine_containment containment;
	struct text containment_detail;
};

/* s NULL: there is no store; then no device is held, and no process is ignored. */
int devices_view_read(const struct config *config, struct session *s, struct devices_view *v,
		      struct err *err);
void devices_view_release(struct devices_view *v);

void devices_print_table(const struct devices_view *v);
void devices_print_json(const struct devices_view *v);

/* --- the two ways to show what 'pollux profile --devices' measured --- */

void devices_profile_print(const struct devices_profile *p, const struct output *out);
void devices_profile_print_json(const struct devices_profile *p, FILE *out);

/* --- the two ways to show what 'pollux devices --self-test' found --- */

void self_test_print(const struct self_test *t, FILE *out);
void self_test_print_json(const struct self_test *t, FILE *out);

/* --- what 'pollux doctor' prints --- */

/* A line for each section in which nothing was found; for each finding a line, and below it the
 * command that mends it, which is never broken. */
void doctor_print(const struct doctor *d, const struct output *out);
void doctor_print_json(const struct doctor *d, FILE *out);

/* What was copied, and what was lost. True if anything was. */
bool doctor_print_repair(const struct store_repair *r, FILE *out);

/* --- what was pruned, or would be --- */

/* A row for each job. now_s: wall clock. */
void prune_print_jobs(const struct prune_result *r, double now_s, struct output *out);
/* "12 jobs: 3.4 GiB and 10 records removed; 2 records stay, because models rest on them" */
void prune_print_total(const struct prune_result *r, bool dry_run, FILE *out);

/* --- results --- */

/* What jobs reached: the metrics that they reported or printed, side by side.
 *
 *	struct results r;
 *	if (results_read(&store, ids, n, &r, err)) ...
 *	results_choose(&r, "val_loss:min", err);	// only this metric, and the best job first
 *	results_print_table(&r, &output);
 *	results_release(&r);
 */

struct result_column {
	char name[64];
	bool low_is_best;
};

struct results {
	struct job_list jobs;
	struct job_metric_list *metrics;	/* owned; one list for each job */
	struct result_column *columns;		/* owned; all names that a job has, by name */
	int n_columns;
	struct strings parameters;		/* names of those that a job has */
};

/* n 0: all jobs that have a metric. EX_NOINPUT: there is no such job. */
int results_read(struct store *s, const int64_t *ids, int n, struct results *r, struct err *err);
void results_release(struct results *r);

/* Keeps one column, "NAME", "NAME:min" or "NAME:max", and sorts the jobs by class, and in a class
 * by their best values. EX_USAGE for a name that no job has. */
int results_choose(struct results *r, const char *column, struct err *err);

/* True for names such as loss, err, ppl: low values are good. */
bool metric_low_is_best(const char *name);

/* The order of jobs: a job whose last value is not finite comes behind all whose last value is a
 * number, however good its values were before. */
enum result_class { RESULT_GOOD, RESULT_DIVERGED, RESULT_NONE };
/* m NULL: the job has no such metric. */
enum result_class result_class(const struct job_metric *m);

/* results_print.c */
void results_print_table(const struct results *r, const struct output *out);
void results_print_csv(const struct results *r, FILE *out);
void results_print_json(const struct results *r, FILE *out);

/* results_plot.c: the first column against each parameter that differs, by gnuplot. EX_FAILED:
 * there is nothing to draw. Further errors are those of picture_draw. */
int results_draw(const struct results *r, const char *path, struct err *err);

/* --- the page --- */

/* One HTML file that shows the machine: what runs, what waits and why, which device did what, and
 * how jobs go on. It loads nothing and can be printed. As a file it runs no script; where it is
 * served, a script of its own asks for its content again.
 *
 *	struct page p;
 *	if (page_read(&session, since_s, &p, err)) ...
 *	page_print(&p, &content);
 *	page_add_document(&(struct page_frame){ .refresh_s = 60 }, content.data, &document);
 *	page_release(&p);
 */

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
	double now_s, since_s;		/* wall clock */
	double from_s;			/* begin of the timeline: since_s, or the first turn */
	struct status status;		/* jobs that have not ended, or ended since since_s */
	double *last_batch;		/* owned; of the last run of each job of status, or NaN */
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
/* Appends the content. */
void page_print(const struct page *p, struct text *out);

struct page_frame {
	double refresh_s;	/* a browser loads the document anew so often; 0: never */
	/* of hexadecimal digits: the document has a script, which alone may run, and fetches the
	 * content from beside itself, by the name "body"; NULL: none */
	const char *nonce;
};

struct page_host {
	char s[64];
};

/* The name of this machine. */
struct page_host page_host(void);
/* Appends the document. */
void page_add_document(const struct page_frame *frame, const char *content, struct text *out);
/* Appends what the document lets a browser do, as a Content-Security-Policy says it. */
void page_add_policy(const char *nonce, struct text *out);

/* --- the past --- */

/* What the jobs of the last days took and reached, summed by day, name, workload, group or user:
 * 'pollux history'.
 *
 *	struct past p;
 *	if (past_read(&session, &period, &p, err)) ...
 *	past_print_table(&p, &output);
 *	past_release(&p);
 */

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
	/* of its GPUs, by looks at them: the most of one's memory; utilization times, and time */
	int64_t used_device_bytes;
	double computed_device_s, watched_device_s;
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
/* The part of the time in which their GPUs computed; NaN: nothing is known. */
double past_utilization(const struct past_row *row);
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

/* past_print.c: device time and waiting by row, by gnuplot. EX_FAILED: there is nothing to draw;
 * other errors as those of picture_draw. */
int past_draw(const struct past *p, const char *path, struct err *err);

/* --- verdicts: verdict_words.c --- */

/* The one wording of verdicts. */
verdict_wording verdict_words;

/* ---- explain: why a job has its devices and sizes ---- */

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
