/* on_end.h - the commands that a person wants to be run when a job ends; private to src/cli. */
#ifndef POLLUX_CLI_ON_END_H
#define POLLUX_CLI_ON_END_H

#include "pollux/config.h"
#include "pollux/store.h"

/* Starts a 'pollux tell' in the background for each job that has ended, was told to nobody and has
 * a command. The store may be open here: those processes open it anew. */
int on_end_start(struct store *s, const struct config *config, struct err *err);

#endif
