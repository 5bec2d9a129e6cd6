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
#include "pollux/metric_lines.h"
#include "pollux/paths.h"
#include "pollux/proc.h"
#include "pollux/report.h"
#include "pollux/steps.h"
#include "pollux/submission.h"
#include "pollux/text.h"
#include "request.h"

static char *absolute(const char *directory, const char *path)
{
	return path[0] == '/' ? xstrdup(path) : xasprintf("%s/%s", directory, path);
}

/* False with errno. */
static bool is_directory(const char *path)
{
	struct stat st;

	if (stat(path, &st))
		return false;
	if (!S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	return S_ISDIR(st.st_mode);
}

/* Finds the absolute path of the directory, because a process started by cron enters it later.
 * Checks now that it can be entered. */
static int find_directory(const struct asked *o, struct job_command *c, struct err *err)
{
	char *cwd = getcwd(NULL, 0);

	if (!cwd && !(o->directory && o->directory[0] == '/'))
		return err_set(err, EX_NOINPUT, "cannot tell the present directory: %s",
			       strerror(errno));
	c->directory = o->directory ? absolute(cwd ? cwd : "", o->directory) : xstrdup(cwd);
	free(cwd);
	if (!is_directory(c->directory) || access(c->directory, R_OK | X_OK))
		return err_set(err, EX_NOINPUT, "cannot enter directory '%s': %s", c->directory,
			       strerror(errno));
	return 0;
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

static char *search_path(const char *name, const char *directory)
{
	const char *path = getenv("PATH");
	char *list = xstrdup(path ? path : "/usr/local/bin:/usr/bin:/bin"), *save = NULL;
	char *found = NULL;

	for (char *part = strtok_r(list, ":", &save); part && !found;
	     part = strtok_r(NULL, ":", &save)) {
		char *dir = absolute(directory, part);
		char *candidate = xasprintf("%s/%s", dir, name);

		free(dir);
		if (is_program(candidate))
			found = candidate;
		else
			free(candidate);
	}
	free(list);
	return found;
}

/* True if a person who quotes this means a command line, not the name of a program. */
static bool is_for_shell(const char *name)
{
	return strpbrk(name, " |;&<>$`") && !strpbrk(name, "'\n");
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
	c->program = strchr(name, '/') ? absolute(c->directory, name)
				       : search_path(name, c->directory);
	if (!c->program)
		return err_set(err, EX_NOINPUT, "command not found: '%s'%s%s%s", name,
			       is_for_shell(name) ? "; a shell's command line is given as: sh -c '"
						  : "",
			       is_for_shell(name) ? name : "", is_for_shell(name) ? "'" : "");
	return 0;
}

/* Keeps the names of the variables whose values are expanded at launch. Those that the shell had
 * are never expanded. */
static void note_template(const char *name, const char *value, struct strings *names)
{
	struct strings others = { 0 };

	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->items[i], name) != 0)
			strings_add(&others, names->items[i]);
	if (template_changes(value))
		strings_add(&others, name);
	strings_release(names);
	*names = others;
}

/* Only --env, of this job or of the one that it is like, sets these: the shell's are not taken. */
static void warn_of_gpu_variables(const struct strings *env)
{
	const char *gpus = environment_value(env, "CUDA_VISIBLE_DEVICES");
	const char *order = strings_variable(env, "CUDA_DEVICE_ORDER");
	bool by_uuid = !strcmp(environment_value(env, "POLLUX_CUDA_DEVICES"), "uuid");

	if (*gpus && strcmp(gpus, "{gpu_list}") != 0)
		output_messagef("warning: CUDA_VISIBLE_DEVICES=%.60s stays in each run, whichever "
				"GPUs the run has: it may use those of other jobs", gpus);
	if (order && !by_uuid && strcmp(order, "PCI_BUS_ID") != 0)
		output_messagef("warning: with CUDA_DEVICE_ORDER=%.60s its GPUs are named by UUID, "
				"not by index", order);
}

/* Tells of variables that do not do what they do in a shell. */
static void warn_of_variables(const struct asked *o, const struct strings *env)
{
	for (size_t i = 0; i < o->env.count; i++)
		if (text_starts_with(o->env.items[i], "MASTER_PORT="))
			output_messagef("warning: the value of MASTER_PORT is replaced in each "
					"run, by a port of its own; {port} is its template");
	warn_of_gpu_variables(env);
}

static int set_variables(const struct command *by, const struct asked *o, struct job_command *c,
			 struct err *err)
{
	for (size_t i = 0; i < o->env.count; i++) {
		const char *equals = strchr(o->env.items[i], '=');
		char *name;

		if (!equals || equals == o->env.items[i])
			return usage_error(by, err, "option '--env' wants NAME=VALUE, not "
					   "'%.60s'", o->env.items[i]);
		name = xasprintf("%.*s", (int)(equals - o->env.items[i]), o->env.items[i]);
		strings_set_variable(&c->env, name, equals + 1);
		note_template(name, equals + 1, &c->env_templates);
		free(name);
	}
	if (o->cuda_devices)
		strings_set_variable(&c->env, "POLLUX_CUDA_DEVICES", o->cuda_devices);
	strings_set_variable(&c->env, "PWD", c->directory);
	return 0;
}

/* NULL: the path has no {job}. */
static char *checkpoint_template(const char *directory, const char *path)
{
	struct text escaped = TEXT_INIT;
	char *template = NULL;

	braces_escape(directory, braces_knows_job, &escaped);
	if (braces_have_job(path))
		template = absolute(escaped.data, path);
	text_release(&escaped);
	return template;
}

/* The directory need not exist: the program may make it. */
static int set_checkpoint_dir(const struct asked *o, struct job_command *c, struct err *err)
{
	struct stat st;

	free(c->checkpoint_dir);
	c->checkpoint_dir = absolute(c->directory, o->checkpoint_dir);
	free(c->checkpoint_template);
	c->checkpoint_template = checkpoint_template(c->directory, o->checkpoint_dir);
	if (stat(c->checkpoint_dir, &st) == 0 && !S_ISDIR(st.st_mode))
		return err_set(err, EX_NOINPUT, "checkpoint directory '%s' is not a directory",
			       c->checkpoint_dir);
	return 0;
}

static int set_step_regex(const struct asked *o, struct job_command *c, struct err *err)
{
	struct steps *steps = steps_new(o->step_regex, err);

	if (!steps)
		return err_prefix(err, "option '--step-regex'");
	steps_free(steps);
	xreplace(&c->step_regex, o->step_regex);
	return 0;
}

static int set_metrics(const struct asked *o, struct job_command *c, struct err *err)
{
	struct metric_lines *lines;

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
	if (set_variables(by, o, c, err) || (o->checkpoint_dir && set_checkpoint_dir(o, c, err)))
		return -1;
	warn_of_variables(o, &c->env);
	set_name_template(o, c);
	if (o->checkpoint_glob)
		xreplace(&c->checkpoint_glob, o->checkpoint_glob);
	if (o->resume_args)
		xreplace(&c->resume_args, o->resume_args);
	return (o->step_regex && set_step_regex(o, c, err)) || set_metrics(o, c, err) ? -1 : 0;
}

/* Returns the directory of the script (of the file that a link leads to), if that is in a
 * repository, else the command's own directory. The caller frees. */
static char *directory_of_code(const struct job_command *c)
{
	char *script = script_path(c->directory, c->argv.items);
	char *slash = script ? strrchr(script, '/') : NULL;

	if (slash) {
		slash[slash == script] = '\0';
		if (git_is_near(script))
			return script;
	}
	free(script);
	return xstrdup(c->directory);
}

/* Notes the state of the code. What git does not tell is not known; a run asks again. */
static void set_code(struct job_command *c)
{
	struct code_asking asking = { .limit_s = CODE_LIMIT_S };
	char *directory = directory_of_code(c), *top = NULL;
	struct code_state state;
	struct paths paths;
	struct err ignored;
	bool has_paths = paths_init(&paths, &ignored) == 0;

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
	free(directory);
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

static char *duplicate_text(const char *text)
{
	return text ? xstrdup(text) : NULL;
}

int submission_vary(const struct command *by, const struct asked *o, char **argv,
		    const struct job_command *base, struct job_command *c, struct err *err)
{
	c->directory = xstrdup(base->directory);
	c->checkpoint_glob = duplicate_text(base->checkpoint_glob);
	c->resume_args = duplicate_text(o->resume_args);
	c->step_regex = duplicate_text(base->step_regex);
	c->git_commit = duplicate_text(base->git_commit);
	c->git_dirty = base->git_dirty;
	c->git_tree = duplicate_text(base->git_tree);
	c->repository = duplicate_text(base->repository);
	c->snapshot_dir = duplicate_text(base->snapshot_dir);
	c->limits = duplicate_text(base->limits);
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
