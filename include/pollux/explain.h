/* explain.h - why a job has what it has: what is known of it, and what follows for each number of devices
 * and each batch size; and the ways to show that. The words are those of pollux-goodput(7). */
#ifndef POLLUX_EXPLAIN_H
#define POLLUX_EXPLAIN_H

#include "pollux/config.h"
#include "pollux/json.h"
#include "pollux/knowledge.h"
#include "pollux/policy.h"
#include "pollux/status.h"

/* Unknown is NaN, and a goodput of 0 where no sizes are within the job's limits. */
struct explanation {
	struct status status;		/* of this job alone */
	const struct status_job *item;	/* in status, as the next */
	const struct job *job;
	struct decision_row decision;	/* the last that changed something; policy NULL: none */
	const struct policy *policy;	/* of the last pass, or as configured; NULL: no such policy */
	double slice_s;			/* likewise */
	char device_kind[128];		/* of those that can be used; "": none can */
	int n_devices;			/* that can be used */

	int64_t n_reports;		/* of the job's programs, on anything */
	struct knowledge knowledge;
	bool restart_was_timed;		/* else knowledge.restart_s is the time to the first report */
	bool fitted_now;		/* by no pass: policies that model no goodput do not ask for it */
	struct job_model model;
	struct pool_entry *seen;	/* owned; what the model rests on, one for each configuration */
	int n_seen;

	struct goodput_choice *best;	/* owned; on r devices, r = 0..n_devices */
	int least;			/* the fewest devices that it may be given; 0: none here */
	int replicas;			/* it has, else least: what the batches are for */
	struct goodput_choice now;	/* at the sizes it runs with; replicas 0: it does not run */
	struct goodput_choice *batches;	/* owned; at M0, 2 M0, 4 M0 ... the largest, and those of now and best */
	int n_batches;
	enum lr_rule rule;
};

/* EX_NOINPUT where there is no such job. */
int explanation_read(struct session *s, int64_t job_id, struct explanation *e, struct err *err);
void explanation_release(struct explanation *e);

/* What is missing for a model and what to do about it; false: nothing. */
bool explanation_missing(const struct explanation *e, struct text *what);

/* Whether the job may be given r devices, and if not why: "not tried", "not asked for", "does not fit".
 * NULL: it may. */
const char *explanation_obstacle(const struct explanation *e, int r);

/* Whether anything was, on r devices: else what there is to say of so many is a prediction. */
bool explanation_is_measured(const struct explanation *e, int r);

/* On place, in updates of batch_size samples, by as few passes as the limits allow. False: not within them. */
bool explanation_of_batch(const struct explanation *e, int replicas, int64_t batch_size,
			  struct goodput_choice *choice);

/* Whether its efficiency is an assumption: larger batches bring nothing while the noise scale is unknown. */
bool explanation_assumes(const struct explanation *e, const struct goodput_choice *c);

/* The step time that the model has for a configuration. */
double explanation_step_time(const struct explanation *e, const struct configuration *c);

/* explain_text.c, explain_tables.c: for people. */
void explanation_print(const struct explanation *e, const struct output *out);
void explanation_print_fit(const struct explanation *e, const struct output *out);
void explanation_print_noise(const struct explanation *e, const struct output *out);
void explanation_print_restart(const struct explanation *e, const struct output *out);
void explanation_print_devices(const struct explanation *e, const struct output *out);
void explanation_print_batches(const struct explanation *e, const struct output *out);
void explanation_print_parameters(const struct explanation *e, const struct output *out);
void explanation_print_observations(const struct explanation *e, const struct output *out);

/* explain_json.c: for programs; the whole document, and parts of it that another has too. */
void explanation_print_json(const struct explanation *e, FILE *out);
void explanation_print_json_choice(struct json *j, const struct explanation *e,
				   const struct goodput_choice *c);
void explanation_print_json_curves(struct json *j, const struct explanation *e);
void explanation_print_json_missing(struct json *j, const struct explanation *e);
void explanation_print_json_model(struct json *j, const struct explanation *e);
void explanation_print_json_noise(struct json *j, const struct explanation *e);

/* explain_plot.c: what gnuplot is to do for a picture on its standard output, in "svg" or "png". */
void explanation_plot_script(const struct explanation *e, const char *format, struct text *script);

#endif
