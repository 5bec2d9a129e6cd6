/* share.c - find share/pollux. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/share.h"

static char *existing(char *path)
{
	if (access(path, F_OK) == 0)
		return path;
	free(path);
	return NULL;
}

char *share_find(const char *name)
{
	const char *share = getenv("POLLUX_DATA_DIR");
	char program[PATH_MAX], *slash, *found;
	ssize_t n;

	if (share && *share)
		return existing(xasprintf("%s/pollux/%s", share, name));
	n = readlink("/proc/self/exe", program, sizeof(program) - 1);
	if (n <= 0)
		return NULL;
	program[n] = '\0';
	slash = strrchr(program, '/');
	*slash = '\0';
	found = existing(xasprintf("%s/../share/pollux/%s", program, name));
	return found ? found : existing(xasprintf("%s/../../share/pollux/%s", program, name));
}
