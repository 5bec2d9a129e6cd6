/* cmd_run.c - pollux run: a command in the foreground, with devices of its own for a limited time.
 *
 * The command is a job like any other, except for the column "interactive": this process holds a
 * lock for the job (lock.h), and begins the run that a pass assigns. */
#include <stdlib.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/environment.h"
#include "pollux/clock.h"
#include "pollux/engine.h"
#include "pollux/lock.h"

struct run_asked {
	struct asked job;
	bool quiet;
};

#define O(member) offsetof(struct run_asked, member)

static const struct option_spec options[] = {
	{ "time", 't', OPTION_DURATION, "TIME", O(job.declared.time_limit_s), 1, 1e9, .help =
	  "how long, 45m or 1h; default, and at most, the setting interactive_limit" },
	{ "replicas", 'r', OPTION_INT, "N", O(job.declared.min_replicas), 1, 1024, .help =
	  "devices; default 1", .target = FIELD_INT },
	{ "stop-signal", 0, OPTION_SIGNAL, "SIGNAL", O(job.declared.stop_signal), .help =
	  "asks the program to leave; default HUP" },
	{ .name = "declared", .type = OPTION_DECLARED, O(job), .uses = FOR_RUN },
	{ "quiet", 'q', OPTION_FLAG, NULL, O(quiet), .help = "say nothing of the wait" },
	{ .name = NULL },
};

/* Bounds the time of the job, and puts it into the store, where this process holds its lock. */
static int insert(struct front *t, struct job *job, const struct job_command *command,
		  struct err *err)
{
	struct declaration *d = &job->declared;
	struct dependency_list none = { 0 };
	struct config config;

	if (config_load(&config, t->s.paths.config, err))
		return -1;
	if (config.slurm)
		return err_set(err, EX_CONFIG, "runs are jobs of Slurm (engine = slurm), which "
			       "have no terminal: use submit, or srun --pty");
	if (d->time_limit_s > config.interactive_limit_s)
		output_messagef("its time is %s, the interactive_limit, not %s",
				format_duration(config.interactive_limit_s).s,
				format_duration(d->time_limit_s).s);
	if (!(d->time_limit_s <= config.interactive_limit_s))
		d->time_limit_s = config.interactive_limit_s;
	job->submit_time_s = clock_wall_s();
	if (store_begin(&t->s.store, err))
		return -1;
	if (store_job_insert(&t->s.store, job, command, &none, err) == 0) {
		/* before the commit, because a pass ends an interactive job whose lock is free */
		t->lock = job_lock_take(&t->s.paths, JOB_LOCK_INTERACTIVE, job->id, err);
		if (t->lock >= 0)
			return store_commit(&t->s.store, err);
		if (t->lock == LOCK_HELD)
			err_set(err, EX_TEMPFAIL, "somebody holds the lock of job %lld",
				(long long)job->id);
	}
	store_rollback(&t->s.store);
	return -1;
}

static int add_job(struct front *t, struct run_asked *o, char **argv, struct err *err)
{
	struct job_command command = { 0 };
	struct job job;
	int rc;

	job_init(&job);
	o->job.no_preempt = true;
	rc = submission_command(&cmd_run, &o->job, argv, &command, err) ||
	     submission_job(&cmd_run, &o->job, &command, &job, err) ||
	     submit_open(&t->s, err) ? -1 : 0;
	if (rc == 0) {
		environment_add_terminal(environ, &command.env);
		job.declared.max_replicas = job.declared.min_replicas;
		job.interactive = true;
		rc = insert(t, &job, &command, err);
		if (rc) {
			session_close(&t->s);
		} else {
			submit_tell(&t->s, &job, &command);
			submit_tell_braces(&o->job, &job, &command, NULL, false);
		}
	}
	t->job_id = job.id;
	job_command_release(&command);
	job_release(&job);
	return rc;
}

/* Removes the job from the queue. If the store cannot be written, the free lock tells the next pass
 * to do so. */
static void take_back(struct front *t)
{
	struct engine_context at = { .paths = &t->s.paths, .store = &t->s.store };
	struct run_list runs = { 0 };
	struct job job;
	struct err err;

	if (!t->s.store.db || store_begin(&t->s.store, &err))
		return;
	if (store_job_get(&t->s.store, t->job_id, &job, &err)) {
		store_rollback(&t->s.store);
		return;
	}
	if (job_has_ended(job.state) || cancel_job(&t->s, &job, NULL, &runs, &err) ||
	    store_commit(&t->s.store, &err))
		store_rollback(&t->s.store);
	for (int i = 0; i < runs.count; i++)
		engine_wake(&at, &runs.items[i]);
	run_list_release(&runs);
	job_release(&job);
}

static int tell_end(struct front *t, struct err *err)
{
	struct job job;

	if (store_job_get(&t->s.store, t->job_id, &job, err))
		return -1;
	output_messagef("job %lld has ended before it ran: %s", (long long)job.id,
			*job.reason ? job.reason : job_state_name(job.state));
	job_release(&job);
	return STATUS_NOT_RUN_TO_END;
}

/* A run that could not be started goes back to the queue. */
static int wait_and_run(struct front *t, int *signal_number, struct err *err)
{
	int64_t run_id;
	int status = -1;

	while (status < 0) {
		if (front_wait(t, &run_id, signal_number, err))
			return -1;
		if (*signal_number)
			break;
		if (!run_id)
			return tell_end(t, err);
		status = front_run(t, run_id, signal_number, err);
		if (status < 0 && *err->text)
			return -1;
		if (status < 0 && *signal_number)
			break;
		front_nap(NULL, 0, status < 0 ? 0.1 : 0);
	}
	return status;
}

static int take_turn(struct front *t, struct err *err)
{
	int signal_number = 0, status = wait_and_run(t, &signal_number, err);
	struct paths paths;
	struct err ignored;

	front_show(t, NULL);
	if (status < 0)
		take_back(t);
	close(t->lock);
	job_lock_remove(&t->s.paths, JOB_LOCK_INTERACTIVE, t->job_id);
	session_close(&t->s);
	free(t->shown);
	if ((status < 0 || status == STATUS_NOT_RUN_TO_END) && paths_init(&paths, &ignored) == 0) {
		later_pass_start(&paths);
		paths_release(&paths);
	}
	if (status < 0 && signal_number)
		front_die(signal_number);
	return status;
}

static int main_run(int argc, char **argv, struct err *err)
{
	struct run_asked o = { .quiet = false };
	struct front t = { .lock = -1 };
	int first, rc;

	asked_init(&o.job);
	/* heeded by programs at a terminal; shells ignore SIGTERM */
	o.job.declared.stop_signal = SIGHUP;
	rc = options_parse(&cmd_run, argc, argv, &o, &first, err);
	if (rc == 0 && first >= argc)
		rc = usage_error(&cmd_run, err, "no command to run");
	if (rc == 0)
		rc = add_job(&t, &o, argv + first, err);
	options_release(&cmd_run, &o);
	if (rc)
		return rc;
	t.quiet = o.quiet;
	front_catch_signals();
	return take_turn(&t, err);
}

const struct command cmd_run = {
	.name = "run", .synopsis = "[OPTION]... [--] COMMAND [ARGUMENT]...",
	.summary = "run a command on devices of its own, here and now",
	.example = "pollux run --time 1h -- bash\n"
		   "pollux run -r 2 -- python -m pdb train.py",
	.options = options, .runs_program = true, .run = main_run,
};
