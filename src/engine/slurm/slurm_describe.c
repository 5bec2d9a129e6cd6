/* slurm_describe.c - what Slurm says of a run. */
#include <stdlib.h>
#include <string.h>

#include "../local/run_log.h"
#include "slurm.h"

static bool says_nothing(const char *text)
{
	return !*text || !strcmp(text, "None") || !strcmp(text, "N/A");
}

void slurm_describe(const struct engine_context *at, const struct run *run, struct text *out)
{
	const struct slurm_queue *q;
	const struct slurm_job *job;
	struct slurm_handle h;

	slurm_handle_parse(run->handle ? run->handle : "", &h);
	q = h.job ? slurm_queue() : NULL;
	if (h.job)
		text_addf(out, "job %lld of Slurm", (long long)h.job);
	job = q ? slurm_queued_job(at, run) : NULL;
	if (job)
		text_addf(out, ": %s", job->state);
	if (job && !says_nothing(job->reason))
		text_addf(out, ", %s", job->reason);
	if (job && !strcmp(job->state, "PENDING") && !says_nothing(job->start))
		text_addf(out, "; expected to start at %s", job->start);
	if (q && !q->known)
		text_addf(out, "; %s", q->err.text);
	else if (q && !job)
		text_add(out, ", which squeue no longer lists");
	slurm_handle_release(&h);
}

/* The last line that is not empty is "srun: Job 12 step creation temporarily disabled, retrying
 * (Requested nodes are busy)": srun says so once, after a minute, and waits. text is changed. */
static bool ends_in_busy_srun(char *text)
{
	const char *line, *srun;
	size_t n = strlen(text);

	while (n > 0 && strchr(" \r\n", text[n - 1]))
		text[--n] = '\0';
	line = strrchr(text, '\n');
	srun = strstr(line ? line + 1 : text, "srun: ");
	return srun && strstr(srun, "step creation ") && strstr(srun, "disabled, retrying (");
}

const char *slurm_stuck(const struct engine_context *at, const struct run *run)
{
	char *path = paths_log(at->paths, run->job_id), tail[2048];
	size_t n = run->state == RUN_RUNNING ? log_tail(path, 0, tail, sizeof(tail) - 1) : 0;

	tail[n] = '\0';
	free(path);
	return strlen(tail) == n && ends_in_busy_srun(tail)
		? "its srun starts nothing: Slurm says that the nodes are busy, as other steps "
		  "of its job have them" : NULL;
}
