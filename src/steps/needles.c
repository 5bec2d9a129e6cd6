/* needles.c - see needles.h. */
#include <assert.h>
#include <ctype.h>
#include <string.h>

#include "needles.h"

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
