/* past_read.c - reads the jobs of a period with their runs, and what the store knows of their
 * workloads. */
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/knowledge.h"
#include "pollux/mem.h"
#include "pollux/past.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"

/* The knowledge of the workload and kind of the run that was read last. It is kept, because jobs of
 * one workload often follow each other. */
struct known {
	char *workload, *kind;	/* owned; NULL: none yet */
	struct knowledge knowledge;
};

static void known_release(struct known *k)
{
	if (k->workload)
		knowledge_release(&k->knowledge);
	free(k->workload);
	free(k->kind);
	*k = (struct known){ .workload = NULL };
}

static int know(struct store *s, const char *workload, const char *kind, struct known *k,
		struct err *err)
{
	if (k->workload && !strcmp(k->workload, workload) && !strcmp(k->kind, kind))
		return 0;
	known_release(k);
	if (knowledge_load(s, workload, kind, &k->knowledge, err))
		return -1;
	k->workload = xstrdup(workload);
	k->kind = xstrdup(kind);
	return 0;
}

/* Reads the gain of a run (past.h). A job with a fixed batch has a gain of 1. */
static int gain_of(struct store *s, const struct job *job, const struct run *run, struct known *k,
		   double *gain, struct err *err)
{
	struct configuration c = run->configuration, submitted;
	struct job_model m;
	char *workload;
	double was;
	int rc;

	*gain = (double)NAN;
	if (job->declared.batch_size <= 0 || c.local_batch_size <= 0)
		return 0;
	workload = job_knowledge_name(job, run);
	rc = know(s, workload, c.kind, k, err);
	free(workload);
	if (rc)
		return -1;
	knowledge_of_job(&k->knowledge, job, &m);
	if (!m.known)
		return 0;
	submitted = configuration_spread(job->declared.batch_size, configuration_workers(&c),
					 job->declared.max_local_batch_size, 0, 0);
	configuration_widen(&submitted, c.width);
	submitted.nodes = c.nodes;
	was = goodput_choice_of(&m.goodput, submitted).goodput;
	if (was > 0)
		*gain = goodput_choice_of(&m.goodput, c).goodput / was;
	return 0;
}

static int add_job(struct session *s, struct past *p, const struct job *job, struct known *k,
		   struct err *err)
{
	struct run_list runs;
	double *gain;
	int rc = store_runs_of_job(&s->store, job->id, &runs, err);

	if (rc)
		return rc;
	gain = xcalloc((size_t)runs.count + 1, sizeof(*gain));
	for (int i = 0; i < runs.count && rc == 0; i++)
		rc = gain_of(&s->store, job, &runs.items[i], k, &gain[i], err);
	if (rc == 0)
		past_add(p, job, runs.items, runs.count, gain);
	free(gain);
	run_list_release(&runs);
	return rc;
}

/* Names the user to whom the file of the store belongs. */
static void name_user(const struct session *s, struct past *p)
{
	const struct passwd *user;
	struct stat st;

	if (stat(s->paths.store, &st))
		st.st_uid = geteuid();
	user = getpwuid(st.st_uid);
	if (user)
		snprintf(p->user, sizeof(p->user), "%.39s", user->pw_name);
	else
		snprintf(p->user, sizeof(p->user), "user %u", (unsigned)st.st_uid);
}

int past_read(struct session *s, const struct past_period *period, struct past *p,
	      struct err *err)
{
	struct known k = { .workload = NULL };
	struct job_list jobs;
	int rc;

	*p = (struct past){ .period = *period };
	name_user(s, p);
	if (store_jobs_list(&s->store, JOBS_RECENT, period->since_s, &jobs, err))
		return -1;
	rc = 0;
	for (int i = 0; i < jobs.count && rc == 0; i++)
		rc = add_job(s, p, &jobs.items[i], &k, err);
	known_release(&k);
	job_list_release(&jobs);
	past_sort(p);
	if (rc)
		past_release(p);
	return rc;
}
