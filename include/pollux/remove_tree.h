/* remove_tree.h - rm -r. */
#ifndef POLLUX_REMOVE_TREE_H
#define POLLUX_REMOVE_TREE_H

/* The directory and all in it, on its own file system only, no symbolic link followed. What is not there, or
 * cannot be removed, stays. */
void remove_tree(const char *path);

#endif
