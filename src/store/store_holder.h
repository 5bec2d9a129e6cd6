/* store_holder.h - which process keeps others from the store; private to the store. */
#ifndef POLLUX_STORE_HOLDER_H
#define POLLUX_STORE_HOLDER_H

#include <stdbool.h>

#include "pollux/text.h"

/* Adds ", by process 17 (pollux), which is stopped: ..." for the process that has SQLite's locks of
 * this store; a stopped one first. Adds nothing where the kernel does not tell, or where the lock
 * is free again. Opens none of the files: to close one would drop this process's own locks. */
void store_holder_add(const char *path, struct text *t);

#endif
