/* simulations.h - simulations side by side: of workloads, and of the machine's own history. */
#ifndef POLLUX_SIMULATIONS_H
#define POLLUX_SIMULATIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "pollux/config.h"
#include "pollux/knowledge.h"
#include "pollux/policy.h"
#include "pollux/replay.h"
#include "pollux/report.h"
#include "pollux/simulate.h"
#include "pollux/store.h"
#include "pollux/store_jobs.h"
#include "pollux/text.h"

/* --- several workloads under several policies, and what is shown of them --- */

struct simulations {
	struct sim_options *policies;	/* owned, n_policies of them: what goes for each */
	int n_policies;
	/* The caller's; NULL: none. Of the world of profiles; of that of racks. */
	const char *restart_table, *slowdown_table;
	const char *tiers, *links, *models;
	/* Of each world, by options.plans and options.racks, its files; of the racks, what is set
	 * before they are read. The policies are of one world. */
	struct sim_profiles profiles;
	struct sim_plans plans;
	struct sim_racks racks;
	struct sim_workload *files;	/* owned, n_files of them */
	int n_files;
	int draws;			/* of each file, by arrival; 0: it is simulated as it is */
	/* Owned, n of them: the first file, or its draws one after the other, then the second. */
	struct sim_workload *workloads;
	int n;
	/* Owned; each workload under each policy: run i is of workload i % n under policy i / n. */
	struct sim_result *results;
	int n_runs;
};

/* Reads everything, then simulates on all cores, with a bar on standard error where that is a
 * terminal. */
int simulations_run(struct simulations *s, const char *directory, const struct strings *workloads,
		    struct err *err);
void simulations_release(struct simulations *s);
/* Handle the signals that end a program from a terminal, except those that are ignored, as by
 * nohup(1). flags: see sigaction(2). */
void simulate_catch(void (*handler)(int signal_number), int flags);

/* simulate_print.c */
/* "pollux on 4 nodes of 4 GPUs; models: none, lengths: unknown"; the part after ";" only for a
 * policy that uses models. */
void simulations_add_title(const struct sim_options *o, struct text *t);
/* A table for each policy; of several, also a table with a line for each. */
void simulations_print(const struct simulations *s, const struct output *out);
void simulations_print_json(const struct simulations *s, FILE *out);
extern const char *const sim_lengths_names[];	/* by enum sim_lengths; the end is NULL */
extern const char *const sim_knowledge_names[];	/* by enum sim_knowledge; the end is NULL */

/* simulate_csv.c: complete, or as before. */
int simulations_write_jobs(const struct simulations *s, const char *path, struct err *err);
int simulations_write_ends(const struct simulations *s, const char *path, struct err *err);
int simulations_write_cdf(const struct simulations *s, const char *path, struct err *err);
int simulations_write_timeline(const struct simulations *s, const char *path, struct err *err);

/* simulate_plot.c: a script for gnuplot, with all policies in one picture. */
void simulations_plot_script(const struct simulations *s, const char *format, struct text *t);

/* --- the history --- */

/* The jobs of the store in the form that replay.h simulates, their real results, and simulations
 * of them under other policies. */

/* Where a job's rates come from, or why it is not simulated. */
enum history_basis {
	HISTORY_MODEL,			/* the measured model of its workload */
	HISTORY_TIME,			/* the time its runs took, on as many devices as they had */
	/* The job is left out: */
	HISTORY_ENDED_BADLY,		/* it failed, was cancelled, timed out or is held */
	HISTORY_LENGTH_UNKNOWN,		/* it has not ended, and has no model or typical length */
	HISTORY_TOO_LARGE,		/* it needs more devices than are simulated */
	HISTORY_NO_DEVICE,		/* it has none: submit --cpu */
	N_HISTORY_BASES
};

struct history_workload {
	char *name;			/* owned */
	struct knowledge knowledge;
};

struct history {
	struct config config;		/* of the last pass, or as configured */
	const struct policy *policy;	/* of the last pass, or as configured */
	char device_kind[128];		/* of the devices that can be used now */
	int n_devices;			/* that can be used now */
	int n_simulated_devices;	/* as asked for, or n_devices */
	double simulated_slice_s;	/* as asked for, or config.slice_s */
	struct job_list list;		/* all jobs */
	struct dependency_list dependencies;
	struct history_workload *workloads;	/* owned */
	int n_workloads;
	int count[N_HISTORY_BASES];
	int n_active;			/* simulated jobs that have not ended */

	struct replay_job *jobs;	/* owned, n of them; by submission */
	const struct job **source;	/* owned; the job in list that each of jobs comes from */
	int n;

	/* Only jobs that are done, n_done of them, in the order of jobs. */
	int n_done;
	struct sim_job_result *was;	/* owned */
	struct sim_figures figures;	/* of all in was */
};

/* history.c. last_s: only jobs that were submitted in so many last seconds; 0: all. devices 0: as
 * many as can be used now; slice_s 0: as configured. EX_NOINPUT: no job that could be simulated is
 * done. */
int history_read(struct session *s, double last_s, int devices, double slice_s, struct history *h,
		 struct err *err);
void history_release(struct history *h);

/* One simulation of a history. */
struct history_result {
	const struct policy *policy;
	int n_devices;
	struct sim_figures figures;	/* of the jobs that are done */
	double median_error;		/* of completion times, relative to the real ones */
};

struct history_report {
	const struct history *history;
	double interval_s;
	struct history_result check;	/* the policy, the devices and the slice as they are */
	struct history_result *results;	/* owned */
	int n_results;
};

/* history.c: under each of the policies. */
int history_simulate(const struct history *h, const struct policy *const *wanted, int n_wanted,
		     double interval_s, struct history_report *report, struct err *err);
void history_report_release(struct history_report *report);

/* history_print.c */
void history_print(const struct history_report *report, const struct output *out);
void history_print_json(const struct history_report *report, FILE *out);

/* history_print.c: completion times as they were and under each policy, by gnuplot. Errors as those
 * of picture_draw. */
int history_draw(const struct history_report *report, const char *path, struct err *err);

#endif
