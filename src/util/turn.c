/* turn.c - a queue made of locks on the bytes of a file. */
#include "pollux/turn.h"

#include <fcntl.h>
#include <unistd.h>

#include "pollux/clock.h"
#include "pollux/open_file.h"

/* tries to lock a byte: if two processes come in the same nanosecond, one of them has to try
 * again */
#define TRIES 100

bool turn_join(struct turn *t, const char *path)
{
	int fd = file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);

	*t = TURN_NONE;
	for (int i = 0; fd >= 0 && i < TRIES; i++) {
		int64_t now = clock_boot_ns();
		struct flock byte = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = now,
				      .l_len = 1 };

		if (fcntl(fd, F_OFD_SETLK, &byte) == 0) {
			*t = (struct turn){ .fd = fd, .came_ns = now };
			return true;
		}
	}
	if (fd >= 0)
		close(fd);
	return false;
}

bool turn_is_next(const struct turn *t)
{
	struct flock before = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = t->came_ns };

	return t->fd < 0 || fcntl(t->fd, F_OFD_GETLK, &before) || before.l_type == F_UNLCK;
}

void turn_leave(struct turn *t)
{
	if (t->fd >= 0)
		close(t->fd);
	*t = TURN_NONE;
}
