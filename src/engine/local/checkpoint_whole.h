/* checkpoint_whole.h - whether a file or directory was written to its end; private to
 * src/engine/local. */
#ifndef POLLUX_RUN_CHECKPOINT_WHOLE_H
#define POLLUX_RUN_CHECKPOINT_WHOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

/* What a checkpoint contains: a file, or a directory with all below it. */
struct contents {
	bool is_directory;
	int64_t bytes;
	/* of bytes: in files that changed since the time asked for */
	int64_t changed_bytes;
	int files;			/* all of them */
	int entries;			/* of a directory, at its top; no hidden ones */
	bool has_ranks;			/* some of them have the number of a rank */
	struct timespec written;	/* the newest file */
	struct timespec begun;		/* the oldest file */
	double changed_s;		/* wall clock: when one last changed or was renamed */
	unsigned marks;			/* commit markers that are there, a bit each */
	bool has_unfinished;		/* a file whose name says that it is being written */
};

/* When a file last changed, by the wall clock. A copy or an archive may have set the time of its
 * bytes back: the time of its inode counts then. */
double file_changed_s(const struct stat *st);
/* True if the file changed at this time or later; it allows for clocks of files, which are late,
 * and for file systems that keep whole seconds. */
bool file_changed_since(const struct stat *st, double since_s);

/* Fills c. since_s: for changed_bytes. False: there is no such file or directory. */
bool contents_of(const char *path, double since_s, struct contents *c);

/* True if the directory has a file that only checkpoints have; marks: of its entries. */
bool is_mark_of_checkpoint(const char *entry);
/* True for the name of a file that models have, and checkpoints of them. */
bool is_config_of_model(const char *entry);

/* Why the checkpoint is not whole, in words; NULL: it is. former, former_path: the one before it of
 * the same shape; NULL: there is none. The caller frees. */
char *why_not_whole(const char *path, const struct contents *c, const char *former_path,
		    const struct contents *former);
/* Why a file is not whole by its format alone; NULL: nothing is wrong, or the format is not
 * known. */
const char *why_file_is_torn(const char *path);
/* True if the first bytes of the file are zeros, as after a loss of power; false for an empty
 * file. */
bool file_begins_with_zeros(const char *path);

#endif
