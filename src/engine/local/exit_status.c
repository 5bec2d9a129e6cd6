/* exit_status.c - see exit_status.h. */
#include "exit_status.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include "pollux/file.h"

/* linux/pidfd.h of 6.15; older headers lack both. */
struct pidfd_exit {
	uint64_t mask;
	/* cppcheck-suppress unusedStructMember ; the kernel writes it */
	uint64_t cgroup_id;
	/* cppcheck-suppress unusedStructMember */
	uint32_t ids[11];
	int32_t exit_code;
};
#define ASK_PIDFD _IOWR(0xFF, 11, struct pidfd_exit)
#define ASK_EXIT (UINT64_C(1) << 3)

int exit_status_open(pid_t pid)
{
	char path[48];

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	return file_open(path, O_RDONLY, 0);
}

/* The last field of a zombie's /proc/PID/stat. */
static int status_of_zombie(int stat_fd)
{
	char buffer[1024];
	ssize_t n = stat_fd >= 0 ? pread(stat_fd, buffer, sizeof(buffer) - 1, 0) : -1;
	const char *state, *last;

	if (n <= 0)
		return -1;
	buffer[n] = '\0';
	state = strrchr(buffer, ')');
	last = strrchr(buffer, ' ');
	if (!state || !last || state[1] != ' ' || !strchr("ZX", state[2]))
		return -1;
	return (int)strtol(last + 1, NULL, 10);
}

static int status_of_reaped(int pidfd)
{
	struct pidfd_exit info = { .mask = ASK_EXIT };

	if (pidfd < 0 || ioctl(pidfd, ASK_PIDFD, &info) || !(info.mask & ASK_EXIT))
		return -1;
	return info.exit_code;
}

int exit_status_read(int stat_fd, int pidfd)
{
	int status = status_of_zombie(stat_fd);

	return status >= 0 ? status : status_of_reaped(pidfd);
}
