/* kinds.c - the kinds of the usable devices, and which of them a job must not have. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "stages.h"

int kind_named(const struct decision *d, const char *name)
{
	for (int k = 0; k < d->n_kinds; k++)
		if (!d->kinds[k].name || !strcmp(d->kinds[k].name, name))
			return k;
	return -1;
}

static bool is_slot(const struct device *device)
{
	return strncmp(device->id, "cpu:", 4) == 0;
}

static int64_t size_of(const struct device *device)
{
	return is_slot(device) ? device->cores : device->memory_bytes;
}

/* Where nobody asked for sizes of slots, sizes differ by chance: such slots are of one kind. */
bool kinds_are_told_apart(const struct snapshot *s)
{
	return s->devices.count > 0 && (!is_slot(&s->devices.items[0]) ||
					s->config->slots >= DEVICE_SLOTS_OF_TWO_SIZES);
}

void find_kinds(const struct snapshot *s, struct decision *d)
{
	d->n_kinds = 0;
	/* Kinds with more memory come first: policies take the first where nothing else decides. */
	for (int i = 0; kinds_are_told_apart(s) && i < s->devices.count; i++) {
		const struct device *device = &s->devices.items[i];
		int k = d->n_kinds;

		if (!d->usable[i] || k == SCHED_KINDS || kind_named(d, device->kind) >= 0)
			continue;
		for (; k > 0 && d->kinds[k - 1].memory_bytes < device->memory_bytes; k--)
			d->kinds[k] = d->kinds[k - 1];
		d->kinds[k] = (struct device_kind){
			.name = device->kind, .memory_bytes = device->memory_bytes,
			.size = size_of(device),
		};
		d->n_kinds++;
	}
	for (int i = 0; kinds_are_told_apart(s) && i < s->devices.count; i++) {
		d->kind_of[i] = d->usable[i] ? kind_named(d, s->devices.items[i].kind) : -1;
		if (d->kind_of[i] >= 0) {
			d->kinds[d->kind_of[i]].n++;
		} else if (d->usable[i]) {
			d->usable[i] = false;
			d->n_usable--;
		}
	}
	if (d->n_kinds > 1)
		return;
	memset(d->kind_of, 0, (size_t)s->devices.count * sizeof(*d->kind_of));
	d->kinds[0] = (struct device_kind){ .n = d->n_usable };
	d->n_kinds = 1;
}

/* --- --kind and --not-kind --- */

bool waits_for_kind(const struct snapshot *s, const struct job *job, struct decision *d)
{
	const struct declaration *declared = &job->declared;

	if (!declared->kind && !declared->not_kind)
		return false;
	for (int i = 0; i < s->devices.count; i++)
		if (d->usable[i] && declaration_wants_kind(declared, s->devices.items[i].kind))
			return false;
	pass_over(d, job, (struct fact){
		FACT_NO_KIND, .n = (declared->kind ? 1 : 0) + (declared->not_kind ? 2 : 0),
	});
	return true;
}

/* --- memory --- */

bool ran_out_on(const struct snapshot *s, const struct job *job, const char *plan,
		const char *kind)
{
	for (int i = 0; i < s->ran_out.count; i++) {
		const struct ran_out *r = &s->ran_out.items[i];

		if (r->job_id == job->id && (!plan || !strcmp(r->plan, plan)) &&
		    !strcmp(r->kind, kind))
			return true;
	}
	return false;
}

/* True if some legal sizes are not known to be too large on the kind. */
static bool sizes_are_left(const struct snapshot *s, const struct candidate *candidate,
			   const char *kind)
{
	const struct job *job = candidate->job;
	const struct declaration *declared = &job->declared;
	const struct workload *w = workloads_find(&s->workloads, declared->workload, kind);
	int r = declared->min_replicas;
	struct configuration c;
	int64_t too_large, limit;

	if (candidate->plans)
		return plan_is_left(s, candidate, kind);
	if (declared->batch.size == 0)
		return !ran_out_on(s, job, NULL, kind);
	too_large = w ? sizes_too_large(&w->k.memory, &w->k.failed, r) : 0;
	/* A run may have worked for a while before its memory ran out. Then its sizes are not known
	 * to be too large, and another run on this kind would get the same sizes. */
	if (too_large == 0)
		return !ran_out_on(s, job, NULL, kind);
	c = configuration_spread(&declared->batch, r);
	limit = sizes_limit(&w->k.memory, &w->k.failed, r);
	return c.local_batch_size < too_large ||
	       (limit > 0 && configuration_within(&declared->batch, r, limit, &c));
}

/* True if the kind has as many devices as the job needs. */
static bool is_enough(const struct decision *d, int j, int kind)
{
	return d->kinds[kind].n >= d->candidates[j].job->declared.min_replicas;
}

/* The kinds whose memory is too small for the job, and all kinds that are no larger. If this would
 * bar every kind, none is barred. */
static unsigned too_small(const struct snapshot *s, const struct decision *d, int j,
			  unsigned barred)
{
	unsigned small = 0, all = (1U << d->n_kinds) - 1;
	int64_t most = -1;

	for (int k = 0; k < d->n_kinds; k++)
		if (!is_enough(d, j, k))
			barred |= 1U << k;
	for (int k = 0; k < d->n_kinds; k++)
		if (!sizes_are_left(s, &d->candidates[j], d->kinds[k].name)) {
			small |= 1U << k;
			if (d->kinds[k].size > most)
				most = d->kinds[k].size;
		}
	for (int k = 0; k < d->n_kinds && most > 0; k++)
		if (d->kinds[k].size <= most)
			small |= 1U << k;
	return (small | barred) == all ? 0 : small;
}

bool has_larger_kind(const struct decision *d, int j, const struct device *device)
{
	for (int k = 0; k < d->n_kinds; k++)
		if (d->kinds[k].size > size_of(device) && is_enough(d, j, k) &&
		    declaration_wants_kind(&d->candidates[j].job->declared, d->kinds[k].name))
			return true;
	return false;
}

void bar_kinds(const struct snapshot *s, struct decision *d)
{
	for (int j = 0; d->kinds[0].name && j < d->n; j++) {
		struct candidate *c = &d->candidates[j];
		struct sched_job *job = &d->sched_jobs[j];
		int own = run_of(c) ? kind_named(d, run_of(c)->devices[0].kind) : -1;
		unsigned barred = 0;

		job->kind = c->run && own >= 0 ? own : 0;
		for (int k = 0; k < d->n_kinds; k++)
			if (!declaration_wants_kind(&c->job->declared, d->kinds[k].name))
				barred |= 1U << k;
		/* a run that is suspended instead of relaunched stays on its kind */
		if (own >= 0 && c->suspends)
			barred = ~(1U << own);
		else
			c->too_small = too_small(s, d, j, barred);
		for (int k = 0; k < d->n_kinds; k++)
			job->offers[k].barred = (barred | c->too_small) >> k & 1;
	}
}

void explain_kinds(const struct snapshot *s, struct decision *d)
{
	(void)s;
	for (int j = 0; j < d->n; j++) {
		unsigned here = d->candidates[j].too_small & ((1U << d->n_kinds) - 1);

		if (here && d->choices[j].replicas == 0)
			verdict_put_first(&d->choices[j].verdict, (struct fact){
				FACT_KINDS_TOO_SMALL, .n = (int)here, .kinds = d->input.kinds,
			});
	}
}

double *lower_offers(struct decision *d, int j, int kind)
{
	struct sched_offers *offers = &d->sched_jobs[j].offers[kind];
	size_t n = (size_t)offers->n + 1;
	double **lowered;

	if (!offers->goodput[0])
		return NULL;
	lowered = &d->candidates[j].on_kind[kind].ways[0].goodput;
	if (!*lowered) {
		*lowered = xcalloc(n, sizeof(**lowered));
		memcpy(*lowered, offers->goodput[0], n * sizeof(**lowered));
		offers->goodput[0] = *lowered;
	}
	return *lowered;
}

void kind_views_free(struct kind_view *views, int n_kinds)
{
	for (int k = 0; views && k < n_kinds; k++) {
		if (views[k].owns_table)
			goodput_table_free(views[k].table);
		for (int way = 0; way < SCHED_WAYS; way++) {
			free(views[k].ways[way].goodput);
			free(views[k].ways[way].host_bytes);
			free(views[k].ways[way].plan);
		}
	}
	free(views);
}
