/* git.h - which commit a directory is at, so that a job's code can be told later; private
 * to src/request. */
#ifndef POLLUX_REQUEST_GIT_H
#define POLLUX_REQUEST_GIT_H

#include <stdbool.h>

/* The commit of the working tree that holds directory (40 or 64 hexadecimal digits, the caller
 * frees), and whether tracked files differ from it. NULL outside a repository, before the first
 * commit, or without git(1). */
char *git_commit_of(const char *directory, bool *dirty);

#endif
