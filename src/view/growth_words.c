/* growth_words.c - what was changed of a program's training, or why nothing is, for a person. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "pollux/status.h"

/* "60,000 " */
static void add_total(struct text *t, const struct job *job)
{
	char digits[32];
	double total = job_total_steps(job);
	int n = total > 0 && total < 1e15
		? snprintf(digits, sizeof(digits), "%lld", (long long)total) : 0;

	for (int i = 0; i < n; i++)
		text_addf(t, "%s%c", i > 0 && (n - i) % 3 == 0 ? "," : "", digits[i]);
	if (n > 0)
		text_add(t, " ");
}

void status_add_veto(struct text *t, const struct job *job)
{
	switch (job_growth_veto(job)) {
	case GROWTH_ALLOWED:
		break;
	case GROWTH_COUNTS_STEPS:
		text_add(t, "counts ");
		add_total(t, job);
		text_add(t, "updates: larger batches would make it longer; pass {steps}, with "
			    "--steps");
		break;
	case GROWTH_END_UNKNOWN:
		text_add(t, "nothing tells yet what ends its training: its batch may grow once an "
			    "epoch has ended, or a total of samples is known (--samples, "
			    "--epochs)");
		break;
	case GROWTH_OPTIMIZER:
		text_addf(t, "no rule is known by which the learning rate of %s follows the batch",
			  optimizer_names_of(job->progress.optimizer));
		if (optimizer_family_of(job->progress.optimizer) != OPTIMIZER_SEARCH)
			text_add(t, "; --lr-rule names one");
		break;
	}
}

/* What the last choice of sizes rested on, as the pass that made it said. */
static void add_noise(struct text *t, const struct event_list *events)
{
	static const char phrase[] = "noise scale ";
	const char *found = NULL;

	for (int i = 0; events && i < events->count; i++) {
		const char *at = strstr(events->items[i].text, phrase);

		if (at && (!strcmp(events->items[i].kind, "assigned") ||
			   !strcmp(events->items[i].kind, "change")))
			found = at;
	}
	if (found)
		text_addf(t, "; %s", found);
}

static void add_change(struct text *t, const struct job *job, const struct run *run)
{
	double own = (double)job->declared.batch_size;
	double batch_size = (double)configuration_batch_size(&run->configuration);
	double scale = run->learning_rate_scale;
	enum lr_rule rule = job_lr_rule(job);
	const char *names = optimizer_names_of(job->progress.optimizer);

	text_addf(t, "batch %.0f -> %.0f, learning rate x %.3g (%s", own, batch_size, scale,
		  lr_rule_name(rule));
	if (*names)
		text_addf(t, ", %s", names);
	text_add(t, ")");
}

/* The gain of these rules is batch / own batch * efficiency. */
static void add_efficiency(struct text *t, const struct job *job, const struct run *run)
{
	double own = (double)job->declared.batch_size, scale = run->learning_rate_scale;
	double batch_size = (double)configuration_batch_size(&run->configuration);
	enum lr_rule rule = job_lr_rule(job);
	double gain = rule == LR_SQRT_GAIN ? scale * scale : scale;

	if (rule == LR_ADASCALE || rule == LR_SQRT_GAIN)
		text_addf(t, "; efficiency %.0f %% of batch %.0f", 100 * gain * own / batch_size,
			  own);
}

void status_add_adapted(struct text *t, const struct job *job, const struct run *run,
			const struct event_list *events)
{
	int64_t now = run ? configuration_batch_size(&run->configuration) : 0;

	if (job_keeps_replicas(job) && job->declared.max_replicas != job->declared.min_replicas &&
	    !job_has_ended(job->state)) {
		text_add(t, "no: counts ");
		add_total(t, job);
		text_add(t, "updates, which each replica makes: more devices would not end it "
			    "sooner; --batch declares a batch that they share");
	}
	if (job->declared.batch_size == 0)
		return;
	if (now > 0 && now != job->declared.batch_size) {
		add_change(t, job, run);
		add_noise(t, events);
		add_efficiency(t, job, run);
	}
	if (job->declared.max_batch_size <= job->declared.batch_size || job_has_ended(job->state) ||
	    job_growth_veto(job) == GROWTH_ALLOWED)
		return;
	text_add(t, t->length ? "; " : "no: ");
	status_add_veto(t, job);
}
