/* past.c - jobs and their runs, summed over days, names or workloads. */
#include <math.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "parts.h"
#include "pollux/knowledge.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "pollux/store_runs.h"
#include "pollux/text.h"

const char *const past_key_names[] = { "day", "name", "workload", "group", "user", NULL };

/* --- rows --- */

static struct past_row *row_of(struct past *p, const char *key)
{
	for (int i = p->n - 1; i >= 0; i--)
		if (!strcmp(p->rows[i].key, key))
			return &p->rows[i];
	p->rows = xreallocarray(p->rows, (size_t)p->n + 1, sizeof(*p->rows));
	p->rows[p->n] = (struct past_row){ .key = xstrdup(key) };
	return &p->rows[p->n++];
}

static struct past_row *row_at(struct past *p, const struct job *job, double time_s)
{
	char day[64] = "?", group[32];
	time_t t = (time_t)floor(time_s);
	struct tm tm;

	switch (p->period.by) {
	case PAST_NAME: return row_of(p, job->declared.name);
	case PAST_WORKLOAD: return row_of(p, job->declared.workload);
	case PAST_GROUP:
		snprintf(group, sizeof(group), "group:%lld", (long long)job->group_id);
		return row_of(p, job->group_id ? group : "-");
	case PAST_USER: return row_of(p, p->user);
	case PAST_DAY:
	case N_PAST_KEYS: break;
	}
	if (localtime_r(&t, &tm))
		strftime(day, sizeof(day), "%Y-%m-%d", &tm);
	return row_of(p, day);
}

/* Returns the next midnight, local time. A day may have 23 or 25 hours. */
static double end_of_day(double time_s)
{
	time_t t = (time_t)floor(time_s), next;
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return HUGE_VAL;
	tm.tm_mday++;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	next = mktime(&tm);
	return next > t ? (double)next : HUGE_VAL;
}

static void count_adapted(struct past_row *row, int64_t id)
{
	row->adapted += row->last_adapted != id;
	row->last_adapted = id;
}

static void count_job(struct past *p, struct past_row *row, int64_t id)
{
	if (row->last_job != id)
		row->jobs++;
	row->last_job = id;
	if (p->total.last_job != id)
		p->total.jobs++;
	p->total.last_job = id;
}

/* --- a run --- */

static void add_part(struct past_row *row, const struct run *run, double part, double gain)
{
	double device_s = part * run->duration_s * run->configuration.replicas;

	row->device_s += device_s;
	if (isfinite(run->energy_j)) {
		row->energy_j += part * run->energy_j;
		row->knows_energy = true;
	}
	if (isfinite(run->use.utilization)) {
		double watched_s = part * run->use.watched_s * run->configuration.replicas;

		row->computed_device_s += watched_s * run->use.utilization;
		row->watched_device_s += watched_s;
	}
	if (run->use.memory_bytes > row->used_device_bytes)
		row->used_device_bytes = run->use.memory_bytes;
	row->lost_device_s += part * fmin(run->lost_s, run->duration_s) *
			      run->configuration.replicas;
	if (isfinite(gain)) {
		row->modelled_device_s += device_s;
		row->submitted_device_s += device_s * gain;
	}
}

/* Divides the running time of a run among the days, in proportion to the wall-clock time of the run
 * on each day. */
static void add_run(struct past *p, const struct job *job, const struct run *run, double gain)
{
	int64_t batch_size = configuration_batch_size(&run->configuration);
	double begin_s = run->launch_time_s;
	double end_s = isfinite(run->end_time_s) ? run->end_time_s : p->period.now_s;
	double from_s = fmax(begin_s, p->period.since_s);

	if (!isfinite(begin_s) || !(end_s > begin_s))
		return;
	while (from_s < end_s) {
		double to_s = p->period.by == PAST_DAY ? fmin(end_of_day(from_s), end_s) : end_s;
		struct past_row *row = row_at(p, job, from_s);
		double part = (to_s - from_s) / (end_s - begin_s);

		count_job(p, row, job->id);
		if (batch_size > 0 && batch_size != job->declared.batch.size) {
			count_adapted(row, job->id);
			count_adapted(&p->total, job->id);
		}
		add_part(row, run, part, gain);
		add_part(&p->total, run, part, gain);
		from_s = to_s;
	}
}

/* --- a job --- */

static void add_start(struct past_row *row, const struct job *job)
{
	row->started++;
	row->waited_s += fmax(job->start_time_s - job->submit_time_s, 0);
}

static void add_end(struct past_row *row, const struct job *job)
{
	row->ended[job->state]++;
	if (job->state == JOB_DONE)
		row->completion_s += fmax(job->end_time_s - job->submit_time_s, 0);
}

void past_add(struct past *p, const struct job *job, const struct run *runs, int n_runs,
	      const double *gain)
{
	for (int i = 0; i < n_runs; i++)
		add_run(p, job, &runs[i], gain[i]);
	if (job->start_time_s >= p->period.since_s) {
		add_start(row_at(p, job, job->start_time_s), job);
		add_start(&p->total, job);
	}
	if (job_has_ended(job->state) && job->end_time_s >= p->period.since_s) {
		struct past_row *row = row_at(p, job, job->end_time_s);

		count_job(p, row, job->id);
		add_end(row, job);
		add_end(&p->total, job);
	}
}

static int by_key(const void *a, const void *b)
{
	return strcmp(((const struct past_row *)a)->key, ((const struct past_row *)b)->key);
}

static int by_device_time(const void *a, const void *b)
{
	double x = ((const struct past_row *)a)->device_s;
	double y = ((const struct past_row *)b)->device_s;

	return x > y ? -1 : x < y ? 1 : by_key(a, b);
}

void past_sort(struct past *p)
{
	if (p->n > 0)
		qsort(p->rows, (size_t)p->n, sizeof(*p->rows),
		      p->period.by == PAST_DAY ? by_key : by_device_time);
}

double past_utilization(const struct past_row *row)
{
	return row->watched_device_s > 0 ? row->computed_device_s / row->watched_device_s
					 : (double)NAN;
}

double past_energy_j(const struct past_row *row)
{
	return row->knows_energy ? row->energy_j : (double)NAN;
}

double past_gain(const struct past_row *row)
{
	return row->modelled_device_s > 0 ? row->submitted_device_s / row->modelled_device_s
					  : (double)NAN;
}

void past_release(struct past *p)
{
	for (int i = 0; i < p->n; i++)
		free(p->rows[i].key);
	free(p->rows);
	*p = (struct past){ .n = 0 };
}

/* Reads the jobs of a period with their runs, and what the store knows of their workloads. */

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

/* Reads the gain of a run (view.h). A job with a fixed batch has a gain of 1. */
static int gain_of(struct store *s, const struct job *job, const struct run *run, struct known *k,
		   double *gain, struct err *err)
{
	struct configuration c = run->configuration, submitted;
	struct batch_range own;
	struct job_model m;
	char *workload;
	double was;
	int rc;

	*gain = (double)NAN;
	if (job->declared.batch.size <= 0 || c.local_batch_size <= 0)
		return 0;
	workload = job_knowledge_name(job, run);
	rc = know(s, workload, c.kind, k, err);
	free(workload);
	if (rc)
		return -1;
	knowledge_of_job(&k->knowledge, job, &m);
	if (!m.known)
		return 0;
	own = job->declared.batch;
	own.min = own.max = 0;
	submitted = configuration_spread(&own, configuration_workers(&c));
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

int past_read(struct session *s, const struct past_period *period, struct past *p,
	      struct err *err)
{
	struct known k = { .workload = NULL };
	struct job_list jobs;
	int rc;
	const struct passwd *user;
	struct stat st;

	*p = (struct past){ .period = *period };
	if (stat(s->paths.store, &st))
		st.st_uid = geteuid();
	user = getpwuid(st.st_uid);
	if (user)
		snprintf(p->user, sizeof(p->user), "%.39s", user->pw_name);
	else
		snprintf(p->user, sizeof(p->user), "user %u", (unsigned)st.st_uid);
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
