/* store_journal.h - what a run on another machine reads of the store, and what it tells the store.
 *
 * The supervisor of such a run must not open the store. It has a small store of its own with the
 * rows of its run. What it writes there it also tells in a journal: a file of typed records, which
 * the functions of the store write by themselves. A pass takes the records into the store, by the
 * same functions: each exactly once, since the place up to which the journal was read is written in
 * the same transaction.
 *
 *	store_run_rows(&store, run_id, &rows, err);		// the pass, before the start
 *	store_open_rows(&own, &paths, rows.data, rows.length, err);	// the supervisor
 *	store_journal_to(fd);
 *	...
 *	store_journal_take(&store, run_id, &part, &unknown, err);	// a later pass
 *
 * A function of the store that such a supervisor writes by has a kind of record, in
 * src/store/store_journal.c. */
#ifndef POLLUX_STORE_JOURNAL_H
#define POLLUX_STORE_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>

#include "pollux/store.h"
#include "pollux/text.h"

/* Adds the content of a store that has the rows which a supervisor of the run reads. */
int store_run_rows(struct store *s, int64_t run_id, struct text *content, struct err *err);
/* Opens such a store, new in its directory. Takes the rows of pollux 0.2.0 and before, too. */
int store_open_rows(struct store *s, const struct paths *paths, const char *content, size_t n,
		    struct err *err);

/* A run before the one of such rows was active when they were read. */
int store_job_position_is_old(struct store *s, int64_t job_id, struct err *err);

/* Where the checkpoints of a job are that named no directory. */
int store_command_place(struct store *s, int64_t job_id, const char *checkpoint_dir,
			struct err *err);

/* Begins a journal in the empty file. From now on each commit of this process appends records. */
void store_journal_to(int fd);
/* Tries again to write what could not be written. 0: every record is in the file, and on its disk
 * if durable. */
int store_journal_flush(bool durable, struct err *err);

/* Bytes of a run's journal, and their place there. */
struct journal_part {
	int64_t place;
	const char *bytes;
	size_t n;
};

/* Takes the whole records at the beginning of the part, if the store's place is the part's own:
 * another process may have taken them since the place was asked for. A last record that is not
 * whole is left for later, and so is one that the store cannot take now, with *err and all after
 * it; EX_DATAERR: the journal is damaged there. unknown: the kinds that this pollux does not know
 * are added, each once; their records are passed over. */
int store_journal_take(struct store *s, int64_t run_id, const struct journal_part *part,
		       struct strings *unknown, struct err *err);
/* The place in the run's journal up to which the store has taken the records. */
int store_journal_place(struct store *s, int64_t run_id, int64_t *place, struct err *err);

#endif
