/* selection_agree.c - the jobs of a selection, shown to a person: who is asked before several jobs
 * are changed, what shells complete, and which one of several is meant. */
#include <math.h>
#include <unistd.h>

#include "commands.h"

#define MOST_SHOWN 20
#define MOST_OFFERED 200

int selecting_parse(struct selecting *what, int argc, char **argv, void *target, struct err *err)
{
	int first = 0, rc = options_parse(what->command, argc, argv, target, &first, err);

	what->operands = argv + first;
	what->n_operands = argc - first;
	return rc;
}

/* "     17  running  lr-0.1" */
static int list_jobs(struct store *s, const struct id_list *ids, struct err *err)
{
	struct job job;

	for (int i = 0; i < ids->count && i < MOST_SHOWN; i++) {
		if (store_job_get(s, ids->items[i], &job, err))
			return -1;
		fprintf(stderr, "%6lld  %-9s  ", (long long)job.id,
			job_state_name(job_state_told(&job)));
		output_sayf(stderr, "%s", job.declared.name);
		job_release(&job);
	}
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
		return err_set(err, EX_FAILED, "%s %d jobs? Not all were given by number: "
			       "add --yes to go on; nothing was done", name, ids->count);
	fprintf(stderr, "%s these %d jobs? [y/N] ", name, ids->count);
	if (fgets(answer, sizeof(answer), stdin) && (*answer == 'y' || *answer == 'Y'))
		return 0;
	return err_set(err, EX_FAILED, "nothing was done");
}

int selection_print_candidates(enum job_use use, struct err *err)
{
	struct job_query query = { .since_wall_s = NAN, .use = use };
	struct id_list ids;
	struct session s;
	struct job job;
	int rc;

	if (session_open(&s, STORE_READ, err))
		return err->exit_status == EX_NOINPUT ? 0 : -1;
	rc = store_jobs_select(&s.store, &query, &ids, err);
	for (int i = ids.count - 1; rc == 0 && i >= 0 && i >= ids.count - MOST_OFFERED; i--) {
		rc = store_job_get(&s.store, ids.items[i], &job, err);
		if (rc)
			break;
		printf("%lld ", (long long)job.id);
		output_clean(stdout, job.declared.name);
		printf(", %s\n", job_state_name(job_state_told(&job)));
		job_release(&job);
	}
	id_list_release(&ids);
	session_close(&s);
	return rc;
}

int selection_read_one(const struct selecting *what, struct store *s, enum which_job which,
		       int64_t *id, struct err *err)
{
	bool named = what->n_operands > 0;
	struct id_list ids;
	struct job job;
	int64_t ran = 0;
	int rc = 0;

	if (selection_read(what, s, &ids, err))
		return -1;
	named &= ids.count < 2;
	if (which != JOB_NEWEST && !named)
		rc = store_job_ran_last(s, &ids, which == JOB_RAN_OR_STARTS, &ran, err);
	*id = ran ? ran : ids.items[ids.count - 1];
	id_list_release(&ids);
	if (rc || named)
		return rc;
	if (store_job_get(s, *id, &job, err))
		return -1;
	fprintf(stderr, "pollux: job %lld (", (long long)*id);
	output_clean(stderr, job.declared.name);
	fprintf(stderr, ")%s\n", !ran ? ", the newest"
		: which == JOB_RAN_OR_STARTS ? ", the last to start" : ", which ran last");
	job_release(&job);
	return 0;
}
