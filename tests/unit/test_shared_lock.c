/* test_shared_lock.c - whose slots exclude each other, and what stands in place of a lock. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/device_users.h"
#include "pollux/mem.h"
#include "pollux/people.h"
#include "tap.h"

static struct device slot(int index, const char *binding, const char *kind)
{
	struct device d = { .cores = 1 };

	snprintf(d.id, sizeof(d.id), "cpu:%d", index);
	snprintf(d.binding, sizeof(d.binding), "%s", binding);
	snprintf(d.kind, sizeof(d.kind), "%s", kind);
	return d;
}

static struct device gpu(const char *id)
{
	struct device d = { .binding = "0-3" };

	snprintf(d.id, sizeof(d.id), "gpu:%s", id);
	return d;
}

#define ONE "CPU, 1 core"
#define HALF "CPU, 1 core shared by 2 slots"

static const struct {
	const char *name;
	int first;
	const char *first_binding, *first_kind;
	int second;
	const char *second_binding, *second_kind;
	bool meet;
} pairs[] = {
	{ "slots of the same processor under two numbers meet", 0, "3", ONE, 7, "3", ONE, true },
	{ "slots of neighbouring processors do not meet", 0, "0", ONE, 1, "1", ONE, false },
	{ "a slot of one meets the slot of four around it", 2, "2", ONE, 0, "0-3", ONE, true },
	{ "slots that share one processor meet", 0, "0-3,8", ONE, 1, "4-7,8", ONE, true },
	{ "slots that share no processor do not meet", 0, "0-3,8", ONE, 1, "4-7,9-20", ONE, false },
	{ "two halves of a core do not meet", 0, "0", HALF, 1, "0", HALF, false },
	{ "the same halves of a core meet", 2, "0", HALF, 4, "0", HALF, true },
	{ "a half meets the whole core", 1, "0", HALF, 0, "0", ONE, true },
	{ "halves of two processors each do not meet", 2, "0,4", HALF, 3, "0,4", HALF, false },
	{ "a half meets a third that reaches into it", 0, "0", HALF, 1, "0",
	  "CPU, 1 core shared by 3 slots", true },
	{ "a half does not meet the third beside it", 0, "0", HALF, 2, "0",
	  "CPU, 1 core shared by 3 slots", false },
};

static void test_pairs(const struct paths *paths)
{
	for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
		struct device a = slot(pairs[i].first, pairs[i].first_binding, pairs[i].first_kind);
		struct device b = slot(pairs[i].second, pairs[i].second_binding,
				       pairs[i].second_kind);
		struct err err = { 0 };
		int one = shared_lock_take(paths, &a, &err), two;

		ok(shared_locks_meet(&a, &b) == pairs[i].meet &&
		   shared_locks_meet(&b, &a) == pairs[i].meet, pairs[i].name);
		ok(one >= 0 && (shared_lock_look(paths, &b) == LOCK_IS_HELD) == pairs[i].meet,
		   "a slot is seen as held if it meets a held one");
		two = shared_lock_take(paths, &b, &err);
		ok(pairs[i].meet ? two == LOCK_HELD : two >= 0,
		   "a slot can be locked if it meets no held one");
		if (two >= 0)
			lock_drop(two);
		lock_drop(one);
	}
}

static void test_release(const struct paths *paths)
{
	struct device a = slot(0, "0-1", ONE), b = slot(1, "1", ONE);
	struct err err = { 0 };
	int fd = shared_lock_take(paths, &a, &err), other;

	lock_release(fd);
	other = shared_lock_take(paths, &b, &err);
	ok(other >= 0, "a slot can be locked after another one was released");
	ok(!shared_lock_again(fd, paths, &a),
	   "a lock is not taken again while another slot has a part of it");
	ok(shared_lock_look(paths, &b) == LOCK_IS_HELD,
	   "the other slot keeps its part of the lock");
	lock_drop(other);
	ok(shared_lock_look(paths, &a) == LOCK_IS_FREE,
	   "no part stays locked after the other slot is released");
	ok(shared_lock_again(fd, paths, &a), "a lock is taken again once its parts are free");
	ok(shared_lock_look(paths, &b) == LOCK_IS_HELD,
	   "a lock that was taken again is seen as held");
	lock_drop(fd);
}

static void test_gpus(const struct paths *paths)
{
	struct device a = gpu("GPU-1"), b = gpu("GPU-2"), cpu = slot(0, "0-3", ONE);
	struct err err = { 0 };
	int one = shared_lock_take(paths, &a, &err), two = shared_lock_take(paths, &b, &err);

	ok(one >= 0 && two >= 0, "two GPUs near the same processors do not meet");
	ok(shared_lock_take(paths, &a, &err) == LOCK_HELD, "a GPU cannot be locked twice");
	ok(shared_lock_look(paths, &cpu) == LOCK_IS_FREE,
	   "the processors near locked GPUs stay free");
	lock_drop(one);
	lock_drop(two);
}

/* What anybody may have put into the directory. */
static void test_nasty(const struct paths *paths, const char *dir)
{
	char *lock = xasprintf("%s/device-cpu.lock", dir), *other = xasprintf("%s/other", dir);
	struct device d = slot(0, "0", ONE);
	struct err err = { 0 };
	int fd = open(other, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	unlink(lock);
	ok(symlink(other, lock) == 0 && shared_lock_take(paths, &d, &err) == -1 &&
	   strstr(err.text, "device-cpu.lock': it is a symbolic link"),
	   "a symbolic link in place of a lock is refused");
	ok(shared_lock_look(paths, &d) == LOCK_CANNOT_BE_TOLD,
	   "a symbolic link in place of a lock cannot be told");
	unlink(lock);
	ok(link(other, lock) == 0 && shared_lock_take(paths, &d, &err) == -1 &&
	   strstr(err.text, "it has another name, too"), "a lock with a second name is refused");
	unlink(lock);
	ok(mkfifo(lock, 0666) == 0 && shared_lock_take(paths, &d, &err) == -1 &&
	   strstr(err.text, "it is no regular file"), "a FIFO in place of a lock is refused");
	ok(shared_lock_look(paths, &d) == LOCK_CANNOT_BE_TOLD,
	   "a FIFO in place of a lock cannot be told, and nobody hangs");
	unlink(lock);
	ok(mkdir(lock, 0777) == 0 && shared_lock_take(paths, &d, &err) == -1 &&
	   strstr(err.text, "Is a directory"), "a directory in place of a lock is refused");
	rmdir(lock);
	close(fd);
	unlink(other);
	free(other);
	free(lock);
}

/* Another user's file that only may be read: here that of everybody but root. */
static void test_not_writable(const struct paths *paths, const char *dir)
{
	autofree char *lock = xasprintf("%s/device-cpu.lock", dir);
	struct device d = slot(0, "0", ONE);
	struct err err = { 0 };
	int fd = open(lock, O_RDWR | O_CREAT | O_CLOEXEC, 0444);
	bool is_root = geteuid() == 0;

	if (is_root && seteuid(65534))
		printf("# %s\n", strerror(errno));
	ok(shared_lock_take(paths, &d, &err) == -1 && strstr(err.text, "Permission denied"),
	   "a file that may not be written cannot be locked");
	ok(shared_lock_look(paths, &d) == LOCK_CANNOT_BE_TOLD,
	   "a device whose lock may not be written cannot be told");
	if (is_root && seteuid(0))
		printf("# %s\n", strerror(errno));
	close(fd);
	unlink(lock);
}

static void test_directory(const struct paths *paths, const char *dir)
{
	struct device d = slot(0, "0", ONE);
	struct err err = { 0 };
	struct stat st = { 0 };
	autofree char *lock = xasprintf("%s/device-cpu.lock", dir);
	mode_t old = umask(077);
	int fd = shared_lock_take(paths, &d, &err);

	umask(old);
	stat(lock, &st);
	ok(fd >= 0 && (st.st_mode & 07777) == 0666,
	   "a lock is made for everybody, whatever the umask");
	lock_drop(fd);
	chmod(dir, 0777);
	ok(shared_lock_take(paths, &d, &err) == -1 && strstr(err.text, "type: chmod +t "),
	   "a directory where others may remove locks is refused");
	ok(shared_lock_look(paths, &d) == LOCK_CANNOT_BE_TOLD,
	   "a directory where others may remove locks is not looked into");
	chmod(dir, 01777);
	setenv("POLLUX_SHARED_DIR", "/nonexistent/pollux", 1);
	ok(shared_lock_take(paths, &d, &err) == -1 && strstr(err.text, "No such file"),
	   "a shared directory that is not there is refused");
	setenv("POLLUX_SHARED_DIR", "no", 1);
	ok(shared_lock_take(paths, &d, &err) == SHARED_LOCK_NONE,
	   "no lock is taken if no shared directory is asked for");
	ok(shared_lock_look(paths, &d) == LOCK_IS_FREE,
	   "a device is free if no shared directory is asked for");
	unlink(lock);
}

int main(void)
{
	char dir[] = "/tmp/pollux-shared.XXXXXX", config[] = "/nonexistent/config";
	struct paths paths = { .dir = dir, .config = config };

	if (!mkdtemp(dir) || chmod(dir, 01777) || setenv("POLLUX_SHARED_DIR", dir, 1))
		return 1;
	test_pairs(&paths);
	test_release(&paths);
	test_gpus(&paths);
	test_nasty(&paths, dir);
	test_not_writable(&paths, dir);
	test_directory(&paths, dir);
	unlinkat(AT_FDCWD, dir, AT_REMOVEDIR);
	return done();
}
