/* disk.h - room on the disk of a directory. */
#ifndef POLLUX_DISK_H
#define POLLUX_DISK_H

#include <stdbool.h>

#include "pollux/text.h"

/* Returns the limit below which the free space of a disk has fallen, "1 %" or "1 GiB"; NULL: there
 * is room. */
const char *disk_shortage(double left_bytes, double all_bytes);

/* True if less than 1 % of the directory's file system is free, or less than 1 GiB; the latter does
 * not count on file systems of less than 2 GiB. Adds how much is free: "the disk of '/x' is nearly
 * full: 300 MiB of 200 GiB are free, less than 1 GiB". */
bool disk_nearly_full(const char *path, struct text *why);

#endif
