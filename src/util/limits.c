/* limits.c - the umask, the nice value and the resource limits of a process, as one text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "pollux/mem.h"
#include "pollux/proc.h"
#include "pollux/text.h"

static const struct limit {
	const char *name;
	__rlimit_resource_t resource;
} limits[] = {
	{ "as", RLIMIT_AS }, { "core", RLIMIT_CORE }, { "cpu", RLIMIT_CPU },
	{ "data", RLIMIT_DATA }, { "fsize", RLIMIT_FSIZE }, { "memlock", RLIMIT_MEMLOCK },
	{ "nofile", RLIMIT_NOFILE }, { "nproc", RLIMIT_NPROC }, { "rss", RLIMIT_RSS },
	{ "stack", RLIMIT_STACK },
};
#define N_LIMITS (sizeof(limits) / sizeof(limits[0]))

char *limits_capture(void)
{
	mode_t mask = umask(0);
	struct text t = TEXT_INIT;
	struct rlimit now;

	umask(mask);
	text_addf(&t, "umask=%04o nice=%d", (unsigned)mask, getpriority(PRIO_PROCESS, 0));
	for (size_t i = 0; i < N_LIMITS; i++) {
		if (getrlimit(limits[i].resource, &now))
			continue;
		if (now.rlim_cur == RLIM_INFINITY)
			text_addf(&t, " %s=unlimited", limits[i].name);
		else
			text_addf(&t, " %s=%llu", limits[i].name, (unsigned long long)now.rlim_cur);
	}
	return text_detach(&t);
}

static void apply_limit(const struct limit *limit, const char *value)
{
	struct rlimit now;
	rlim_t wanted = RLIM_INFINITY;

	if (getrlimit(limit->resource, &now))
		return;
	if (strcmp(value, "unlimited") != 0)
		wanted = (rlim_t)strtoull(value, NULL, 10);
	now.rlim_cur = wanted < now.rlim_max ? wanted : now.rlim_max;
	setrlimit(limit->resource, &now);
}

static void apply_setting(const char *name, const char *value)
{
	if (!strcmp(name, "umask"))
		umask((mode_t)strtoul(value, NULL, 8) & 0777);
	else if (!strcmp(name, "nice"))
		setpriority(PRIO_PROCESS, 0, (int)strtol(value, NULL, 10));
	for (size_t i = 0; i < N_LIMITS; i++)
		if (!strcmp(name, limits[i].name))
			apply_limit(&limits[i], value);
}

const char *limits_for_all(void)
{
	static const struct {
		const char *option;
		__rlimit_resource_t resource;
	} hard[] = {
		{ "-v", RLIMIT_AS }, { "-t", RLIMIT_CPU }, { "-d", RLIMIT_DATA },
		{ "-f", RLIMIT_FSIZE },
	};
	struct rlimit now;

	for (size_t i = 0; i < sizeof(hard) / sizeof(hard[0]); i++)
		if (getrlimit(hard[i].resource, &now) == 0 && now.rlim_max != RLIM_INFINITY)
			return hard[i].option;
	return NULL;
}

void limits_apply(const char *text)
{
	char *copy = xstrdup(text ? text : ""), *save = NULL;

	for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			continue;
		*equals = '\0';
		apply_setting(word, equals + 1);
	}
	free(copy);
}
