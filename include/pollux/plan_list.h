/* plan_list.h - what is known of each plan of a job's command, and which is best: for 'explain' and
 * for profiles. */
#ifndef POLLUX_PLAN_LIST_H
#define POLLUX_PLAN_LIST_H

#include "pollux/execution_plan.h"
#include "pollux/goodput_table.h"
#include "pollux/job.h"
#include "pollux/report.h"
#include "pollux/store_runs.h"

struct plan_list {
	struct execution_plans declared;
	struct plan_known {
		struct knowledge knowledge;
		struct job_model model;
		struct goodput_table *table;	/* owned; NULL: not measured */
		struct observation_list sizes;	/* that were tried */
	} *items;				/* owned; by plan */
	struct goodput_table *best;		/* owned; NULL: no plan was measured */
	int n_devices;
};

/* The devices for which plans are compared. */
struct plan_devices {
	const char *kind;
	int n;
	int64_t bytes;			/* the memory of one; 0: they share the machine's */
	/* By number of devices, n + 1 of them: the best tier that so many can have. */
	const enum configuration_tier *best_tier;
	double min_efficiency;		/* as configured */
};

/* Reads what is known of a job's plans. The list is empty if the job declares no plan. */
int plan_list_read(struct store *store, const struct job *job, const struct plan_devices *on,
		   struct plan_list *list, struct err *err);
void plan_list_release(struct plan_list *list);
/* What is known of the plan of this name; NULL: there is no such plan. */
const struct plan_known *plan_list_find(const struct plan_list *list, const char *name);
/* Prints a table of what was tried and the best plan for 1, 2, 4, 8 devices. Prints nothing for a
 * job without plans. */
void plan_list_print(const struct plan_list *list, const struct output *out);
/* Writes the key "plans"; writes nothing for a job without plans. */
void plan_list_print_json(const struct plan_list *list, struct json *j);

#endif
