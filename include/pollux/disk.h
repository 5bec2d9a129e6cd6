/* disk.h - room on the disk of a directory. */
#ifndef POLLUX_DISK_H
#define POLLUX_DISK_H

#include <stdbool.h>

#include "pollux/text.h"

/* True if less than 1 GiB of the directory's file system is free, and less than 1 % of it. Adds how
 * much that is: "the disk of '/x' is nearly full: 300 MiB of 200 GiB are free". */
bool disk_nearly_full(const char *path, struct text *why);

#endif
