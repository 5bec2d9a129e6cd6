/* environment.c - the environment of a job. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/environment.h"
#include "pollux/mem.h"

/* The part of a run's time that the helper for PyTorch may spend on gradient statistics. */
#define TORCH_BUDGET "0.01"

/* Names, or prefixes ending in '*': of the terminal and the login session. */
static const char *const of_terminal[] = {
	"TERM", "TERM_*", "TERMCAP", "COLORTERM", "COLUMNS", "LINES", "TTY", "GPG_TTY", "WINDOWID",
	"WINDOWPATH", "TMUX", "TMUX_*", "STY", "SSH_*", "XDG_SESSION_*", "XDG_VTNR", "XDG_SEAT",
	"DBUS_SESSION_BUS_ADDRESS", "OLDPWD", "SHLVL", "_",
};
static const char *const of_launchers[] = {
	/* other launchers: the job gets its own or none */
	"RANK", "LOCAL_RANK", "GROUP_RANK", "ROLE_RANK", "ROLE_NAME", "WORLD_SIZE",
	"LOCAL_WORLD_SIZE", "GROUP_WORLD_SIZE", "ROLE_WORLD_SIZE", "MASTER_*", "TORCHELASTIC_*",
	"SLURM_*", "OMPI_*", "PMI_*", "PMIX_*",
	/* the surrounding pollux job; make */
	"POLLUX_*", "MAKEFLAGS", "MAKELEVEL", "MFLAGS",
};

/* True if the variable "NAME=VALUE" has one of the n names. */
static bool has_name(const char *variable, const char *const *names, size_t n)
{
	size_t length = strcspn(variable, "=");
	bool is_one = false;

	for (size_t i = 0; i < n && !is_one; i++) {
		size_t part = strlen(names[i]);

		is_one = names[i][part - 1] == '*'
			? !strncmp(variable, names[i], part - 1)
			: length == part && !memcmp(variable, names[i], part);
	}
	return is_one;
}

#define HAS_NAME(variable, names) has_name(variable, names, sizeof(names) / sizeof((names)[0]))

void environment_capture(char *const *variables, struct strings *env)
{
	for (; *variables; variables++)
		if (!device_sets_variable(*variables, strcspn(*variables, "=")) &&
		    !HAS_NAME(*variables, of_terminal) && !HAS_NAME(*variables, of_launchers))
			strings_add(env, *variables);
}

void environment_add_terminal(char *const *variables, struct strings *env)
{
	for (; *variables; variables++) {
		size_t length = strcspn(*variables, "=") + 1;
		bool is_set = !HAS_NAME(*variables, of_terminal);

		for (size_t i = 0; i < env->count && !is_set; i++)
			is_set = !strncmp(env->items[i], *variables, length);
		if (!is_set)
			strings_add(env, *variables);
	}
}

static void set_integer(struct strings *env, const char *name, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	strings_set_variable(env, name, text);
}

static void set_number(struct strings *env, const char *name, double value)
{
	char text[32];

	snprintf(text, sizeof(text), "%.9g", value);
	strings_set_variable(env, name, text);
}

/* A run on several nodes. torchrun takes its options from PET_* where the command has none. RANK
 * and the like are of processes: pollux starts one on each node, and where a node has several
 * devices, a launcher such as torchrun starts others, whose ranks the launcher knows. */
static void set_for_nodes(const struct job *job, const struct run *run,
			  const struct template_values *values, struct strings *env)
{
	int n = values->nodes.n, devices = run->configuration.replicas / (n > 0 ? n : 1);

	if (n < 1)
		return;
	set_integer(env, "POLLUX_NODES", n);
	set_integer(env, "POLLUX_GPUS_PER_NODE", devices);
	if (n < 2)
		return;
	if (job->declared.launch == LAUNCH_FIRST) {
		/* The program there starts torchrun on each node, by a step that gives the same
		 * variables to all: the nodes agree on their ranks among themselves. */
		autofree char *endpoint = xasprintf("%s:%d", values->nodes.master, values->port);

		strings_set_variable(env, "PET_RDZV_BACKEND", "c10d");
		strings_set_variable(env, "PET_RDZV_ENDPOINT", endpoint);
		set_integer(env, "PET_RDZV_ID", values->port);
	}
	strings_set_variable(env, "MASTER_ADDR", values->nodes.master);
	set_integer(env, "NNODES", n);
	strings_set_variable(env, "PET_MASTER_ADDR", values->nodes.master);
	set_integer(env, "PET_MASTER_PORT", values->port);
	set_integer(env, "PET_NNODES", n);
	set_integer(env, "PET_NPROC_PER_NODE", devices);
	if (devices > 1 || job->declared.launch == LAUNCH_FIRST)
		return;
	set_integer(env, "WORLD_SIZE", n);
	set_integer(env, "LOCAL_WORLD_SIZE", 1);
	set_integer(env, "LOCAL_RANK", 0);
}

/* True if {lr} or {lr_scale} scale the learning rate already: the helper then must not scale it
 * again. */
static bool command_scales(const struct job *job, const struct job_command *command)
{
	return template_command_mentions(command, "lr_scale") ||
	       (!isnan(job->declared.learning_rate) && template_command_mentions(command, "lr"));
}

bool environment_leaves_learning_rate(const struct job *job, const struct job_command *command)
{
	const struct declaration *d = &job->declared;
	bool grows = d->batch.max > 0 && d->batch.max != d->batch.min &&
		     (template_command_mentions(command, "batch") ||
		      template_command_mentions(command, "local_batch"));

	return grows && !command_scales(job, command) && !declaration_has_torch_helper(d) &&
	       !(d->learning_rate_rule && !strcmp(d->learning_rate_rule, "none"));
}

const char *environment_value(const struct strings *env, const char *name)
{
	const char *value = strings_variable(env, name);

	return value ? value : "";
}

void environment_for_torch(const struct job *job, const struct job_command *command,
			   const char *helper, struct strings *env)
{
	const char *parts = !declaration_has_torch_helper(&job->declared) ? "offered"
			  : strcmp(job->declared.torch, "auto") != 0 ? job->declared.torch : "on";
	char *others = xstrdup(environment_value(env, "PYTHONPATH")), *rest = others, *other;
	autofree char *all = xasprintf("%s%s%s", parts,
				       command_scales(job, command) ? ",keep-lr" : "",
				       job->declared.passes_steps ? ",steps" : "");
	scoped(text_release) struct text path = TEXT_INIT;

	/* a job that was submitted by a job has it already */
	text_add(&path, helper);
	while (*others && (other = strsep(&rest, ":")))
		if (strcmp(other, helper) != 0)
			text_addf(&path, ":%s", other);
	strings_set_variable(env, "PYTHONPATH", path.data);
	strings_set_variable(env, "POLLUX_TORCH", all);
	strings_set_variable(env, "POLLUX_TORCH_BUDGET", TORCH_BUDGET);
	free(others);
}

void environment_for_group(const struct job *job, struct strings *env)
{
	const char *index = job_parameter(job, "index");

	if (!job->group_id)
		return;
	set_integer(env, "POLLUX_GROUP", job->group_id);
	set_integer(env, "POLLUX_INDEX", job->group_index);
	if (index)
		strings_set_variable(env, "POLLUX_INDEX", index);
	for (size_t i = 0; i < job->parameters.count; i++) {
		const char *value = strchr(job->parameters.items[i], '=');
		autofree char *name = NULL;

		if (!value || text_starts_with(job->parameters.items[i], "index="))
			continue;
		name = xasprintf("POLLUX_PARAM_%.*s", (int)(value - job->parameters.items[i]),
				 job->parameters.items[i]);
		strings_set_variable(env, name, value + 1);
	}
}

/* Told to the nodes of a run on a cluster, which go on with the values of these variables. */
static const char of_nodes[] = "POLLUX_VARIABLES_OF_NODES";

void environment_expand(const struct job_command *command, const struct template_values *values,
			struct strings *env)
{
	scoped(text_release) struct text names = TEXT_INIT;

	for (size_t i = 0; i < command->env_templates.count; i++) {
		const char *name = command->env_templates.items[i];
		autofree char *value = template_expand_text(environment_value(env, name), values);

		strings_set_variable(env, name, value);
		text_addf(&names, "%s=", name);
	}
	if (names.length && values->nodes.n > 0)
		strings_set_variable(env, of_nodes, names.data);
}

void environment_for_run(const struct job *job, const struct run *run,
			 const struct template_values *values, const struct run_places *places,
			 struct strings *env)
{
	const struct configuration *c = &run->configuration;
	double gain = job_lr_gain(job, run->learning_rate_scale);

	set_integer(env, "POLLUX_JOB_ID", job->id);
	set_integer(env, "POLLUX_RUN", run->number);
	set_integer(env, "POLLUX_STOP_SIGNAL", job->declared.stop_signal);
	set_integer(env, "POLLUX_DEVICES", c->replicas);
	set_integer(env, "POLLUX_REPLICAS", c->replicas > 0 ? configuration_workers(c) : 1);
	set_number(env, "POLLUX_LR_SCALE", run->learning_rate_scale);
	if (isfinite(gain))
		set_number(env, "POLLUX_LR_GAIN", gain);
	if (c->plan[0])
		strings_set_variable(env, "POLLUX_PLAN", c->plan);
	if (c->local_batch_size) {
		set_integer(env, "POLLUX_BATCH", configuration_batch_size(c));
		set_integer(env, "POLLUX_LOCAL_BATCH", c->local_batch_size);
		set_integer(env, "POLLUX_ACCUM", c->accumulation_steps);
	}
	environment_for_group(job, env);
	strings_set_variable(env, "POLLUX_CHECKPOINT_DIR", values->checkpoint_dir);
	strings_set_variable(env, "POLLUX_REPORT_SOCKET", places->report_socket);
	strings_set_variable(env, "POLLUX_CONFIG_FILE", places->config_file);
	strings_set_variable(env, "POLLUX_DIR", places->store_dir);
	set_integer(env, "MASTER_PORT", values->port);
	/* torchrun kills its workers 30 s after SIGTERM and forwards no other signal, unless told
	 * so. */
	set_integer(env, "TORCH_ELASTIC_SHUTDOWN_TIMEOUT", (int64_t)job->declared.grace_s);
	strings_set_variable(env, "TORCHELASTIC_SIGNALS_TO_HANDLE",
			     "SIGTERM,SIGINT,SIGHUP,SIGQUIT,SIGUSR1,SIGUSR2");
	strings_set_variable(env, "PYTHONUNBUFFERED", "1");
	set_for_nodes(job, run, values, env);
	/* On a cluster its manager tells programs their devices. */
	if (values->nodes.n < 1)
		devices_environment(run->devices, c->replicas > 0 ? c->replicas : 1, env);
}

void node_command(const struct strings *argv, char *const *variables, int node, int n_started,
		  struct strings *out, struct strings *env)
{
	char *names, *save = NULL;
	long n_nodes;

	for (; *variables; variables++)
		strings_add(env, *variables);
	n_nodes = strtol(environment_value(env, "POLLUX_NODES"), NULL, 10);
	names = xstrdup(environment_value(env, of_nodes));	/* no name has a '=' */
	for (char *name = strtok_r(names, "=", &save); name; name = strtok_r(NULL, "=", &save)) {
		autofree char *value = template_expand_node(environment_value(env, name), node);

		strings_set_variable(env, name, value);
	}
	free(names);
	for (size_t i = 0; i < argv->count; i++) {
		autofree char *argument = template_expand_node(argv->items[i], node);

		strings_add(out, argument);
	}
	/* variables of a program that is started once are those of its steps on all nodes */
	if (n_started < 2 && n_nodes > 1)
		return;
	set_integer(env, "POLLUX_NODE", node);
	if (n_nodes < 2)
		return;
	set_integer(env, "NODE_RANK", node);
	set_integer(env, "GROUP_RANK", node);
	set_integer(env, "PET_NODE_RANK", node);
	if (strtol(environment_value(env, "POLLUX_GPUS_PER_NODE"), NULL, 10) == 1)
		set_integer(env, "RANK", node);
}
