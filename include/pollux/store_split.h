/* store_split.h - sweeps whose runs are of several models (split.h).
 *
 * A group is split once at most: each of its jobs gets the workload "WORKLOAD [NAME=VALUE]". Groups
 * whose workload a person has named are never split. */
#ifndef POLLUX_STORE_SPLIT_H
#define POLLUX_STORE_SPLIT_H

#include "pollux/split.h"
#include "pollux/store_groups.h"

/* Splits groups of jobs that have not ended, where their step times show different models. Writes
 * nothing otherwise. Begins and commits its own transactions. */
int store_split_groups(struct store *s, struct err *err);

#endif
