/* store_identity.h - where the numbers of a new store begin; private to src/store. */
#ifndef POLLUX_STORE_IDENTITY_H
#define POLLUX_STORE_IDENTITY_H

#include "pollux/store.h"

/* In the transaction that makes the tables: the first job gets a number beyond those of all logs
 * and checkpoint directories that are there, which are another store's. s->left_by_another is the
 * greatest of these. */
int store_number_past_leftovers(struct store *s, const struct paths *paths, struct err *err);

/* The next row of the table, one whose ids count up, gets a greater number than this one. */
int store_raise_number(struct store *s, const char *table, int64_t number, struct err *err);

#endif
