/* selection_agree.c - the jobs of a selection, shown to a person: who is asked before several jobs
 * are changed, what shells complete, and which one of several is meant. */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "commands.h"
#include "pollux/clock.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

#define MOST_SHOWN 20
#define MOST_OFFERED 200

/* "     17  running  lr-0.1" */
static int list_job(struct store *s, int64_t id, struct err *err)
{
	struct job job;

	if (store_job_get(s, id, &job, err))
		return -1;
	fprintf(stderr, "%6lld  %-9s  ", (long long)id, job_state_name(job.state));
	output_clean(stderr, job.declared.name);
	fputc('\n', stderr);
	job_release(&job);
	return 0;
}

static int list_jobs(struct store *s, const struct id_list *ids, struct err *err)
{
	for (int i = 0; i < ids->count && i < MOST_SHOWN; i++)
		if (list_job(s, ids->items[i], err))
			return -1;
	if (ids->count > MOST_SHOWN)
		fprintf(stderr, "        and %d more\n", ids->count - MOST_SHOWN);
	return 0;
}

int selection_agree(const struct selecting *what, struct store *s, const struct id_list *ids,
		    struct err *err)
{
	const char *name = what->command->name;
	char answer[16] = "";

	if (ids->count < 2 || selection_is_spelt_out(what))
		return 0;
	if (list_jobs(s, ids, err))
		return -1;
	if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
		return err_set(err, EX_FAILED, "%s these %d jobs? they were not given by number: "
			       "add --yes to go on; nothing was done", name, ids->count);
	fprintf(stderr, "%s these %d jobs? [y/N] ", name, ids->count);
	if (fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y'))
		return 0;
	return err_set(err, EX_FAILED, "nothing was done");
}

static int print_candidates(struct store *s, enum job_use use, struct err *err)
{
	struct job_query query = { .since_wall_s = NAN, .use = use };
	struct id_list ids;
	struct job job;
	int rc = store_jobs_select(s, &query, &ids, err);

	for (int i = ids.count - 1; rc == 0 && i >= 0 && i >= ids.count - MOST_OFFERED; i--) {
		rc = store_job_get(s, ids.items[i], &job, err);
		if (rc)
			break;
		printf("%lld ", (long long)job.id);
		output_clean(stdout, job.declared.name);
		printf(", %s\n", job_state_name(job.state));
		job_release(&job);
	}
	id_list_release(&ids);
	return rc;
}

int selection_print_candidates(enum job_use use, struct err *err)
{
	struct session s;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return err->exit_status == EX_NOINPUT ? 0 : -1;
	rc = print_candidates(&s.store, use, err);
	session_close(&s);
	return rc;
}

static int say_which(struct store *s, int64_t id, const char *which, struct err *err)
{
	struct job job;

	if (store_job_get(s, id, &job, err))
		return -1;
	fprintf(stderr, "pollux: job %lld (", (long long)id);
	output_clean(stderr, job.declared.name);
	fprintf(stderr, ")%s\n", which);
	job_release(&job);
	return 0;
}

int selection_read_one(const struct selecting *what, struct store *s, enum which_job which,
		       int64_t *id, struct err *err)
{
	struct id_list ids;
	int64_t ran = 0;
	int rc;

	if (selection_read(what, s, &ids, err))
		return -1;
	rc = which != JOB_NEWEST && (ids.count > 1 || what->n_operands == 0)
		? store_job_ran_last(s, &ids, which == JOB_RAN_OR_STARTS, &ran, err) : 0;
	*id = ran ? ran : ids.items[ids.count - 1];
	if (rc == 0 && (ids.count > 1 || what->n_operands == 0))
		rc = say_which(s, *id, !ran ? ", the newest"
				       : which == JOB_RAN_OR_STARTS ? ", the last to start"
								    : ", which ran last", err);
	id_list_release(&ids);
	return rc;
}

/* --- the work that a running job would lose if it were stopped now --- */

static double running_s(const struct run *run)
{
	if (isfinite(run->launch_boot_s) && run_is_of_this_boot(run))
		return fmax(run_clock_s(run, clock_boot_s()) - run->launch_boot_s, 0);
	return run->duration_s;
}

static bool saved_in_this_run(const struct run *run)
{
	return isfinite(run->checkpoint_boot_s) && run->checkpoint_boot_s > run->launch_boot_s &&
	       run_is_of_this_boot(run);
}

/* A program whose GPU memory is in the host's may not get its GPU back before it is stopped. */
static struct job_loss loss_of_frozen(const struct run *run)
{
	double saved_s = saved_in_this_run(run) ? run->checkpoint_boot_s : run->launch_boot_s;

	return (struct job_loss){ fmax(run_clock_s(run, clock_boot_s()) - saved_s, 0),
		"is suspended without its GPU memory, and may not be able to save" };
}

static struct job_loss loss_of_run(const struct job *job, const struct run *run)
{
	if (job_may_be_preempted(job, run) && run->freeze_state == FREEZE_FROZEN)
		return loss_of_frozen(run);
	if (job_may_be_preempted(job, run))
		return (struct job_loss){ .work_s = NAN };
	if (!saved_in_this_run(run))
		return (struct job_loss){ running_s(run),
			isfinite(job->progress.checkpoint_samples)
				? "has saved nothing since its last launch" : "has saved nothing" };
	if (job->declared.preemption == PREEMPT_SAVED)
		return (struct job_loss){ running_s(run), "was never seen to resume" };
	return (struct job_loss){
		fmax(run_clock_s(run, clock_boot_s()) - run->checkpoint_boot_s, 0),
		"has saved nothing since its last checkpoint" };
}

int job_loss_of(struct session *s, const struct job *job, struct job_loss *loss, struct err *err)
{
	struct run_list runs;

	*loss = (struct job_loss){ .work_s = NAN };
	if (job->profile || job->state != JOB_RUNNING)
		return 0;
	if (store_runs_active_of(&s->store, job->id, &runs, err))
		return -1;
	for (int i = 0; i < runs.count; i++) {
		const struct run *run = &runs.items[i];

		if (run->state == RUN_RUNNING && run->stop_reason == STOP_NONE)
			*loss = loss_of_run(job, run);
	}
	run_list_release(&runs);
	return 0;
}
