/* driver_child.h - ask a driver in a child with a deadline, because some drivers hang for ever. */
#ifndef POLLUX_DRIVER_CHILD_H
#define POLLUX_DRIVER_CHILD_H

#include <stddef.h>

#include "pollux/err.h"

/* Runs in the child, which has no other descriptors than fd and /dev/null, and dies with the
 * caller. Writes the answer to fd. */
typedef void driver_child_answer(int fd, void *arg);

/* Returns the answer, which the caller frees, and its size; NULL with *err: EX_TEMPFAIL if there
 * was no answer within driver_limit_s(), or if the child of an earlier question still hangs;
 * EX_UNAVAILABLE if the child died. */
void *driver_child_ask(driver_child_answer *answer, void *arg, size_t *size, struct err *err);

/* The same for a library that has no driver and never hangs, but dies where memory runs out. */
void *library_child_ask(driver_child_answer *answer, void *arg, size_t *size, struct err *err);

/* For the child: writes all n bytes, or as many as the caller takes. */
void driver_child_write(int fd, const void *bytes, size_t n);

/* Seconds that a driver gets to list its devices: POLLUX_DRIVER_LIMIT, by default 30. A driver that
 * is not kept loaded takes seconds for each GPU. */
double driver_limit_s(void);

#endif
