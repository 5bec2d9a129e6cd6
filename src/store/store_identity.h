/* store_identity.h - where the numbers of a new store begin; private to src/store. */
#ifndef POLLUX_STORE_IDENTITY_H
#define POLLUX_STORE_IDENTITY_H

#include "pollux/store.h"

/* For the transaction that makes the tables. Logs and checkpoint directories that are there already
 * belong to another store: the first job gets a greater number than all of them. s->left_by_another
 * is the greatest of their numbers. */
int store_number_past_leftovers(struct store *s, const struct paths *paths, struct err *err);

/* The next row of the table gets a greater id than number. The ids of the table count up. */
int store_raise_number(struct store *s, const char *table, int64_t number, struct err *err);

#endif
