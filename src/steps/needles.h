/* needles.h - finds which of several short strings occur in a line, in one pass; private to
 * src/steps.
 *
 * An automaton after A. V. Aho and M. J. Corasick, "Efficient string matching: an aid to
 * bibliographic search", Communications of the ACM 18 (1975), 333-340. Letters count without their
 * case. A line takes about a nanosecond a byte, where a regular expression takes about ten. */
#ifndef POLLUX_STEPS_NEEDLES_H
#define POLLUX_STEPS_NEEDLES_H

#include <stddef.h>
#include <stdint.h>

#define NEEDLES_STATES 512	/* more than the bytes of all needles */
#define NEEDLES_CLASSES 64	/* more than the different bytes */

struct needles {
	uint8_t class_of[256];			/* of each byte; 0: the byte is in no needle */
	uint16_t next[NEEDLES_STATES][NEEDLES_CLASSES];
	uint64_t found[NEEDLES_STATES];		/* bits of the needles that end in a state */
	int n_states, n_classes;
};

void needles_init(struct needles *n);
/* needle: printable ASCII, which sets these bits where found. After the last, needles_link is
 * called. */
void needles_add(struct needles *n, const char *needle, uint64_t bits);
void needles_link(struct needles *n);
uint64_t needles_find(const struct needles *n, const char *line, size_t length);

#endif
