/* client_private.h - declarations that the files of the client library share. The functions are not
 * visible to programs that link the library, which may use the same names. */
#ifndef POLLUX_CLIENT_PRIVATE_H
#define POLLUX_CLIENT_PRIVATE_H

#include "pollux/client.h"

#include <errno.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

struct pollux_client {
	bool under_pollux;
	int fd;                          /* -1: no socket, no reports */
	struct sockaddr_un address;
	socklen_t address_length;
	int stop_signal;                 /* 0: no handler installed */
	struct sigaction previous;
	locale_t c_locale;               /* numbers with a point, whatever the program set */
	char *checkpoint_dir;
	/* Configurations after the one in the environment: client_config.c. */
	char *config_path;               /* NULL: there are none */
	_Atomic int64_t config_version;  /* in use; 0: that of the launch; -1: config_changed
					    was never called */
	int64_t config_due_ns;           /* time of the next look at the file */
	struct stat config_seen;         /* the file that was read last */
};

/* A plain decimal number in 1 .. max, else 0. */
static inline int64_t client_integer(const char *text, int64_t max)
{
	char *end;

	if (*text < '0' || *text > '9')
		return 0;
	errno = 0;
	long long value = strtoll(text, &end, 10);
	return *end || errno || value > max ? 0 : value;
}

/* A positive finite number, else NAN. */
static inline double client_positive(const char *text, locale_t c_locale)
{
	char *end;

	if (!((*text >= '0' && *text <= '9') || *text == '.'))
		return (double)NAN;
	double value = strtod_l(text, &end, c_locale);
	return *end || !isfinite(value) || value <= 0 ? (double)NAN : value;
}

#endif
