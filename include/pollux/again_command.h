/* again_command.h - the command of a job that is like another one. */
#ifndef POLLUX_AGAIN_COMMAND_H
#define POLLUX_AGAIN_COMMAND_H

#include "pollux/command.h"
#include "pollux/job.h"

/* Replaces text in the arguments behind the program: each change is "OLD=NEW". Where there are
 * several '=', OLD is the longest that stands in an argument. EX_USAGE: OLD is in no argument. */
int again_set(const struct command *by, const struct text_list *changes, struct strings *argv,
	      struct err *err);
/* The length of OLD in such a change; 0: there is none. */
size_t again_old_length(const char *change, const struct strings *argv);
/* Adds what differs: "; arguments --lr 0.1 -> --lr 0.3; directory /a -> /b". */
void again_add_differences(struct text *t, const struct job_command *was,
			   const struct job_command *is);

#endif
