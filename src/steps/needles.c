/* needles.c - see patterns.h. */
#include <assert.h>
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "patterns.h"

void needles_init(struct needles *n)
{
	memset(n, 0, sizeof(*n));
	n->n_states = n->n_classes = 1;
}

static int class_of(struct needles *n, char c)
{
	unsigned char lower = (unsigned char)tolower((unsigned char)c);

	if (!n->class_of[lower]) {
		assert(n->n_classes < NEEDLES_CLASSES);
		n->class_of[lower] = (uint8_t)n->n_classes;
		n->class_of[(unsigned char)toupper(lower)] = (uint8_t)n->n_classes++;
	}
	return n->class_of[lower];
}

void needles_add(struct needles *n, const char *needle, uint64_t bits)
{
	int state = 0;

	for (; *needle; needle++) {
		uint16_t *next = &n->next[state][class_of(n, *needle)];

		if (!*next) {
			assert(n->n_states < NEEDLES_STATES);
			*next = (uint16_t)n->n_states++;
		}
		state = *next;
	}
	n->found[state] |= bits;
}

/* Goes through the states breadth first. A state without a transition takes that of its longest
 * suffix that is a state. */
void needles_link(struct needles *n)
{
	uint16_t queue[NEEDLES_STATES], fallback[NEEDLES_STATES] = { 0 };
	int head = 0, tail = 0;

	for (int c = 1; c < n->n_classes; c++)
		if (n->next[0][c])
			queue[tail++] = n->next[0][c];
	while (head < tail) {
		uint16_t state = queue[head++];

		n->found[state] |= n->found[fallback[state]];
		for (int c = 1; c < n->n_classes; c++) {
			uint16_t other = n->next[fallback[state]][c], *next = &n->next[state][c];

			if (*next) {
				fallback[*next] = other;
				queue[tail++] = *next;
			} else {
				*next = other;
			}
		}
	}
}

uint64_t needles_find(const struct needles *n, const char *line, size_t length)
{
	uint64_t found = 0;
	unsigned state = 0;

	for (size_t i = 0; i < length; i++) {
		state = n->next[state][n->class_of[(unsigned char)line[i]]];
		found |= n->found[state];
	}
	return found;
}

/* --- the longest run of literal characters outside groups --- */

/* Groups and brackets are passed over. An expression with anything that could change the meaning of
 * its characters has no needle. */

/* Skips one character, escaped or not, or a bracket expression, in which ']' may stand first, and
 * [:class:] may follow. */
static const char *skip_one(const char *p)
{
	if (*p != '[')
		return p[0] == '\\' && p[1] ? p + 2 : p + 1;
	p += p[1] == '^' ? 2 : 1;
	if (*p == ']')
		p++;
	while (*p && *p != ']') {
		const char *class_end = p[0] == '[' && p[1] == ':' ? strstr(p + 2, ":]") : NULL;

		if (class_end)
			p = class_end + 2;
		else
			p += p[0] == '\\' && p[1] ? 2 : 1;
	}
	return *p ? p + 1 : p;
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

/* True if the expression has options, comments, verbs, quoted parts, or escapes of several
 * characters. */
static bool is_beyond_us(const char *regex)
{
	for (const char *p = regex; *p; p++) {
		if (p[0] == '(' && (p[1] == '*' || (p[1] == '?' && p[2] != ':')))
			return true;
		if (p[0] == '\\' && isalnum((unsigned char)p[1]) && !strchr("dDwWsSbBhHAzZ", p[1]))
			return true;
		p += p[0] == '\\' && p[1];
	}
	return false;
}

/* Returns the character at *p if it stands for itself, else 0; moves *p behind it. */
static char literal(const char **p)
{
	const char *at = *p;

	if (*at == '\\' && ispunct((unsigned char)at[1])) {
		*p = at + 2;
		return at[1];
	}
	*p = *at == '(' ? skip_group(at) : skip_one(at);
	if (*at == '{' && (*p)[strspn(*p, "0123456789,")] == '}')
		*p += strspn(*p, "0123456789,") + 1;	/* "{2,3}" */
	return isprint((unsigned char)*at) && !strchr("\\[](){}.*+?^$|", *at) ? *at : '\0';
}

void own_needle(const char *regex, char *needle, size_t size)
{
	char run[64];
	size_t n = 0;

	*needle = '\0';
	if (is_beyond_us(regex))
		return;
	for (const char *p = regex; *p;) {
		char c;

		if (*p == '|') {
			*needle = '\0';
			return;
		}
		c = literal(&p);
		if (c && !(*p && strchr("*?{", *p)) && n < sizeof(run)) {
			run[n++] = c;
			if (n > strlen(needle))
				snprintf(needle, size, "%.*s", (int)n, run);
		}
		if (!c || (*p && strchr("*?{+", *p)))
			n = 0;
	}
}
