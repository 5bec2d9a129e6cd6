/* read_jobs.c - what a pass reads of jobs and runs: what runs can do, what jobs need, what is known
 * of those that may share a device; and the disks without room: the store's, on which every run
 * writes its log, and those where jobs save. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/file.h"
#include "pollux/host_cores.h"
#include "pollux/mem.h"
#include "pollux/store_measurements.h"
#include "snapshot.h"

/* Counts windows, up to POOL_WINDOWS, of the runs that can change their configuration while they
 * run. Looks for runs with a program whose suspension leaves a container computing. */
int read_runs(struct store *store, struct snapshot *s, struct err *err)
{
	s->windows = xcalloc((size_t)s->runs.count, sizeof(*s->windows));
	for (int i = 0; i < s->runs.count; i++) {
		const struct run *run = &s->runs.items[i];
		const struct device_backend *backend = device_backend_of(run->devices[0].id);
		const struct engine *engine = engine_of(run);
		struct observation o;

		if (run->state != RUN_ASSIGNED && backend && backend->resident &&
		    engine->container) {
			if (!s->starts_containers)
				s->starts_containers = xcalloc((size_t)s->runs.count,
							       sizeof(*s->starts_containers));
			s->starts_containers[i] = engine->container(run, "", 0) !=
						  CONTAINER_OF_OTHERS;
		}
		if (run->state != RUN_RUNNING || !run->takes_configs)
			continue;
		if (store_observation_get(store, run, &o, err))
			return -1;
		s->windows[i] = (int)(o.n_windows < POOL_WINDOWS ? o.n_windows : POOL_WINDOWS);
	}
	return 0;
}

/* Finds setbacks, the most memory that a run of a waiting job had, and the runs whose work a stop
 * would lose: these could be relaunched, but save nothing when asked to stop, as far as known. A
 * program that does not heed its stop signal cannot save when it gets the signal. */
int read_of_jobs(struct store *store, struct snapshot *s, struct err *err)
{
	s->setbacks = xcalloc((size_t)s->jobs.count, sizeof(*s->setbacks));
	s->loses = xcalloc((size_t)s->runs.count, sizeof(*s->loses));
	s->memory.largest_waiting_bytes = 0;
	for (int i = 0; i < s->jobs.count; i++) {
		const struct job *job = &s->jobs.items[i];
		const struct run *run = snapshot_run_of(s, job);
		int64_t bytes = 0;

		if (run && run->state == RUN_RUNNING && job_may_be_preempted(job, run)) {
			const struct engine *engine = engine_of(run);

			s->loses[run - s->runs.items] =
				job->progress.saves_when_asked == 0 ||
				(engine->dies_of &&
				 engine->dies_of(run, job->declared.stop_signal));
		}
		if (job->progress.launches == 0)
			continue;
		if (!run && store_job_setback(store, job->id, &s->setbacks[i], err))
			return -1;
		if (s->suspends && job->state == JOB_QUEUED &&
		    store_job_peak_memory(store, job->id, &bytes, err))
			return -1;
		if (bytes > s->memory.largest_waiting_bytes)
			s->memory.largest_waiting_bytes = bytes;
	}
	return 0;
}

/* --- what jobs need --- */

/* Asks the store once for each workload, and only where devices have memory of their own. */
int read_device_needs(struct store *store, struct snapshot *s, struct err *err)
{
	if (!s->suspends || s->devices.items[0].memory_bytes == 0)
		return 0;
	s->device_needs = xcalloc((size_t)s->jobs.count, sizeof(*s->device_needs));
	for (int i = 0; i < s->jobs.count; i++) {
		const char *workload = s->jobs.items[i].declared.workload;
		int k = 0;

		while (strcmp(s->jobs.items[k].declared.workload, workload) != 0)
			k++;
		if (k < i)
			s->device_needs[i] = s->device_needs[k];
		else if (store_device_memory(store, workload, &s->device_needs[i], err))
			return -1;
	}
	return 0;
}

static int host_need(struct store *store, const struct snapshot *s, int i, struct err *err)
{
	const struct job *job = &s->jobs.items[i];
	int64_t own = 0, of_workload = 0;
	char *name;
	int rc;

	if (job->declared.memory_limit_bytes > 0) {	/* it can have no more */
		s->host_needs[i] = (int64_t)job->declared.memory_limit_bytes;
		return 0;
	}
	for (int k = 0; k < i; k++)
		if (!(s->jobs.items[k].declared.memory_limit_bytes > 0) &&
		    !job->declared.plans && !s->jobs.items[k].declared.plans &&
		    !strcmp(s->jobs.items[k].declared.workload, job->declared.workload) &&
		    s->jobs.items[k].progress.launches == 0 && job->progress.launches == 0) {
			s->host_needs[i] = s->host_needs[k];
			return 0;
		}
	name = job_knowledge_name(job, NULL);	/* under its last plan, or its first */
	rc = store_share_memory(store, name, &of_workload, err);
	free(name);
	if (rc ||
	    (job->progress.launches > 0 && !job->declared.plans &&
	     store_job_peak_memory(store, job->id, &own, err)))
		return -1;
	s->host_needs[i] = own > of_workload ? own : of_workload;
	return 0;
}

/* False: no job is without a device. */
static bool read_cores(struct snapshot *s)
{
	int i = 0;

	while (i < s->jobs.count && !s->jobs.items[i].declared.cpu_cores)
		i++;
	if (i < s->jobs.count)
		host_cores(&s->cores);
	return i < s->jobs.count;
}

/* Only for jobs without a device, and for the policy that heeds it. */
int read_host_needs(struct store *store, struct snapshot *s, struct err *err)
{
	bool any = read_cores(s) || s->policy == &policy_goodput;

	if (!any || s->memory.total_bytes <= 0)
		return 0;
	s->host_needs = xcalloc((size_t)s->jobs.count, sizeof(*s->host_needs));
	for (int i = 0; i < s->jobs.count; i++)
		if (host_need(store, s, i, err))
			return -1;
	return 0;
}

/* --- jobs that may share a device --- */

#define WORKLOADS_MAX 64	/* of jobs that may share, in one pass; further ones take turns */

int share_workload(const struct snapshot *s, const char *workload)
{
	for (size_t w = 0; w < s->share.workloads.count; w++)
		if (!strcmp(s->share.workloads.items[w], workload))
			return (int)w;
	return -1;
}

/* Running jobs come first: each other job is to be paired with a running one. */
static void name_workloads(struct snapshot *s)
{
	for (int running = 1; running >= 0; running--)
		for (int i = 0; i < s->jobs.count; i++) {
			const struct job *job = &s->jobs.items[i];

			if (job->declared.share && (job->state == JOB_RUNNING) == running &&
			    s->share.workloads.count < WORKLOADS_MAX &&
			    share_workload(s, job->declared.workload) < 0)
				strings_add(&s->share.workloads, job->declared.workload);
		}
}

static int read_run(struct store *store, struct snapshot *s, int r, struct err *err)
{
	const struct run *run = &s->runs.items[r];
	const struct job *job = snapshot_job(s, run->job_id);
	const char *workload = job ? job->declared.workload : NULL;
	size_t n = s->share.workloads.count;

	if (run->configuration.share == 0 || run_held(run) == 0 || !workload)
		return 0;
	for (size_t w = 0; w < n; w++) {
		const char *other = s->share.workloads.items[w], *kind = run->devices[0].kind;
		size_t at = (size_t)r * n + w;

		if (store_share_factor(store, workload, other, kind, &s->share.of_runs[at], err) ||
		    store_share_factor(store, other, workload, kind, &s->share.of_others[at], err))
			return -1;
	}
	return store_share_windows_alone(store, workload, run->devices[0].kind, &s->share.alone[r],
					 err);
}

int read_share(struct store *store, struct snapshot *s, struct err *err)
{
	bool own = s->devices.count > 0 && s->devices.items[0].memory_bytes > 0;
	size_t n, n_runs = (size_t)s->runs.count;

	name_workloads(s);
	n = s->share.workloads.count;
	if (n == 0)
		return 0;
	s->share.need_bytes = xcalloc(n, sizeof(*s->share.need_bytes));
	s->share.of_runs = xcalloc(n * n_runs + 1, sizeof(*s->share.of_runs));
	s->share.of_others = xcalloc(n * n_runs + 1, sizeof(*s->share.of_others));
	s->share.alone = xcalloc(n_runs + 1, sizeof(*s->share.alone));
	for (int r = 0; r < s->runs.count; r++)
		if (read_run(store, s, r, err))
			return -1;
	for (size_t w = 0; w < n; w++) {
		const char *workload = s->share.workloads.items[w];
		int64_t bytes;

		if (own ? store_device_memory(store, workload, &bytes, err)
			: store_share_memory(store, workload, &bytes, err))
			return -1;
		s->share.need_bytes[w] = bytes > 0 ? (double)bytes : (double)NAN;
	}
	return 0;
}

/* --- disks --- */

/* The disks that were looked at: several jobs may use one. */
struct looked {
	dev_t device;
	char *why;			/* owned; NULL: there is room */
};

struct looks {
	struct looked *items;
	int count;
};

/* Looks at the directory, or the nearest one above it that exists. False: there is none. */
static bool stat_nearest(char *path, struct stat *st)
{
	while (stat(path, st)) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return stat("/", st) == 0;
		*slash = '\0';
	}
	return true;
}

/* Returns why no run may save in the part of the directory; NULL: there is room, or nothing is
 * known. The result is the caller's. */
static char *look_at_disk(struct looks *all, const char *dir, const char *part)
{
	char *path = xasprintf("%s%s", dir, part);
	const char *why = NULL;
	struct stat st;

	if (stat_nearest(path, &st)) {
		int i = 0;

		while (i < all->count && all->items[i].device != st.st_dev)
			i++;
		if (i == all->count) {
			struct text full = TEXT_INIT;
			bool is_full = disk_nearly_full(*path ? path : "/", &full);

			all->items = xgrow(all->items, all->count, sizeof(*all->items));
			all->items[all->count++] = (struct looked){
				st.st_dev, is_full ? xstrdup(full.data) : NULL,
			};
			text_release(&full);
		}
		why = all->items[i].why;
	}
	free(path);
	return why ? xstrdup(why) : NULL;
}

int read_disks(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	struct job_directory_list dirs;
	struct looks all = { 0 };

	if (store_checkpoint_dirs(at->store, &dirs, err))
		return -1;
	s->disk_full = look_at_disk(&all, at->paths->dir, "");
	if (!s->disk_full)
		s->disk_full = look_at_disk(&all, at->paths->dir, "/logs");
	s->checkpoints_full = look_at_disk(&all, at->paths->dir, "/checkpoints");
	s->job_disks = xcalloc((size_t)dirs.count + 1, sizeof(*s->job_disks));
	for (int i = 0; i < dirs.count; i++)
		s->job_disks[s->n_job_disks++] = (struct job_disk){
			dirs.items[i].job_id, look_at_disk(&all, dirs.items[i].path, ""),
		};
	job_directory_list_release(&dirs);
	for (int i = 0; i < all.count; i++)
		free(all.items[i].why);
	free(all.items);
	return 0;
}

static int compare_job_disk(const void *key, const void *item)
{
	const int64_t *id = key;
	const struct job_disk *disk = item;

	return (*id > disk->job_id) - (*id < disk->job_id);
}

const char *snapshot_full_disk(const struct snapshot *s, const struct job *job)
{
	const struct job_disk *own = s->n_job_disks == 0 ? NULL :
		bsearch(&job->id, s->job_disks, (size_t)s->n_job_disks, sizeof(*own),
			compare_job_disk);

	return own ? own->full : s->checkpoints_full;
}
