/* picture.h - a file drawn by gnuplot, if that is installed. */
#ifndef POLLUX_PICTURE_H
#define POLLUX_PICTURE_H

#include "pollux/err.h"
#include "pollux/text.h"

/* By the end of its name: "svg" or "png"; NULL: another. */
const char *picture_format(const char *path);

/* Before what takes long: whether there is a gnuplot that draws such pictures, and whether the file could be
 * written now. Errors as below. */
int picture_check(const char *path, struct err *err);

/* Have gnuplot draw by the script, which must leave its output at standard output. The file is there in
 * full or as it was. EX_UNAVAILABLE: no gnuplot, or it failed; EX_CANTCREAT: the file cannot be written. */
int picture_draw(const char *script, const char *path, struct err *err);

/* So many characters of a name, for between single quotes of a script: nothing but a quote means anything to
 * gnuplot there; a backquote is replaced all the same. */
void picture_add_quoted(struct text *script, const char *s, int characters);

#endif
