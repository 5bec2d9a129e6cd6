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

enum { CLIENT_MESSAGE_MAX = PATH_MAX + 64 };    /* bytes of a datagram */

struct pollux_client {
	bool under_pollux;
	int fd;                          /* -1: no socket, no reports */
	struct sockaddr_un address;
	socklen_t address_length;
	int stop_signal;                 /* 0: no handler installed */
	struct sigaction previous;
	struct client_kept *kept;        /* kept_file.c; NULL: nothing is kept */
	locale_t c_locale;               /* numbers with a point, whatever the program set */
	char *checkpoint_dir;
	/* Configurations after the one in the environment. */
	char *config_path;               /* NULL: there are none */
	_Atomic int64_t config_version;  /* in use; 0: that of the launch; -1: config_changed
					    was never called */
	int64_t config_due_ns;           /* time of the next look at the file */
	struct stat config_seen;         /* the file that was read last */
};

/* kept_file.c: reports for the supervisor that comes next. The order is that of the file. */
enum client_kept_kind { CLIENT_KEPT_CHECKPOINT, CLIENT_KEPT_STEP, CLIENT_KEPT_KINDS };
struct client_kept *client_kept_open(const char *socket_path);
/* Remembers the last report of its kind. sent false: nobody took the report. */
void client_kept_add(const struct pollux_client *c, enum client_kept_kind kind, const char *text,
		     size_t length, bool sent);
/* Writes what nobody has read, and frees c->kept. */
void client_kept_close(const struct pollux_client *c);

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
