/* program_file.h - why the kernel does not run a file as a program. */
#ifndef POLLUX_PROGRAM_FILE_H
#define POLLUX_PROGRAM_FILE_H

#include <stdbool.h>

#include "pollux/text.h"

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

/* Adds "cannot execute 'PATH': " and the fault, or else the system's words for the error. */
void program_file_cannot(const char *path, const char *search_path, int error, struct text *out);

#endif
