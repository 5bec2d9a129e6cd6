/* reason_curve.c - see reason_curve.h. */
#include <math.h>

#include "reason_curve.h"

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

void reason_add_choice(const struct curves *curves, const struct curve *c, int at,
		       const char *waits, char *reason)
{
	if (!at && !c->least) {
		reason_add_unfit(curves, c, reason);
	} else if (!at) {
		reason_add_text(reason, "needs ");
		reason_add_devices(reason, c->least);
		reason_add_text(reason, waits);
	} else {
		reason_begin_kept(reason, c->job);
		reason_add_devices_at(curves, at, reason);
		reason_end_kept(reason, c->job);
		if (c->job->preemptible)
			reason_add_gain(curves, c, at, reason);
	}
}
