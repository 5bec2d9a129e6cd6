/* template.h - the {names} in a job's command, replaced at each launch by the rule of text.h.
 *
 *	{batch} {local_batch} {accum} {gpus} {replicas} {lr} {lr_scale} {samples} {checkpoint}
 *	{newest} {resume} {plan} {port} {job} {run} {steps} {nodes} {node} {master}
 *	{gpus_per_node} {gpu_list}
 *
 * {batch}, {local_batch} and {accum} need a batch size, {lr} a learning rate, {resume} the resume
 * arguments, {plan} plans, {steps} a total of updates, {gpu_list} GPUs of this machine. Where the
 * job has none, the template stays as it is.
 *
 * {resume} stands for the text of --resume-args, which may contain templates. It is replaced from
 * the second launch on, and only if a checkpoint exists; otherwise it becomes nothing. {resume} as
 * a whole argument becomes one argument for each word, or none. {plan} stands for the arguments of
 * the run's plan, in the same way.
 *
 * Where a run has nodes of a cluster, its texts are rendered once for all nodes. In the result "{{"
 * is a brace, and {node} is left to each node (template_expand_node). */
#ifndef POLLUX_TEMPLATE_H
#define POLLUX_TEMPLATE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/configuration.h"
#include "pollux/job.h"
#include "pollux/text.h"

/* The nodes of a run. All 0 and NULL: it runs on this machine alone. */
struct template_nodes {
	int n;
	const char *master;		/* the name of the first */
};

/* What the job has, for the templates that need it. */
struct template_facts {
	bool has_batch_size, has_learning_rate, has_resume_args, has_plans, has_steps;
};

/* The values of the names. Those that the facts exclude are not looked at. */
struct template_values {
	struct template_facts facts;
	int64_t job_id;
	int run_number;
	struct configuration configuration;
	double learning_rate, learning_rate_scale;
	const char *typed_learning_rate;	/* for a scale of 1; NULL: as a number is written */
	double samples;			/* consumed so far; NaN: none */
	double total_steps;		/* at which the program is to end: growth_steps() */
	const char *checkpoint_dir;
	const char *newest;		/* the newest checkpoint in it; NULL: none */
	const char *resume_args;	/* NULL: not at this launch */
	const char *plan_args;		/* of the run's plan; NULL: none */
	int port;
	const char *gpu_list;		/* template_gpu_list(); NULL: it has no GPU */
	struct template_nodes nodes;
};

struct template_facts template_facts_of(const struct declaration *d, const struct job_command *c);
/* The facts within the resume arguments (name "resume"), or within the arguments of a plan
 * ("plan"), where the two do not stand for themselves again. */
struct template_facts template_facts_within(const struct template_facts *facts, const char *name);

/* The UUIDs of GPUs as docker's option --gpus takes them; NULL: these are no GPUs of this machine.
 * The caller frees it. */
char *template_gpu_list(const struct device *devices, int n);

/* True for the words above: "batch". */
bool template_knows(const char *word, size_t length);
/* The option without which such a word stays as it is, "--batch"; NULL: the job has it. */
const char *template_lacks(const char *word, size_t length, const struct template_facts *facts);
/* The words, from i = 0; NULL behind the last one. */
const char *template_name(int i);
/* True if an argument has the template. */
bool template_mentions(const struct strings *argv, const char *name);
/* As template_mentions(), for one text such as the resume arguments. */
bool template_text_mentions(const char *text, const char *name);
/* For a command with its resume arguments. */
bool template_command_mentions(const struct job_command *c, const char *name);
/* True if the text may be another one when it has been expanded. */
bool template_changes(const char *text);

/* Builds the argv to launch. If argv has no {plan}, the words of plan_args come last; if
 * resume_args are due and argv has no {resume}, their words come after those. */
void template_expand(const struct strings *argv, const struct template_values *values,
		     struct strings *out);
/* Expands one text. The caller frees the result. */
char *template_expand_text(const char *text, const struct template_values *values);

/* Renders for one node what was rendered for all nodes. The caller frees the result. */
char *template_expand_node(const char *text, int node);

#endif
