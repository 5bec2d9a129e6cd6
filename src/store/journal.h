/* journal.h - the text of a journal, and what the store's statements add; private to the store. */
#ifndef POLLUX_STORE_JOURNAL_TEXT_H
#define POLLUX_STORE_JOURNAL_TEXT_H

#include <sqlite3.h>
#include <stdbool.h>

#include "pollux/job.h"
#include "pollux/store.h"
#include "pollux/text.h"

/* A value of a statement. */
struct journal_value {
	char type;			/* i(nteger) d(ouble) t(ext) b(lob) n(ull) */
	int64_t integer;
	double number;
	const char *bytes;		/* in the record; n of them */
	size_t n;
};

/* A statement or the end of the run. */
struct journal_item {
	const char *sql;		/* in the record; NULL: the end of the run */
	size_t sql_length;
	const char *values;		/* the text of its values */
	int n_values;
	/* of the end of the run */
	const char *reason;		/* stop_reason_name(), in the record */
	size_t reason_length;
	double stop_boot_s;
	double stands_at_samples;	/* NAN: where the run's own row says */
};

/* --- writing --- */
void journal_add_value(struct text *t, const struct journal_value *v);
void journal_add_statement(struct text *t, const char *sql, const struct text *values,
			   int n_values);
/* Adds a whole record with these items. */
void journal_add_record(struct text *t, const struct text *items);

/* --- reading; nothing outside the bytes is read --- */
enum journal_found { JOURNAL_WHOLE, JOURNAL_PARTIAL, JOURNAL_DAMAGED };
/* Finds the record at the beginning of the bytes: its items, and the size of the whole. */
enum journal_found journal_record(const char *bytes, size_t n, const char **items, size_t *n_items,
				  size_t *size);
/* Takes an item from the front of what is left. 1; 0: none is left; -1: the text is malformed. */
int journal_item(const char **p, const char *end, struct journal_item *item);
/* The same for a value of an item. */
int journal_value(const char **p, const char *end, struct journal_value *v);

/* --- what this process writes --- */
/* Remembers a value that is bound to a statement that writes. */
void journal_bound(sqlite3_stmt *q, int i, const struct journal_value *v);
/* A statement was carried out. */
void journal_ran(struct store *s, sqlite3_stmt *q);
/* A transaction has ended. */
void journal_committed(struct store *s);
void journal_rolled_back(void);
/* The run's end: the other store ends its run by its own rules. */
void journal_ended(const struct run *run);
bool journal_is_on(void);

/* store_run_end.c: ends the run inside a transaction. */
int run_end_in_transaction(struct store *s, const struct run *run, struct err *err);

#endif
