/* plan_print.c - the actions of a plan in words. */
#include <math.h>

#include "plan.h"

static void describe_devices(const struct action *a, struct text *out)
{
	for (int i = 0; i < a->sizes.configuration.replicas; i++)
		text_addf(out, "%s%s", i > 0 ? "," : "", a->new_run->devices[i].id);
}

/* "batch 64 = 2 * 32 * 1, learning rate * 1; goodput 900 to 1700/s, noise scale 500 (400
 * to 700)" */
static void describe_sizes(const struct sizes *sizes, struct text *out)
{
	text_add(out, "batch ");
	configuration_print(&sizes->configuration, out);
	text_addf(out, ", learning rate * %.3g", sizes->learning_rate_scale);
	if (isnan(sizes->goodput))
		return;
	text_add(out, "; goodput ");
	if (isfinite(sizes->goodput_now))
		text_addf(out, "%.0f to ", sizes->goodput_now);
	text_addf(out, "%.0f/s", sizes->goodput);
	if (isnan(sizes->noise.interval.low))
		return;
	text_add(out, ", noise scale ");
	noise_estimate_print(&sizes->noise, out);
}

static void describe_start(const struct action *a, struct text *out)
{
	describe_devices(a, out);
	text_addf(out, ": %s", a->why);
	if (configuration_batch_size(&a->sizes.configuration) == 0)
		return;
	text_add(out, "; ");
	describe_sizes(&a->sizes, out);
}

void action_describe(const struct action *a, struct text *out)
{
	if (a->kind == ACTION_RESUME) {
		describe_devices(a, out);
		text_addf(out, ": %s", a->why);
	} else if (a->kind == ACTION_START) {
		describe_start(a, out);
	} else if (a->kind == ACTION_CHANGE) {
		text_addf(out, "from batch %lld to ",
			  (long long)configuration_batch_size(&a->run->configuration));
		describe_sizes(&a->sizes, out);
	} else {
		text_add(out, a->why);
	}
}

/* Adds nothing for actions that people are not told of. */
static void print_action(const struct action *a, struct text *t)
{
	long long job = (long long)a->job_id;

	switch (a->kind) {
	case ACTION_END_LOST:
		text_addf(t, "job %lld: run %d was cut off by a reboot", job, a->run->number);
		break;
	case ACTION_END_PROFILE:
		text_addf(t, "job %lld: the profile's process is gone; ending it", job);
		break;
	case ACTION_CANCEL:
		text_addf(t, "job %lld: cancelled: %s", job, a->why);
		break;
	case ACTION_STOP:
		text_addf(t, "stop job %lld (%d device%s): %s", job, a->run->configuration.replicas,
			  a->run->configuration.replicas == 1 ? "" : "s", a->why);
		break;
	case ACTION_SUSPEND:
		text_addf(t, "suspend job %lld (%d device%s): %s", job,
			  a->run->configuration.replicas,
			  a->run->configuration.replicas == 1 ? "" : "s", a->why);
		break;
	case ACTION_RESUME:
		text_addf(t, "resume job %lld on ", job);
		action_describe(a, t);
		break;
	case ACTION_START:
		text_addf(t, "start job %lld on ", job);
		describe_devices(a, t);
		text_addf(t, ": %s", a->why);
		break;
	case ACTION_CHANGE:
		text_addf(t, "change job %lld ", job);
		action_describe(a, t);
		break;
	case ACTION_ADOPT:
		text_addf(t, "job %lld: the supervisor of run %d is gone; "
			  "stopping what is left of it", job, a->run->number);
		break;
	case ACTION_REMARK:
		if (*a->why)
			text_addf(t, "job %lld: %s", job, a->why);
		break;
	case ACTION_BIND:
	case ACTION_CALL_OFF:
	case ACTION_WAKE:
	case ACTION_KEEP_MODEL:
	case ACTION_KEEP_MEMORY:
	case ACTION_FORGET_IGNORED:
	case ACTION_REASON:
	case ACTION_TIER_WAIT:
	case ACTION_TIER_WAITED:
	case ACTION_LAUNCH:
		break;
	}
}

void plan_print(const struct plan *p, struct strings *lines)
{
	for (int i = 0; i < p->count; i++) {
		struct text t = TEXT_INIT;

		print_action(&p->items[i], &t);
		if (t.length > 0)
			strings_add(lines, t.data);
		text_release(&t);
	}
}
