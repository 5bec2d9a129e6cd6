/* disks.c - disks without room: the store's, on which every run writes its log, and those where
 * jobs save. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_jobs.h"
#include "snapshot.h"

/* The disks that were looked at: several jobs may use one. */
struct looked {
	dev_t device;
	char *why;			/* owned; NULL: there is room */
};

struct looks {
	struct looked *items;
	int count;
};

/* Looks at the directory, or the nearest one above it that exists. False: there is none. */
static bool stat_nearest(char *path, struct stat *st)
{
	while (stat(path, st)) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path)
			return stat("/", st) == 0;
		*slash = '\0';
	}
	return true;
}

static void add_disk(struct looks *all, dev_t device, const char *path)
{
	struct text why = TEXT_INIT;
	bool is_full = disk_nearly_full(path, &why);

	all->items = xgrow(all->items, all->count, sizeof(*all->items));
	all->items[all->count++] = (struct looked){ device, is_full ? xstrdup(why.data) : NULL };
	text_release(&why);
}

/* Returns why no run may save there; NULL: there is room, or nothing is known. */
static const char *look_at_disk(struct looks *all, const char *dir)
{
	char *path = xstrdup(dir);
	const char *found = NULL;
	struct stat st;

	if (stat_nearest(path, &st)) {
		int i = 0;

		while (i < all->count && all->items[i].device != st.st_dev)
			i++;
		if (i == all->count)
			add_disk(all, st.st_dev, *path ? path : "/");
		found = all->items[i].why;
	}
	free(path);
	return found;
}

static void release_looks(struct looks *all)
{
	for (int i = 0; i < all->count; i++)
		free(all->items[i].why);
	free(all->items);
}

static char *keep_reason(const char *why)
{
	return why ? xstrdup(why) : NULL;
}

static const char *look_in_store(struct looks *all, const char *dir, const char *part)
{
	char *path = xasprintf("%s/%s", dir, part);
	const char *why = look_at_disk(all, path);

	free(path);
	return why;
}

int read_disks(const struct engine_context *at, struct snapshot *s, struct err *err)
{
	struct job_directory_list dirs;
	struct looks all = { 0 };
	const char *why;

	if (store_checkpoint_dirs(at->store, &dirs, err))
		return -1;
	why = look_at_disk(&all, at->paths->dir);
	s->disk_full = keep_reason(why ? why : look_in_store(&all, at->paths->dir, "logs"));
	s->checkpoints_full = keep_reason(look_in_store(&all, at->paths->dir, "checkpoints"));
	s->job_disks = xcalloc((size_t)dirs.count + 1, sizeof(*s->job_disks));
	for (int i = 0; i < dirs.count; i++)
		s->job_disks[s->n_job_disks++] = (struct job_disk){
			dirs.items[i].job_id, keep_reason(look_at_disk(&all, dirs.items[i].path)),
		};
	job_directory_list_release(&dirs);
	release_looks(&all);
	return 0;
}

void forget_disks(struct snapshot *s)
{
	for (int i = 0; i < s->n_job_disks; i++)
		free(s->job_disks[i].full);
	free(s->job_disks);
	free(s->disk_full);
	free(s->checkpoints_full);
	s->job_disks = NULL;
	s->n_job_disks = 0;
	s->disk_full = s->checkpoints_full = NULL;
}

static int compare_job_disk(const void *key, const void *item)
{
	const int64_t *id = key;
	const struct job_disk *disk = item;

	return (*id > disk->job_id) - (*id < disk->job_id);
}

const char *snapshot_full_disk(const struct snapshot *s, const struct job *job)
{
	const struct job_disk *own = s->n_job_disks == 0 ? NULL :
		bsearch(&job->id, s->job_disks, (size_t)s->n_job_disks, sizeof(*own),
			compare_job_disk);

	return own ? own->full : s->checkpoints_full;
}
