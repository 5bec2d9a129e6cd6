/* checkpoint_names.h - what the name of a file or directory tells; private to src/engine/local. */
#ifndef POLLUX_RUN_CHECKPOINT_NAMES_H
#define POLLUX_RUN_CHECKPOINT_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/* What a name says of a file, from the surest sign of a checkpoint to none. */
enum name_class {
	/* "last.ckpt", "checkpoint-500", "model.pt", "epoch_3.bin" */
	NAME_CHECKPOINT,
	/* "weights.bin", "optimizer.pt": a checkpoint if there is no better one */
	NAME_MODEL,
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

#endif
