/* template.h - the {names} in a job's command, replaced at each launch.
 *
 *	{batch} {local_batch} {accum} {gpus} {replicas} {lr} {lr_scale} {samples} {checkpoint}
 *	{newest} {resume} {plan} {port} {job} {run} {nodes} {node} {master} {gpus_per_node}
 *	"{{" is a literal "{"; a "}" needs no escape
 *
 * {resume} stands for the text of --resume-args, which may contain templates. It is replaced from
 * the second launch on, and only if a checkpoint exists; otherwise it becomes nothing. {resume} as
 * a whole argument becomes one argument for each word, or none. {plan} stands for the arguments of
 * the run's plan, in the same way.
 *
 * Where a run has nodes of a cluster, its command is rendered once, without {node}, and the result
 * is again a command with templates: {node}, and "{{". Each node renders that for itself, by
 * node_command() of environment.h. */
#ifndef POLLUX_TEMPLATE_H
#define POLLUX_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/err.h"
#include "pollux/text.h"

/* The nodes of a run. All 0 and NULL: it runs on this machine alone. */
struct template_nodes {
	int n;
	const char *master;		/* the name of the first */
};

/* The values of the names. A name whose value is unknown (0, NaN, NULL) must not be used: see
 * template_check. */
struct template_values {
	int64_t job_id;
	int run_number;
	struct configuration configuration;
	double learning_rate, learning_rate_scale;
	const char *typed_learning_rate;	/* for a scale of 1; NULL: as a number is written */
	double samples;			/* consumed so far; NaN: none */
	const char *checkpoint_dir;
	const char *newest;		/* the newest checkpoint in it; NULL: none */
	const char *resume_args;	/* NULL: not at this launch */
	const char *plan_args;		/* of the run's plan; NULL: none */
	int port;
	struct template_nodes nodes;
};

/* Checks that argv and resume_args (may be NULL) use only known names that the job can answer:
 * {batch}, {local_batch} and {accum} need a batch size, {lr} a learning rate, {resume} the resume
 * arguments. -1: *err says which argument is wrong and why (EX_USAGE). */
struct template_facts {
	bool has_batch_size, has_learning_rate, has_resume_args, has_plans;
};
int template_check(const struct strings *argv, const char *resume_args,
		   const struct template_facts *facts, struct err *err);
/* The same of the arguments of a plan. */
int template_check_plan(const char *args, const struct template_facts *facts, struct err *err);

/* True for the words above: "batch". */
bool template_knows(const char *name);
bool template_mentions(const struct strings *argv, const char *name);

/* As template_mentions(), for one text such as the resume arguments. */
bool template_text_mentions(const char *text, const char *name);

/* Builds the argv to launch. If argv has no {plan}, the words of plan_args come last; if
 * resume_args are due and argv has no {resume}, their words come after those. */
void template_expand(const struct strings *argv, const struct template_values *values,
		     struct strings *out);

/* Renders {node} and "{{" in what template_expand() has rendered for a cluster. */
void template_expand_node(const struct strings *argv, int node, struct strings *out);

#endif
