/* test_lock.c - what a lock that cannot be opened is said to be. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/device_users.h"
#include "pollux/lock.h"
#include "pollux/mem.h"
#include "tap.h"

/* A link in place of a lock cannot be opened. */
static void test_device_lock(void)
{
	char dir[] = "/tmp/pollux-lock.XXXXXX";
	struct paths paths = { .dir = mkdtemp(dir) };
	autofree char *run = xasprintf("%s/run", dir), *device = NULL, *measure = NULL;
	struct err err = { 0 };
	int held;

	if (!paths.dir || mkdir(run, 0700))
		exit(1);
	device = paths_device_lock(&paths, "cpu:0");
	measure = paths_measure_lock(&paths, "cpu:0");
	ok(!device_lock_holder(&paths, "cpu:0"), "a device that nobody has has no holder");
	held = lock_take(device, &err);
	is_str(device_lock_holder(&paths, "cpu:0"), DEVICE_LOCK_ENDED,
	       "a device whose holder has ended is held");
	if (symlink("loop", measure))
		exit(1);
	is_str(device_lock_holder(&paths, "cpu:0"), DEVICE_LOCK_UNKNOWN,
	       "a holder is unknown if the second lock cannot be read");
	lock_drop(held);
	unlink(measure);
	unlink(device);
	rmdir(run);
	rmdir(dir);
}

int main(void)
{
	char path[] = "/tmp/pollux-lock.XXXXXX";
	struct rlimit old, none;
	struct err err = { 0 };
	int fd = mkstemp(path), held;

	if (fd < 0 || getrlimit(RLIMIT_NOFILE, &old))
		return 1;
	ok(lock_look(path) == LOCK_IS_FREE, "a lock that nobody has is free");
	none = (struct rlimit){ 0, old.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	ok(lock_look(path) == LOCK_CANNOT_BE_TOLD,
	   "a free lock cannot be told without descriptors");
	ok(lock_take(path, &err) == -1 && strstr(err.text, strerror(EMFILE)),
	   "a lock cannot be taken without descriptors, which is an error");
	setrlimit(RLIMIT_NOFILE, &old);
	held = lock_take(path, &err);
	ok(held >= 0, "a lock is taken with descriptors");
	ok(lock_look(path) == LOCK_IS_HELD, "a lock that was taken is held");
	setrlimit(RLIMIT_NOFILE, &none);
	ok(lock_look(path) == LOCK_CANNOT_BE_TOLD,
	   "a held lock cannot be told without descriptors");
	setrlimit(RLIMIT_NOFILE, &old);
	lock_drop(held);
	close(fd);
	unlink(path);
	test_device_lock();
	return done();
}
