/* decide.c - how many devices each job gets, which ones, and in which configuration it runs on
 * them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/assign.h"
#include "pollux/mem.h"
#include "stages.h"

/* --- devices by name --- */

#define FEW 64		/* devices that are looked at one by one */

static int compare_devices(const struct device *a, const struct device *b)
{
	int order = strcmp(a->node, b->node);

	return order ? order : strcmp(a->id, b->id);
}

static int by_name(const void *a, const void *b)
{
	return compare_devices(*(const struct device *const *)a, *(const struct device *const *)b);
}

int decision_find_device(const struct snapshot *s, const struct decision *d,
			 const struct device *wanted)
{
	int low = 0, high = s->devices.count, i = -1;

	if (!d->by_name)
		i = snapshot_device(s, wanted);
	while (d->by_name && low < high) {
		int middle = (low + high) / 2;

		if (compare_devices(d->by_name[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (d->by_name && low < s->devices.count && device_is_same(d->by_name[low], wanted))
		i = (int)(d->by_name[low] - s->devices.items);
	return i >= 0 && d->usable[i] ? i : -1;
}

/* --- the decision --- */

static struct decision *decision_new(const struct snapshot *s)
{
	struct decision *d = xcalloc(1, sizeof(*d));
	size_t n = (size_t)s->jobs.count, n_devices = (size_t)s->devices.count;

	d->candidates = xcalloc(n, sizeof(*d->candidates));
	d->sched_jobs = xcalloc(n, sizeof(*d->sched_jobs));
	d->choices = xcalloc(n, sizeof(*d->choices));
	d->sizes = xcalloc(n, sizeof(*d->sizes));
	d->places = xcalloc(n, sizeof(*d->places));
	for (size_t j = 0; j < n; j++)
		d->places[j].device = -1;
	d->passed_over = xcalloc(n, sizeof(*d->passed_over));
	d->usable = xcalloc(n_devices, sizeof(*d->usable));
	d->left = xcalloc(n_devices, sizeof(*d->left));
	d->owner = xcalloc(n_devices, sizeof(*d->owner));
	d->kind_of = xcalloc(n_devices, sizeof(*d->kind_of));
	d->n_kinds = 1;		/* until they are told apart */
	for (int i = 0; i < s->devices.count; i++) {
		d->usable[i] = s->devices.items[i].usable;
		d->n_usable += d->usable[i];
		d->n_elsewhere += s->elsewhere && s->elsewhere[i];
	}
	if (n_devices <= FEW)
		return d;
	d->by_name = xcalloc(n_devices, sizeof(const struct device *));
	for (size_t i = 0; i < n_devices; i++)
		d->by_name[i] = &s->devices.items[i];
	qsort(d->by_name, n_devices, sizeof(const struct device *), by_name);
	return d;
}

void decision_free(struct decision *d)
{
	if (!d)
		return;
	tiers_free(d->tiers);
	free(d->bindings);
	for (int k = 0; k < d->n_kinds; k++)
		free(d->kinds[k].by_node);
	free(d->node_of);
	for (int j = 0; j < d->n; j++) {
		kind_views_free(d->candidates[j].on_kind, d->n_kinds);
		job_plans_free(d->candidates[j].plans);
		free(d->candidates[j].guarantee);
	}
	for (int i = 0; i < d->kept.n; i++)
		free(d->kept.items[i]);
	free(d->kept.items);
	dependency_list_release(&d->after);
	free(d->candidates);
	free(d->sched_jobs);
	free(d->choices);
	free(d->sizes);
	free(d->places);
	free(d->passed_over);
	free(d->usable);
	free(d->left);
	free(d->owner);
	free(d->kind_of);
	free(d->by_name);
	free(d);
}

void *decision_calloc(struct decision *d, size_t n, size_t size)
{
	d->kept.items = xgrow(d->kept.items, d->kept.n, sizeof(*d->kept.items));
	return d->kept.items[d->kept.n++] = xcalloc(n, size);
}

bool decision_gives(const struct decision *d, int j, int device)
{
	const struct share_place *place = &d->places[j];

	return d->owner[device] == j || (place->device == device && !place->leaves);
}

int first_device(const struct snapshot *s, const struct decision *d, int j)
{
	int i = 0;

	while (i < s->devices.count - 1 && !decision_gives(d, j, i))
		i++;
	return i;
}

bool comes_back(const struct decision *d, int j)
{
	const struct run *run = d->candidates[j].suspended;

	return run && d->choices[j].replicas == run->configuration.replicas &&
	       !tiers_are_better(d, j);
}

static void mark_held(const struct snapshot *s, const struct decision *d, const struct run *run,
		      int holder_index, int *holder)
{
	for (int i = 0; i < run_held(run); i++) {
		int found = decision_find_device(s, d, &run->devices[i]);

		if (found >= 0)
			holder[found] = holder_index;
	}
}

/* A suspended run comes back to the devices that it had, where their holder leaves them. */
static void mark_former(const struct snapshot *s, const struct decision *d, int j,
			const int *count, int *holder)
{
	const struct run *run = d->candidates[j].suspended;

	for (int i = 0; i < run->configuration.replicas; i++) {
		int found = decision_find_device(s, d, &run->devices[i]);

		if (found >= 0 && (holder[found] == ASSIGN_FREE ||
				   (holder[found] >= 0 && count[holder[found]] == 0)))
			holder[found] = j;
	}
}

/* Assigns devices kind by kind. While one kind is assigned, the others' devices count as not
 * usable. */
static void assign_by_kind(const struct snapshot *s, struct decision *d, const int *holder,
			   const int *count)
{
	size_t n = (size_t)s->devices.count;
	int *own = xcalloc(n, sizeof(*own)), *owner = xcalloc(n, sizeof(*owner));
	int *wanted = xcalloc((size_t)d->n + 1, sizeof(*wanted));

	for (int k = 0; k < d->n_kinds; k++) {
		for (size_t i = 0; i < n; i++)
			own[i] = d->kind_of[i] == k ? holder[i] : ASSIGN_UNUSABLE;
		for (int j = 0; j < d->n; j++)
			wanted[j] = d->choices[j].kind == k ? count[j] : 0;
		assign_devices(s->devices.count, own, d->n + 1, wanted, s->devices.links, owner);
		for (size_t i = 0; i < n; i++)
			if (d->kind_of[i] == k)
				d->owner[i] = owner[i];
	}
	free(own);
	free(owner);
	free(wanted);
}

/* Chooses the devices for the numbers of devices. A run that is being stopped or suspended holds
 * its devices under an index of its own, with a count of 0: devices that are free now go first. */
static void assign(const struct snapshot *s, struct decision *d)
{
	int *holder = xcalloc((size_t)s->devices.count, sizeof(int));
	int *count = xcalloc((size_t)d->n + 1, sizeof(int));

	for (int i = 0; i < s->devices.count; i++)
		holder[i] = d->usable[i] && !d->left[i] && !d->tiers->kept[i] ? ASSIGN_FREE
									      : ASSIGN_UNUSABLE;
	for (int i = 0; i < s->runs.count; i++)
		if (s->runs.items[i].stop_reason != STOP_NONE ||
		    s->runs.items[i].suspension == SUSPENSION_ASKED)
			mark_held(s, d, &s->runs.items[i], d->n, holder);
	for (int j = 0; j < d->n; j++) {
		count[j] = d->choices[j].replicas;
		if (d->candidates[j].run && d->places[j].device < 0)
			mark_held(s, d, d->candidates[j].run, j, holder);
	}
	for (int j = 0; j < d->n; j++)
		if (comes_back(d, j))
			mark_former(s, d, j, count, holder);
	for (int i = 0; i < s->devices.count; i++)
		d->owner[i] = ASSIGN_FREE;
	if (d->n_nodes > 1)
		assign_to_nodes(s, d, holder);
	else
		assign_by_kind(s, d, holder, count);
	free(holder);
	free(count);
}

/* A run that is to have another number of devices, or better joined ones, is relaunched instead, if
 * that is possible. */
bool is_to_be_suspended(const struct decision *d, int j)
{
	const struct candidate *c = &d->candidates[j];
	int replicas = d->choices[j].replicas;

	return c->run && c->suspends && c->run->state == RUN_RUNNING &&
	       (replicas == 0 || !c->relaunchable ||
		(replicas == c->run->configuration.replicas && !tiers_are_better(d, j)));
}

void choose_all_sizes(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; s->devices.count > 0 && j < d->n; j++) {
		const struct run *run = comes_back(d, j) ? d->candidates[j].suspended : NULL;
		struct throughput_place place = { .replicas = d->choices[j].replicas };
		int i = first_device(s, d, j);

		if (!decision_gives(d, j, i))
			continue;
		place.nodes = decision_nodes(d, j, s->devices.count);
		place.tier = place.replicas > 1 && place.nodes == 1 ? tiers_given(s, d, j)
								    : TIER_UNKNOWN;
		d->sizes[j] = run ? sizes_unknown(run->configuration)
				  : choose_sizes(s, d, &d->candidates[j],
						 s->devices.items[i].kind, place);
		if (run)
			d->sizes[j].learning_rate_scale = run->learning_rate_scale;
		d->sizes[j].configuration.tier = place.tier;
	}
}

/* Asks the policy about the jobs that do not wait for a better tier, and the devices that are not
 * kept for those that do. */
static void ask_policy(const struct snapshot *s, struct decision *d)
{
	size_t n = (size_t)d->n_asked + 1;
	struct sched_input asked = d->input;
	struct sched_choice *choices;
	struct sched_job *jobs;
	int n_waiting = 0;

	for (int j = 0; j < d->n_asked; j++)
		n_waiting += d->tiers->holds[j].waits;
	if (n_waiting == 0) {
		policy_decide(s->policy, &asked, false, d->choices);
		return;
	}
	choices = xcalloc(n, sizeof(*choices));
	jobs = xcalloc(n, sizeof(*jobs));
	asked.jobs = jobs;
	asked.n_jobs = 0;
	for (int j = 0; j < d->n_asked; j++)
		if (!d->tiers->holds[j].waits)
			jobs[asked.n_jobs++] = d->sched_jobs[j];
	for (int i = 0; i < s->devices.count; i++)
		if (d->tiers->kept[i])
			asked.kinds[d->kind_of[i]].n_devices--;
	policy_decide(s->policy, &asked, false, choices);
	for (int j = 0, k = 0; j < d->n_asked; j++)
		if (!d->tiers->holds[j].waits)
			d->choices[j] = choices[k++];
	free(choices);
	free(jobs);
}

void decide_and_assign(const struct snapshot *s, struct decision *d)
{
	ask_policy(s, d);
	round_to_nodes(s, d);
	check_guarantees(d);
	assign(s, d);
}

/* The host's memory for jobs with devices: more than 0, which would mean that it is not known. */
static double memory_left(const struct snapshot *s, const struct decision *d)
{
	return fmax(HOST_MEMORY * (double)s->memory.total_bytes - d->cpu_jobs_bytes, 1);
}

void tell_policy(const struct snapshot *s, struct decision *d)
{
	d->input = (struct sched_input){
		.jobs = d->sched_jobs, .n_jobs = d->n_asked, .now_s = s->now_boot_s,
		.slice_s = s->config->slice_s, .ended_device_s = s->ended_device_s,
		.n_ended = s->workload_pasts.n, .brief_device_s = s->brief_device_s,
		.n_kinds = d->n_kinds,
		.memory_bytes = policy_heeds_memory(s) ? memory_left(s, d) : 0,
	};
	for (int k = 0; k < d->n_kinds; k++)
		d->input.kinds[k] = (struct sched_kind){ d->kinds[k].n, 0, d->kinds[k].name };
}

#define STAGE_ENTRY(name) name,
static stage *const stages[] = { STAGES(STAGE_ENTRY) };

struct decision *pass_decide(const struct snapshot *s)
{
	struct decision *d = decision_new(s);

	for (size_t i = 0; s->jobs.count > 0 && i < sizeof(stages) / sizeof(stages[0]); i++)
		stages[i](s, d);
	return d;
}

struct decision *pass_weigh(const struct snapshot *s, int least_devices)
{
	struct decision *d = decision_new(s);

	if (most_devices(d) < least_devices)
		d->n_elsewhere = least_devices - d->n_usable;
	for (size_t i = 0; i == 0 || stages[i - 1] != tell_policy; i++)
		stages[i](s, d);
	return d;
}
