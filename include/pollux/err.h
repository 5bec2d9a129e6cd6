/* err.h - an error carried upward: what failed, on which object, and the exit status.
 *
 * Below src/cli a function that can fail returns 0 (or a count), or -1 with *err filled.
 * It neither prints nor exits; src/cli/main.c prints err->text once, as "pollux: TEXT".
 * Texts follow one form: lower case, no full stop, what failed first, the subject in single
 * quotes: "cannot open '/x/pollux.db': Permission denied".
 *
 *	return err_set(err, EX_CANTCREAT, "cannot create '%s': %s", path, strerror(errno));
 */
#ifndef POLLUX_ERR_H
#define POLLUX_ERR_H

#include <sysexits.h>		/* EX_USAGE 64 .. EX_CONFIG 78; see EXIT STATUS in pollux(1) */

#define EX_FAILED 1		/* the operation was understood and did not succeed */

struct err {
	int exit_status;	/* EX_*; 0 while nothing has failed */
	char text[1024];	/* clipped, always terminated, never holds a newline */
};

/* Fills *err and returns -1. Control characters of the arguments are shown as by utf8_shown(). */
int err_set(struct err *err, int exit_status, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Puts "PREFIX: " before the text of *err. Returns -1. */
int err_prefix(struct err *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

int errno_set(int error);	/* returns -1, for functions whose errors are those of errno */

#endif
