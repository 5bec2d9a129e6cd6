/* test_lock.c - what a lock that cannot be opened is said to be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "pollux/lock.h"
#include "tap.h"

int main(void)
{
	char path[] = "/tmp/pollux-lock.XXXXXX";
	struct rlimit old, none;
	struct err err = { 0 };
	int fd = mkstemp(path), held;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &old))
		return 1;
	ok(lock_look(path) == LOCK_IS_FREE, "a lock that nobody has");
	none = (struct rlimit){ 0, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	ok(lock_look(path) == LOCK_CANNOT_BE_TOLD, "without descriptors it cannot be told");
	ok(lock_take(path, &err) == -1 && strstr(err.text, strerror(EMFILE)),
	   "nor taken, which is an error and not a held lock");
	setrlimit(RLIMIT_NOFILE, &old);
	held = lock_take(path, &err);
	ok(held >= 0, "with descriptors it is taken");
	ok(lock_look(path) == LOCK_IS_HELD, "and held");
	setrlimit(RLIMIT_NOFILE, &none);
	ok(lock_look(path) == LOCK_CANNOT_BE_TOLD, "a held one cannot be told either");
	setrlimit(RLIMIT_NOFILE, &old);
	lock_drop(held);
	close(fd);
	unlink(path);
	return done();
}
