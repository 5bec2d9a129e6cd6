/* saved_files.c - see saved_files.h. */
#include "saved_files.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "checkpoint_names.h"
#include "pollux/mem.h"

/* entries that are looked at: a directory of data is no checkpoint */
#define ENTRIES_MAX 100000

struct search {
	const struct saved_query *query;
	size_t root_length;		/* of the directory's path, with a slash */
	struct saved_files found;
	int entries;
};

/* What the names of the directories above an entry tell about it. */
enum within { WITHIN_ALL, WITHIN_LOGS, WITHIN_CHECKPOINT };

static bool is_of_a_start(const struct saved_query *query, double time_s)
{
	for (int i = 0; i < query->n_starts; i++)
		if (time_s >= query->starts[i].from_s && time_s <= query->starts[i].to_s)
			return true;
	return false;
}

static enum within within_of(const struct search *s, const char *path, const char *name,
			     enum within outer)
{
	const char *glob = s->query->glob;

	if (outer == WITHIN_CHECKPOINT)
		return outer;
	if (glob)
		return checkpoint_glob_matches(glob, path + s->root_length) ? WITHIN_CHECKPOINT
									     : WITHIN_LOGS;
	if (checkpoint_name(name))
		return WITHIN_CHECKPOINT;
	return log_directory_name(name) ? WITHIN_LOGS : outer;
}

static void count_file(struct search *s, const struct stat *st, enum within within)
{
	double time_s = (double)st->st_mtim.tv_sec + (double)st->st_mtim.tv_nsec * 1e-9;

	if (within == WITHIN_LOGS ||
	    (within == WITHIN_ALL && is_of_a_start(s->query, time_s)))
		return;
	s->found.count++;
	s->found.newest_time_s = fmax(s->found.newest_time_s, time_s);
}

static void search_directory(struct search *s, const char *directory, enum within within,
			     int depth);

static void look_at_file(struct search *s, const char *path, const char *name, enum within outer,
			 int depth)
{
	enum within within = within_of(s, path, name, outer);
	struct stat st;

	if (lstat(path, &st))
		return;
	if (S_ISDIR(st.st_mode) && depth > 0)
		search_directory(s, path, within, depth - 1);
	else if (S_ISLNK(st.st_mode) && (stat(path, &st) || S_ISDIR(st.st_mode)))
		return;		/* a link to nothing, or to a directory that counts elsewhere */
	else if (!S_ISDIR(st.st_mode) && (s->query->glob || !log_file_name(name)))
		count_file(s, &st, within);
}

static void search_directory(struct search *s, const char *directory, enum within within, int depth)
{
	DIR *dir = opendir(directory);
	const struct dirent *e;

	while (dir && s->entries < ENTRIES_MAX && (e = readdir(dir))) {
		char *path;

		s->entries++;
		if (checkpoint_name_is_temporary(e->d_name))
			continue;
		path = xasprintf("%s/%s", directory, e->d_name);
		look_at_file(s, path, e->d_name, within, depth);
		free(path);
	}
	if (dir)
		closedir(dir);
}

struct saved_files saved_files_in(const char *directory, const struct saved_query *query)
{
	struct search s = {
		.query = query, .root_length = strlen(directory) + 1, .found.newest_time_s = NAN,
	};

	search_directory(&s, directory, WITHIN_ALL, SAVED_DEPTH);
	return s.found;
}
