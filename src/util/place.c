/* place.c - see place.h. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "pollux/mem.h"

#define LINKS_MAX 40

struct walk {
	int directory;
	char *rest;		/* of the path, from the directory; owned */
	int links;		/* that were followed */
	bool is_planted;
	bool is_strange;	/* the directory is one that another user may have planted */
};

static int fail(int why)
{
	errno = why;
	return -1;
}

/* Moves to another directory, below the present one or absolute. */
static int enter(struct walk *w, const char *name)
{
	int next = openat(w->directory, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);

	if (next < 0)
		return -1;
	close(w->directory);
	w->directory = next;
	return 0;
}

/* True if another user can have put this file where the walk stands: where everybody may write, or
 * below a directory that somebody put there. */
static bool is_of_others(const struct walk *w, const struct stat *st)
{
	struct stat directory;

	if (st->st_uid == 0 || st->st_uid == geteuid())
		return false;
	return w->is_strange || fstat(w->directory, &directory) || (directory.st_mode & S_IWOTH);
}

/* Takes the first name of the rest. False if the rest is empty. */
static bool take_name(struct walk *w, char name[NAME_MAX + 1], bool *is_last)
{
	const char *from = w->rest + strspn(w->rest, "/");
	size_t n = strcspn(from, "/");

	if (n == 0 || n > NAME_MAX)
		return false;
	memcpy(name, from, n);
	name[n] = '\0';
	from += n;
	*is_last = from[strspn(from, "/")] == '\0';
	memmove(w->rest, from, strlen(from) + 1);
	return true;
}

static int follow(struct walk *w, const char *name)
{
	char target[PATH_MAX], *rest;
	ssize_t n = readlinkat(w->directory, name, target, sizeof(target) - 1);

	if (n < 0)
		return -1;
	if (++w->links > LINKS_MAX)
		return fail(ELOOP);
	target[n] = '\0';
	rest = xasprintf("%s/%s", target, w->rest);
	free(w->rest);
	w->rest = rest;
	return *target == '/' ? enter(w, "/") : 0;
}

/* Handles one name. 1: it is the place. */
static int step(struct walk *w, char name[NAME_MAX + 1])
{
	struct stat st;
	bool is_last, is_theirs;

	if (!take_name(w, name, &is_last))
		return fail(w->rest[strspn(w->rest, "/")] ? ENAMETOOLONG : EISDIR);
	if (fstatat(w->directory, name, &st, AT_SYMLINK_NOFOLLOW))
		return is_last && errno == ENOENT ? 1 : -1;
	is_theirs = is_of_others(w, &st);
	w->is_planted = is_theirs && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode);
	if (w->is_planted)
		return fail(EPERM);
	if (S_ISLNK(st.st_mode))
		return follow(w, name);
	w->is_strange |= is_theirs && S_ISDIR(st.st_mode);
	return is_last ? 1 : enter(w, name);
}

int place_find(const char *path, struct place *place)
{
	const char *start = *path == '/' ? "/" : ".";
	struct walk w = { .directory = open(start, O_PATH | O_DIRECTORY | O_CLOEXEC) };
	int rc = w.directory < 0 ? -1 : 0, saved;
	size_t n = strlen(path);

	if (rc == 0 && n > 0 && path[n - 1] == '/')
		rc = fail(EISDIR);
	w.rest = xstrdup(path);
	while (rc == 0)
		rc = step(&w, place->name);
	saved = errno;
	free(w.rest);
	if (rc < 0 && w.directory >= 0)
		close(w.directory);
	errno = saved;
	place->directory = rc < 0 ? -1 : w.directory;
	place->is_planted = w.is_planted;
	return rc < 0 ? -1 : 0;
}

void place_release(struct place *place)
{
	if (place->directory >= 0)
		close(place->directory);
	place->directory = -1;
}
