/* reason.c - the pieces that reasons are made of. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reason.h"

void reason_add(char *reason, const char *format, ...)
{
	size_t length = strlen(reason);
	va_list ap;

	va_start(ap, format);
	vsnprintf(reason + length, SCHED_REASON_SIZE - length, format, ap);
	va_end(ap);
}

void reason_add_text(char *reason, const char *text)
{
	size_t length = strlen(reason), room = SCHED_REASON_SIZE - 1 - length;
	size_t n = strnlen(text, room);

	memcpy(reason + length, text, n);
	reason[length + n] = '\0';
}

/* Writes the digits of n, at least so many, before end; returns the first one. */
static char *digits_before(char *end, uint64_t n, int least)
{
	char *first = end;

	for (; n || least > 0; n /= 10, least--)
		*--first = (char)('0' + n % 10);
	return first;
}

void reason_add_number(char *reason, int64_t n)
{
	char digits[24], *first;

	digits[sizeof(digits) - 1] = '\0';
	first = digits_before(digits + sizeof(digits) - 1, n < 0 ? -(uint64_t)n : (uint64_t)n, 1);
	if (n < 0)
		*--first = '-';
	reason_add_text(reason, first);
}

void reason_add_devices(char *reason, int n)
{
	reason_add_number(reason, n);
	reason_add_text(reason, n == 1 ? " device" : " devices");
}

void reason_add_share(char *reason, const struct sched_job *job, int replicas)
{
	reason_add_devices(reason, replicas);
	if (replicas < job->max_replicas)
		reason_add(reason, " (%d to %d asked)", job->min_replicas, job->max_replicas);
}

void reason_begin_kept(char *reason, const struct sched_job *job)
{
	if (!job->preemptible && job->why_kept && job->replicas)
		reason_add_text(reason, "keeps ");
}

void reason_end_kept(char *reason, const struct sched_job *job)
{
	if (job->preemptible)
		return;
	reason_add_text(reason, !job->why_kept ? " to its end: not preemptible"
			       : job->replicas ? ": " : ", not preemptible: ");
	if (job->why_kept)
		reason_add_text(reason, job->why_kept);
}

void reason_add_ordinal(char *reason, int n)
{
	static const char *const suffix[] = { "th", "st", "nd", "rd" };
	int last = n % 10;

	reason_add_number(reason, n);
	reason_add_text(reason, suffix[last > 3 || n / 10 % 10 == 1 ? 0 : last]);
}

/* "2h05m": a number of units, and two digits of the next smaller one. */
static void add_units(char *reason, int64_t large, const char *unit, int64_t small,
		      const char *smaller_unit)
{
	char digits[8] = "";

	reason_add_number(reason, large);
	reason_add_text(reason, unit);
	reason_add_text(reason, digits_before(digits + 7, (uint64_t)small, 2));
	reason_add_text(reason, smaller_unit);
}

void reason_add_duration(char *reason, double seconds)
{
	double x = fmin(fmax(seconds, 0), 1e12);
	double unit = x >= 10 ? pow(10, floor(log10(x)) - 1) : 1;
	int64_t s = (int64_t)(round(x / unit) * unit);	/* two digits */

	if (s < 60) {
		reason_add_number(reason, s);
		reason_add_text(reason, "s");
	} else if (s < 3600) {
		add_units(reason, s / 60, "m", s % 60, "s");
	} else if (s < 86400) {
		add_units(reason, s / 3600, "h", s % 3600 / 60, "m");
	} else {
		add_units(reason, s / 86400, "d", s % 86400 / 3600, "h");
	}
}

void reason_add_jobs(char *reason, const struct job_names *jobs)
{
	long long first = jobs->first[0], second = jobs->first[1];

	if (jobs->n == 1)
		reason_add(reason, "job %lld", first);
	else if (jobs->n == 2)
		reason_add(reason, "jobs %lld and %lld", first, second);
	else if (jobs->n > 2)
		reason_add(reason, "jobs %lld, %lld and %d more", first, second, jobs->n - 2);
}

void reason_add_impossible(char *reason, int min_replicas, int n_devices)
{
	reason_add_text(reason, "needs ");
	reason_add_devices(reason, min_replicas);
	if (n_devices > 0)
		reason_add(reason, "; %d can be used here", n_devices);
	else
		reason_add_text(reason, "; none can be used here");
}

/* --- names of jobs --- */

static int compare_ids(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

struct job_names job_names_of(int64_t *ids, int n)
{
	struct job_names names = { .n = 0 };

	qsort(ids, (size_t)n, sizeof(*ids), compare_ids);
	for (int i = 0; i < n; i++) {
		if (i > 0 && ids[i] == ids[i - 1])
			continue;
		if (names.n < 2)
			names.first[names.n] = ids[i];
		names.n++;
	}
	return names;
}

struct job_names job_names_join(struct job_names a, struct job_names b)
{
	int64_t ids[4];
	struct job_names both;
	int n = 0;

	for (int i = 0; i < a.n && i < 2; i++)
		ids[n++] = a.first[i];
	for (int i = 0; i < b.n && i < 2; i++)
		ids[n++] = b.first[i];
	both = job_names_of(ids, n);
	both.n = a.n + b.n;
	return both;
}

/* --- from a curve --- */

void reason_add_unfit(const struct curves *curves, const struct curve *c, char *reason)
{
	int min = c->job->min_replicas > 1 ? c->job->min_replicas : 1;
	int max = c->job->max_replicas > min ? c->job->max_replicas : min;

	if (min > curves->n_devices) {
		reason_add_impossible(reason, min, curves->n_devices);
		return;
	}
	reason_add_text(reason, "asks for ");
	if (min < max)
		reason_add(reason, "%d to ", min);
	reason_add_devices(reason, max);
	for (int r = min; r <= max && r <= curves->n_devices; r++)
		if (curve_placeable(curves->in, r)) {
			reason_add_text(reason, "; it is known to work on none of these");
			return;
		}
	reason_add(reason, "; on nodes of %d: powers of two that divide it, or whole nodes",
		   curves->in->kinds[0].devices_per_node);
}

void reason_add_devices_at(const struct curves *curves, int at, char *reason)
{
	reason_add_devices(reason, curve_devices_at(curves, at));
	if (curves->n_kinds > 1)
		reason_add(reason, " of %s", curves->kinds[curve_kind_at(curves, at)].name);
}

void reason_add_need(const struct curve *c, double length_device_s, char *reason)
{
	reason_add_text(reason, "needs ");
	reason_add_devices(reason, c->least);
	reason_add_text(reason, isnan(c->remaining_device_s) ? " for an assumed " : " for ");
	reason_add_duration(reason, length_device_s / c->least);
}

void reason_add_gain(const struct curves *curves, const struct curve *c, int at, char *reason)
{
	int more = curve_next(curves, c, at);
	double now = c->of[at], percent;

	if (isnan(c->unit)) {
		reason_add_text(reason, "; goodput not known yet");
		return;
	}
	if (at != c->least_at && c->least == 1)
		reason_add(reason, ": %.1fx of one", now);
	else if (at != c->least_at)
		reason_add(reason, ": %.1fx of %d", now / c->least, c->least);
	if (at != c->least_at && curves->n_kinds > 1)
		reason_add(reason, " %s", curves->kinds[curve_kind_at(curves, c->least_at)].name);
	if (!more)
		return;
	percent = round(100 * (c->of[more] / now - 1));
	if (more == at + 1)
		reason_add_text(reason, "; one more would add ");
	else
		reason_add(reason, "; %d more would add ", more - at);
	if (percent >= 1)
		reason_add(reason, "%.0f %%", percent);
	else
		reason_add_text(reason, "nothing");
}

void reason_choices(const struct curves *curves, const int *at, const char *waits,
		    struct sched_choice *choices)
{
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];
		struct sched_choice *choice = &choices[c->job - curves->in->jobs];

		*choice = (struct sched_choice){
			.replicas = curve_devices_at(curves, at[i]),
			.kind = curve_kind_at(curves, at[i]), .next_start_s = (double)NAN,
		};
		if (at[i]) {
			reason_begin_kept(choice->reason, c->job);
			reason_add_devices_at(curves, at[i], choice->reason);
			reason_end_kept(choice->reason, c->job);
			if (c->job->preemptible)
				reason_add_gain(curves, c, at[i], choice->reason);
		} else if (c->least) {
			reason_add_text(choice->reason, "needs ");
			reason_add_devices(choice->reason, c->least);
			reason_add_text(choice->reason, waits);
		} else {
			reason_add_unfit(curves, c, choice->reason);
		}
	}
}
