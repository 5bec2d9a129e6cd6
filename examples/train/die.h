/* die.h - one clear line on stderr, and the end. For the main thread only:
 * while other threads train, errors are carried to it. */
#ifndef TRAIN_DIE_H
#define TRAIN_DIE_H

#include <stddef.h>

/* Print "train: MESSAGE" and exit with a status of sysexits.h. */
__attribute__((format(printf, 2, 3)))
_Noreturn void die(int status, const char *format, ...);

/* Print "train: MESSAGE" and go on. */
__attribute__((format(printf, 1, 2)))
void complain(const char *format, ...);

/* What went wrong in another thread, for the main thread to die of. */
struct failure {
	int status;                      /* of sysexits.h; 0 = nothing */
	char text[240];
};

/* Note it, unless something has gone wrong before. */
__attribute__((format(printf, 3, 4)))
void failure_set(struct failure *failure, int status, const char *format, ...);

/* Zeroed memory for n things of size bytes, aligned for vector instructions;
 * dies when there is none. Freed by free(). */
void *allocate(size_t n, size_t size);

#endif
