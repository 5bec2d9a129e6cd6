/* preload_status.c - LD_PRELOAD: as on a kernel before Linux 6.15 where the parent of a process
 * that has ended is always the faster one: pread() of /proc/PID/stat finds no process, and a pidfd
 * tells no exit status. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#define PIDFD_GROUP 0xFF

static int is_stat(int fd)
{
	char link[64], target[64] = "";
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, target, sizeof(target) - 1);
	return n > 5 && !strncmp(target, "/proc/", 6) && !strcmp(target + n - 5, "/stat");
}

static ssize_t read_at(int fd, void *into, size_t size, off_t at)
{
	if (is_stat(fd)) {
		errno = ESRCH;
		return -1;
	}
	return syscall(SYS_pread64, fd, into, size, at);
}

ssize_t pread(int fd, void *buf, size_t nbytes, off_t offset)
{
	return read_at(fd, buf, nbytes, offset);
}

ssize_t pread64(int fd, void *buf, size_t nbytes, off_t offset)
{
	return read_at(fd, buf, nbytes, offset);
}

ssize_t __pread_chk(int fd, void *into, size_t size, off_t at, size_t room);
ssize_t __pread_chk(int fd, void *into, size_t size, off_t at, size_t room)
{
	return read_at(fd, into, size < room ? size : room, at);
}

int ioctl(int fd, unsigned long request, ...)
{
	void *argument;
	va_list ap;

	va_start(ap, request);
	argument = va_arg(ap, void *);
	va_end(ap);
	if (_IOC_TYPE(request) == PIDFD_GROUP) {
		errno = ENOTTY;
		return -1;
	}
	return (int)syscall(SYS_ioctl, fd, request, argument);
}
