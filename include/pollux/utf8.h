/* utf8.h - what of a string is valid UTF-8 and fit to be shown. */
#ifndef POLLUX_UTF8_H
#define POLLUX_UTF8_H

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the character that s begins with, 1 to 4; 0 where the first byte begins none (invalid,
 * overlong, a surrogate, cut short by the end). s is terminated and not empty. */
size_t utf8_length(const char *s);

/* How many of the first n bytes are whole characters, up to the first that are none. The byte after them is
 * looked at: s is terminated, or goes on. */
size_t utf8_clip(const char *s, size_t n);

/* Whether the valid character of n bytes at s controls a terminal: C0, DEL or C1; or turns around or
 * breaks the line that it stands in. */
bool utf8_is_control(const char *s, size_t n);

#endif
