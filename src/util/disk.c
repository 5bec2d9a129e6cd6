/* disk.c - see disk.h. */
#include <stddef.h>
#include <sys/statvfs.h>

#include "pollux/disk.h"

#define LEAST_BYTES 0x1p30
#define LEAST_PART 0.01
#define SMALL_BYTES 0x1p31	/* a smaller disk may never have LEAST_BYTES */

static void add_bytes(struct text *t, double bytes)
{
	if (bytes < 0x1p30)
		text_addf(t, "%.1f MiB", bytes / 0x1p20);
	else
		text_addf(t, "%.0f GiB", bytes / 0x1p30);
}

const char *disk_shortage(double left_bytes, double all_bytes)
{
	if (left_bytes < LEAST_PART * all_bytes)
		return "1 %";
	return left_bytes < LEAST_BYTES && all_bytes >= SMALL_BYTES ? "1 GiB" : NULL;
}

bool disk_nearly_full(const char *path, struct text *why)
{
	double left, all;
	const char *less;
	struct statvfs fs;

	if (statvfs(path, &fs) || fs.f_blocks == 0)
		return false;
	left = (double)fs.f_bavail * (double)fs.f_frsize;
	all = (double)fs.f_blocks * (double)fs.f_frsize;
	less = disk_shortage(left, all);
	if (!less)
		return false;
	text_addf(why, "the disk of '%s' is nearly full: ", path);
	add_bytes(why, left);
	text_add(why, " of ");
	add_bytes(why, all);
	text_addf(why, " are free, less than %s", less);
	return true;
}
