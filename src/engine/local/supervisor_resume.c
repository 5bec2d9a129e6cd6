/* supervisor_resume.c - decides whether a run is launched to go on from a checkpoint, and finds out
 * whether it could. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "last_words.h"
#include "pollux/environment.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"
#include "supervisor.h"
#include "supervisor_checkpoints.h"

static bool resumes_from_newest(const struct supervisor *s)
{
	return s->command.resume_args && template_text_mentions(s->command.resume_args, "newest");
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

static bool has_worked(struct supervisor *s)
{
	struct run_list runs = { 0 };
	bool worked = false;
	struct err err;

	if (store_runs_of_job(&s->store, s->job.id, &runs, &err))
		supervisor_log(s, "%s", err.text);
	for (int i = 0; i < runs.count; i++)
		worked |= isfinite(runs.items[i].first_step_s) ||
			  runs.items[i].duration_s >= RESUME_S;
	run_list_release(&runs);
	return worked;
}

/* The path below the directory, if the file is there. */
static const char *shown(const char *path, const char *directory)
{
	size_t n = strlen(directory);

	return !strncmp(path, directory, n) && path[n] == '/' ? path + n + 1 : path;
}

/* Tells which checkpoint the run resumes from if that is not the newest one. */
static void tell_choice(struct supervisor *s, const char *directory,
			const struct checkpoints *found)
{
	struct text t = TEXT_INIT;
	struct err err;

	if (found->newest)
		text_addf(&t, "resumes from %s", shown(found->newest, directory));
	else
		text_add(&t, "nothing to resume from");
	if (s->refused_by_run)
		text_addf(&t, "; run %d could not resume from the one after it",
			  s->refused_by_run);
	if (found->left_out)
		text_addf(&t, "; %s is left out: %s", shown(found->left_out, directory),
			  found->why);
	if ((s->refused_by_run || found->left_out) &&
	    store_event_add(&s->store, s->job.id, s->run.id, "resume", t.data, &err))
		supervisor_log(s, "%s", err.text);
	text_release(&t);
}

/* The command itself may ask for a checkpoint that was there before the job. */
static char *newest_of_any_age(struct supervisor *s)
{
	struct checkpoints found;
	char *newest;

	if (!template_mentions(&s->command.argv, "newest"))
		return NULL;
	supervisor_find_checkpoints(s, NULL, true, &found);
	newest = found.newest;
	found.newest = NULL;
	checkpoints_release(&found);
	return newest;
}

char *supervisor_choose_resume(struct supervisor *s, const char *directory,
			       struct template_values *values)
{
	struct checkpoints found;
	char *newest;
	bool saved;

	supervisor_find_checkpoints(s, NULL, false, &found);
	saved = found.newest || isfinite(found.saved_s);
	if (resumes_from_newest(s) ? found.newest != NULL : saved || saves_elsewhere(s))
		values->resume_args = s->command.resume_args;
	/* runs counts this run */
	if (s->job.progress.runs <= 1)
		values->resume_args = NULL;
	else if (s->command.resume_args && (resumes_from_newest(s) || !values->resume_args))
		tell_choice(s, directory, &found);
	if (values->resume_args) {
		s->run.resumed_from = xstrdup(resumes_from_newest(s) ? found.newest : directory);
		s->first_start_worked = has_worked(s);
	}
	newest = found.newest;
	found.newest = NULL;
	checkpoints_release(&found);
	values->newest = newest = newest ? newest : newest_of_any_age(s);
	return newest;
}

/* The checkpoint before the one that the run could not resume from; NULL: there is none, or it is
 * the one before already, which is tried once. The caller frees. */
static char *former_checkpoint(struct supervisor *s)
{
	struct checkpoints found;
	char *former;

	if (!resumes_from_newest(s) || s->refused_by_run)
		return NULL;
	supervisor_find_checkpoints(s, s->run.resumed_from, false, &found);
	former = found.newest;
	found.newest = NULL;
	checkpoints_release(&found);
	return former;
}

void supervisor_diagnose_resume(struct supervisor *s)
{
	struct run *run = &s->run;
	bool known = run->diagnosis && *run->diagnosis;
	char *log, *words, *text, *former;

	if (s->wait_status < 0 || !run->resumed_from || !s->first_start_worked ||
	    run->out_of_memory || isfinite(run->first_step_s) || run->duration_s > RESUME_S ||
	    run_died_of_cuda(run))
		return;
	log = paths_log(s->paths, s->job.id);
	words = known ? xstrdup(run->diagnosis) : last_words(log, s->log_offset);
	former = former_checkpoint(s);
	run->former_checkpoint = former;
	text = xasprintf("could not resume from %s%s%s; %s%s", run->resumed_from,
			 words ? ": " : "", words ? words : "",
			 former ? "it is tried once from the one before: "
				: "the job is not begun anew, which would overwrite what it saved",
			 former ? former : "");
	supervisor_set_diagnosis(s, text);
	free(former);
	free(text);
	free(words);
	free(log);
}
