/* slurm_steps.c - see slurm_steps.h. */
#include "slurm_steps.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "slurm_command.h"

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

	strings_add(&argv, "squeue");
	strings_add(&argv, "--steps");
	strings_add(&argv, "--noheader");
	strings_add(&argv, "--format=%i");
	strings_addf(&argv, "--jobs=%s", job ? job : "");
	rc = slurm_command(&argv, SLURM_LIMIT_S, &answer, err);
	strings_release(&argv);
	if (rc == 0) {
		strings_add(&argv, "scancel");
		strings_addf(&argv, "--signal=%d", signal_number);
		add_steps(answer.data, &argv);
	}
	if (rc == 0 && argv.count > 2) {
		struct text said = TEXT_INIT;

		rc = slurm_command(&argv, SLURM_LIMIT_S, &said, err);
		text_release(&said);
	}
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
