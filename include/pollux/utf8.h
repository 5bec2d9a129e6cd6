/* utf8.h - which bytes of a string are valid UTF-8 and safe to show on a terminal. */
#ifndef POLLUX_UTF8_H
#define POLLUX_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* The number of bytes, 1 to 4, of the character that s begins with. 0 if s begins with no valid
 * character: invalid, overlong, a surrogate, or cut short. s is terminated and not empty. */
size_t utf8_length(const char *s);

/* The number of leading bytes, at most n, that form whole valid characters. Reads the byte after
 * them, so s is terminated or longer than n. */
size_t utf8_clip(const char *s, size_t n);

/* The number of characters in the first n bytes: of bytes that do not continue another. */
int utf8_width(const char *s, size_t n);

/* True if the valid character of n bytes at s could change how a line is shown: a control character
 * (C0, DEL or C1), a line separator, or a change of the writing direction. */
bool utf8_is_control(const char *s, size_t n);

#endif
