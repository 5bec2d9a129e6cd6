/* profile_command.c - pollux profile COMMAND, and pollux profile ID. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/command.h"
#include "pollux/config.h"
#include "pollux/engine.h"
#include "pollux/explain.h"
#include "pollux/pass.h"
#include "pollux/profile.h"
#include "pollux/report.h"
#include "pollux/step_stats.h"
#include "pollux/store.h"
#include "pollux/template.h"
#include "submit.h"

/* --- interruption --- */

static volatile sig_atomic_t interruptions, last_signal;
static bool stop_was_said;

static void count_signal(int signal_number)
{
	interruptions = interruptions + 1;
	last_signal = signal_number;
}

static int count_interruptions(void)
{
	return interruptions;
}

/* Catch the signals that interrupt a profile. SIGHUP stays ignored under nohup(1). */
static void catch_signals(void)
{
	struct sigaction action = { .sa_handler = count_signal }, hangup;

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, NULL, &hangup);
	if (hangup.sa_handler != SIG_IGN)
		sigaction(SIGHUP, &action, NULL);
}

/* --- progress, on a terminal --- */

static void add_time(struct text *t, const struct profile_progress *p)
{
	double half_width = steady_half_width(p->observation);

	if (!p->launched) {
		text_add(t, "starts");
		return;
	}
	if (!(p->observation->step_time_s > 0)) {
		text_add(t, "warms up");
		return;
	}
	text_addf(t, "%s", format_span(p->observation->step_time_s).s);
	if (isfinite(half_width))
		text_addf(t, " +- %.1f %%", 100 * half_width);
}

static void add_point(struct text *t, const struct profile_progress *p)
{
	const struct configuration *c = &p->choice->configuration;

	text_addf(t, "point %d: %d device%s", p->n_points + 1, c->replicas, plural(c->replicas));
	if (configuration_batch_size(c) > 0)
		text_addf(t, ", batch %lld", (long long)configuration_batch_size(c));
	text_add(t, ": ");
	if (isfinite(p->stops_in_s))
		text_add(t, "stops");
	else
		add_time(t, p);
	text_addf(t, "; %s left", format_duration(fmax(p->left_s, 0)).s);
}

/* Shows the progress. In a pipe only the stop of the profile is told, because the person who
 * stopped it may have to wait for a minute. */
static void show_progress(const struct profile_progress *p, void *arg)
{
	bool stops = p->interrupted && isfinite(p->stops_in_s);
	struct text t = TEXT_INIT;

	(void)arg;
	if (stops)
		text_addf(&t, "stopping (up to %s); once more leaves that to pollux",
			  format_duration(fmax(p->stops_in_s, 0)).s);
	else
		add_point(&t, p);
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "\r\033[K%.*s", terminal_width(stderr) - 1, t.data);
	else if (stops && !stop_was_said)
		output_message(t.data);
	stop_was_said = stops;
	fflush(stderr);
	text_release(&t);
}

/* --- showing --- */

static int show_report(struct session *s, int64_t job_id, const struct profile_options *o,
		       struct err *err)
{
	struct output out = output_stdout(o->color);
	struct profile_report report;
	int rc = 0;

	if (profile_report_read(s, job_id, &report, err))
		return -1;
	if (o->json)
		profile_report_print_json(&report, stdout);
	else
		profile_report_print(&report, &out);
	if (o->plot)
		rc = explanation_draw(&report.e, o->plot, err);
	profile_report_release(&report);
	return rc;
}

/* --- measuring --- */

/* Say which sizes cannot be tried, because of what was declared. */
static void note_limits(const struct job *job)
{
	if (job->declared.batch.size == 0)
		output_message("note: without --batch it is measured at its own size only, and no "
			       "model comes of it");
	else if (job->declared.max_replicas == 1 && job->declared.batch.max == 0 &&
		 !job->declared.batch.accumulates)
		output_message("note: without --batch-range, --replicas, {gpus} or {accum} it is "
			       "measured at its own size only");
}

/* Says what happens if the program ignores POLLUX_CHECKPOINT_DIR, since pollux cannot see whether
 * it does. */
static void note_command(const struct job_command *command)
{
	if (template_mentions(&command->argv, "checkpoint"))
		return;
	output_message("note: its command has no {checkpoint}: unless it heeds "
		       "POLLUX_CHECKPOINT_DIR, it writes checkpoints where it always does");
}

/* Says which templates are missing for the sizes that were asked for: pollux cannot see whether the
 * program takes its sizes from the environment, and if it does not, all points have one size. */
static void note_sizes(const struct job *job, const struct job_command *command)
{
	const struct strings *argv = &command->argv;

	if (job->declared.batch.max > 0 && !template_mentions(argv, "batch") &&
	    !template_mentions(argv, "local_batch"))
		output_message("note: its command has no {batch} or {local_batch}: unless it heeds "
			       "POLLUX_BATCH or POLLUX_LOCAL_BATCH, it does the same at every "
			       "size");
	if (job->declared.max_replicas != 1 && !template_mentions(argv, "gpus") &&
	    !template_mentions(argv, "replicas"))
		output_message("note: its command has no {gpus}: unless it heeds POLLUX_REPLICAS, "
			       "it does the same on any number of devices");
}

/* Starts a pass for jobs that wait for the devices, as supervisors do at the end of a run. Does
 * nothing on a machine that has never had a pass. */
static void run_pass(struct session *s)
{
	struct pass_result result;
	struct config config;
	struct err ignored;

	if (access(s->paths.schedule_lock, F_OK) || session_settings(s, &config, &ignored))
		return;
	pass_run(&s->paths, &config, PASS_ACT, &result, &ignored);
	pass_result_release(&result);
}

static int profile_job(struct session *s, struct job *job, const struct job_command *command,
		       struct profile_settings *settings, struct profile_end *end, struct err *err)
{
	int rc;

	settings->paths = &s->paths;
	settings->interrupted = count_interruptions;
	settings->progress = show_progress;
	catch_signals();
	rc = profile_run(&s->store, job, command, settings, end, err);
	if (isatty(STDERR_FILENO))
		fputs("\r\033[K", stderr);
	return rc;
}

/* The status of a program that the signal ended, with the result so far. */
static int finish_profiling(struct session *s, const struct job *job, const struct profile_end *end,
			    const struct profile_options *o, struct err *err)
{
	int rc = show_report(s, job->id, o, err);

	run_pass(s);
	if (end->abandoned)
		output_messagef("the command still runs: its supervisor stops it, in %s at the "
				"latest, and ends job %lld",
				format_duration(job->declared.grace_s +
						engine_for_new_runs()->kill_wait_s).s,
				(long long)job->id);
	if (rc)
		return rc;
	if (last_signal)
		return 128 + last_signal;
	if (end->cancelled)
		return err_set(err, EX_FAILED, "job %lld was cancelled", (long long)job->id);
	return 0;
}

static int profile(const struct profile_options *o, struct profile_settings *settings,
		   struct job *job, const struct job_command *command, bool notes, struct err *err)
{
	struct profile_end end;
	struct session s;
	int rc;

	if (session_open(&s, STORE_WRITE, err))
		return -1;
	if (notes) {
		note_limits(job);
		note_sizes(job, command);
	}
	if (notes && o->asked.checkpoint_dir)
		output_messagef("note: {checkpoint} and POLLUX_CHECKPOINT_DIR are a directory in "
				"'%s', removed after each point, instead of --checkpoint-dir",
				s.paths.dir);
	rc = session_settings(&s, &settings->config, err);
	if (o->slots > 0)
		settings->config.slots = (int)o->slots;
	if (rc == 0)
		rc = profile_job(&s, job, command, settings, &end, err);
	if (rc == 0)
		rc = finish_profiling(&s, job, &end, o, err);
	else if (job->id)
		run_pass(&s);
	session_close(&s);
	return rc;
}

/* Drops the options about when a job is scheduled and how long it goes on, which do not matter
 * here. */
static void forget_schedule(struct asked *o)
{
	struct asked defaults;

	asked_init(&defaults);
	o->checkpoint_dir = NULL;
	o->hold = false;
	o->declared.retries = defaults.declared.retries;
	o->declared.weight = defaults.declared.weight;
	o->declared.time_limit_s = defaults.declared.time_limit_s;
}

/* Profiles the command as it would be submitted, except that its checkpoints are the profile's
 * own. */
int profile_on_kind(const struct profile_options *o, char **argv, char *kind, bool notes,
		    int64_t *job_id, struct err *err)
{
	struct asked asked = o->asked;
	struct job_command command = { 0 };
	struct job job;
	struct profile_settings settings = {
		.budget_s = o->budget_s, .max_points = (int)o->points,
		.parameters = o->asked.parameters,
	};
	int rc;

	if (getenv("POLLUX_REPORT_SOCKET"))
		return err_set(err, EX_UNAVAILABLE, "a profile cannot be made from within a job");
	forget_schedule(&asked);
	if (kind)
		asked.declared.kind = kind;
	job_init(&job);
	rc = submission_command(&cmd_profile, &asked, argv, &command, err) ||
	     submission_job(&cmd_profile, &asked, &command, &job, err) ? -1 : 0;
	if (rc == 0) {
		/* A total is the work of one run, not of all points together. */
		job.declared.total_samples = (double)NAN;
		if (notes) {
			submit_tell_braces(&asked, &job, &command, NULL, false);
			note_command(&command);
		}
		rc = profile(o, &settings, &job, &command, notes, err);
	}
	*job_id = job.id;
	job_command_release(&command);
	job_release(&job);
	return rc;
}

int profile_command(const struct profile_options *o, char **argv, struct err *err)
{
	int64_t job_id;

	return profile_on_kind(o, argv, NULL, true, &job_id, err);
}

int profile_show(const struct profile_options *o, int64_t job_id, struct err *err)
{
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return -1;
	rc = show_report(&s, job_id, o, err);
	session_close(&s);
	return rc;
}
