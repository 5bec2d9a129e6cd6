/* supervisor_resume.c - decides whether a run is launched to go on from a checkpoint, and finds out
 * whether it could. */
#include <math.h>
#include <stdlib.h>

#include "last_words.h"
#include "newest_checkpoint.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "saved_files.h"
#include "supervisor.h"

/* A run that fails within this time, and made no step, could not resume. */
#define RESUME_S 120.0
/* The start of a run whose steps are not seen: this time of a run that lasted SILENT_RUN_S. */
#define SILENT_START_S 60.0
#define SILENT_RUN_S 600.0
/* If the wall clock and the boot clock differ by more than this over a run, the wall clock was set,
 * and the times of files say nothing. */
#define CLOCKS_DIFFER_S 5.0

static bool clocks_agree(const struct run *run)
{
	return fabs((run->end_time_s - run->launch_time_s) -
		    (run->end_boot_s - run->launch_boot_s)) < CLOCKS_DIFFER_S;
}

static double start_of(const struct run *run)
{
	if (isfinite(run->first_step_s))
		return run->first_step_s;
	return run->duration_s >= SILENT_RUN_S ? SILENT_START_S : (double)NAN;
}

/* The times in which earlier runs of the job started: what a program writes before its first step
 * is no checkpoint. The caller frees. */
static struct time_span *starts_of(const struct run_list *runs, int *n)
{
	struct time_span *starts = xcalloc((size_t)runs->count + 1, sizeof(*starts));

	*n = 0;
	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		double launch_s = run->launch_time_s;

		if (run->state == RUN_ENDED && isfinite(start_of(run)) && clocks_agree(run))
			starts[(*n)++] = (struct time_span){ launch_s, launch_s + start_of(run) };
	}
	return starts;
}

/* A job that reported a checkpoint and uses no directory of pollux's saves elsewhere. */
static bool saves_elsewhere(const struct supervisor *s)
{
	const struct job_command *c = &s->command;

	return isfinite(s->job.progress.checkpoint_samples) && !c->checkpoint_dir &&
	       !template_mentions(&c->argv, "checkpoint") &&
	       !(c->resume_args && (template_text_mentions(c->resume_args, "checkpoint") ||
				    template_text_mentions(c->resume_args, "newest")));
}

static bool has_checkpoint(const struct supervisor *s, const char *directory,
			   const struct run_list *runs)
{
	struct saved_query query = { .glob = s->command.checkpoint_glob };
	struct time_span *starts = starts_of(runs, &query.n_starts);
	bool found;

	/* Where a report said that something was saved, a file is enough. */
	if (isfinite(s->job.progress.checkpoint_samples))
		query.n_starts = 0;
	query.starts = starts;
	found = saves_elsewhere(s) || saved_files_in(directory, &query).count > 0;
	free(starts);
	return found;
}

static bool has_worked(const struct run_list *runs)
{
	for (int i = 0; i < runs->count; i++)
		if (isfinite(runs->items[i].first_step_s) ||
		    runs->items[i].duration_s >= RESUME_S)
			return true;
	return false;
}

char *supervisor_choose_resume(struct supervisor *s, const char *directory,
			       struct template_values *values)
{
	char *newest = newest_checkpoint(directory, s->command.checkpoint_glob);
	const char *resume_args = s->command.resume_args;
	struct run_list runs = { 0 };
	struct err err;

	values->newest = newest;
	/* runs counts this run */
	if (!resume_args || s->job.progress.runs <= 1 ||
	    (!newest && template_text_mentions(resume_args, "newest")))
		return newest;
	if (store_runs_of_job(&s->store, s->job.id, &runs, &err))
		supervisor_log(s, "%s", err.text);
	if (has_checkpoint(s, directory, &runs)) {
		values->resume_args = resume_args;
		s->run.resumed_from = xstrdup(newest ? newest : directory);
		s->first_start_worked = has_worked(&runs);
	}
	run_list_release(&runs);
	return newest;
}

void supervisor_diagnose_resume(struct supervisor *s)
{
	const struct run *run = &s->run;
	bool known = run->diagnosis && *run->diagnosis;
	char *log, *words, *text;

	if (s->wait_status < 0 || !run->resumed_from || !s->first_start_worked ||
	    run->out_of_memory || isfinite(run->first_step_s) || run->duration_s > RESUME_S)
		return;
	log = paths_log(s->paths, s->job.id);
	words = known ? xstrdup(run->diagnosis) : last_words(log, s->log_offset);
	text = xasprintf("could not resume from %s%s%s; the job is not begun anew, which would "
			 "overwrite what it saved", run->resumed_from, words ? ": " : "",
			 words ? words : "");
	supervisor_set_diagnosis(s, text);
	free(text);
	free(words);
	free(log);
}
