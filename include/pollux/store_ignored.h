/* store_ignored.h - processes of others that may stay on a GPU, see device_owners.h. */
#ifndef POLLUX_STORE_IGNORED_H
#define POLLUX_STORE_IGNORED_H

#include "pollux/store.h"

/* A process is identified by its pid, its start and the boot: a later process with the same pid is
 * another one. */
struct ignored_process {
	int64_t pid, start_ticks;
};

struct ignored_list {
	struct ignored_process *items;	/* owned */
	int count;
};

/* Adds the process, and forgets the processes of other boots. */
int store_ignored_add(struct store *s, const struct ignored_process *process, struct err *err);
int store_ignored_remove(struct store *s, int64_t pid, bool *was_there, struct err *err);
/* The processes of this boot. */
int store_ignored_list(struct store *s, struct ignored_list *list, struct err *err);
void ignored_list_release(struct ignored_list *list);

#endif
