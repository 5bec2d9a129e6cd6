/* needles.h - which of some short strings occur in a line, in one pass; private to src/steps.
 *
 * An automaton after A. V. Aho and M. J. Corasick, "Efficient string matching: an aid to bibliographic
 * search", Communications of the ACM 18 (1975), 333-340. Letters count without their case. It takes a
 * line in about a nanosecond a byte, where a regular expression takes some ten. */
#ifndef POLLUX_STEPS_NEEDLES_H
#define POLLUX_STEPS_NEEDLES_H

#include <stddef.h>
#include <stdint.h>

#define NEEDLES_STATES 256	/* at most so many bytes in all needles, less one */
#define NEEDLES_CLASSES 64	/* and so many different ones, less one */

struct needles {
	uint8_t class_of[256];			/* of a byte; 0: it is in no needle */
	uint8_t next[NEEDLES_STATES][NEEDLES_CLASSES];
	uint32_t found[NEEDLES_STATES];		/* bits of the needles that end in a state */
	int n_states, n_classes;
};

void needles_init(struct needles *n);
/* Printable ASCII, to set these bits. Once all are added, needles_link. */
void needles_add(struct needles *n, const char *needle, uint32_t bits);
void needles_link(struct needles *n);
uint32_t needles_find(const struct needles *n, const char *line, size_t length);

#endif
