/* ere.c - see ere.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ere.h"

/* Past a bracket expression: after ']', which may stand first, and within [:class:] and the like. */
static const char *skip_bracket(const char *p)
{
	p += p[1] == '^' ? 2 : 1;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		if (*p == '[' && p[1] && strchr(":.=", p[1])) {
			const char end[] = { p[1], ']', '\0' }, *stop = strstr(p + 2, end);

			p = stop ? stop + 1 : p;
		}
		p++;
	}
	return *p ? p + 1 : p;
}

static const char *skip_one(const char *p)
{
	if (*p == '\\' && p[1])
		return p + 2;
	return *p == '[' ? skip_bracket(p) : p + 1;
}

static const char *skip_group(const char *p)
{
	int depth = 0;

	do {
		depth += *p == '(' ? 1 : *p == ')' ? -1 : 0;
		p = skip_one(p);
	} while (*p && depth > 0);
	return p;
}

/* Past "{2,3}"; what only looks like it is passed by its first character. */
static const char *skip_braces(const char *p)
{
	size_t n = strspn(p + 1, "0123456789,");

	return p[1 + n] == '}' ? p + n + 2 : p + 1;
}

/* --- what it costs --- */

static int refuse(const char *ere, const char *why, struct err *err)
{
	return err_set(err, EX_USAGE, "'%.200s' %s", ere, why);
}

/* The copies that the repetition at p makes of what it follows; 1: it is none, or makes none. */
static long copies_at(const char *p)
{
	long n = 1;

	if (*p == '+')
		return 2;
	if (*p != '{' || skip_braces(p) == p + 1)
		return 1;
	for (p++; *p != '}'; p += strspn(p, "0123456789"), p += strspn(p, ","))
		n = strtol(p, NULL, 10) > n ? strtol(p, NULL, 10) : n;
	return n;
}

/* Of a single character they are as many as it says; of a group, or of a repetition, what is in there
 * is copied, too. */
int ere_check(const char *ere, struct err *err)
{
	bool nests = false;
	long all = 1;

	for (const char *p = ere; *p; p = *p == '{' ? skip_braces(p) : skip_one(p)) {
		long n = copies_at(p);

		if (*p == '\\' && isdigit((unsigned char)p[1]))
			return refuse(ere, "has a back-reference, which is not supported", err);
		if (n <= ERE_COPIES)
			all *= nests ? n : 1;
		if (n > ERE_COPIES || all > ERE_COPIES)
			return refuse(ere, "repeats too often what is repeated itself", err);
		nests = strchr("*+?{)", *p) != NULL;
	}
	return 0;
}

/* --- what it always finds --- */

/* The character that stands for itself at p, which is moved on; 0: something else stood there. */
static char literal(const char **p)
{
	const char *at = *p;

	if (*at == '\\' && ispunct((unsigned char)at[1]) && !strchr("<>`'", at[1])) {
		*p = at + 2;
		return at[1];
	}
	*p = *at == '(' ? skip_group(at) : *at == '{' ? skip_braces(at) : skip_one(at);
	return isprint((unsigned char)*at) && !strchr("\\[](){}.*+?^$|", *at) ? *at : '\0';
}

static void keep_longer(char *needle, size_t size, const char *run, size_t n)
{
	if (n > strlen(needle))
		snprintf(needle, size, "%.*s", (int)n, run);
}

void ere_needle(const char *ere, char *needle, size_t size)
{
	char run[64];
	size_t n = 0;

	*needle = '\0';
	for (const char *p = ere; *p;) {
		char c;

		if (*p == '|') {
			*needle = '\0';
			return;
		}
		c = literal(&p);
		if (c && !(*p && strchr("*?{", *p)) && n < sizeof(run)) {
			run[n++] = c;
			keep_longer(needle, size, run, n);
		}
		if (!c || (*p && strchr("*?{+", *p)))
			n = 0;
	}
}
