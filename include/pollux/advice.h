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

/* --- why the kernel does not run a file as a program --- */

/* Adds "cannot execute 'PATH': ", the reason and what mends it: no execute bit, no "#!" line, lines
 * that end in CR LF, an interpreter that is not there. This is told of the command's program, or of
 * the one that it starts: "nice -n 5 ./run.sh". Returns false where nothing is wrong, or nothing
 * that can be told from here. directory: where the command runs; search_path: the PATH by which
 * env(1) finds an interpreter, or NULL. */
bool program_file_fault(const char *program, char *const *argv, const char *directory,
			const char *search_path, struct text *words);
/* The edit that takes the CR from the end of each line. */
#define PROGRAM_FILE_NO_CR "sed -i 's/\\r$//'"
/* True if the first line of the file ends in CR LF. */
bool program_file_is_dos(const char *path);

/* True if the program, a name or a path, is this one or a version of it: "python", "python3.11". */
bool program_is(const char *program, const char *name);
bool program_is_shell(const char *program);	/* sh, bash, dash, zsh or ksh */

/* Adds "cannot execute 'PATH': " and the fault, or else the system's words for the error. */
void program_file_cannot(const char *path, const char *search_path, int error, struct text *out);

#endif
