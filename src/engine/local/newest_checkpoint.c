/* newest_checkpoint.c - see newest_checkpoint.h. */
#include "newest_checkpoint.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "checkpoint_names.h"
#include "pollux/mem.h"

struct candidate {
	char *path;			/* NULL: none */
	struct timespec written;
	int entries;			/* -1: a file */
	bool incomplete;
};

/* The newest and the one before it. */
struct candidates {
	struct candidate newest, former;
	const char *glob;
	size_t root_length;		/* of the directory's path, with a slash */
};

static void look_inside(struct candidate *c)
{
	DIR *dir = opendir(c->path);
	const struct dirent *e;

	c->entries = 0;
	while (dir && (e = readdir(dir))) {
		c->entries += e->d_name[0] != '.';
		c->incomplete |= strcasestr(e->d_name, "incomplete") != NULL;
	}
	if (dir)
		closedir(dir);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
	return a->tv_sec > b->tv_sec || (a->tv_sec == b->tv_sec && a->tv_nsec > b->tv_nsec);
}

static void keep_candidate(struct candidates *all, struct candidate *c)
{
	struct candidate *place = !all->newest.path || is_later(&c->written, &all->newest.written)
					  ? &all->newest : &all->former;

	if (place == &all->former && place->path && !is_later(&c->written, &place->written)) {
		free(c->path);
		return;
	}
	free(all->former.path);
	all->former.path = NULL;
	if (place == &all->newest)
		all->former = all->newest;
	*place = *c;
}

/* True for a checkpoint. A directory that matches the user's pattern needs no digit in its name. */
static bool is_checkpoint(const struct candidates *all, const struct candidate *c,
			  const char *name, bool is_directory)
{
	if (all->glob)
		return checkpoint_glob_matches(all->glob, c->path + all->root_length);
	return checkpoint_name(name) && (!is_directory || strpbrk(name, "0123456789"));
}

static void search_checkpoints(struct candidates *all, const char *directory, int depth)
{
	DIR *dir = opendir(directory);
	const struct dirent *e;

	while (dir && (e = readdir(dir))) {
		struct candidate c = { .entries = -1 };
		struct stat st;
		bool is_directory;

		if (checkpoint_name_is_temporary(e->d_name))
			continue;
		c.path = xasprintf("%s/%s", directory, e->d_name);
		if (lstat(c.path, &st) || S_ISLNK(st.st_mode)) {
			free(c.path);
			continue;
		}
		is_directory = S_ISDIR(st.st_mode);
		c.written = st.st_mtim;
		if (is_checkpoint(all, &c, e->d_name, is_directory)) {
			if (is_directory)
				look_inside(&c);
			keep_candidate(all, &c);
			continue;
		}
		if (is_directory && depth > 0)
			search_checkpoints(all, c.path, depth - 1);
		free(c.path);
	}
	if (dir)
		closedir(dir);
}

char *newest_checkpoint(const char *directory, const char *glob)
{
	struct candidates all = { .glob = glob, .root_length = strlen(directory) + 1 };
	bool whole;

	search_checkpoints(&all, directory, NEWEST_DEPTH);
	whole = !all.newest.incomplete &&
		(!all.former.path || all.newest.entries < 0 || all.former.entries < 0 ||
		 all.newest.entries >= all.former.entries);
	if (whole || all.former.incomplete) {
		free(all.former.path);
		if (whole)
			return all.newest.path;
		free(all.newest.path);
		return NULL;
	}
	free(all.newest.path);
	return all.former.path;
}
