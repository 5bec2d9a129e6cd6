/* preload_full.c - LD_PRELOAD: a disk that is full as soon as something is written behind the first
 * page of a file whose name ends in FULL_FILE. SQLite writes there when it copies the log of a new
 * database into it. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define PAGE_BYTES 4096

static int is_full(int fd, long long offset)
{
	const char *end = getenv("FULL_FILE");
	char link[64], path[4096];
	ssize_t n;

	if (!end || offset < PAGE_BYTES)
		return 0;
	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, sizeof(path) - 1);
	path[n > 0 ? n : 0] = '\0';
	n -= (ssize_t)strlen(end);
	return n >= 0 && !strcmp(path + n, end);
}

ssize_t pwrite64(int fd, const void *buf, size_t n, off64_t offset)
{
	if (is_full(fd, offset)) {
		errno = ENOSPC;
		return -1;
	}
	return syscall(SYS_pwrite64, fd, buf, n, offset);
}
