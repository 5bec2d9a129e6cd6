/* supervisor_saving.c - what a run has saved, and what it saved when it was asked to stop. */
#include <math.h>
#include <stdlib.h>

#include "pollux/clock.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "saved_files.h"
#include "supervisor.h"

/* A run that shows no steps is taken to be at work after this time. */
#define WORK_S 60.0
/* The kernel dates files by a clock that is late by one of its ticks. */
#define FILE_CLOCK_S 0.02

/* What a run has saved, since it began to work and since it was asked to stop. */
struct savings {
	bool in_run, when_asked;
};

char *supervisor_checkpoint_dir(const struct supervisor *s)
{
	return s->command.checkpoint_dir ? xstrdup(s->command.checkpoint_dir)
					 : paths_checkpoints(s->paths, s->job.id);
}

/* True if the job is known to save in its directory of checkpoints, or to tell when it saves. */
static bool savings_are_seen(const struct supervisor *s)
{
	const struct job_command *c = &s->command;

	return c->checkpoint_dir || template_mentions(&c->argv, "checkpoint") ||
	       (c->resume_args && template_text_mentions(c->resume_args, "checkpoint")) ||
	       isfinite(s->job.progress.checkpoint_samples) ||
	       isfinite(s->run.checkpoint_boot_s);
}

/* A job whose steps are seen has work to save once this run has made one. */
static bool has_worked(const struct supervisor *s)
{
	bool shows_steps = isfinite(s->job.progress.samples) || isfinite(s->job.progress.steps);

	return isfinite(s->run.first_step_s) || (!shows_steps && s->run.duration_s >= WORK_S);
}

static struct savings savings_of(const struct supervisor *s)
{
	const struct run *run = &s->run;
	double now = clock_boot_s(), wall_of_boot_s = clock_wall_s() - now - FILE_CLOCK_S;
	double begin = run->launch_boot_s + fmax(run->first_step_s, 0);
	char *dir = supervisor_checkpoint_dir(s);
	struct saved_files files = saved_files_in(dir);

	free(dir);
	return (struct savings){
		.in_run = files.newest_time_s >= wall_of_boot_s + begin ||
			  run->checkpoint_boot_s > run->launch_boot_s,
		.when_asked = files.newest_time_s >= wall_of_boot_s + run->stop_boot_s ||
			      run->checkpoint_boot_s >= run_clock_s(run, run->stop_boot_s),
	};
}

void supervisor_see_savings(struct supervisor *s)
{
	struct savings saved;

	if (s->run.outcome != OUTCOME_STOPPED || !s->signalled || s->job.profile ||
	    !savings_are_seen(s) || !has_worked(s))
		return;
	saved = savings_of(s);
	s->run.saves_when_asked = saved.when_asked;
	s->run.saved_nothing = !saved.when_asked && !saved.in_run;
}
