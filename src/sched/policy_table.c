/* policy_table.c - the table of policies, and which of them passes may use. */
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/policy.h"
#include "pollux/text.h"

#define ENTRY(name, use) &policy_##name,
const struct policy *const policies[] = { POLICIES(ENTRY) };
#undef ENTRY
const int n_policies = sizeof(policies) / sizeof(policies[0]);

enum use { USE_SIMULATED, USE_LIVE };

#define ENTRY(name, use) USE_##use,
static const enum use uses[] = { POLICIES(ENTRY) };
#undef ENTRY

const struct policy *policy_find(const char *name)
{
	for (int i = 0; i < n_policies; i++)
		if (!strcmp(policies[i]->name, name))
			return policies[i];
	return NULL;
}

const struct policy *policy_find_live(const char *name, struct err *err)
{
	autofree char *names = NULL;

	for (int i = 0; i < n_policies; i++)
		if (uses[i] == USE_LIVE && !strcmp(policies[i]->name, name))
			return policies[i];
	names = policy_names(true);
	if (policy_find(name))
		err_set(err, EX_CONFIG, "policy '%s' is for 'pollux simulate' alone: use %s", name,
			names);
	else
		err_set(err, EX_CONFIG, "no policy '%.60s': %s", name, names);
	return NULL;
}

/* The last policy is a live one, so that it ends either list. */
char *policy_names(bool live_only)
{
	struct text t = TEXT_INIT;

	for (int i = 0; i < n_policies; i++)
		if (uses[i] == USE_LIVE || !live_only)
			text_addf(&t, "%s%s", !t.length ? "" : i == n_policies - 1 ? " or " : ", ",
				  policies[i]->name);
	return text_detach(&t);
}
