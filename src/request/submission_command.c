/* submission_command.c - the command of a job: program, directory, variables, texts. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/advice.h"
#include "pollux/code.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "pollux/report.h"
#include "pollux/steps.h"
#include "pollux/submission.h"
#include "pollux/text.h"
#include "request.h"

/* Finds the absolute path of the directory, because a process started by cron enters it later.
 * Checks now that it can be entered. */
static int find_directory(const struct asked *o, struct job_command *c, struct err *err)
{
	char *cwd = getcwd(NULL, 0);
	struct stat st;

	if (!cwd && !(o->directory && o->directory[0] == '/'))
		return err_set(err, EX_NOINPUT, "cannot tell the present directory: %s",
			       strerror(errno));
	c->directory = o->directory ? path_within(cwd ? cwd : "", o->directory) : xstrdup(cwd);
	free(cwd);
	if (stat(c->directory, &st) || (!S_ISDIR(st.st_mode) && errno_set(ENOTDIR)) ||
	    access(c->directory, R_OK | X_OK))
		return err_set(err, EX_NOINPUT, "cannot enter directory '%s': %s", c->directory,
			       strerror(errno));
	return 0;
}

/* A script that the kernel would not run is refused now, while somebody looks. */
static int check_program(const struct job_command *c, struct err *err)
{
	struct text words = TEXT_INIT;
	struct stat st;
	int rc = 0;

	if (stat(c->program, &st))
		return err_set(err, EX_NOINPUT, "cannot execute '%s': %s", c->program,
			       strerror(errno));
	if (!S_ISREG(st.st_mode))
		return err_set(err, EX_NOINPUT, "cannot execute '%s': not a program", c->program);
	if (program_file_fault(c->program, c->argv.items, c->directory,
			       environment_value(&c->env, "PATH"), &words))
		rc = err_set(err, EX_NOINPUT, "%s", words.data);
	else if (access(c->program, X_OK))
		rc = err_set(err, EX_NOINPUT, "cannot execute '%s': %s", c->program,
			     strerror(errno));
	text_release(&words);
	return rc;
}

static int find_program(const char *name, struct job_command *c, struct err *err)
{
	const char *path = getenv("PATH");
	/* A person who quotes this means a command line, not the name of a program. */
	bool for_shell = strpbrk(name, " |;&<>$`") && !strpbrk(name, "'\n"), is_here;
	struct stat here_st;
	char *here;

	c->program = strchr(name, '/') ? path_within(c->directory, name)
		: path_search(path ? path : "/usr/local/bin:/usr/bin:/bin", name, c->directory);
	if (c->program)
		return 0;
	here = path_within(c->directory, name);
	is_here = !strchr(name, '/') && !stat(here, &here_st) && S_ISREG(here_st.st_mode);
	free(here);
	if (is_here)
		return err_set(err, EX_NOINPUT, "command not found: '%s'; the file here is run as: "
			       "./%s", name, name);
	return err_set(err, EX_NOINPUT, "command not found: '%s'%s%s%s", name,
		       for_shell ? "; a shell's command line is given as: sh -c '" : "",
		       for_shell ? name : "", for_shell ? "'" : "");
}

/* Keeps the names of the variables whose values are expanded at launch. Those that the shell had
 * are never expanded. */
static int set_variables(const struct command *by, const struct asked *o, struct job_command *c,
			 struct err *err)
{
	for (size_t i = 0; i < o->env.count; i++) {
		const char *equals = strchr(o->env.items[i], '=');
		struct strings others = { 0 };
		char *name;

		if (!equals || equals == o->env.items[i])
			return usage_error(by, err, "option '--env' wants NAME=VALUE, not "
					   "'%.60s'", o->env.items[i]);
		name = xasprintf("%.*s", (int)(equals - o->env.items[i]), o->env.items[i]);
		strings_set_variable(&c->env, name, equals + 1);
		for (size_t k = 0; k < c->env_templates.count; k++)
			if (strcmp(c->env_templates.items[k], name) != 0)
				strings_add(&others, c->env_templates.items[k]);
		if (template_changes(equals + 1))
			strings_add(&others, name);
		strings_release(&c->env_templates);
		c->env_templates = others;
		free(name);
	}
	if (o->cuda_devices)
		strings_set_variable(&c->env, "POLLUX_CUDA_DEVICES", o->cuda_devices);
	strings_set_variable(&c->env, "PWD", c->directory);
	return 0;
}

/* Tells of variables that do not do what they do in a shell. Only --env, of this job or of the one
 * that it is like, sets those of GPUs: the shell's are not taken. */
static void warn_of_variables(const struct asked *o, const struct strings *env)
{
	const char *gpus = environment_value(env, "CUDA_VISIBLE_DEVICES");
	const char *order = strings_variable(env, "CUDA_DEVICE_ORDER");
	bool by_uuid = !strcmp(environment_value(env, "POLLUX_CUDA_DEVICES"), "uuid");

	for (size_t i = 0; i < o->env.count; i++)
		if (text_starts_with(o->env.items[i], "MASTER_PORT="))
			output_messagef("warning: the value of MASTER_PORT is replaced in each "
					"run, by a port of its own; {port} is its template");
	if (*gpus && strcmp(gpus, "{gpu_list}") != 0)
		output_messagef("warning: CUDA_VISIBLE_DEVICES=%.60s stays in each run, whichever "
				"GPUs the run has: it may use those of other jobs", gpus);
	if (order && !by_uuid && strcmp(order, "PCI_BUS_ID") != 0)
		output_messagef("warning: with CUDA_DEVICE_ORDER=%.60s its GPUs are named by UUID, "
				"not by index", order);
}

/* The directory need not exist: the program may make it. A path with {job} is kept as a template,
 * too. */
static int set_checkpoint_dir(const struct asked *o, struct job_command *c, struct err *err)
{
	struct text escaped = TEXT_INIT;
	struct stat st;

	free(c->checkpoint_dir);
	c->checkpoint_dir = path_within(c->directory, o->checkpoint_dir);
	free(c->checkpoint_template);
	braces_escape(c->directory, braces_knows_job, &escaped);
	c->checkpoint_template = braces_have_job(o->checkpoint_dir)
		? path_within(escaped.data, o->checkpoint_dir) : NULL;
	text_release(&escaped);
	if (stat(c->checkpoint_dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return err_set(err, EX_NOINPUT, "checkpoint directory '%s' is not a directory",
			       c->checkpoint_dir);
	return 0;
}

static void set_name_template(const struct asked *o, struct job_command *c)
{
	const char *name = o->declared.name;

	if (!name)
		return;
	free(c->name_template);
	c->name_template = braces_have_job(name) ? xstrdup(name) : NULL;
}

/* Puts what the options say into a command that is there already. */
static int take_options(const struct command *by, const struct asked *o, struct job_command *c,
			struct err *err)
{
	struct steps *steps = NULL;
	struct metric_lines *lines;

	if (set_variables(by, o, c, err) || (o->checkpoint_dir && set_checkpoint_dir(o, c, err)))
		return -1;
	warn_of_variables(o, &c->env);
	set_name_template(o, c);
	xreplace(&c->checkpoint_glob, o->checkpoint_glob);
	xreplace(&c->resume_args, o->resume_args);
	xreplace(&c->step_regex, o->step_regex);
	if (o->step_regex && !(steps = steps_new(o->step_regex, err)))
		return err_prefix(err, "option '--step-regex'");
	steps_free(steps);
	if (o->metrics.count)
		strings_release(&c->metric_regexes);
	for (size_t i = 0; i < o->metrics.count; i++)
		strings_add(&c->metric_regexes, o->metrics.items[i]);
	lines = metric_lines_new(&c->metric_regexes, err);
	if (!lines)
		return err_prefix(err, "option '--metric'");
	metric_lines_free(lines);
	return 0;
}

/* Notes the state of the code: of the directory of the script (of the file that a link leads to),
 * if that is in a repository, else of the command's own directory. What git does not tell is not
 * known; a run asks again. */
static void set_code(struct job_command *c)
{
	struct code_asking asking = { .limit_s = CODE_LIMIT_S };
	char *script = script_path(c->directory, c->argv.items), *top = NULL;
	char *slash = script ? strrchr(script, '/') : NULL;
	const char *directory = c->directory;
	struct code_state state;
	struct paths paths;
	struct err ignored;
	bool has_paths = paths_init(&paths, &ignored) == 0;

	if (slash) {
		slash[slash == script] = '\0';
		directory = git_is_near(script) ? script : directory;
	}
	free(c->git_commit);
	free(c->git_tree);
	free(c->repository);
	c->git_commit = c->git_tree = c->repository = NULL;
	c->git_dirty = false;
	if (has_paths)
		asking.dir = paths.dir;
	if (git_is_near(directory)) {
		if (code_state_read(directory, &asking, &state, &top, &ignored) == 0) {
			c->git_commit = xasprintf("%.*s", (int)strcspn(state.commit, "+"),
						  state.commit);
			c->git_dirty = strchr(state.commit, '+') != NULL;
			c->git_tree = xstrdup(state.tree);
		}
		c->repository = top ? top : xstrdup(directory);
	}
	if (has_paths)
		paths_release(&paths);
	free(script);
}

int submission_command(const struct command *by, const struct asked *o, char **argv,
		       struct job_command *c, struct err *err)
{
	environment_capture(environ, &c->env);
	if (find_directory(o, c, err) || find_program(argv[0], c, err))
		return -1;
	for (; *argv; argv++)
		strings_add(&c->argv, *argv);
	if (take_options(by, o, c, err) || check_program(c, err))
		return -1;
	c->limits = limits_capture();
	set_code(c);
	return 0;
}

int submission_vary(const struct command *by, const struct asked *o, char **argv,
		    const struct job_command *base, struct job_command *c, struct err *err)
{
	c->directory = xstrdup(base->directory);
	xreplace(&c->checkpoint_glob, base->checkpoint_glob);
	xreplace(&c->resume_args, o->resume_args);
	xreplace(&c->step_regex, base->step_regex);
	xreplace(&c->git_commit, base->git_commit);
	c->git_dirty = base->git_dirty;
	xreplace(&c->git_tree, base->git_tree);
	xreplace(&c->repository, base->repository);
	xreplace(&c->snapshot_dir, base->snapshot_dir);
	xreplace(&c->limits, base->limits);
	for (size_t i = 0; i < base->env.count; i++)
		strings_add(&c->env, base->env.items[i]);
	for (size_t i = 0; i < base->metric_regexes.count; i++)
		strings_add(&c->metric_regexes, base->metric_regexes.items[i]);
	for (char **argument = argv; *argument; argument++)
		strings_add(&c->argv, *argument);
	if (!strcmp(argv[0], base->argv.items[0]))
		c->program = xstrdup(base->program);
	else if (find_program(argv[0], c, err))
		return -1;
	if (submission_check_name(by, o, err) || set_variables(by, o, c, err))
		return -1;
	set_name_template(o, c);
	if (o->checkpoint_dir && set_checkpoint_dir(o, c, err))
		return -1;
	return check_program(c, err);
}

int submission_command_again(const struct command *by, const struct asked *o,
			     struct job_command *c, struct err *err)
{
	if (o->directory) {
		free(c->directory);
		if (find_directory(o, c, err))
			return -1;
	}
	if (!c->program && find_program(c->argv.items[0], c, err))
		return -1;
	if (take_options(by, o, c, err) || check_program(c, err))
		return -1;
	free(c->snapshot_dir);
	c->snapshot_dir = NULL;
	c->first_code = (struct code_state){ "", "" };
	set_code(c);
	return 0;
}
