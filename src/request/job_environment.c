/* job_environment.c - which variables are missing. */
#include <string.h>

#include "pollux/job_environment.h"

#define MOST_NAMES_BYTES 400

static bool has_variable(const struct strings *env, const char *variable)
{
	size_t n = strcspn(variable, "=");

	for (size_t i = 0; i < env->count; i++)
		if (strcspn(env->items[i], "=") == n && !memcmp(env->items[i], variable, n))
			return true;
	return false;
}

int add_lacking_variables(struct text *t, const struct strings *env, const struct strings *others)
{
	int n = 0, left_out = 0;

	for (size_t i = 0; i < env->count; i++) {
		if (has_variable(others, env->items[i]))
			continue;
		if (t->length > MOST_NAMES_BYTES)
			left_out++;
		else
			text_addf(t, "%s%.*s", n ? ", " : "", (int)strcspn(env->items[i], "="),
				  env->items[i]);
		n++;
	}
	if (left_out)
		text_addf(t, " and %d more", left_out);
	return n;
}
