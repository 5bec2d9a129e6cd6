/* slurm_processes.c - the command that brings a program to its nodes; for a wrapper: the steps that
 * its program starts by srun, and the programs of earlier runs on its GPUs. */
#include "slurm.h"

/* --- steps --- */

/* Asks for the steps, "12.0", but not those of the script: "12.batch". */
static int signal_steps(int signal_number, struct err *err)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	autofree char *own = xasprintf("%s.%s", job ? job : "", step ? step : "none");
	char *rest;
	scoped(strings_release) struct strings argv = { 0 };
	scoped(text_release) struct text answer = TEXT_INIT;
	int rc;

	slurm_add_words("squeue --steps --noheader --format=%i", &argv);
	strings_addf(&argv, "--jobs=%s", job ? job : "");
	rc = slurm_command(&argv, SLURM_LIMIT_S, &answer, err);
	strings_add(&argv, "scancel");
	strings_addf(&argv, "--signal=%d", signal_number);
	rest = answer.data;
	for (char *line; rc == 0 && (line = strsep(&rest, "\n"));) {
		const char *number = strchr(line, '.');

		if (number && strspn(number + 1, "0123456789") == strlen(number + 1) &&
		    strcmp(line, own) != 0)
			strings_add(&argv, line);
	}
	if (argv.count > 2)
		rc = slurm_command(&argv, SLURM_LIMIT_S, NULL, err);
	return rc;
}

void slurm_signal_steps(int signal_number)
{
	struct err err;

	if (fork() != 0)
		return;
	signals_unblock();
	if (signal_steps(signal_number, &err))
		dprintf(STDERR_FILENO, "the steps are not asked to stop: %s\n", err.text);
	_exit(0);
}

/* --- the command --- */

void slurm_add_environment(int nodes, struct strings *env)
{
	bool told = false;

	for (char **v = environ; *v; v++) {
		char name[80];
		size_t n = strcspn(*v, "=");

		if (!text_starts_with(*v, "SLURM") || n >= sizeof(name) || !(*v)[n])
			continue;
		snprintf(name, sizeof(name), "%.*s", (int)n, *v);
		strings_set_variable(env, name, *v + n + 1);
	}
	/* A program that srun starts is a step, which has all that the job has: an srun of the
	 * program's own would wait for the end of that step. With the variable no step waits for
	 * another one. Where no srun starts the program, its steps share out what the job has, as
	 * in any script of sbatch. */
	for (size_t i = 0; i < env->count; i++)
		told |= text_starts_with(env->items[i], "SLURM_OVERLAP=");
	if (nodes > 1 && !told)
		strings_set_variable(env, "SLURM_OVERLAP", "1");
	device_slurm.environment(NULL, 0, env);
}

/* Returns the full name of srun, for the caller to free. */
static char *find_srun(void)
{
	autofree char *path = xstrdup(getenv("PATH") ? getenv("PATH") : "/usr/bin");
	char *rest = path;

	for (const char *dir; (dir = strsep(&rest, ":"));) {
		char *name = xasprintf("%s/srun", *dir ? dir : ".");

		if (access(name, X_OK) == 0)
			return name;
		free(name);
	}
	return xstrdup("/usr/bin/srun");
}

void slurm_add_wrapper(const char *dir, int nodes, const char *program, const struct strings *argv,
		       struct strings *wrapped)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	if (nodes > 1) {
		const char *cpus = getenv("SLURM_CPUS_PER_TASK");
		autofree char *srun = find_srun();

		strings_add(wrapped, srun);
		strings_addf(wrapped, "--nodes=%d", nodes);
		strings_addf(wrapped, "--ntasks=%d", nodes);
		slurm_add_words("--ntasks-per-node=1 --kill-on-bad-exit=0 --wait=0", wrapped);
		if (cpus)	/* srun does not take it from the job */
			strings_addf(wrapped, "--cpus-per-task=%s", cpus);
		slurm_add_words("--input=none --unbuffered", wrapped);
	}
	strings_add(wrapped, self);
	strings_add(wrapped, "supervise");
	strings_add(wrapped, dir);
	strings_add(wrapped, program);
	for (size_t i = 0; i < argv->count; i++)
		strings_add(wrapped, argv->items[i]);
}

/* --- earlier programs --- */

/* What the environment of a process tells. The strings are in the text. */
struct place {
	struct text text;
	const char *job, *cluster, *node, *gpus;
};

static const char *value_in(const struct text *t, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = t->data; p < t->data + t->length; p += strlen(p) + 1)
		if (!strncmp(p, name, n) && p[n] == '=')
			return p + n + 1;
	return "";
}

/* False: the process belongs to no run. In a step of its job of Slurm SLURM_JOB_GPUS has the GPUs
 * of the first node; a program that is no step has no others. */
static bool read_place(pid_t pid, struct place *p)
{
	if (!proc_environment(pid, &p->text) || !*value_in(&p->text, "POLLUX_RUN"))
		return false;
	p->job = value_in(&p->text, "SLURM_JOB_ID");
	p->cluster = value_in(&p->text, "SLURM_CLUSTER_NAME");
	p->node = value_in(&p->text, "SLURMD_NODENAME");
	p->gpus = value_in(&p->text, "SLURM_STEP_GPUS");
	if (!*p->gpus)
		p->gpus = value_in(&p->text, "SLURM_JOB_GPUS");
	return true;
}

pid_t slurm_earlier_on_gpus(pid_t wrapper)
{
	int64_t began = proc_start_ticks(wrapper);
	struct place own = { .text = TEXT_INIT };
	scoped(pid_list_release) struct pid_list list = { 0 };
	struct proc_marks marks = { 0 };
	autofree char *variable = NULL;
	pid_t found = 0;

	if (read_place(wrapper, &own) && *own.gpus) {
		variable = xasprintf("SLURMD_NODENAME=%s", own.node);
		marks.variable = variable;
		proc_find(&marks, &list);
	}
	for (int i = 0; i < list.count && !found; i++) {
		pid_t pid = list.items[i];
		int64_t ticks = proc_start_ticks(pid);
		struct place other = { .text = TEXT_INIT };

		if (ticks > 0 && (ticks < began || (ticks == began && pid < wrapper)) &&
		    read_place(pid, &other) && strcmp(other.job, own.job) != 0 &&
		    !strcmp(other.cluster, own.cluster) && !strcmp(other.node, own.node) &&
		    slurm_lists_meet(other.gpus, own.gpus))
			found = pid;
		text_release(&other.text);
	}
	text_release(&own.text);
	return found;
}
