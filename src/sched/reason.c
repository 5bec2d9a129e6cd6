/* reason.c - the pieces that reasons are made of. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
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

void reason_add_devices(char *reason, int n)
{
	reason_add(reason, n == 1 ? "%d device" : "%d devices", n);
}

void reason_add_share(char *reason, const struct sched_job *job, int replicas)
{
	reason_add_devices(reason, replicas);
	if (replicas < job->max_replicas)
		reason_add(reason, " (%d to %d asked)", job->min_replicas, job->max_replicas);
}

void reason_add_ordinal(char *reason, int n)
{
	static const char *const suffix[] = { "th", "st", "nd", "rd" };
	int last = n % 10;

	reason_add(reason, "%d%s", n, suffix[last > 3 || n / 10 % 10 == 1 ? 0 : last]);
}

static double two_digits(double x)
{
	double unit = x >= 10 ? pow(10, floor(log10(x)) - 1) : 1;

	return round(x / unit) * unit;
}

void reason_add_duration(char *reason, double seconds)
{
	double s = two_digits(fmin(fmax(seconds, 0), 1e12));

	if (s < 60)
		reason_add(reason, "%.0fs", s);
	else if (s < 3600)
		reason_add(reason, "%.0fm%02.0fs", floor(s / 60), fmod(s, 60));
	else if (s < 86400)
		reason_add(reason, "%.0fh%02.0fm", floor(s / 3600), floor(fmod(s, 3600) / 60));
	else
		reason_add(reason, "%.0fd%02.0fh", floor(s / 86400), floor(fmod(s, 86400) / 3600));
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
	reason_add(reason, "needs ");
	reason_add_devices(reason, min_replicas);
	if (n_devices > 0)
		reason_add(reason, "; %d can be used here", n_devices);
	else
		reason_add(reason, "; none can be used here");
}
