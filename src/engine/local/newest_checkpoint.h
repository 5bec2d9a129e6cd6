/* newest_checkpoint.h - the checkpoint that {newest} names; private to src/engine/local. */
#ifndef POLLUX_RUN_NEWEST_CHECKPOINT_H
#define POLLUX_RUN_NEWEST_CHECKPOINT_H

/* The path of the file or directory below this one that was written last and whose name looks like
 * that of a checkpoint: it has "checkpoint" or "ckpt" in it, or ends in ".pt", ".pth", ".keras" or
 * the like. A directory counts if its name also has a digit, as in "checkpoint-500"; others are
 * searched, to a depth of NEWEST_DEPTH. A directory with fewer entries than the one written before
 * it, or with a file that says that it is incomplete, was not saved to its end: it is passed over.
 * With a glob, what matches it counts instead: a path below the directory, or a name. The caller
 * frees; NULL: there is none. */
char *newest_checkpoint(const char *directory, const char *glob);

#define NEWEST_DEPTH 4

#endif
