/* lock.c - open-file-description locks. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "pollux/lock.h"
#include "pollux/open_file.h"

/* The bytes of a place: 0 is the whole file. */
static struct flock bytes_of(int place)
{
	return (struct flock){ .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = place,
			       .l_len = place ? 1 : 0 };
}

int lock_take(const char *path, struct err *err)
{
	return lock_take_place(path, 0, err);
}

int lock_take_place(const char *path, int place, struct err *err)
{
	struct flock bytes = bytes_of(place);
	int fd = file_open(path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);

	if (fd < 0)
		return err_set(err, EX_CANTCREAT, "cannot open '%s': %s", path,
			       file_open_why(errno));
	if (fcntl(fd, F_OFD_SETLK, &bytes) == 0)
		return fd;
	if (errno == EAGAIN) {
		close(fd);
		return LOCK_HELD;
	}
	err_set(err, EX_OSERR, "cannot lock '%s': %s", path, strerror(errno));
	close(fd);
	return -1;
}

void lock_release(int fd)
{
	struct flock whole = { .l_type = F_UNLCK, .l_whence = SEEK_SET };

	fcntl(fd, F_OFD_SETLK, &whole);
}

bool lock_again(int fd, int place)
{
	struct flock bytes = bytes_of(place);

	return fcntl(fd, F_OFD_SETLK, &bytes) == 0;
}

void lock_drop(int fd)
{
	lock_release(fd);
	close(fd);
}

enum lock_state lock_look(const char *path)
{
	struct flock whole = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	int fd = file_open(path, O_RDONLY | O_NOFOLLOW, 0);	/* on a read-only disk too */
	int rc;

	if (fd < 0)
		return errno == ENOENT ? LOCK_IS_FREE : LOCK_CANNOT_BE_TOLD;
	rc = fcntl(fd, F_OFD_GETLK, &whole);
	close(fd);
	if (rc)
		return LOCK_CANNOT_BE_TOLD;
	return whole.l_type == F_UNLCK ? LOCK_IS_FREE : LOCK_IS_HELD;
}
