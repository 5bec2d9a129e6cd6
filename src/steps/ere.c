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

/* Of what glibc writes out. */
struct cost {
	long nodes;		/* characters, each copy counted */
	long copies;		/* the most of any one */
};

#define DEPTH_MAX 64
#define MANY 1000000L		/* enough to be refused, and far from an overflow */

static long times(long a, long b)
{
	return a > MANY / b ? MANY : a * b;
}

static const struct cost too_much = { MANY, MANY };

static struct cost cost_of(const char **p, int depth);

static struct cost cost_of_atom(const char **p, int depth)
{
	struct cost cost = { 1, 1 };

	if (**p != '(') {
		*p = skip_one(*p);
		return cost;
	}
	if (depth == DEPTH_MAX)
		return too_much;
	++*p;
	cost = cost_of(p, depth + 1);
	*p += **p == ')';
	return cost;
}

static bool is_repetition(const char *p)
{
	return *p && (strchr("*+?", *p) || (*p == '{' && skip_braces(p) != p + 1));
}

/* Of a single character, or a group, and all the repetitions behind it, which copy one another. */
static struct cost cost_of_piece(const char **p, int depth)
{
	struct cost cost = cost_of_atom(p, depth);

	for (; cost.copies < MANY && is_repetition(*p); *p = **p == '{' ? skip_braces(*p) : *p + 1) {
		long n = copies_at(*p);

		cost.nodes = times(cost.nodes, n);
		cost.copies = times(cost.copies, n);
	}
	return cost;
}

/* To the end of the group, or of all. */
static struct cost cost_of(const char **p, int depth)
{
	struct cost all = { 1, 1 };

	while (**p && !(**p == ')' && depth > 0)) {
		struct cost one = cost_of_piece(p, depth);

		if (one.copies > ERE_COPIES || one.nodes > ERE_NODES)
			return too_much;
		all.nodes += one.nodes;
		if (one.copies > all.copies)
			all.copies = one.copies;
	}
	return all;
}

static bool refers_back(const char *ere)
{
	for (const char *p = ere; *p; p = skip_one(p))
		if (*p == '\\' && isdigit((unsigned char)p[1]))
			return true;
	return false;
}

/* Other dialects' digit, also within brackets: to regcomp it is a d, or a backslash and a d. */
static bool means_digits(const char *ere)
{
	for (const char *p = ere, *next; *p; p = next) {
		next = skip_one(p);
		for (const char *q = p; q + 1 < next; q++)
			if (*q == '\\' && (q[1] == 'd' || q[1] == 'D'))
				return true;
	}
	return false;
}

int ere_check(const char *ere, struct err *err)
{
	const char *p = ere;
	struct cost cost;

	if (refers_back(ere))
		return refuse(ere, "has a back-reference, which is not supported", err);
	if (means_digits(ere))
		return refuse(ere, "has \\d, which is no digit in an extended regular expression: write [0-9]", err);
	cost = cost_of(&p, 0);
	if (cost.copies > ERE_COPIES)
		return refuse(ere, "repeats too often what is repeated itself", err);
	if (cost.nodes > ERE_NODES)
		return refuse(ere, "is too long with its repetitions written out", err);
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
