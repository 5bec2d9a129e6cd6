/* output.c - whether what was printed has arrived. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"

int output_flush(struct err *err)
{
	errno = 0;
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	if (errno == EPIPE) {
		*err = (struct err){ .exit_status = EX_IOERR };
		return -1;
	}
	/* An earlier failure that the C library remembers only as a flag leaves no reason. */
	return err_set(err, EX_IOERR, "cannot write to standard output%s%s", errno ? ": " : "",
		       errno ? strerror(errno) : "");
}
