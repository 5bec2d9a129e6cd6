/* left_out.c - a GPU that the settings leave out has no new runs. The runs that are there stay, and
 * those that are suspended there, which can go on nowhere else, go on one after the other. */
#include <math.h>
#include <stdlib.h>

#include "decision.h"
#include "pollux/mem.h"

static int index_of(const struct snapshot *s, const struct device *wanted)
{
	for (int i = 0; i < s->devices.count; i++)
		if (device_is_same(&s->devices.items[i], wanted))
			return i;
	return -1;
}

/* The first device of the run that is left out; -1: none. */
static int first_left_out(const struct snapshot *s, const struct run *run)
{
	for (int i = 0; i < run->configuration.replicas; i++) {
		int device = index_of(s, &run->devices[i]);

		if (device >= 0 && s->devices.items[device].left_out)
			return device;
	}
	return -1;
}

bool is_bound_to_left_out(const struct snapshot *s, const struct run *run)
{
	return run_is_bound(run) && first_left_out(s, run) >= 0;
}

/* The job of another run that has the device, or gets it in this pass; 0: none. */
static int64_t job_on(const struct snapshot *s, const struct decision *d,
		      const struct device *device)
{
	for (int r = 0; r < s->runs.count; r++)
		for (int i = 0; i < run_held(&s->runs.items[r]); i++)
			if (device_overlaps(&s->runs.items[r].devices[i], device))
				return s->runs.items[r].job_id;
	for (int p = 0; p < d->n_passed_over; p++) {
		const struct run *run = d->passed_over[p].resumes;

		for (int i = 0; run && i < run->configuration.replicas; i++)
			if (device_overlaps(&run->devices[i], device))
				return run->job_id;
	}
	return 0;
}

/* Returns why the run cannot have the device now, for the caller to free; NULL: it can. */
static char *why_not(const struct snapshot *s, const struct decision *d, int i)
{
	const struct device *device = i >= 0 ? &s->devices.items[i] : NULL;
	int64_t job_id = device ? job_on(s, d, device) : 0;

	if (job_id)
		return xasprintf("goes on there after job %lld", (long long)job_id);
	if (device && device_user_worst(&s->users, i))
		return xstrdup("goes on there once other programs have left it");
	if (device && !(s->holds && s->holds[i].job_id) &&
	    (device->left_out ? device->keeps_runs : d->usable[i]))
		return NULL;
	return xasprintf("goes on there once %s can be used", device ? device->name : "each GPU");
}

bool waits_on_left_out(const struct snapshot *s, const struct job *job, const struct run *run,
		       struct decision *d)
{
	const struct device *left_out;
	char *why = NULL, *reason;

	if (!is_suspended(run) || !is_bound_to_left_out(s, run))
		return false;
	left_out = &s->devices.items[first_left_out(s, run)];
	for (int i = 0; !why && i < run->configuration.replicas; i++)
		why = why_not(s, d, index_of(s, &run->devices[i]));
	reason = xasprintf("%s: %s; %s", left_out->name, left_out->reason,
			   why ? why : "goes on there, and nowhere else");
	pass_over(d, job, false, reason, (double)NAN);
	if (!why)
		d->passed_over[d->n_passed_over - 1].resumes = run;
	free(why);
	return true;
}
