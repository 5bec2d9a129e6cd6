/* other_work.h - words that tell work which is no training; private to src/steps. */
#ifndef POLLUX_STEPS_OTHER_WORK_H
#define POLLUX_STEPS_OTHER_WORK_H

#include <stdbool.h>
#include <stddef.h>

enum other_work {
	OTHER_NONE,
	OTHER_ASIDE,		/* loading, a download: beside or before the training */
	OTHER_PAUSE,		/* an evaluation, a checkpoint: the training waits for it */
};

/* The first n bytes of text, a word of letters, as the description of a progress bar. */
enum other_work other_work_of_bar(const char *text, size_t n);
/* As other_work_of_bar(), for a word before a counter in a line. Fewer words count: "mAP" is no
 * map. */
enum other_work other_work_of_line(const char *text, size_t n);

#endif
