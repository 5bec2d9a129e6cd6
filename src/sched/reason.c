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

static double two_digits(double x)
{
	double unit = x >= 10 ? pow(10, floor(log10(x)) - 1) : 1;

	return round(x / unit) * unit;
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
	int64_t s = (int64_t)two_digits(fmin(fmax(seconds, 0), 1e12));

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
