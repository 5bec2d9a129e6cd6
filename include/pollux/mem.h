/* mem.h - allocation that cannot fail: exhaustion ends the program with EX_OSERR.
 * The caller frees each result with free(3). */
#ifndef POLLUX_MEM_H
#define POLLUX_MEM_H

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/* A variable that is released, by a function that takes its address, when its scope is left; one
 * whose memory is freed then, without a change of errno:
 *
 *	scoped(text_release) struct text t = TEXT_INIT;
 *	autofree char *path = xasprintf("%s/%s", directory, name); */
#define scoped(release) __attribute__((cleanup(release)))
#define autofree scoped(free_pointed)
static inline void free_pointed(void *pointer)
{
	int error = errno;

	free(*(void **)pointer);
	errno = error;
}

void *xmalloc(size_t bytes);
void *xcalloc(size_t n, size_t bytes);
void *xreallocarray(void *old, size_t n, size_t bytes);

/* Makes room for one element more than count, in an array that only this function has allocated.
 * The array doubles whenever count reaches a power of two. */
void *xgrow(void *items, int count, size_t bytes);

char *xstrdup(const char *s);
/* Frees *text and replaces it by a copy of by. Changes nothing if by is NULL. */
void xreplace(char **text, const char *by);
char *xasprintf(const char *format, ...) __attribute__((format(printf, 1, 2)));

#endif
