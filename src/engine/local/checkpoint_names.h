/* checkpoint_names.h - what the name of a file or directory tells; private to src/engine/local. */
#ifndef POLLUX_RUN_CHECKPOINT_NAMES_H
#define POLLUX_RUN_CHECKPOINT_NAMES_H

#include <stdbool.h>

/* True for a name such as "checkpoint-500", "last.ckpt" or "model.pt". */
bool checkpoint_name(const char *name);
/* True for a name that programs give to files which they have not finished writing. */
bool checkpoint_name_is_temporary(const char *name);
/* True if the path, or the name at its end, matches the pattern of the shell. */
bool checkpoint_glob_matches(const char *glob, const char *path);
/* True for the file, or the directory, of a logger. */
bool log_file_name(const char *name);
bool log_directory_name(const char *name);

#endif
