/* mem.h - allocation that cannot fail: exhaustion ends the program with EX_OSERR.
 * The caller frees each result with free(3). */
#ifndef POLLUX_MEM_H
#define POLLUX_MEM_H

#include <stddef.h>

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
