/* optimus.c - each device to the job whose remaining time it shortens most.
 *
 * Peng et al., "Optimus: An Efficient Dynamic Resource Scheduler for Deep Learning Clusters",
 * EuroSys 2018, in the form that the published simulator of Qiao et al., "Pollux", OSDI 2021,
 * compares with. In the order of their ids the jobs get the fewest devices that they may have,
 * while devices are left. Then, again and again, the job with the largest gain gets its next larger
 * number,
 *
 *	gain = (remaining work / goodput(r) - remaining work / goodput(next)) / (next - r)
 *
 * until no gain is positive. The remaining work of a job is as declared. If it is not known, it is
 * taken for the service that the job has had plus 12 slices, since a job that has run for long will
 * run for long. The policy does not know of restarts. Later jobs wait while there are more jobs
 * than devices. Running jobs that are not preemptible keep what they hold. */
#include <math.h>
#include <stdlib.h>

#include "../claims.h"
#include "../curve.h"
#include "pollux/mem.h"

#define HINT_SLICES 12

/* The gain of the next larger number, *next; 0: no larger number may be given. */
static double gain(const struct curves *curves, const struct claims *claims, int index, int count,
		   int *next)
{
	const struct curve *c = &curves->items[index];
	double length = c->remaining_device_s;

	*next = curve_next(curves, c, count);
	if (!count || !*next || claims->items[index].kind == CLAIM_EXACT)
		return 0;
	if (isnan(length))
		length = curve_service_device_s(c) + HINT_SLICES * curves->slice_s;
	return (length / c->of[count] - length / c->of[*next]) / (*next - count);
}

/* Returns the number of devices left. */
static int give_least(const struct curves *curves, const struct claims *claims, int *count)
{
	int left = curves->n_devices;

	for (int i = 0; i < curves->in->n_jobs; i++)
		if (claims->items[i].kind == CLAIM_EXACT) {
			count[i] = claims->items[i].at;
			left -= count[i];
		}
	for (int i = 0; i < curves->in->n_jobs; i++) {
		const struct curve *c = &curves->items[i];

		if (claims->items[i].kind == CLAIM_EXACT || !c->least || c->least > left)
			continue;
		count[i] = c->least;
		left -= c->least;
	}
	return left;
}

static void give_rest(const struct curves *curves, const struct claims *claims, int left,
		      int *count)
{
	size_t n_jobs = (size_t)curves->in->n_jobs;
	autofree double *gains = xcalloc(n_jobs, sizeof(*gains));
	autofree int *next = xcalloc(n_jobs, sizeof(*next));

	for (int i = 0; i < curves->in->n_jobs; i++)
		gains[i] = gain(curves, claims, i, count[i], &next[i]);
	while (left > 0) {
		int best = -1;

		for (int i = 0; i < curves->in->n_jobs; i++)
			if (gains[i] > 0 && next[i] - count[i] <= left &&
			    (best < 0 || gains[i] > gains[best]))
				best = i;
		if (best < 0)
			break;
		left -= next[best] - count[best];
		count[best] = next[best];
		gains[best] = gain(curves, claims, best, count[best], &next[best]);
	}
}

static void decide_by_gain(const struct sched_input *in, struct sched_choice *choices)
{
	scoped(curves_release) struct curves curves = curves_of(in);
	scoped(claims_release) struct claims claims = claims_of_fixed(&curves);
	autofree int *count = xcalloc((size_t)in->n_jobs, sizeof(*count));

	give_rest(&curves, &claims, give_least(&curves, &claims, count), count);
	choices_of(&curves, count, FACT_EARLIER_HAVE_ALL, choices);
}

const struct policy policy_optimus = {
	.name = "optimus",
	.summary = "each device to the job whose remaining time it shortens most",
	.models_goodput = true, .decide = decide_by_gain,
};
