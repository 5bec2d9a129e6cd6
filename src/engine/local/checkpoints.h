/* checkpoints.h - what a job has saved, and which checkpoint is the newest; private to
 * src/engine/local.
 *
 * Whoever decides about checkpoints asks here: for the template {newest}, for what a run is to
 * resume from, and for what a stopped run has saved. The candidates are the files and directories
 * below the directory of checkpoints that changed since the job's first launch, and what its
 * program reported; pollux-program(7) states the rule for people.
 *
 * Of two whose names differ in their numbers only, the one with the larger number is newer
 * (checkpoint_order_of), else the one that was written later; a reported one that was written
 * last is newest whatever its number. What is not whole (why_not_whole) is passed over. */
#ifndef POLLUX_RUN_CHECKPOINTS_H
#define POLLUX_RUN_CHECKPOINTS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

#include "pollux/text.h"

/* A time by the wall clock. */
struct time_span {
	double from_s, to_s;
};

struct checkpoint_query {
	const char *directory;
	/* Only what matches counts: the path below the directory, or a name. NULL: no pattern.
	 * Names with a mark of unfinished files match only a pattern that has such a mark, too. */
	const char *glob;
	double since_s;			/* wall clock; what did not change since does not count */
	/* Files without the name of a checkpoint that were last written in one of these, when a run
	 * of the job started, do not count. */
	const struct time_span *starts;
	int n_starts;
	const char *reported;		/* absolute path, the last that was told; NULL */
	const struct strings *refused;	/* from these a run could not resume; NULL: none */
	bool ranks_vary;		/* runs of the job had different numbers of devices */
};

struct checkpoints {
	/* owned; the newest checkpoint that is whole, NULL: none */
	char *newest;
	/* owned; one that is newer, or a saved file where there is no checkpoint, and why it is
	 * left out; NULL: none */
	char *left_out, *why;
	/* wall clock: when something was last saved, with or without the name of a checkpoint;
	 * NaN: nothing was. What was written into an older one of several with numbers does not
	 * count. */
	double saved_s;
	bool cut_short;			/* there was no time to look at all files */
};

/* The caller releases found. */
void checkpoints_find(const struct checkpoint_query *query, struct checkpoints *found);
void checkpoints_release(struct checkpoints *found);

/* The name at the end of a path. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

/* --- checkpoint_names.c: what the name of a file or directory tells --- */

/* What a name says of a file, from the surest sign of a checkpoint to none. */
enum name_class {
	/* "last.ckpt", "checkpoint-500", "model.pt", "epoch_3.bin" */
	NAME_CHECKPOINT,
	/* "weights.bin", "optimizer.pt": a checkpoint if there is no better one */
	NAME_MODEL,
	/* "ck-20.json": the checkpoint itself if there is no file of those names; "metrics.json" is
	 * an other one */
	NAME_JSON,
	NAME_OTHER,
	/* sources, pictures, tables of data, logs, core dumps: no checkpoint */
	NAME_NONE,
};

enum name_class checkpoint_name_class(const char *name);
/* True for a file that holds numbers of a model, by its ending: "x.pt", "x.bin". */
bool checkpoint_name_has_weights(const char *name);
/* True for a file that tells about a checkpoint beside it in the directory: "ckpt-2.pt.sha256",
 * "ckpt-2.json", "ckpt-2.done" where there is a "ckpt-2.pt". */
bool checkpoint_name_is_companion(const char *directory, const char *name);
/* True for the name of a directory that is a checkpoint as a whole: "checkpoint-500", "epoch_3",
 * "last.ckpt". */
bool checkpoint_name_of_directory(const char *name);
/* True for a directory that is one if it has the configuration of a model: "checkpoint-last",
 * "model-best". */
bool checkpoint_name_is_last(const char *name);
/* True for "best_epoch_3.pt", which not every epoch has. */
bool checkpoint_name_is_best(const char *name);
/* True for a name that programs give to what they have not finished writing, and for hidden
 * ones. */
bool checkpoint_name_is_temporary(const char *name);
/* The same without locks and hidden ones, which programs leave beside what they have finished. */
bool checkpoint_name_is_unfinished(const char *name);
/* True if the path, or the name at its end, matches the pattern of the shell. */
bool checkpoint_glob_matches(const char *glob, const char *path);
/* True for a directory of a logger. */
bool log_directory_name(const char *name);
/* True for a directory of programs or their caches. */
bool code_directory_name(const char *name);

/* --- checkpoint_order.c: the order by the numbers in names --- */

#define ORDER_NUMBERS 8

/* Two names with the same stem are ordered by their numbers, the first number first. */
struct checkpoint_order {
	char *stem;			/* owned: the path with "#" for each number */
	/* owned: the same with "#" for the number of a rank, too: files of one group with the same
	 * numbers are one checkpoint; NULL: there is no such number */
	char *group;
	bool counts;			/* the numbers are those of epochs or steps */
	int n;
	uint64_t numbers[ORDER_NUMBERS];
};

/* path: below the directory of checkpoints. If a number counts epochs or steps, as in
 * "epoch=9-loss=0.31.ckpt", only such numbers order, epochs before steps; else all do but those of
 * a metric, as one with a fraction is. "10k" and "1e4" are 10,000. A directory above that is a
 * number, as in "100/model.pt", counts as an epoch. What numbers of ranks, parts and runs tell
 * apart is not ordered: they stay in the stem. */
void checkpoint_order_of(const char *path, struct checkpoint_order *o);
void checkpoint_order_release(struct checkpoint_order *o);
/* Of two with the same stem: less than, equal to, or greater than 0, as strcmp(). */
int checkpoint_order_compare(const struct checkpoint_order *a, const struct checkpoint_order *b);
/* True if a number in the name counts epochs or steps. */
bool checkpoint_order_counts(const char *name);
/* True if a number in the name is that of a rank: "rank_0.pt". */
bool checkpoint_order_has_ranks(const char *name);

/* --- checkpoint_whole.c, checkpoint_format.c: whether it was written to its end --- */

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
/* Why a file is not whole by its format alone, which its first bytes tell; NULL: nothing is wrong,
 * or the format is not known. */
const char *why_file_is_torn(const char *path);
/* True if the first bytes of the file are zeros, as after a loss of power; false for an empty
 * file. */
bool file_begins_with_zeros(const char *path);

/* --- checkpoint_search.c: the candidates below a directory --- */

struct candidate {
	char *path;			/* owned */
	enum name_class class;		/* NAME_CHECKPOINT, NAME_MODEL or NAME_JSON */
	bool reported, link;
	bool companion;			/* it tells about a checkpoint beside it */
	struct contents contents;
	struct checkpoint_order order;
};

struct candidates {
	struct candidate *items;	/* owned */
	int count;
	/* wall clock: when one of the files that are no candidates, but are no sources or logs
	 * either, last changed; NaN: there is none */
	double other_s;
	/* the newest file that is saved but no candidate, and why it is none */
	char *passed;			/* owned; NULL: there is none */
	const char *why_passed;
	double passed_s;		/* wall clock: when it last changed */
	bool cut_short;			/* there was no time to look at all names */
};

/* Directories are read one level after the other, so that what lies beside a large set of data
 * is found before it. Names of checkpoints are looked at for two minutes; other names as long as
 * SEARCH_S and OTHERS_MAX allow, and in a large directory only if files came into it since the
 * time asked for. */
void candidates_find(const struct checkpoint_query *query, struct candidates *found);
void candidates_release(struct candidates *found);

#define SEARCH_DEPTH 8
#define SEARCH_S 10.0

#endif
