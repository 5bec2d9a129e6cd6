/* own_needle.h - a literal that every match of a user's expression contains; private to
 * src/steps. */
#ifndef POLLUX_STEPS_OWN_NEEDLE_H
#define POLLUX_STEPS_OWN_NEEDLE_H

#include <stddef.h>

/* "" where none is found; clipped to size. Letters count without their case. */
void own_needle(const char *regex, char *needle, size_t size);

#endif
