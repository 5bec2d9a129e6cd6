/* reason_goodput.c - the sentences of the policy `goodput`: see goodput_line.h. */
#include "reason_curve.h"
#include "goodput_line.h"

void reason_goodput_runs(const struct goodput_decision *d, int index, char *reason)
{
	const struct curve *c = &d->curves->items[index];

	reason_begin_kept(reason, c->job);
	reason_add_devices_at(d->curves, d->at[index], reason);
	reason_end_kept(reason, c->job);
	if (!c->job->preemptible)
		return;
	reason_add_gain(d->curves, c, d->at[index], reason);
	if (d->reconfigure[index])
		reason_add(reason, "; relaunched, as its best configuration adds %.0f %%",
			   100 * (c->of[c->held] / c->now - 1));
}

static void add_keepers(const struct goodput_decision *d, const struct wait *w, char *reason)
{
	reason_add_text(reason, "needs ");
	reason_add_devices(reason, d->curves->items[w->index].least);
	reason_add(reason, " of %d; ", d->curves->n_devices);
	reason_add_jobs(reason, &w->jobs);
	reason_add(reason, ", not preemptible%s, keep%s %d",
		   w->guaranteed ? " or guaranteed" : "", w->jobs.n > 1 ? "" : "s", w->devices);
	if (!w->meanwhile.n)
		return;
	reason_add_text(reason, "; ");
	reason_add_jobs(reason, &w->meanwhile);
	reason_add_text(reason, w->meanwhile.n > 1 ? " run meanwhile" : " runs meanwhile");
}

static void add_overdue(const struct goodput_decision *d, const struct wait *w, char *reason)
{
	reason_add_text(reason, "needs ");
	reason_add_devices(reason, d->curves->items[w->index].least);
	if (d->curves->items[w->index].job->guaranteed) {
		reason_add_text(reason, "; guaranteed");
	} else if (claims_first_rank(&d->curves->items[w->index]) > 0) {
		reason_add_text(reason, "; put first");
	} else {
		reason_add_text(reason, "; waited over ");
		reason_add_duration(reason, d->claims->limits_s[w->index]);
	}
	if (w->kind == WAIT_OVERDUE)
		reason_add_text(reason, ", as those before it");
	else if (w->kind == WAIT_GATHERS)
		reason_add_text(reason, ": gathers devices as slices end");
	else
		reason_add(reason, ": lets job %lld end first", (long long)w->id);
}

static void add_need(const struct goodput_decision *d, const struct wait *w, char *reason)
{
	const struct curve *c = &d->curves->items[w->index];

	reason_add_need(c, worth_length_device_s(d->curves, c), reason);
	reason_add_text(reason, "; ");
}

void reason_goodput_waits(const struct goodput_decision *d, const struct wait *w, char *reason)
{
	if (w->place) {
		reason_add_ordinal(reason, w->place);
		reason_add_text(reason, " in line; ");
	}
	if (w->kind >= WAIT_SLICES)
		add_need(d, w, reason);
	switch (w->kind) {
	case WAIT_IMPOSSIBLE:
		reason_add_unfit(d->curves, &d->curves->items[w->index], reason);
		break;
	case WAIT_KEEPERS:
		add_keepers(d, w, reason);
		break;
	case WAIT_STUCK:
		reason_add(reason, "not preemptible, so not before job %lld", (long long)w->id);
		break;
	case WAIT_OVERDUE:
	case WAIT_GATHERS:
	case WAIT_GATHERS_END:
		add_overdue(d, w, reason);
		break;
	case WAIT_SLICES:
		reason_add_text(reason, "waits for ");
		reason_add_jobs(reason, &w->jobs);
		reason_add_text(reason, w->jobs.n > 1 ? " to end their slices"
						      : " to end its slice");
		break;
	case WAIT_END:
		reason_add(reason, "starts when job %lld ends, or sooner", (long long)w->id);
		break;
	case WAIT_WEIGHT:
		reason_add_text(reason, "jobs of more weight first");
		break;
	case WAIT_SHORTER:
		reason_add_text(reason, "shorter jobs first");
		break;
	case WAIT_SLICE:
		reason_add(reason, "job %lld has its slice", (long long)w->id);
		break;
	case WAIT_OTHERS:
		reason_add_text(reason, "others come first");
		break;
	}
}
