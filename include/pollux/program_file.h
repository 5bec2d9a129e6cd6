/* program_file.h - why the kernel does not run a file as a program. */
#ifndef POLLUX_PROGRAM_FILE_H
#define POLLUX_PROGRAM_FILE_H

#include <stdbool.h>

#include "pollux/text.h"

/* Adds the reason and what mends it: no execute bit, no "#!" line, lines that end in CR LF, an
 * interpreter that is not there. Returns false where nothing is wrong with the file, or nothing
 * that can be told from here. search_path: the PATH by which env(1) finds an interpreter; NULL:
 * none. */
bool program_file_fault(const char *path, const char *search_path, struct text *why);
/* The edit that takes the CR from the end of each line. */
#define PROGRAM_FILE_NO_CR "sed -i 's/\\r$//'"
/* True if the first line of the file ends in CR LF. */
bool program_file_is_dos(const char *path);

/* Adds "cannot execute 'PATH': " and the fault, or else the system's words for the error. */
void program_file_cannot(const char *path, const char *search_path, int error, struct text *out);

#endif
