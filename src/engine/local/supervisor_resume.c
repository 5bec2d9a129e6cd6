/* supervisor_resume.c - what the job of a run has saved; whether the run is launched to go on from
 * there, and whether it could. */
#include "supervisor_parts.h"

/* --- what the job has saved --- */

/* The start of a run whose steps are not seen: this time of a run that lasted SILENT_RUN_S. */
#define SILENT_START_S 60.0
#define SILENT_RUN_S 600.0
/* If the wall clock and the boot clock differ by more than this over a run, the wall clock was set,
 * and the times of files say nothing. */
#define CLOCKS_DIFFER_S 5.0
/* The clocks of other machines, and of a server of files, may differ by this. */
#define MACHINES_DIFFER_S 60.0

char *supervisor_checkpoint_dir(const struct supervisor *s)
{
	return s->command.checkpoint_dir ? xstrdup(s->command.checkpoint_dir)
					 : paths_checkpoints(s->paths, s->job.id);
}

/* The times in which earlier runs of the job started: what a program writes before its first step
 * is no checkpoint, unless its name says so. The caller frees. */
static struct time_span *starts_of(const struct supervisor *s, const struct run_list *runs, int *n)
{
	struct time_span *starts = xcalloc((size_t)runs->count + 1, sizeof(*starts));
	bool shows_steps = isfinite(s->job.progress.samples) || isfinite(s->job.progress.steps);

	*n = 0;
	/* Where a report said that something was saved, a file is enough. */
	if (isfinite(s->job.progress.checkpoint_samples))
		return starts;
	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i];
		double launch_s = run->launch_time_s, start_s = NAN;
		double differ_s = (run->end_time_s - launch_s) -
				  (run->end_boot_s - run->launch_boot_s);

		if (isfinite(run->first_step_s))
			start_s = run->first_step_s;
		else if (shows_steps && run->outcome == OUTCOME_FAILED && run->exit_code > 0 &&
			 run->duration_s <= RESUME_S)
			start_s = run->duration_s;	/* it failed in its start */
		else if (run->duration_s >= SILENT_RUN_S)
			start_s = SILENT_START_S;
		if (run->state == RUN_ENDED && isfinite(start_s) &&
		    fabs(differ_s) < CLOCKS_DIFFER_S)
			starts[(*n)++] = (struct time_span){ launch_s, launch_s + start_s };
	}
	return starts;
}

/* When the job was first launched, by the wall clock as it is now set: a clock that was set back
 * leaves files that seem older than the job. The job's own directory has only files of the job. */
static double first_launch_s(const struct supervisor *s, const struct run_list *runs)
{
	double first_s = isfinite(s->job.start_time_s) ? s->job.start_time_s
						       : s->job.submit_time_s;
	const struct run *r = &s->run;

	if (!s->command.checkpoint_dir)
		return -INFINITY;
	if (isfinite(r->launch_boot_s))
		first_s = fmin(first_s, clock_wall_s() - (clock_boot_s() - r->launch_boot_s));
	for (int i = 0; i < runs->count; i++) {
		r = &runs->items[i];
		first_s = fmin(first_s, r->launch_time_s);
		if (r->state == RUN_ENDED)
			first_s = fmin(first_s,
				       r->end_time_s - (r->end_boot_s - r->launch_boot_s));
	}
	return supervisor_remote ? first_s - MACHINES_DIFFER_S : first_s;
}

/* Returns the checkpoint that was told last, by this run or one before, as the search in the
 * directory of checkpoints spells it, so that a file has one name, whatever links and dots a
 * program or the option has on the way; the caller frees. */
static char *last_reported(const struct supervisor *s, const struct run_list *runs,
			   const char *directory)
{
	const char *path = s->run.checkpoint_path, *name;
	char *text, *parent, *real, *root, *spelled;
	size_t n;

	for (int i = runs->count; !path && i-- > 0;)
		path = runs->items[i].checkpoint_path;
	if (!path || !*path)
		return NULL;
	text = *path == '/' ? xstrdup(path) : xasprintf("%s/%s", s->command.directory, path);
	for (n = strlen(text); n > 1 && text[n - 1] == '/'; n--)
		text[n - 1] = '\0';
	name = strrchr(text, '/');
	parent = xasprintf("%.*s", (int)(name - text) + (name == text), text);
	real = realpath(parent, NULL);
	root = realpath(directory, NULL);
	n = root ? strlen(root) : 0;
	if (real && root && !strncmp(real, root, n) && strchr("/", real[n]))
		spelled = xasprintf("%s%s%s", directory, real + n, name);
	else
		spelled = xasprintf("%s%s", real && strcmp(real, "/") != 0 ? real : "",
				    real ? name : text);
	free(text);
	free(parent);
	free(real);
	free(root);
	return spelled;
}

/* Adds the checkpoints from which a run of the job could not resume, after which the one before was
 * tried. Returns that run, if none ended after it. */
static const struct run *add_refused(const struct run_list *runs, struct strings *refused)
{
	const struct run *last = NULL;

	for (int i = 0; i < runs->count; i++) {
		const struct run *run = &runs->items[i], *next = NULL;
		struct contents c;
		bool is_last = true;

		if (!run->former_checkpoint || !run->resumed_from ||
		    (contents_of(run->resumed_from, -INFINITY, &c) &&
		     c.changed_s > run->end_time_s))
			continue;
		for (int k = i + 1; k < runs->count; k++) {
			is_last &= runs->items[k].state != RUN_ENDED ||
				   runs->items[k].outcome == OUTCOME_NOT_STARTED;
			if (!next && runs->items[k].resumed_from)
				next = &runs->items[k];
		}
		if (is_last)
			last = run;
		/* If the next one could start, from the checkpoint before, what is wrong is the
		 * checkpoint and not the program. */
		if (is_last || (next && isfinite(next->first_step_s)))
			strings_add(refused, run->resumed_from);
	}
	return last;
}

void supervisor_find_checkpoints(struct supervisor *s, const char *without, bool any_age,
				 struct checkpoints *found)
{
	char *directory = supervisor_checkpoint_dir(s), *reported;
	struct strings refused = { 0 };
	struct run_list runs = { 0 };
	struct checkpoint_query query = {
		.directory = directory, .glob = s->command.checkpoint_glob, .refused = &refused,
	};
	struct time_span *starts;
	const struct run *refusing;

	supervisor_note(s, store_runs_of_job(&s->store, s->job.id, &runs, &s->err));
	refusing = add_refused(&runs, &refused);
	s->resume.refused_by_run = refusing ? refusing->number : 0;
	if (without)
		strings_add(&refused, without);
	starts = starts_of(s, &runs, &query.n_starts);
	query.starts = starts;
	query.reported = reported = last_reported(s, &runs, directory);
	for (int i = 0; i < runs.count; i++)
		query.ranks_vary |= runs.items[i].configuration.replicas !=
				    s->run.configuration.replicas;
	query.since_s = any_age ? -HUGE_VAL : first_launch_s(s, &runs);
	checkpoints_find(&query, found);
	if (found->cut_short)
		supervisor_log(s, "%s has too many files to look at all of them", directory);
	free(starts);
	free(reported);
	free(directory);
	strings_release(&refused);
	run_list_release(&runs);
}

/* --- what the run resumes from --- */

static bool resumes_from_newest(const struct supervisor *s)
{
	return s->command.resume_args && template_text_mentions(s->command.resume_args, "newest");
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

	if (found->newest)
		text_addf(&t, "resumes from %s", shown(found->newest, directory));
	else
		text_add(&t, "nothing to resume from");
	if (s->resume.refused_by_run)
		text_addf(&t, "; run %d could not resume from the one after it",
			  s->resume.refused_by_run);
	if (found->left_out)
		text_addf(&t, "; %s is left out: %s", shown(found->left_out, directory),
			  found->why);
	if (s->resume.refused_by_run || found->left_out)
		supervisor_add_event(s, "resume", t.data);
	text_release(&t);
}

/* The newest checkpoint: as supervisor_find_checkpoints(). The caller frees. */
static char *newest_checkpoint(struct supervisor *s, const char *without, bool any_age)
{
	struct checkpoints found;
	char *newest;

	supervisor_find_checkpoints(s, without, any_age, &found);
	newest = found.newest;
	found.newest = NULL;
	checkpoints_release(&found);
	return newest;
}

char *supervisor_choose_resume(struct supervisor *s, const char *directory,
			       struct template_values *values)
{
	const struct job_command *c = &s->command;
	bool by_newest = resumes_from_newest(s), elsewhere;
	struct run_list runs = { 0 };
	struct checkpoints found;
	const char *from;
	char *newest;

	supervisor_find_checkpoints(s, NULL, false, &found);
	/* a job that reported a checkpoint and uses no directory of pollux's saves elsewhere */
	elsewhere = isfinite(s->job.progress.checkpoint_samples) && !c->checkpoint_dir &&
		    !by_newest && !template_command_mentions(c, "checkpoint");
	if (found.newest || (!by_newest && (isfinite(found.saved_s) || elsewhere)))
		values->resume_args = c->resume_args;
	/* runs counts this run */
	if (s->job.progress.runs <= 1)
		values->resume_args = NULL;
	else if (c->resume_args && (by_newest || !values->resume_args))
		tell_choice(s, directory, &found);
	from = by_newest ? found.newest : directory;
	if (values->resume_args && from) {
		s->run.resumed_from = xstrdup(from);
		supervisor_note(s, store_runs_of_job(&s->store, s->job.id, &runs, &s->err));
		for (int i = 0; i < runs.count; i++)
			s->resume.worked_before |= isfinite(runs.items[i].first_step_s) ||
						   runs.items[i].duration_s >= RESUME_S;
		run_list_release(&runs);
	}
	newest = found.newest;
	found.newest = NULL;
	checkpoints_release(&found);
	/* The command itself may ask for a checkpoint that was there before the job. */
	if (!newest && template_mentions(&c->argv, "newest"))
		newest = newest_checkpoint(s, NULL, true);
	values->newest = newest;
	return newest;
}

void supervisor_diagnose_resume(struct supervisor *s)
{
	struct run *run = &s->run;
	bool known = run->diagnosis && *run->diagnosis;
	char *words, *former;

	if (s->leader.wait_status < 0 || !run->resumed_from || !s->resume.worked_before ||
	    run->out_of_memory || isfinite(run->first_step_s) || run->duration_s > RESUME_S ||
	    run_died_of_cuda(run))
		return;
	words = known ? xstrdup(run->diagnosis)
		      : last_words(s->output.log_path, s->output.log_offset);
	/* the checkpoint before the one that the run could not resume from, which is tried once */
	former = resumes_from_newest(s) && !s->resume.refused_by_run
		? newest_checkpoint(s, run->resumed_from, false) : NULL;
	run->former_checkpoint = former;
	supervisor_set_diagnosis(s, "could not resume from %s%s%s; %s%s", run->resumed_from,
				 words ? ": " : "", words ? words : "",
				 former ? "it is tried once from the one before: "
					: "the job is not begun anew, which would overwrite what "
					  "it saved", former ? former : "");
	free(former);
	free(words);
}
