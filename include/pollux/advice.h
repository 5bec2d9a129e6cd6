/* advice.h - the commands that sentences name for people to type.
 *
 * Such a command is complete, quoted for sh(1), and harms nothing else where the sentence is wrong,
 * or the world changes before it is typed: it signals one process that was looked at twice, it
 * follows no link that somebody else may have made, and it removes no file. */
#ifndef POLLUX_ADVICE_H
#define POLLUX_ADVICE_H

#include <stdbool.h>
#include <sys/types.h>

#include "pollux/text.h"

/* "sudo ", or nothing for root. */
const char *advice_sudo(void);

/* Adds "kill -SIGNAL PID", behind "sudo" where the process is of another user. */
void advice_add_kill(struct text *t, const char *signal, pid_t pid);
/* Adds who can continue a process that is stopped: "'kill -CONT 12'", or the debugger that has
 * stopped it. */
void advice_add_continue(struct text *t, pid_t pid);
/* The process that debugs this one, and has stopped it; 0: none has. */
pid_t advice_debugger(pid_t pid);
/* True if a signal has stopped the process, or its debugger has, at both of two looks. A process
 * that sleeps in the kernel, or has ended, is not stopped. */
bool advice_stays_stopped(pid_t pid);

/* Adds "COMMAND FILE" for a command that edits in place: FILE is what a link stands for, as sed -i
 * replaces links. */
void advice_add_edit(struct text *t, const char *command, const char *path);

/* Adds what makes a directory that others may write to a place for a store: its mode, or another
 * directory where other people may need this one as it is. */
void advice_add_private(struct text *t, const char *directory);

#endif
