/* remove_tree.h - rm -r. */
#ifndef POLLUX_REMOVE_TREE_H
#define POLLUX_REMOVE_TREE_H

/* Removes the directory and its content. Stays on the directory's file system and follows no
 * symbolic link. An entry that cannot be removed stays, without an error. */
void remove_tree(const char *path);

#endif
