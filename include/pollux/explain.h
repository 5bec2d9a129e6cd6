/* explain.h - why a job has its devices and sizes: what is known of the job, and what follows for
 * each number of devices and each batch size; printed for people, as JSON, or drawn. The words are
 * those of pollux-goodput(7). */
#ifndef POLLUX_EXPLAIN_H
#define POLLUX_EXPLAIN_H

#include "pollux/config.h"
#include "pollux/knowledge.h"
#include "pollux/node_sizes.h"
#include "pollux/plan_list.h"
#include "pollux/policy.h"
#include "pollux/report.h"
#include "pollux/status.h"
#include "pollux/store_measurements.h"

/* Unknown is NaN. A goodput is 0 if no sizes are within the job's limits. */
struct explanation {
	struct status status;		/* of this job alone */
	const struct status_job *item;	/* the job, in status */
	const struct job *job;		/* the job, in status */
	bool loses;	/* a stop of its run would lose work, or it is suspended already */
	struct decision_row decision;	/* the last one that changed something; policy NULL: none */
	const struct policy *policy;	/* of the last pass, else as configured; NULL: unknown */
	double min_efficiency;		/* as configured */
	double slice_s;			/* of the last pass, else as configured */
	char *split;		/* owned; how its sweep's workload was split; NULL: it was not */
	char device_kind[128];		/* of the devices that can be used; "": none can */
	int n_devices;			/* devices that can be used */
	/* The usable devices of the kind by node, descending; node_devices is owned. */
	struct node_sizes nodes;
	int *node_devices;
	int64_t device_bytes;		/* the memory of one; 0: they share the machine's */

	/* Kinds of the usable devices; none where there is only one. */
	int n_kinds;
	struct explained_kind {
		char name[128];
		int n_devices;
		/* for the fewest devices of this kind that the job has or could have */
		enum configuration_tier tier;
		double goodput;		/* on these; 0: not known */
		bool expected;	/* by the speed of the devices, not measured */
		struct observation_list seen;
		/* of step times, to the slowest measured kind, as a pass reckons; if expected */
		struct fit_expectation ratio;
	} kinds[SCHED_KINDS];

	struct job_metric_list metrics;	/* that programs of the job sent last */
	int64_t n_reports;		/* that programs of the job sent, on any device */
	struct knowledge knowledge;
	bool restart_was_timed;		/* else knowledge.restart_s ends at the first report */
	bool fitted_now;		/* the model was fitted here, since no pass has fitted it:
					   policies that do not model goodput fit nothing */
	struct job_model model;
	/* Owned; by number of devices, n_devices + 1 of them: the best tier of the kind. */
	enum configuration_tier *best_tier;

	struct goodput_choice *best;	/* owned; the best sizes on r devices, r = 0..n_devices */
	int least;			/* fewest devices that the job may be given; 0: none here */
	int replicas;			/* that the job has, else least; batches are for these */
	struct goodput_choice now;	/* at the present sizes; replicas 0: the job does not run */
	struct goodput_choice *batches;	/* owned; at M0, 2 M0, 4 M0, ..., the largest batch, and
					   those of now and best */
	int n_batches;
	struct plan_list plans;		/* of its command */
	struct share_pair_list pairs;	/* of its workload, on one device */
	enum lr_rule rule;
	bool leaves_learning_rate;	/* environment_leaves_learning_rate(); the program has
					   taken no configuration either */
};

/* EX_NOINPUT: there is no such job. */
int explanation_read(struct session *s, int64_t job_id, struct explanation *e, struct err *err);
void explanation_release(struct explanation *e);

/* Add what is missing for a model, and what to do about it. Returns false if nothing is missing. */
bool explanation_missing(const struct explanation *e, struct text *what);

/* Why the job may not be given r devices: "not tried", "not asked for", "uneven" (on several nodes)
 * or "does not fit". NULL: it may be given r devices. */
const char *explanation_obstacle(const struct explanation *e, int r);

/* explain_nodes.c, all harmless where there is one node: reads the nodes from the list of devices;
 * the nodes of r devices, 0: none; true if r devices are not even, or on more nodes than are tried;
 * finds the best sizes on r devices; the next number above r that is even. */
void explanation_read_nodes(struct explanation *e, const struct device_list *list);
int explanation_nodes(const struct explanation *e, int r);
bool explanation_is_uneven(const struct explanation *e, int r);
bool explanation_is_too_wide(const struct explanation *e, int r);
void explanation_weigh(struct explanation *e, int r);
int explanation_next(const struct explanation *e, int r);

/* True if steps were measured on r devices; else all that is known of r devices is predicted. */
bool explanation_is_measured(const struct explanation *e, int r);

/* True if the efficiency of a choice is only assumed: while the noise scale is unknown, larger
 * batches are taken to bring nothing. */
bool explanation_assumes(const struct explanation *e, const struct goodput_choice *c);

/* The step time of a configuration by the model. */
double explanation_step_time(const struct explanation *e, const struct configuration *c);

/* explain_text.c, explain_end.c, explain_tables.c: for people. */
void explanation_print(const struct explanation *e, const struct output *out);
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

/* explain_json.c: for programs; the whole document, and parts of it that another has too. */
void explanation_print_json(const struct explanation *e, FILE *out);
void explanation_print_json_choice(struct json *j, const struct explanation *e,
				   const struct goodput_choice *c);
void explanation_print_json_curves(struct json *j, const struct explanation *e);
void explanation_print_json_missing(struct json *j, const struct explanation *e);
void explanation_print_json_model(struct json *j, const struct explanation *e);
void explanation_print_json_noise(struct json *j, const struct explanation *e);

/* explain_kinds.c: reads e->kinds; prints nothing where there is only one kind. */
int explanation_read_kinds(struct session *s, struct explanation *e, int slots,
			   const struct device_list *list, struct err *err);
void explanation_print_kinds(const struct explanation *e, const struct output *out);
void explanation_print_json_kinds(struct json *j, const struct explanation *e);
void explanation_release_kinds(struct explanation *e);

/* explain_nodes.c: reads the tiers of the devices, e->best_tier and those of the kinds, and tells
 * the model. */
void explanation_read_tiers(struct explanation *e, const struct device_list *list);
void explanation_tell_tiers(struct explanation *e);
/* The tier of the run's devices if it has r of them, else the best that r devices can have. */
enum configuration_tier explanation_tier(const struct explanation *e, int r);
/* The best sizes for e->replicas devices of that tier. */
struct goodput_choice explanation_best_here(const struct explanation *e);

/* explain_plot.c: draw goodput against devices and batch sizes, by gnuplot. EX_FAILED: there is
 * nothing to draw. Further errors are those of picture_draw. */
int explanation_draw(const struct explanation *e, const char *path, struct err *err);

#endif
