/* proc_files.h - which processes have a file open. */
#ifndef POLLUX_PROC_FILES_H
#define POLLUX_PROC_FILES_H

#include "pollux/proc.h"

/* Lists the processes, without the caller, that have the file open, as far as /proc shows them: to
 * a user, those of this user. The caller releases the list by pid_list_release. */
void proc_users_of_file(const char *path, struct pid_list *list);

#endif
