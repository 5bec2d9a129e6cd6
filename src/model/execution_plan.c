/* execution_plan.c - parses what --plan declares; the names of a workload under its plans. */
#include "pollux/execution_plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

#define NAME_LETTERS "abcdefghijklmnopqrstuvwxyz0123456789._-"

static int check_name(const char *what, const char *name, size_t length, struct err *err)
{
	if (length < 1 || length >= CONFIGURATION_PLAN_SIZE || strspn(name, NAME_LETTERS) < length)
		return err_set(err, EX_USAGE, "%s of a plan is 1 to %d of a-z 0-9 . _ -, not "
			       "'%.*s'", what, CONFIGURATION_PLAN_SIZE - 1, (int)length, name);
	return 0;
}

#define WIDTH_MARK 'w'		/* in a hash: the number of devices of a replica follows */

static int parse_number(const struct execution_plan *p, const char *key, const char *text,
			int most, int *number, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	long value = digits > 0 && digits < 6 ? strtol(text, NULL, 10) : 0;

	*number = (int)value;
	if (value < 1 || value > most || (text[digits] != '=' && text[digits] != ','))
		return err_set(err, EX_USAGE, "plan '%s': %s is a number from 1 to %d, not "
			       "'%.*s'", p->name, key, most, (int)strcspn(text, "=,"), text);
	return 0;
}

/* Returns the value if text begins with "KEY=", else NULL. */
static const char *value_after_key(const char *text, const char *key)
{
	size_t length = strlen(key);

	return strncmp(text, key, length) == 0 && text[length] == '=' ? text + length + 1 : NULL;
}

/* Parses one attribute, and moves *text behind its value. */
static int parse_attribute(struct execution_plan *p, const char **text, struct err *err)
{
	const char *value, *start = *text;
	int rc;

	if ((value = value_after_key(start, "group"))) {
		size_t length = strcspn(value, "=,");

		rc = check_name("the group", value, length, err);
		if (rc == 0)
			memcpy(p->group, value, length);
	} else if ((value = value_after_key(start, "width"))) {
		rc = parse_number(p, "width", value, EXECUTION_PLAN_WIDTH_MAX, &p->width, err);
	} else if ((value = value_after_key(start, "cores"))) {
		rc = parse_number(p, "cores", value, EXECUTION_PLAN_CORES_MAX, &p->cores, err);
	} else {
		return err_set(err, EX_USAGE, "plan '%s': an attribute is width=N, cores=N or "
			       "group=NAME, not '%.40s'", p->name, start);
	}
	*text = value + strcspn(value, "=,");
	return rc;
}

/* The hash of the arguments is 64-bit FNV-1a, folded. */
static int parse_plan(const char *text, struct execution_plan *p, struct err *err)
{
	size_t length = strcspn(text, ":=");
	uint64_t hash = 0xcbf29ce484222325;
	char mark;

	if (!text[length])
		return err_set(err, EX_USAGE, "a plan is NAME=ARGS or NAME:KEY=VALUE=ARGS, not "
			       "'%.60s'", text);
	if (check_name("the name", text, length, err))
		return -1;
	memcpy(p->name, text, length);
	text += length;
	for (mark = *text++; mark == ':' || mark == ','; mark = *text++)
		if (parse_attribute(p, &text, err))
			return -1;
	if (mark != '=')
		return err_set(err, EX_USAGE, "plan '%s' lacks the '=' before its arguments",
			       p->name);
	p->args = xstrdup(text);
	for (const char *c = text; *c; c++)
		hash = (hash ^ (unsigned char)*c) * 0x100000001b3;
	snprintf(p->hash, sizeof(p->hash), "%08x", (unsigned)(hash ^ hash >> 32));
	if (p->width > 1)
		snprintf(p->hash + 8, sizeof(p->hash) - 8, "%c%d", WIDTH_MARK, p->width);
	return 0;
}

int execution_plans_parse(const char *text, struct execution_plans *plans, struct err *err)
{
	autofree char *copy = text ? xstrdup(text) : NULL;
	char *rest = copy, *line;
	int rc = 0;

	*plans = (struct execution_plans){ 0 };
	while (rc == 0 && (line = strsep(&rest, "\n"))) {
		struct execution_plan p = { .width = 1 };

		rc = parse_plan(line, &p, err);
		if (rc == 0 && execution_plans_find(plans, p.name))
			rc = err_set(err, EX_USAGE, "two plans have the name '%s'", p.name);
		if (rc == 0 && plans->count == EXECUTION_PLANS_MAX)
			rc = err_set(err, EX_USAGE, "more than %d plans", EXECUTION_PLANS_MAX);
		if (rc) {
			free(p.args);
			break;
		}
		plans->items = xgrow(plans->items, plans->count, sizeof(p));
		plans->items[plans->count++] = p;
	}
	if (rc)
		execution_plans_release(plans);
	return rc;
}

void execution_plans_release(struct execution_plans *plans)
{
	for (int i = 0; i < plans->count; i++)
		free(plans->items[i].args);
	free(plans->items);
	*plans = (struct execution_plans){ 0 };
}

const struct execution_plan *execution_plans_find(const struct execution_plans *plans,
						  const char *name)
{
	for (int i = 0; i < plans->count; i++)
		if (!strcmp(plans->items[i].name, name))
			return &plans->items[i];
	return NULL;
}

bool execution_plans_share(const struct execution_plan *a, const struct execution_plan *b)
{
	return strcmp(a->group, b->group) == 0;
}

char *execution_plan_workload(const char *workload, const char *plan, const char *hash)
{
	return *plan ? xasprintf("%s" PLAN_SEPARATOR "%s#%s", workload, plan, hash)
		     : xstrdup(workload);
}

char *execution_plan_workload_of(const char *workload, const char *plans, const char *name)
{
	scoped(execution_plans_release) struct execution_plans all = { 0 };
	const struct execution_plan *plan;
	struct err ignored;

	if (execution_plans_parse(plans, &all, &ignored) || all.count == 0)
		return xstrdup(workload);
	plan = execution_plans_find(&all, name);
	plan = plan ? plan : &all.items[0];
	return execution_plan_workload(workload, plan->name, plan->hash);
}

char *execution_plan_base(const char *workload)
{
	char *base = xstrdup(workload);

	base[strcspn(base, PLAN_SEPARATOR)] = '\0';
	return base;
}

int execution_plan_width(const char *workload)
{
	const char *plan = strstr(workload, PLAN_SEPARATOR);
	const char *hash = plan ? strrchr(plan, '#') : NULL;
	const char *mark = hash ? strchr(hash, WIDTH_MARK) : NULL;
	long width = mark ? strtol(mark + 1, NULL, 10) : 1;

	return width >= 1 && width <= EXECUTION_PLAN_WIDTH_MAX ? (int)width : 1;
}

/* ---- guarantees ---- */

int guarantee_parse(const char *text, struct guarantee *g, struct err *err)
{
	size_t digits = strspn(text, "0123456789");
	const char *plan = text + digits + (text[digits] == ':');
	long n = digits > 0 && digits < 6 ? strtol(text, NULL, 10) : 0;

	*g = (struct guarantee){ .replicas = (int)n };
	if (n < 1 || n > GUARANTEE_MAX_DEVICES || (text[digits] && text[digits] != ':') ||
	    (text[digits] && !*plan))
		return err_set(err, EX_USAGE, "option '--guarantee' is a number of devices from 1 "
			       "to %d, and may name a plan: 2 or 2:dp, not '%.60s'",
			       GUARANTEE_MAX_DEVICES, text);
	if (strlen(plan) >= sizeof(g->plan))
		return err_set(err, EX_USAGE, "option '--guarantee': no plan has the name '%.60s'",
			       plan);
	memcpy(g->plan, plan, strlen(plan) + 1);
	return 0;
}
