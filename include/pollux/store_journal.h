/* store_journal.h - what one process writes into a store, as a text that another store takes.
 *
 * The supervisor of a run on another machine must not open the store. It has a small store of its
 * own with the rows of its run, and each commit there goes to a journal, a file of records. A pass
 * takes the records into the store: each exactly once, since the place up to which the journal was
 * read is written in the same transaction.
 *
 *	store_run_rows(&store, run_id, &rows, err);		// the pass, before the start
 *	store_rows_put(&own, rows.data, rows.length, err);	// the supervisor
 *	store_journal_to(fd);
 *	...
 *	store_journal_take(&store, run_id, &part, &taken, err);	// a later pass
 *
 * A record is a line with the number of its bytes and their hash, then statements of SQL with the
 * values that were bound, exactly. A record that is not whole is left for later. */
#ifndef POLLUX_STORE_JOURNAL_H
#define POLLUX_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/store.h"
#include "pollux/text.h"

/* Adds one record: the rows that a supervisor of the run reads. */
int store_run_rows(struct store *s, int64_t run_id, struct text *record, struct err *err);
/* Puts the rows of such a record into a store that has none of them. */
int store_rows_put(struct store *s, const char *record, size_t n, struct err *err);

/* A run before the one of such rows was active when they were read. */
int store_job_position_is_old(struct store *s, int64_t job_id, struct err *err);

/* Where the checkpoints of a job are that named no directory. */
int store_command_place(struct store *s, int64_t job_id, const char *checkpoint_dir,
			struct err *err);

/* From now on this process appends a record to the file for each commit of any store. */
void store_journal_to(int fd);
/* Tries again to write what could not be written. 0: every record is in the file, and on its disk
 * if durable. */
int store_journal_flush(bool durable, struct err *err);
/* While paused, commits leave no record. */
void store_journal_pause(bool paused);

/* Bytes of a run's journal, and their place there. */
struct journal_part {
	int64_t place;
	const char *bytes;
	size_t n;
};

/* Takes the whole records at the beginning of the part. *taken: the bytes that were taken. A record
 * is taken only while the store's place is the record's own: another process may have taken the
 * record since the place was asked for. EX_DATAERR: the journal is damaged at the place reached. A
 * record that the store cannot take now is left: *taken is less. */
int store_journal_take(struct store *s, int64_t run_id, const struct journal_part *part,
		       size_t *taken, struct err *err);
/* The place in the run's journal up to which the store has taken the records. */
int store_journal_place(struct store *s, int64_t run_id, int64_t *place, struct err *err);

#endif
