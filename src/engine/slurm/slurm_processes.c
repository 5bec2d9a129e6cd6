/* slurm_processes.c - for a wrapper: the steps that its program starts by srun, and the programs of
 * earlier runs on its GPUs. */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"
#include "slurm.h"

/* --- steps --- */

bool slurm_stands_for_step(pid_t pid, int signal_number)
{
	switch (signal_number) {
	case SIGTERM: case SIGINT: case SIGQUIT: case SIGHUP:
		return proc_has_name(pid, "srun");
	default:
		return false;
	}
}

/* Adds the steps, "12.0", but not those of the script: "12.batch". */
static void add_steps(char *answer, struct strings *argv)
{
	const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
	char *own = xasprintf("%s.%s", job ? job : "", step ? step : "none");

	for (char *line; (line = strsep(&answer, "\n"));) {
		const char *number = strchr(line, '.');

		if (number && strspn(number + 1, "0123456789") == strlen(number + 1) &&
		    strcmp(line, own) != 0)
			strings_add(argv, line);
	}
	free(own);
}

static int signal_steps(int signal_number, struct err *err)
{
	struct strings argv = { 0 };
	struct text answer = TEXT_INIT;
	const char *job = getenv("SLURM_JOB_ID");
	int rc;

	slurm_add_words("squeue --steps --noheader --format=%i", &argv);
	strings_addf(&argv, "--jobs=%s", job ? job : "");
	rc = slurm_command(&argv, SLURM_LIMIT_S, &answer, err);
	strings_add(&argv, "scancel");
	strings_addf(&argv, "--signal=%d", signal_number);
	if (rc == 0)
		add_steps(answer.data, &argv);
	if (argv.count > 2)
		rc = slurm_command(&argv, SLURM_LIMIT_S, NULL, err);
	strings_release(&argv);
	text_release(&answer);
	return rc;
}

void slurm_signal_steps(int signal_number)
{
	struct err err;
	sigset_t none;

	if (fork() != 0)
		return;
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (signal_steps(signal_number, &err))
		dprintf(STDERR_FILENO, "the steps are not asked to stop: %s\n", err.text);
	_exit(0);
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

static bool is_on_gpus_of(pid_t pid, const struct place *own)
{
	struct place other = { .text = TEXT_INIT };
	bool is = read_place(pid, &other) && strcmp(other.job, own->job) != 0 &&
		  !strcmp(other.cluster, own->cluster) && !strcmp(other.node, own->node) &&
		  slurm_lists_meet(other.gpus, own->gpus);

	text_release(&other.text);
	return is;
}

static bool began_before(pid_t pid, pid_t wrapper)
{
	int64_t a = proc_start_ticks(pid), b = proc_start_ticks(wrapper);

	return a > 0 && (a < b || (a == b && pid < wrapper));
}

pid_t slurm_earlier_on_gpus(pid_t wrapper)
{
	struct place own = { .text = TEXT_INIT };
	struct pid_list list = { 0 };
	struct proc_marks marks = { 0 };
	char *variable = NULL;
	pid_t found = 0;

	if (read_place(wrapper, &own) && *own.gpus) {
		variable = xasprintf("SLURMD_NODENAME=%s", own.node);
		marks.variable = variable;
		proc_find(&marks, &list);
	}
	for (int i = 0; i < list.count && !found; i++)
		if (began_before(list.items[i], wrapper) && is_on_gpus_of(list.items[i], &own))
			found = list.items[i];
	pid_list_release(&list);
	free(variable);
	text_release(&own.text);
	return found;
}
