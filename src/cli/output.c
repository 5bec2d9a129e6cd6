/* output.c - texts of others on our streams, and whether what was printed has arrived. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "pollux/utf8.h"

void output_clean(FILE *out, const char *s)
{
	const char *start = s;
	size_t n;

	for (; *s && s - start < OUTPUT_CLEAN_BYTES; s += n) {
		n = utf8_length(s);
		if (n && !utf8_is_control(s, n)) {
			fwrite(s, 1, n, out);
			continue;
		}
		fputc('?', out);
		n = n ? n : 1;
	}
	if (*s)
		fputs("..", out);
}

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
