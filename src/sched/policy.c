/* policy.c - the table of policies. */
#include <math.h>
#include <string.h>

#include "pollux/policy.h"
#include "pollux/text.h"

const struct policy *const policies[] = {
	&policy_goodput,
	&policy_pollux,
	&policy_sia,
	&policy_optimus,
	&policy_tiresias,
	&policy_srtf,
	&policy_las,
	&policy_fifo,
};
const int n_policies = sizeof(policies) / sizeof(policies[0]);

const struct policy *policy_find(const char *name)
{
	for (int i = 0; i < n_policies; i++)
		if (!strcmp(policies[i]->name, name))
			return policies[i];
	return NULL;
}

double sched_remaining(double total, double done)
{
	if (isnan(total) || done > total * (1 + SCHED_OVERTIME))
		return (double)NAN;
	return fmax(total - done, 0);
}

char *policy_names(void)
{
	struct text t = TEXT_INIT;

	for (int i = 0; i < n_policies; i++)
		text_addf(&t, "%s%s", i == 0 ? "" : i == n_policies - 1 ? " or " : ", ",
			  policies[i]->name);
	return text_detach(&t);
}
