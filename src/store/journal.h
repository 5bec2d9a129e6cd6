/* journal.h - what a run on another machine tells, as the text of typed records; private to the
 * store.
 *
 * A journal begins with the line JOURNAL_HEAD. Each line after it is a record: its kind, the fields
 * that are known, and a hash of the text before the hash:
 *
 *	claim launch_time_s=0x1.ac2d88182b31dp+30 launch_boot_s=0x1.dp+2 #89abcdef
 *
 * Numbers are exact, names are those of the columns, and in a text each byte that is no printable
 * ASCII, and each '%', is "%XX": no text ends a field or a line. */
#ifndef POLLUX_STORE_JOURNAL_TEXT_H
#define POLLUX_STORE_JOURNAL_TEXT_H

#include "pollux/job.h"
#include "pollux/store_measurements.h"
#include "pollux/text.h"
#include "rows.h"

#define JOURNAL_NAME "pollux journal "
#define JOURNAL_VERSION 1

enum record_kind {
	RECORD_CLAIM, RECORD_STOP, RECORD_STOPPING, RECORD_DIAGNOSIS, RECORD_CODE, RECORD_PROGRESS,
	RECORD_OBSERVATION, RECORD_GRADIENT, RECORD_METRIC, RECORD_POINT, RECORD_RUNG,
	RECORD_EVENT, RECORD_END,
	N_RECORD_KINDS
};

/* All that records can tell; one has the members that its kind names. */
struct told {
	struct run run;
	struct run_update update;
	struct observation observation;
	struct gradient_row gradient;
	struct job_metric metric;
	struct curve_point point;
	struct rung {
		int number;
		double samples, value;
	} rung;
	char curve[64];			/* of the point */
	double time_s;			/* wall clock: of the event */
	const char *event, *text;	/* its kind, and what happened; owned if they were read */
};

/* The fields of a kind of record are those of struct told, and the columns of the row of a table
 * that is a member of it. */
struct record_format {
	const char *name;
	struct row_columns told, row;
	size_t row_at;			/* offset of the row in struct told */
	/* Writes what is told into the store. */
	int (*put)(struct store *s, const struct told *t, struct err *err);
};

/* --- the text: journal.c --- */

/* A line of a journal. The texts are in the line. */
struct record {
	const char *kind, *fields;
	size_t kind_length, fields_length;
	size_t size;			/* bytes of the line */
};

enum journal_found { JOURNAL_WHOLE, JOURNAL_PARTIAL, JOURNAL_DAMAGED };

/* What became of the record that some bytes begin with. */
struct taken {
	enum journal_found found;
	size_t size;			/* of a whole one */
	int rc;				/* -1 with *err: the store cannot take it */
};

uint32_t journal_hash(const char *bytes, size_t n);
void journal_add(struct text *t, const struct record_format *format, const struct told *told);
/* Finds the record at the beginning of the bytes. Nothing outside the bytes is read. */
enum journal_found journal_find(const char *bytes, size_t n, struct record *r);
/* Puts the fields into members that were initialised; one that the record has not becomes unknown.
 * False: a value is none of its type. Other fields, of a newer pollux, are passed over. */
bool journal_read(const struct record *r, const struct record_format *format, struct told *told);
/* Frees the texts that were read. */
void journal_release(const struct record_format *format, struct told *told);

/* --- telling and taking: store_journal.c --- */

extern const struct store_table metrics_table;		/* struct job_metric */
extern const struct record_format record_formats[N_RECORD_KINDS];
/* NULL: this pollux does not know the kind. */
const struct record_format *record_format_of(const struct record *r);
/* Writes what is to be told into the store, and tells it once the transaction that is open is
 * committed. A process without a journal only writes it. */
int journal_put(struct store *s, enum record_kind kind, const struct told *t, struct err *err);
/* Tells what was written in another way. */
void journal_tell(struct store *s, enum record_kind kind, const struct told *t);
void journal_committed(void);
void journal_rolled_back(void);
/* While paused nothing is told. */
void journal_pause(bool paused);

/* What writes each kind, beside the function of the store that tells it. t->run has the numbers of
 * the run and its job, and what the kind tells of the run. */
int put_claim(struct store *s, const struct told *t, struct err *err);
int put_stop(struct store *s, const struct told *t, struct err *err);
int put_stopping(struct store *s, const struct told *t, struct err *err);
int put_diagnosis(struct store *s, const struct told *t, struct err *err);
int put_code(struct store *s, const struct told *t, struct err *err);
int put_progress(struct store *s, const struct told *t, struct err *err);
int put_observation(struct store *s, const struct told *t, struct err *err);
int put_gradient(struct store *s, const struct told *t, struct err *err);
int put_metric(struct store *s, const struct told *t, struct err *err);
int put_point(struct store *s, const struct told *t, struct err *err);
int put_rung(struct store *s, const struct told *t, struct err *err);
int put_event(struct store *s, const struct told *t, struct err *err);
int put_end(struct store *s, const struct told *t, struct err *err);

int run_end_in_transaction(struct store *s, const struct run *run, struct err *err);

/* --- journals of pollux 0.2.0 and before: old_journal.c --- */

/* Takes the record at the beginning of the bytes, in a transaction. run_id 0: the rows of a run. */
struct taken old_journal_take(struct store *s, int64_t run_id, const char *bytes, size_t n,
			      struct err *err);

#endif
