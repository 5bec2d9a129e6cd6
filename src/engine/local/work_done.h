/* work_done.h - whether a program that ended has done its work, by its command and its words;
 * private to src/engine/local. */
#ifndef POLLUX_RUN_WORK_DONE_H
#define POLLUX_RUN_WORK_DONE_H

#include <stdbool.h>
#include <stdint.h>

#include "pollux/text.h"

/* The number behind an option such as --epochs, --max_epochs=10, --num-train-epochs or
 * trainer.max_epochs=10 (Hydra's way). NaN: there is no such option, or two of them differ. */
double epochs_of_command(const struct strings *argv);

/* Returns the line by which a program that was launched again says that its training is over, of
 * the last 8 KiB that the run wrote, clipped to LAST_WORDS_SIZE; NULL: none does. The run's part
 * of the log begins at offset. The caller frees. Meant for runs that failed before their first
 * step, of a job whose last run ended with status 0: some of these programs say the same of
 * weights that were never trained to the end. */
char *nothing_left_words(const char *path, int64_t offset);

/* True if the last line of the run that counts folds, trials, stages and the like is not of the
 * last one: "fold 1/5", "Stage 1 of 3", or "trial 7", which tells of no last one. Such a program
 * comes to the total of its log in each part. The run's part of the log begins at offset; of a
 * large one the end is read. */
bool parts_are_left(const char *path, int64_t offset);

#endif
