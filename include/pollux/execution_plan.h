/* execution_plan.h - the plans by which a job's command can be executed, as --plan declares them:
 * plain data parallelism, recomputation, a sharded optimizer ... pollux implements no plan: it
 * passes the plan's arguments to the command, and measures.
 *
 * Pure functions. */
#ifndef POLLUX_EXECUTION_PLAN_H
#define POLLUX_EXECUTION_PLAN_H

#include <stdbool.h>

#include "pollux/configuration.h"
#include "pollux/err.h"

#define EXECUTION_PLANS_MAX 16
#define EXECUTION_PLAN_WIDTH_MAX 64	/* devices of one replica */
#define EXECUTION_PLAN_CORES_MAX 1024	/* cores for each device */

struct execution_plan {
	char name[CONFIGURATION_PLAN_SIZE];
	/* of args and width: a plan with others is another plan */
	char hash[CONFIGURATION_PLAN_HASH_SIZE];
	char group[CONFIGURATION_PLAN_SIZE];	/* plans of a group read each other's checkpoints */
	int width;				/* devices of one replica, at least 1 */
	int cores;				/* wanted for each device; 0: the device's share */
	char *args;				/* owned; "": none */
};

struct execution_plans {
	struct execution_plan *items;		/* owned; in the order of declaration */
	int count;
};

/* Parses declarations "NAME[:KEY=VALUE,...]=ARGS", with a line feed between them; the keys are
 * width, cores and group. text NULL: no plans.
 * -1: *err (EX_USAGE) says which plan is wrong; nothing is to be released. */
int execution_plans_parse(const char *text, struct execution_plans *plans, struct err *err);
void execution_plans_release(struct execution_plans *plans);
/* The plan of this name; NULL: there is none. */
const struct execution_plan *execution_plans_find(const struct execution_plans *plans,
						  const char *name);
/* True if a run under plan b can go on with what a run under plan a has saved. */
bool execution_plans_share(const struct execution_plan *a, const struct execution_plan *b);

/* The name under which measurements of a workload under a plan are kept. The store gives this name
 * to the plan's runs (schema.c). The caller frees it. */
#define PLAN_SEPARATOR "\037"
char *execution_plan_workload(const char *workload, const char *plan, const char *hash);
/* The name for a plan among those that a job declares. If there is no plan of that name, the first
 * one is used. */
char *execution_plan_workload_of(const char *workload, const char *plans, const char *name);
/* The workload of a name that was made this way, or of the name of a workload without plans. The
 * caller frees the result. */
char *execution_plan_base(const char *workload);
/* The devices of one replica, by such a name: the hash of a plan with several says how many. */
int execution_plan_width(const char *workload);

/* ---- guarantees ---- */

/* What --guarantee promises a job: never worse than on so many devices, in one plan.
 *
 * Pure functions. */

#define GUARANTEE_MAX_DEVICES 1024

struct guarantee {
	int replicas;				/* 1 to GUARANTEE_MAX_DEVICES */
	char plan[CONFIGURATION_PLAN_SIZE];	/* "": the first plan, or none is declared */
};

/* Parses R[:PLAN]. -1: *err (EX_USAGE) says what is wrong. */
int guarantee_parse(const char *text, struct guarantee *g, struct err *err);

#endif
