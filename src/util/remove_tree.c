/* remove_tree.c - removes a directory and its content, the deepest entries first. */
#include <ftw.h>
#include <stdio.h>

#include "pollux/remove_tree.h"

#define OPEN_DIRECTORIES 16

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *where)
{
	(void)st;
	(void)type;
	(void)where;
	remove(path);
	return 0;
}

void remove_tree(const char *path)
{
	nftw(path, remove_entry, OPEN_DIRECTORIES, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
