/* parts.h - what the files of src/view use of each other. */
#ifndef POLLUX_VIEW_PARTS_H
#define POLLUX_VIEW_PARTS_H

#include "pollux/report.h"
#include "pollux/simulations.h"
#include "pollux/status.h"
#include "pollux/view.h"

/* --- verdicts --- */

/* What the sentence of a waiting job has where nothing is known of its length. */
#define LENGTH_UNKNOWN "unknown length"
/* verdict_words.c: the sentence or clause of one fact. */
void verdict_add_fact(const struct fact *fact, struct text *t);
/* verdict_pieces.c: what stands for a word in braces, which begins behind the brace. Returns what
 * comes behind the other brace. */
const char *verdict_add_piece(const char *word, const struct fact *fact, struct text *t);
/* verdict_pieces.c: "22nd" */
void add_ordinal(struct text *t, int n);
/* plan_list.c: "needs 31 of 24 GiB" */
void plan_add_lack(double needs_bytes, double of_bytes, struct text *t);

/* --- of a job, in words --- */

const char *shown_state_name(enum shown_state state);
/* status.c: how long the run has gone on, by the clock of this boot if it began in this boot: a
 * stored duration is seconds old. */
double run_duration_now_s(const struct run *run, double now_boot_s);

/* status_groups.c: reads the groups of which STATUS_GROUP_LEAST jobs or more are at rest. */
#define STATUS_GROUP_LEAST 4
int status_read_groups(struct store *s, struct status *status, struct err *err);
void status_groups_release(struct status *status);
/* The group whose row stands for the job; NULL: the job has a row of its own. */
const struct status_group *status_group_of(const struct status *status,
					   const struct status_job *item);
const char *status_group_state(const struct status_group *group);
/* Ranks metrics: first those measured on data that the training does not see, then others, then
 * the loss of the training. */
int metric_rank(const char *name);
/* The name of a group with '*' for each {WORD}: "a-{index}" is "a-*", which matches its jobs. */
void status_add_group_name(struct text *t, const char *name);
/* "12 done, 3 running, 5 queued; best acc 0.91 at lr=3e-4" */
void status_add_group(struct text *t, const struct status_group *group);
/* "its supervisor, process 12, has not answered for 1m10s: ...; ", and what its program is known to
 * wait for; nothing where there is neither. */
void status_add_trouble(struct text *t, const struct status_job *item);
/* The name of a job of status->jobs, with its parameters if another run of its sweep has that
 * name. */
void status_add_name(struct text *t, const struct status *status, const struct job *job);
/* "begins at 22:00 (in 3h12m)", where the job waits for that alone; else false. */
bool status_add_begin(struct text *t, const struct status *status, const struct job *job);
/* "likely about 10:08; at the latest 10:40", as far as that is known of a job that waits; false:
 * nothing is. */
bool status_add_start(struct text *t, const struct status *status, const struct status_job *item);
/* "likely 11:20; 11:05 to 11:50 in 4 of 5 cases", where that is known. */
void status_add_ends(struct text *t, const struct status *status, const struct status_job *item);
/* Whether the helper for PyTorch is on, and what it does not do; nothing for other programs. run:
 * the present or the last one, NULL: none. */
void status_add_helper(struct text *t, const struct job *job, const struct run *run);
/* Says in one line what was changed of the training in this run (NULL: none) and what that rests
 * on, or why nothing is changed; nothing for a job whose batch is its own. events: NULL: not
 * read. */
void status_add_adapted(struct text *t, const struct job *job, const struct run *run,
			const struct event_list *events);
/* The words of a command line, quoted for a shell; no more once t has so many bytes. */
void status_add_words(struct text *t, const struct strings *words, size_t most);
/* "acc 0.91, val/loss 0.34" */
void status_add_metrics(struct text *t, const struct job_metric_list *metrics);
/* "cpu:0,cpu:1" */
void status_add_devices(struct text *t, const struct run *run);
/* "1.2 GiB kept", where it is suspended. */
void status_add_kept(struct text *t, const struct run *run);
/* status_use.c: what the last runs took. */
void status_print_use(const struct job *job, const struct status_details *d,
		      const struct output *out);
/* status_table.c: the share of the work that was declared, "over" beyond its end; where none was
 * declared the samples or the updates done. */
void status_add_done(struct text *t, const struct status_job *item);
/* "suspended since 10:04, 2.1 GiB stay in memory", where its job is held. */
void status_add_held(struct text *t, const struct status *status, const struct run *run);
/* status_table.c: "2 devices in use; 1 running, 2 waiting"; "2 of 4 devices; hbob has 2 and wants 1
 * more", nothing where nobody shares them; what is wrong with the passes, and the mend: a line may
 * end in each. */
void status_add_summary(struct text *t, const struct status *status);
void status_add_people(struct text *t, const struct status *status);
void status_add_hints(struct strings *hints, const struct status *status);
/* status_table.c: the time to its end; the style of its row. */
struct formatted status_eta(const struct status_job *item);
/* "2": the devices that the job has; "cpu": its run is one without a device; else "-". */
struct formatted status_devices(const struct status_job *item);
enum table_style status_style(enum shown_state state);
/* status_table.c: the column REASON. */
void status_add_why(struct text *t, const struct status *status, const struct status_job *item);
/* The last status of the program of an ended job, or what went wrong; nothing if neither is
 * known. */
void status_add_end(struct text *t, const struct job *job);
/* The batch size of its run, else the declared one; NaN: neither. */
double status_batch(const struct status_job *item);
/* status_table.c: total: seconds from the job's submission to its end, or to now; waited: the
 * part of them in which the job did not run. */
double status_total_s(const struct status *status, const struct status_job *item);
double status_waited_s(const struct status *status, const struct status_job *item);
/* status_words.c: "stopping to be held, 4s of 60s". The run of the item is being stopped. */
void status_add_stopping(struct text *t, const struct status *status,
			 const struct status_job *item);
/* status_runs.c: two tables, each with a line above it; nothing if a table would be empty. */
void status_print_runs(const struct status *status, const struct status_job *item,
		       const struct status_details *d, const struct output *out);
void status_print_observations(const struct status_details *d, const struct output *out);
/* status_declared.c: what was asked of the job. */
void status_print_declared(const struct job *job, const struct status_details *d,
			   double now_wall_s, const struct output *out);
/* Adds a count in full, so that it can be compared with the counts in logs and checkpoints; a
 * duration. Both add nothing where the value is unknown. */
void status_add_number(struct text *t, const char *name, double value);
void status_add_loss(struct text *t, const struct progress *p);
void status_add_duration(struct text *t, const char *name, double seconds);
const char *status_separator(const struct text *t);	/* ", " behind other text, else "" */

/* "job 3: NAME", where what is "job". */
void status_print_head(const char *what, const struct job *job, const struct output *out);

void status_print_json_metrics(struct json *j, const struct job_metric_list *list);
void status_print_json_parameters(struct json *j, const struct strings *list);

/* --- explain --- */

/* plan_list.c: prints a table of what was tried and the best plan for 1, 2, 4, 8 devices. Prints
 * nothing for a job without plans. */
void explanation_print_plans(const struct explanation *e, const struct output *out);
/* Writes the key "plans"; writes nothing for a job without plans. */
void explanation_print_json_plans(const struct explanation *e, struct json *j);
/* Add what is missing for a model, and what to do about it. Returns false if nothing is missing. */
bool explanation_missing(const struct explanation *e, struct text *what);
/* Why the job may not be given r devices: "not tried", "not asked for", "uneven" (on several
 * nodes), "does not fit" ... NULL: it may be given r devices. */
const char *explanation_obstacle(const struct explanation *e, int r);
/* The batch size up to which the batch may grow now; INT64_MAX: no bound. */
int64_t explanation_growth_bound(const struct explanation *e);
/* The nodes of r devices, 0: none; true if these are more than are tried; the next number above r
 * that is even. All harmless where there is one node. */
int explanation_nodes(const struct explanation *e, int r);
bool explanation_is_too_wide(const struct explanation *e, int r);
int explanation_next(const struct explanation *e, int r);
/* True if steps were measured on r devices; else all that is known of r devices is predicted. */
bool explanation_is_measured(const struct explanation *e, int r);
/* True if the efficiency of a choice is only assumed: while the noise scale is unknown, larger
 * batches are taken to bring nothing. */
bool explanation_assumes(const struct explanation *e, const struct goodput_choice *c);
double explanation_step_time(const struct goodput_choice *c);
/* Parts for people. */
void explanation_print_fit(const struct explanation *e, const struct output *out);
void explanation_print_noise(const struct explanation *e, const struct output *out);
void explanation_print_restart(const struct explanation *e, const struct output *out);
void explanation_print_end(const struct explanation *e, const struct output *out);
void explanation_print_devices(const struct explanation *e, const struct output *out);
void explanation_print_batches(const struct explanation *e, const struct output *out);
void explanation_print_parameters(const struct explanation *e, const struct output *out);
void explanation_print_observations(const struct explanation *e, const struct output *out);
/* explain_end.c: what the job does beside others on one device. */
void explanation_print_share(const struct explanation *e, const struct output *out);
void explanation_print_json_share(struct json *j, const struct explanation *e);
/* Parts of the JSON. */
void explanation_print_json_choice(struct json *j, const struct explanation *e,
				   const struct goodput_choice *c);
void explanation_print_json_curves(struct json *j, const struct explanation *e);
void explanation_print_json_missing(struct json *j, const struct explanation *e);
void explanation_print_json_model(struct json *j, const struct explanation *e);
void explanation_print_json_noise(struct json *j, const struct explanation *e);
void explanation_print_json_kinds(struct json *j, const struct explanation *e);
/* True if the supervisor of the run was killed: how the run ended then tells nothing of its
 * sizes. */
bool profile_row_is_lost(const struct profile_row *row);

/* --- devices --- */

/* The job that has the device or waits for it; 0: none. A job at work comes before a job that was
 * only assigned the device; both come before a profile between two of its runs. */
int64_t devices_holder(const struct devices_view *v, const char *id);
/* devices_table.c: "job 3", or who else has it; nothing: nobody. */
void devices_add_holder(struct text *t, const struct devices_view *v, int index);
/* Returns "switch", "node" or "machine"; for a fast link its own name, such as "nvlink". */
const char *devices_link_name(const struct devices_view *v, int a, int b);
/* devices_nodes.c: true if an engine names the machines of the devices. */
bool devices_have_nodes(const struct devices_view *v);
void devices_print_nodes(const struct devices_view *v, const struct output *out);
/* Writes the key "nodes". */
void devices_print_json_nodes(struct json *j, const struct devices_view *v);

/* --- results and the past --- */

/* NULL: the job has no metric of this name. */
const struct job_metric *result_of(const struct results *r, int job, int column);
/* The text of its value; NULL: the job has no parameter of this name. */
const char *result_parameter(const struct results *r, int job, int parameter);
/* A job at a rung is not "queued" to anybody who compares runs. */
const char *results_state(const struct job *job);
/* NaN: no value was finite. */
double result_best(const struct result_column *column, const struct job_metric *m);
/* NaN: nothing is known */
double past_energy_j(const struct past_row *row);

/* --- simulations --- */

/* The name of the policy, also of one over tiers. */
const char *sim_policy_name(const struct sim_options *o);
/* simulate_csv.c: the seconds from submission to end of each job, ascending; for free(). */
double *sim_completion_times(const struct sim_result *r);
/* The knowledge of the job's workload; NULL: it was not read. */
struct knowledge *history_knowledge_of(const struct history *h, const struct job *job);
/* history_job.c: makes one job to simulate, whose after and n_after stay unset. If the job cannot
 * be simulated, *basis says why. */
int history_job(struct session *s, const struct history *h, const struct job *job,
		struct replay_job *made, enum history_basis *basis, struct err *err);

/* --- the page --- */

/* Adds a text of others so that a browser shows its characters and no tags, and without control
 * characters and changes of the writing direction. */
void page_add_text(struct text *out, const char *s);

/* page_svg.c: a line for each device, a bar for each turn. */
void page_add_timeline(struct text *out, const struct page *p);

/* page_svg.c: curves over samples, or over time where a position is unknown. */
struct chart_line {
	const struct curve *curve;
	/* sets the line's colour, and is its name if there are several lines */
	int64_t job_id;
};
void page_add_chart(struct text *out, const char *title, const struct chart_line *lines, int n);

/* The classes of a job's colour and pattern, always the same: "c3 p1". Eighteen jobs in a row have
 * looks of their own. */
struct formatted page_look(int64_t job_id);

#endif
