/* saved_files.c - see saved_files.h. */
#include "saved_files.h"

#include <dirent.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "checkpoint_names.h"
#include "pollux/mem.h"

#define ENTRIES_MAX 100000	/* that are looked at: a directory of data is no checkpoint */

struct search {
	struct saved_files found;
	int entries;
};

static void add(struct search *s, const struct stat *st)
{
	double time_s = (double)st->st_mtim.tv_sec + (double)st->st_mtim.tv_nsec * 1e-9;

	s->found.count++;
	s->found.newest_time_s = fmax(s->found.newest_time_s, time_s);
}

static void search(struct search *s, const char *directory, bool in_logs, int depth);

static void look(struct search *s, const char *path, const char *name, bool in_logs, int depth)
{
	bool only_checkpoints = in_logs && !checkpoint_name(name);
	struct stat st;

	if (lstat(path, &st))
		return;
	if (S_ISDIR(st.st_mode) && depth > 0)
		search(s, path, only_checkpoints || log_directory_name(name), depth - 1);
	else if (S_ISLNK(st.st_mode) && (stat(path, &st) || S_ISDIR(st.st_mode)))
		return;		/* to a directory that counts elsewhere, or to nothing */
	else if (!S_ISDIR(st.st_mode) && !only_checkpoints && !log_file_name(name))
		add(s, &st);
}

static void search(struct search *s, const char *directory, bool in_logs, int depth)
{
	DIR *dir = opendir(directory);
	const struct dirent *e;

	while (dir && s->entries < ENTRIES_MAX && (e = readdir(dir))) {
		char *path;

		s->entries++;
		if (checkpoint_name_is_temporary(e->d_name))
			continue;
		path = xasprintf("%s/%s", directory, e->d_name);
		look(s, path, e->d_name, in_logs, depth);
		free(path);
	}
	if (dir)
		closedir(dir);
}

struct saved_files saved_files_in(const char *directory)
{
	struct search s = { .found.newest_time_s = NAN };

	search(&s, directory, false, SAVED_DEPTH);
	return s.found;
}
