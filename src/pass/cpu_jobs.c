/* cpu_jobs.c - jobs without a device, which run beside those that have devices: as many at once as
 * the setting cpu_jobs says, on different cores, as far as the host's memory allows. The policy is
 * not asked about them: none of them takes a device, and none waits for one. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "stages.h"

/* What runs leave to jobs without a device. */
struct room {
	int n, most;			/* jobs that run, and that may run at once */
	int cores;			/* that these jobs have */
	bool *taken;			/* by core: such a job has it */
	bool *used;			/* by core: a run with devices is bound there */
	double bytes;			/* of the host's memory, that all runs need */
	double available_bytes;		/* less what jobs need that start now */
	const struct job *blocked;	/* the first that waits for cores; NULL: none does */
};

/* --- what runs have --- */

static bool lists_overlap(const char *a, const char *b)
{
	long first, last, other_first, other_last;

	while (device_next_span(&a, &first, &last))
		for (const char *q = b; device_next_span(&q, &other_first, &other_last);)
			if (first <= other_last && other_first <= last)
				return true;
	return false;
}

static void mark(const struct snapshot *s, const char *processors, bool *marked)
{
	for (size_t c = 0; c < s->cores.count; c++)
		marked[c] = marked[c] || lists_overlap(s->cores.items[c], processors);
}

/* The host's memory that runs may have together; 0: not known. */
static double memory_of(const struct snapshot *s)
{
	return HOST_MEMORY * (double)s->memory.total_bytes;
}

/* A job that needs more than there is runs when no other does. 0: not known. */
static double need_of(const struct snapshot *s, const struct job *job)
{
	return s->host_needs ? fmin((double)s->host_needs[job - s->jobs.items], memory_of(s)) : 0;
}

static void count_run(const struct snapshot *s, struct decision *d, const struct run *run,
		      struct room *room)
{
	const struct job *job = snapshot_job(s, run->job_id);
	double bytes = fmax(job ? need_of(s, job) : 0, (double)run->peak_memory_bytes);

	room->bytes += bytes;
	if (run_has_no_device(run)) {
		room->n++;
		room->cores += job && job->declared.cpu_cores ? job->declared.cpu_cores : 1;
		mark(s, run->cores, room->taken);
		d->cpu_jobs_bytes += bytes;
		return;
	}
	mark(s, run->cores, room->used);
	for (int i = 0; !run->cores[0] && i < run_held(run); i++) {
		const struct device_backend *backend = device_backend_of(run->devices[i].id);

		if (backend && backend->owns_binding)
			mark(s, run->devices[i].binding, room->used);
	}
}

static struct room find_room(const struct snapshot *s, struct decision *d)
{
	int n_cores = (int)s->cores.count;
	struct room room = {
		.most = s->config->cpu_jobs, .available_bytes = (double)s->memory.available_bytes,
		.taken = xcalloc((size_t)n_cores + 1, sizeof(*room.taken)),
		.used = xcalloc((size_t)n_cores + 1, sizeof(*room.used)),
	};

	if (room.most == CONFIG_CPU_JOBS_AUTO)
		room.most = n_cores > 3 ? n_cores / 2 : 1;
	for (int i = 0; i < s->runs.count; i++)
		count_run(s, d, &s->runs.items[i], &room);
	return room;
}

/* --- who starts --- */

/* The processors of n cores that no other such job has, the last ones first, but before these
 * those to which no run with devices is bound. */
static const char *take_cores(const struct snapshot *s, struct decision *d, struct room *room,
			      int n)
{
	char *list = decision_calloc(d, RUN_CORES_SIZE, 1);
	size_t length = 0;

	for (int used = 0; used < 2; used++)
		for (size_t c = s->cores.count; c-- > 0 && n > 0;) {
			size_t more = strlen(s->cores.items[c]);

			if (room->taken[c] || room->used[c] != used)
				continue;
			room->taken[c] = true;
			n--;
			/* without room for all the job may use any processor */
			if (length + more + 2 > RUN_CORES_SIZE)
				return decision_calloc(d, 1, 1);
			if (length > 0)
				list[length++] = ',';
			memcpy(list + length, s->cores.items[c], more);
			length += more;
		}
	return list;
}

/* True if the job cannot start. *why: why not. */
static bool waits(const struct snapshot *s, const struct room *room, const struct job *job,
		  struct fact *why)
{
	int cores = job->declared.cpu_cores, here = (int)s->cores.count;
	double needs = need_of(s, job), most = memory_of(s);

	if (s->config->slurm)
		*why = (struct fact){ .kind = FACT_CPU_SLURM };
	else if (cores > here)
		*why = (struct fact){ FACT_CPU_TOO_FEW, .n = cores, .of = here };
	else if (room->n >= room->most)
		*why = (struct fact){ FACT_CPU_JOBS, .n = room->n, .of = room->most };
	else if (room->blocked)
		*why = (struct fact){ FACT_CPU_BEHIND, .job = room->blocked->id };
	else if (room->cores + cores > here)
		*why = (struct fact){ FACT_CPU_CORES, .n = cores, .devices = room->cores,
				      .of = here };
	else if (needs > 0 && room->bytes + needs > most)
		*why = (struct fact){ FACT_HOST_MEMORY, .bytes = { needs, most, room->bytes } };
	else if (needs > room->available_bytes)
		*why = (struct fact){ FACT_MEMORY_FREE,
				      .bytes = { needs, room->available_bytes, 0 } };
	else
		return false;
	return true;
}

/* A job that waits for cores is not passed by others, which would take each core that becomes free
 * before it; one that waits for memory is. */
static void settle(const struct snapshot *s, struct decision *d, const struct job *job,
		   struct room *room)
{
	struct fact why = { FACT_WITHOUT_DEVICE, .n = job->declared.cpu_cores };

	if (waits(s, room, job, &why)) {
		pass_over(d, job, why);
		if (why.kind == FACT_CPU_CORES)
			room->blocked = job;
		return;
	}
	pass_over(d, job, why)->processors = take_cores(s, d, room, job->declared.cpu_cores);
	room->n++;
	room->cores += job->declared.cpu_cores;
	room->bytes += need_of(s, job);
	room->available_bytes -= need_of(s, job);
	d->cpu_jobs_bytes += need_of(s, job);
}

/* Jobs that were put first, then those of more weight, then the earlier ones. */
static int by_turn(const void *a, const void *b)
{
	const struct job *x = *(const struct job *const *)a, *y = *(const struct job *const *)b;

	if (x->declared.first_rank != y->declared.first_rank)
		return x->declared.first_rank > y->declared.first_rank ? -1 : 1;
	if (x->declared.weight > y->declared.weight || x->declared.weight < y->declared.weight)
		return x->declared.weight > y->declared.weight ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* A job with devices waits if it does not fit beside those without. The policy is told what these
 * leave, but a job that needs more than that would run alone there. */
static void keep_memory(const struct snapshot *s, struct decision *d)
{
	double left = memory_of(s) - d->cpu_jobs_bytes;
	int kept = 0;

	if (!policy_heeds_memory(s) || !(d->cpu_jobs_bytes > 0))
		return;
	for (int j = 0; j < d->n; j++) {
		const struct candidate *c = &d->candidates[j];
		double needs = need_of(s, c->job);

		if (run_of(c) || c->job->declared.plans || needs <= left)
			keep_candidate(d, j, &kept);
		else
			pass_over(d, c->job, (struct fact){
				FACT_HOST_MEMORY,
				.bytes = { needs, memory_of(s), d->cpu_jobs_bytes },
			});
	}
	d->n = kept;
}

void admit_cpu_jobs(const struct snapshot *s, struct decision *d)
{
	const struct job **line;
	struct room room;
	int n = 0, kept = 0;

	if (s->cores.count == 0 || s->weighs_only)
		return;
	line = xcalloc((size_t)d->n + 1, sizeof(const struct job *));
	for (int j = 0; j < d->n; j++)
		if (d->candidates[j].job->declared.cpu_cores && !run_of(&d->candidates[j]))
			line[n++] = d->candidates[j].job;
		else
			keep_candidate(d, j, &kept);
	d->n = kept;
	qsort(line, (size_t)n, sizeof(const struct job *), by_turn);
	room = find_room(s, d);
	for (int i = 0; i < n; i++)
		settle(s, d, line[i], &room);
	keep_memory(s, d);
	free(line);
	free(room.taken);
	free(room.used);
}
