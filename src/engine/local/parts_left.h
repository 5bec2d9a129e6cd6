/* parts_left.h - whether one training of several in a run has ended; private to engine/local. */
#ifndef POLLUX_RUN_PARTS_LEFT_H
#define POLLUX_RUN_PARTS_LEFT_H

#include <stdbool.h>
#include <stdint.h>

/* True if the last line of the run that counts folds, trials, stages and the like is not of the
 * last one: "fold 1/5", "Stage 1 of 3", or "trial 7", which tells of no last one. Such a program
 * comes to the total of its log in each part. The run's part of the log begins at offset; of a
 * large one the end is read. */
bool parts_are_left(const char *path, int64_t offset);

#endif
