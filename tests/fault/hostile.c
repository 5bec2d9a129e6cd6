/* hostile.c - a job that sends what it should not.
 *
 *	hostile reports		one of each kind of bad report; prints how many bad lines the
 *				receiver was to count, then how many good ones
 *	hostile flood N		N reports, without waiting for a receiver that is behind
 *	hostile flood		without end
 *	hostile log MEGABYTES	so much on stdout: lines of a megabyte, NULs, escapes, bad UTF-8
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define MEGABYTE (1 << 20)

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static int fd;

static int open_socket(void)
{
	const char *path = getenv("POLLUX_REPORT_SOCKET");

	if (!path || strlen(path) >= sizeof(address.sun_path))
		return -1;
	memcpy(address.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return fd;
}

/* Waits while the receiver is behind, unless told not to. */
static int send_bytes(const char *bytes, size_t n, int flags)
{
	while (sendto(fd, bytes, n, flags, (struct sockaddr *)&address, sizeof(address)) < 0)
		if (errno != EINTR && errno != ENOBUFS)
			return -1;
	return 0;
}

struct bad_report {
	const char *bytes;
	size_t n;
	int malformed;	/* lines that the receiver is to count */
};

#define REPORT(text, malformed) { text, sizeof(text) - 1, malformed }

static const struct bad_report bad_reports[] = {
	REPORT("", 1),
	REPORT("\n\n\n", 1),
	REPORT("\0", 1),
	REPORT("\0\0\0\0\n\0\0", 2),
	REPORT("STEP", 1),
	REPORT("=", 1),
	REPORT("=5\n", 1),
	REPORT("STEP=\n", 1),
	REPORT("STEP=-1\nSAMPLES=-5\n", 2),
	REPORT("STEP=1.5\nSAMPLES=1e3\n", 2),
	REPORT("STEP= 7\n", 1),
	REPORT("STEP=7 \n", 1),
	REPORT("STEP=0x10\n", 1),
	REPORT("STEP=\0" "1\n", 1),
	REPORT("STEP=99999999999999999999999\nSAMPLES=9223372036854775808\n", 2),
	REPORT("STEP_NS=-1\nSYNC_NS=nan\n", 2),
	REPORT("LOSS=nan\nLOSS=inf\nLOSS=-inf\nLOSS=1e999\nLOSS=\n", 1),
	REPORT("GRAD_SQR=nan\nGRAD_VAR=-inf\n", 0),
	REPORT("EPOCH=-1\nEPOCH=nan\n", 2),
	REPORT("CHECKPOINT=\n", 1),
	REPORT("WAKE=yes\n", 1),
	REPORT("step=5\nSamples=7\n", 0),		/* keys that nobody knows are for others */
	REPORT("NOBODY_KNOWS=this\n", 0),
	REPORT("\xff\xfe\x80=\xc3\x28\n", 0),
	REPORT("STEP=5\r\n", 1),
	REPORT("STATUS=\x1b[2J\x1b]0;owned\x07\r\b\x7f"
	       "bad \xff\xc3\x28 \xed\xa0\x80 \xc2\x9b" "2J \xe2\x80\xae text\n", 0),
	REPORT("LOSS=0.5\n", 0),
	REPORT("SAMPLES=1000\nSTEP=10\n", 0),
};

static int send_large(size_t n, int malformed)
{
	static const char key[] = "STATUS=";
	char *bytes = malloc(n);
	int rc;

	if (!bytes)
		return 0;
	memset(bytes, 'x', n);
	memcpy(bytes, key, sizeof(key) - 1);
	rc = send_bytes(bytes, n, 0);
	free(bytes);
	return rc ? 0 : malformed;	/* too long to be sent at all: nothing to count */
}

static int send_reports(void)
{
	int n = (int)(sizeof(bad_reports) / sizeof(bad_reports[0])), malformed = 0;

	for (int i = 0; i < n; i++) {
		if (send_bytes(bad_reports[i].bytes, bad_reports[i].n, 0))
			return EXIT_FAILURE;
		malformed += bad_reports[i].malformed;
	}
	malformed += send_large(5000, 1);	/* a text of more than a path's length */
	malformed += send_large(8192, 1);	/* the longest that is read */
	malformed += send_large(8193, 1);
	malformed += send_large(100000, 1);
	malformed += send_large(MEGABYTE, 1);
	malformed += send_large((size_t)16 * MEGABYTE, 1);
	printf("malformed %d\n", malformed);
	return EXIT_SUCCESS;
}

static int flood(long long n)
{
	long long sent = 0;
	char text[128];

	for (long long i = 1; n == 0 || i <= n; i++) {
		int length = snprintf(text, sizeof(text), "STEP=%lld\nSAMPLES=%lld\nLOSS=%g\n", i,
				      10 * i, 1.0 / (double)i);

		if (send_bytes(text, (size_t)length, MSG_DONTWAIT) == 0)
			sent++;
		else if (errno != EAGAIN)
			return EXIT_FAILURE;
	}
	printf("flooded %lld, %lld were taken\n", n, sent);
	return EXIT_SUCCESS;
}

static int write_log(long megabytes)
{
	static const char junk[] =
		"\0\0\x1b[31mred\x1b[0m\x1b[2J\x1b]0;title\x07\xff\xfe\xc3\x28\r\b\x7f\n";
	char *line = malloc(MEGABYTE);
	size_t written = 0;

	if (!line)
		return EXIT_FAILURE;
	memset(line, 'a', MEGABYTE);
	for (long i = 0; i < megabytes; i++) {
		/* Every fourth ends its line: the others go on with it. */
		line[MEGABYTE - 1] = i % 4 == 3 ? '\n' : 'a';
		written += fwrite(line, 1, MEGABYTE, stdout);
		written += fwrite(junk, 1, sizeof(junk) - 1, stdout);
	}
	free(line);
	return written && fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	long long n = argc > 2 ? strtoll(argv[2], NULL, 10) : 0;

	if (!strcmp(what, "log"))
		return write_log((long)n);
	if (open_socket() < 0) {
		perror("hostile");
		return EXIT_FAILURE;
	}
	if (!strcmp(what, "reports"))
		return send_reports();
	return flood(n);
}
