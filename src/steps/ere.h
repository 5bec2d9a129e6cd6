/* ere.h - looks at an extended regular expression that a user gave; private to src/steps. */
#ifndef POLLUX_STEPS_ERE_H
#define POLLUX_STEPS_ERE_H

#include <stddef.h>

#include "pollux/err.h"

/* Whether regcomp(3) and regexec(3) can be trusted with it: -1 with EX_USAGE for back-references, which
 * can take for ever to match, for \d, which is no digit to them, and for repetitions, which glibc writes out, with more than ERE_COPIES copies of
 * anything, those around it multiplied, or ERE_NODES characters of all together. Whether it is an expression at all is left to regcomp. */
#define ERE_COPIES 256
#define ERE_NODES 4096
int ere_check(const char *ere, struct err *err);

/* A literal that every match contains, "" where none is found; clipped to size. */
void ere_needle(const char *ere, char *needle, size_t size);

#endif
