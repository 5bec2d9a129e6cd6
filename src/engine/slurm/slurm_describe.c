/* slurm_describe.c - what Slurm says of a run. */
#include <string.h>

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
