/* disk.c - see disk.h. */
#include <sys/statvfs.h>

#include "pollux/disk.h"

#define LEAST_BYTES 0x1p30
#define LEAST_PART 0.01

static void add_bytes(struct text *t, double bytes)
{
	if (bytes < 0x1p30)
		text_addf(t, "%.1f MiB", bytes / 0x1p20);
	else
		text_addf(t, "%.0f GiB", bytes / 0x1p30);
}

bool disk_nearly_full(const char *path, struct text *why)
{
	double left, all;
	struct statvfs fs;

	if (statvfs(path, &fs) || fs.f_blocks == 0)
		return false;
	left = (double)fs.f_bavail * (double)fs.f_frsize;
	all = (double)fs.f_blocks * (double)fs.f_frsize;
	if (left >= LEAST_BYTES || left >= LEAST_PART * all)
		return false;
	text_addf(why, "the disk of '%s' is nearly full: ", path);
	add_bytes(why, left);
	text_add(why, " of ");
	add_bytes(why, all);
	text_add(why, " are free");
	return true;
}
