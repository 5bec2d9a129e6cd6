/* picture.h - a file drawn by gnuplot, if that is installed. */
#ifndef POLLUX_PICTURE_H
#define POLLUX_PICTURE_H

#include "pollux/err.h"
#include "pollux/text.h"

/* "svg" or "png", by the end of the file's name; NULL: neither. */
const char *picture_format(const char *path);

/* Fails unless gnuplot is there, draws pictures of this format, and the file could be written now.
 * For use before work that takes long. Errors as those of picture_draw. */
int picture_check(const char *path, struct err *err);

/* Have gnuplot draw by the script, which must not redirect its output. Afterwards the file is
 * complete, or as it was before. EX_UNAVAILABLE: there is no gnuplot, or gnuplot failed;
 * EX_CANTCREAT: the file cannot be written. */
int picture_draw(const char *script, const char *path, struct err *err);

/* Begin a script with the terminal for the format and the style that all pictures share. */
void picture_add_style(struct text *script, const char *format);

/* The unit for an axis of times up to so many seconds. */
struct picture_unit {
	const char *name;		/* plural */
	double seconds;
};
struct picture_unit picture_time_unit(double largest_s);

/* Add at most so many characters of a name, to stand between single quotes in a script. There,
 * only a quote means something to gnuplot; a backquote is replaced to be safe. */
void picture_add_quoted(struct text *script, const char *s, int characters);

#endif
