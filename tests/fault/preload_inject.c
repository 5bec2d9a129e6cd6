/* preload_inject.c - LD_PRELOAD: one call of the C library fails, as tests/fault/injection asks.
 *
 *	INJECT_CALL	the call that fails: malloc, open, write, read, fsync, close, fcntl, stat,
 *			rename, unlink, mkdir, mmap, fork, pipe, poll
 *	INJECT_AT	the number of that call in the process, from 1, which fails
 *	INJECT_EVER	if set, all later ones fail, too
 *
 * Programs that the process starts are left alone. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *call;
static long at, count;
static int ever, is_ready;

__attribute__((constructor)) static void begin(void)
{
	const char *number = getenv("INJECT_AT");

	call = getenv("INJECT_CALL");
	at = number ? strtol(number, NULL, 10) : 0;
	ever = getenv("INJECT_EVER") != NULL;
	/* what this process starts is left alone */
	unsetenv("LD_PRELOAD");
	is_ready = 1;
}

static int fails(const char *name, int why)
{
	if (!is_ready || !call || strcmp(call, name) != 0)
		return 0;
	count++;
	if (count != at && !(ever && count > at))
		return 0;
	errno = why;
	return 1;
}

#define REAL(type, name, ...) \
	static type (*real)(__VA_ARGS__); \
	if (!real) \
		*(void **)&real = dlsym(RTLD_NEXT, name)

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
extern void *__libc_malloc(size_t n);
extern void *__libc_calloc(size_t n, size_t size);
extern void *__libc_realloc(void *old, size_t n);

void *malloc(size_t n)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_malloc(n);
}

void *calloc(size_t n, size_t size)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_calloc(n, size);
}

void *realloc(void *old, size_t n)
{
	return fails("malloc", ENOMEM) ? NULL : __libc_realloc(old, n);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	REAL(int, "open", const char *, int, ...);

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("open", EMFILE) ? -1 : real(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	REAL(int, "open64", const char *, int, ...);

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("open", EMFILE) ? -1 : real(path, flags, mode);
}

int openat(int directory, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;
	REAL(int, "openat", int, const char *, int, ...);

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fails("open", EACCES) ? -1 : real(directory, path, flags, mode);
}

ssize_t write(int fd, const void *bytes, size_t n)
{
	REAL(ssize_t, "write", int, const void *, size_t);
	return fails("write", ENOSPC) ? -1 : real(fd, bytes, n);
}

ssize_t pwrite64(int fd, const void *bytes, size_t n, off64_t offset)
{
	REAL(ssize_t, "pwrite64", int, const void *, size_t, off64_t);
	return fails("write", ENOSPC) ? -1 : real(fd, bytes, n, offset);
}

ssize_t read(int fd, void *bytes, size_t n)
{
	REAL(ssize_t, "read", int, void *, size_t);
	return fails("read", EIO) ? -1 : real(fd, bytes, n);
}

ssize_t pread64(int fd, void *bytes, size_t n, off64_t offset)
{
	REAL(ssize_t, "pread64", int, void *, size_t, off64_t);
	return fails("read", EIO) ? -1 : real(fd, bytes, n, offset);
}

int fsync(int fd)
{
	REAL(int, "fsync", int);
	return fails("fsync", EIO) ? -1 : real(fd);
}

int fdatasync(int fd)
{
	REAL(int, "fdatasync", int);
	return fails("fsync", EIO) ? -1 : real(fd);
}

int close(int fd)
{
	REAL(int, "close", int);
	int failed = fails("close", EIO), rc = real(fd);	/* Linux closes all the same */

	if (failed)
		errno = EIO;
	return failed ? -1 : rc;
}

static int control(int fd, int command, void *argument, const char *name)
{
	REAL(int, name, int, int, ...);
	return fails("fcntl", ENOLCK) ? -1 : real(fd, command, argument);
}

int fcntl(int fd, int command, ...)
{
	va_list ap;
	void *argument;

	va_start(ap, command);
	argument = va_arg(ap, void *);
	va_end(ap);
	return control(fd, command, argument, "fcntl");
}

int fcntl64(int fd, int command, ...)
{
	va_list ap;
	void *argument;

	va_start(ap, command);
	argument = va_arg(ap, void *);
	va_end(ap);
	return control(fd, command, argument, "fcntl64");
}

int stat(const char *path, struct stat *st)
{
	REAL(int, "stat", const char *, struct stat *);
	return fails("stat", EIO) ? -1 : real(path, st);
}

int fstat(int fd, struct stat *st)
{
	REAL(int, "fstat", int, struct stat *);
	return fails("stat", EIO) ? -1 : real(fd, st);
}

int fstatat(int directory, const char *path, struct stat *st, int flags)
{
	REAL(int, "fstatat", int, const char *, struct stat *, int);
	return fails("stat", EIO) ? -1 : real(directory, path, st, flags);
}

int rename(const char *from, const char *to)
{
	REAL(int, "rename", const char *, const char *);
	return fails("rename", EIO) ? -1 : real(from, to);
}

int renameat(int in, const char *from, int out, const char *to)
{
	REAL(int, "renameat", int, const char *, int, const char *);
	return fails("rename", EIO) ? -1 : real(in, from, out, to);
}

int unlink(const char *path)
{
	REAL(int, "unlink", const char *);
	return fails("unlink", EIO) ? -1 : real(path);
}

int mkdir(const char *path, mode_t mode)
{
	REAL(int, "mkdir", const char *, mode_t);
	return fails("mkdir", ENOSPC) ? -1 : real(path, mode);
}

void *mmap64(void *where, size_t n, int protection, int flags, int fd, off64_t offset)
{
	REAL(void *, "mmap64", void *, size_t, int, int, int, off64_t);
	return fails("mmap", ENOMEM) ? MAP_FAILED : real(where, n, protection, flags, fd, offset);
}

void *mmap(void *where, size_t n, int protection, int flags, int fd, off_t offset)
{
	REAL(void *, "mmap", void *, size_t, int, int, int, off_t);
	return fails("mmap", ENOMEM) ? MAP_FAILED : real(where, n, protection, flags, fd, offset);
}

pid_t fork(void)
{
	REAL(pid_t, "fork", void);
	return fails("fork", EAGAIN) ? -1 : real();
}

int pipe2(int ends[2], int flags)
{
	REAL(int, "pipe2", int *, int);
	return fails("pipe", EMFILE) ? -1 : real(ends, flags);
}

int poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	REAL(int, "poll", struct pollfd *, nfds_t, int);
	return fails("poll", EINTR) ? -1 : real(fds, n, timeout_ms);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
