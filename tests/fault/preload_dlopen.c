/* preload_dlopen.c - LD_PRELOAD: appends the name of each library that is opened with dlopen() to
 * the file named in DLOPEN_FILE, a line each, also from children that have given up their
 * output. */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* libc's own names for these parameters are reserved.
 * NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
void *dlopen(const char *name, int flags)
{
	const char *path = getenv("DLOPEN_FILE");
	int fd = path && name ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
	void *(*real)(const char *, int);
	void *symbol = dlsym(RTLD_NEXT, "dlopen");

	if (fd >= 0) {
		dprintf(fd, "file=%s\n", name);
		close(fd);
	}
	memcpy(&real, &symbol, sizeof(real));
	return real(name, flags);
}
