/* on_end.h - the commands that a person wants to be run when a job ends; private to src/cli. */
#ifndef POLLUX_CLI_ON_END_H
#define POLLUX_CLI_ON_END_H

#include "pollux/config.h"
#include "pollux/store.h"

/* True if a command is to be told of the end of every job. */
bool on_end_tells_all(const struct config *config);

/* Starts 'pollux tell' in the background where a job has ended, was told to nobody and has a
 * command. The store may be open here: that process opens it anew. */
int on_end_start(struct store *s, const struct config *config, struct err *err);

/* As on_end_start(), for a command that has ended jobs itself. Errors are left to the next pass. */
void on_end_look(void);

#endif
