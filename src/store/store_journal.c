/* store_journal.c - the kinds of records; what this process tells, and what the store takes; the
 * store of a supervisor on another machine. */
#include "pollux/store_journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "database.h"
#include "journal.h"
#include "pollux/file.h"
#include "pollux/mem.h"
#include "pollux/store_groups.h"
#include "pollux/store_runs.h"

/* --- kinds: their fields, and what applies them --- */

#define IN(kind) (1U << RECORD_##kind)

/* The fields, each in the kinds that have it. */
#define ROW struct told
static const struct store_column of_told[] = {
	C("launch_time_s", DOUBLE, run.launch_time_s, UNKNOWN, IN(CLAIM)),
	C("launch_boot_s", DOUBLE, run.launch_boot_s, UNKNOWN, IN(CLAIM)),
	NAMES("stop_reason", run.stop_reason, ZERO, stop_names, IN(STOP) | IN(END)),
	C("stop_boot_s", DOUBLE, run.stop_boot_s, UNKNOWN, IN(STOP) | IN(END)),
	C("stands_at_samples", DOUBLE, run.stands_at_samples, UNKNOWN, IN(END)),
	C("diagnosis", TEXT, text, KNOWN, IN(DIAGNOSIS)),
	CHARS("code_commit", run.code.commit, IN(CODE)),
	CHARS("code_tree", run.code.tree, IN(CODE)),
	C("steps", DOUBLE, update.steps, UNKNOWN, IN(PROGRESS)),
	C("position_is_least", INT, update.position_is_least, NEGATIVE, IN(PROGRESS)),
	C("epoch", DOUBLE, update.epoch, UNKNOWN, IN(PROGRESS)),
	C("has_loss", BOOL, update.has_loss, KNOWN, IN(PROGRESS)),
	C("loss", DOUBLE, update.loss, UNKNOWN, IN(PROGRESS)),
	C("printed_total_steps", DOUBLE, update.printed_total_steps, UNKNOWN, IN(PROGRESS)),
	C("total_samples", DOUBLE, update.total_samples, UNKNOWN, IN(PROGRESS)),
	C("total_steps", DOUBLE, update.total_steps, UNKNOWN, IN(PROGRESS)),
	C("total_epochs", DOUBLE, update.total_epochs, UNKNOWN, IN(PROGRESS)),
	NAMES("ends_by", update.end, ZERO, training_end_names, IN(PROGRESS)),
	C("optimizer", TEXT, update.optimizer, ZERO, IN(PROGRESS)),
	C("resumes", INT, update.resumes, NEGATIVE, IN(PROGRESS)),
	C("saves_when_asked", INT, update.saves_when_asked, NEGATIVE, IN(PROGRESS)),
	C("status_text", TEXT, update.status_text, ZERO, IN(PROGRESS)),
	C("parameters", INT64, update.parameters, ZERO, IN(PROGRESS)),

	CHARS("name", curve, IN(POINT)),
	C("time_s", DOUBLE, point.time_s, UNKNOWN, IN(POINT)),
	C("samples", DOUBLE, point.samples, UNKNOWN, IN(POINT)),
	C("value", DOUBLE, point.value, UNKNOWN, IN(POINT)),
	C("rung", INT, rung.number, KNOWN, IN(RUNG)),
	C("samples", DOUBLE, rung.samples, UNKNOWN, IN(RUNG)),
	C("value", DOUBLE, rung.value, UNKNOWN, IN(RUNG)),
	C("time_s", DOUBLE, time_s, KNOWN, IN(EVENT)),
	C("event", TEXT, event, KNOWN, IN(EVENT)),
	C("text", TEXT, text, KNOWN, IN(EVENT)),
};
static const struct store_table told_table = TABLE_OF("", of_told);
#undef ROW

#define TOLD(kind) { .table = &told_table, .flags = 1U << RECORD_##kind }
#define ROW_IN(member) offsetof(struct told, member)

const struct record_format record_formats[N_RECORD_KINDS] = {
	[RECORD_CLAIM] = { "claim", TOLD(CLAIM), .put = put_claim },
	[RECORD_STOP] = { "stop", TOLD(STOP), .put = put_stop },
	[RECORD_STOPPING] = { "stopping", TOLD(STOPPING), .put = put_stopping },
	[RECORD_DIAGNOSIS] = { "diagnosis", TOLD(DIAGNOSIS), .put = put_diagnosis },
	[RECORD_CODE] = { "code", TOLD(CODE), .put = put_code },
	[RECORD_PROGRESS] = { "progress", TOLD(PROGRESS),
			      { .table = &runs_table, .flags = COLUMN_REPORT }, ROW_IN(run),
			      put_progress },
	[RECORD_OBSERVATION] = { "observation", TOLD(OBSERVATION),
				 { .table = &observations_table }, ROW_IN(observation),
				 put_observation },
	[RECORD_GRADIENT] = { "gradient", TOLD(GRADIENT),
			      { .table = &gradients_table }, ROW_IN(gradient), put_gradient },
	[RECORD_METRIC] = { "metric", TOLD(METRIC), { .table = &metrics_table }, ROW_IN(metric),
			    put_metric },
	[RECORD_POINT] = { "point", TOLD(POINT), .put = put_point },
	[RECORD_RUNG] = { "rung", TOLD(RUNG), .put = put_rung },
	[RECORD_EVENT] = { "event", TOLD(EVENT), .put = put_event },
	[RECORD_END] = { "end", TOLD(END),
			 { .table = &runs_table, .flags = COLUMN_REPORT | COLUMN_END,
			   .without = COLUMN_STOP }, ROW_IN(run), put_end },
};

const struct record_format *record_format_of(const struct record *r)
{
	for (size_t i = 0; i < N_RECORD_KINDS; i++)
		if (strlen(record_formats[i].name) == r->kind_length &&
		    !memcmp(record_formats[i].name, r->kind, r->kind_length))
			return &record_formats[i];
	return NULL;
}

/* --- telling --- */

static struct {
	int fd;				/* -1: no journal is written */
	bool paused;
	struct text open;		/* records of the open transaction */
	struct text unwritten;		/* what is not in the file yet */
	size_t written;			/* bytes of that which are */
} journal = { .fd = -1, .open = TEXT_INIT, .unwritten = TEXT_INIT };

void store_journal_to(int fd)
{
	struct err ignored;

	journal.fd = fd;
	if (fd >= 0)
		text_addf(&journal.unwritten, JOURNAL_NAME "%d\n", JOURNAL_VERSION);
	store_journal_flush(false, &ignored);
}

void journal_pause(bool paused)
{
	journal.paused = paused;
}

void journal_tell(struct store *s, enum record_kind kind, const struct told *t)
{
	if (journal.fd < 0 || journal.paused)
		return;
	journal_add(&journal.open, &record_formats[kind], t);
	if (sqlite3_get_autocommit(s->db))
		journal_committed();
}

int journal_put(struct store *s, enum record_kind kind, const struct told *t, struct err *err)
{
	if (record_formats[kind].put(s, t, err))
		return -1;
	journal_tell(s, kind, t);
	return 0;
}

void journal_committed(void)
{
	struct err ignored;

	if (journal.open.length == 0)
		return;
	text_add_bytes(&journal.unwritten, journal.open.data, journal.open.length);
	text_clear(&journal.open);
	store_journal_flush(false, &ignored);
}

void journal_rolled_back(void)
{
	text_clear(&journal.open);
}

/* A record that was written in part goes on where the file ends: no other process writes there. */
int store_journal_flush(bool durable, struct err *err)
{
	while (journal.fd >= 0 && journal.written < journal.unwritten.length) {
		ssize_t n = write(journal.fd, journal.unwritten.data + journal.written,
				  journal.unwritten.length - journal.written);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return err_set(err, EX_IOERR, "cannot write the run's journal: %s",
				       strerror(n < 0 ? errno : ENOSPC));
		journal.written += (size_t)n;
	}
	text_clear(&journal.unwritten);
	journal.written = 0;
	if (durable && journal.fd >= 0 && fdatasync(journal.fd))
		return err_set(err, EX_IOERR, "cannot write the run's journal: %s",
			       strerror(errno));
	return 0;
}

/* --- taking --- */

#define AT_ONCE 1000	/* records for which the store is locked */

static int malformed(struct err *err)
{
	return err_set(err, EX_DATAERR, "the journal of the run is malformed");
}

int store_journal_place(struct store *s, int64_t run_id, int64_t *place, struct err *err)
{
	return sql_get(s, err, "SELECT journal_bytes FROM runs WHERE id = ?", "i<i", place,
		       run_id);
}

static struct taken take_head(const char *bytes, size_t n, struct err *err)
{
	const char *end = memchr(bytes, '\n', n);
	struct taken taken = { .found = JOURNAL_PARTIAL };
	long long version;

	if (!end)
		return taken;
	taken.found = JOURNAL_WHOLE;
	taken.size = (size_t)(end + 1 - bytes);
	version = strtoll(bytes + strlen(JOURNAL_NAME), NULL, 10);
	if (version != JOURNAL_VERSION)
		taken.rc = err_set(err, EX_DATAERR, "the run's journal is of version %lld, and"
				   " this pollux reads version %d: a newer pollux takes it",
				   version, JOURNAL_VERSION);
	return taken;
}

/* Takes what the part begins with, unless that is no whole record. */
static struct taken take_record(struct store *s, int64_t run_id, const struct journal_part *part,
				struct strings *unknown, struct err *err)
{
	const size_t length = strlen(JOURNAL_NAME);
	const struct record_format *format;
	struct taken taken = { .rc = 0 };
	struct told t = { .time_s = 0 };
	struct record r;
	char *name;

	if (part->n > 1 && !memcmp(part->bytes, "J ", 2)) {
		taken = old_journal_take(s, run_id, part->bytes, part->n, err);
		if (taken.found == JOURNAL_DAMAGED)
			taken.rc = malformed(err);
		return taken;
	}
	if (part->n >= length && !memcmp(part->bytes, JOURNAL_NAME, length))
		return take_head(part->bytes, part->n, err);
	taken.found = journal_find(part->bytes, part->n, &r);
	if (taken.found == JOURNAL_DAMAGED)
		taken.rc = malformed(err);
	if (taken.found != JOURNAL_WHOLE)
		return taken;
	taken.size = r.size;
	format = record_format_of(&r);
	if (format) {
		taken.rc = store_run_get(s, run_id, &t.run, err);
		if (taken.rc == 0)
			taken.rc = journal_read(&r, format, &t) ? format->put(s, &t, err)
								: malformed(err);
		journal_release(format, &t);
		run_release(&t.run);
		return taken;
	}
	name = xasprintf("%.*s", (int)(r.kind_length < 40 ? r.kind_length : 40), r.kind);
	strings_add_once(unknown, name);
	free(name);
	return taken;
}

/* Takes records in one transaction, and writes the place after them. One that the store cannot take
 * ends it, and leaves no trace; those before it are taken. *more: another may follow. Another pass
 * may have taken the record at the place, or have ended the run, which then stays as it is. */
static int take_some(struct store *s, int64_t run_id, struct journal_part *part,
		     struct strings *unknown, bool *more, struct err *err)
{
	struct err other;
	int rc = 0;

	if (store_begin(s, err))
		return -1;
	for (int i = 0; rc == 0 && *more && i < AT_ONCE; i++) {
		struct taken taken = { .found = JOURNAL_PARTIAL };

		if (sql_get(s, err, "SELECT count(*) FROM runs WHERE id = ? AND state <> 'ended'"
			    " AND coalesce(journal_bytes, 0) = ?", "b<ii", more, run_id,
			    part->place) ||
		    store_begin_part(s, err))
			return store_finish(s, -1, err);
		if (*more)
			taken = take_record(s, run_id, part, unknown, err);
		*more = taken.found == JOURNAL_WHOLE;
		rc = taken.rc;
		part->place += (int64_t)taken.size;
		part->bytes += taken.size;
		part->n -= taken.size;
		if (rc == 0 && *more)
			rc = sql_run(s, NULL, err, "UPDATE runs SET journal_bytes = ? WHERE id = ?",
				     "ii", part->place, run_id);
		if (store_end_part(s, rc == 0, rc ? &other : err))
			return store_finish(s, -1, err);
	}
	return store_commit(s, rc ? &other : err) || rc ? -1 : 0;
}

int store_journal_take(struct store *s, int64_t run_id, const struct journal_part *part,
		       struct strings *unknown, struct err *err)
{
	struct journal_part left = *part;
	bool more = part->n > 0;
	int rc = 0;

	while (rc == 0 && more)
		rc = take_some(s, run_id, &left, unknown, &more, err);
	return rc;
}

/* --- the store of a supervisor on another machine: a few rows of the whole store --- */

/* Which rows of a table; ?1 is the run. In the order in which rows refer to each other. */
#define OF_JOB "(SELECT job_id FROM runs WHERE id = ?1)"
static const struct part {
	const char *table, *condition;
} parts[] = {
	{ "settings", "name = 'store_id' AND ?1" },
	{ "job_groups", "id = (SELECT group_id FROM jobs WHERE id = " OF_JOB ")" },
	{ "jobs", "id = " OF_JOB },
	{ "environments", "id = (SELECT environment_id FROM commands WHERE job_id = " OF_JOB ")" },
	{ "commands", "job_id = " OF_JOB },
	{ "job_metrics", "job_id = " OF_JOB },
	{ "curve_points", "job_id = " OF_JOB },
	{ "rung_results", "job_id = " OF_JOB },
	{ "runs", "id = ?1 OR (job_id = " OF_JOB " AND state = 'ended')" },
	{ "run_devices", "run_id = ?1" },
};

/* The columns are those of the part: the whole store, of an older pollux once, may have others. */
static int copy_rows(struct store *s, struct store *part, const struct part *p, int64_t run_id,
		     struct err *err)
{
	struct text insert = TEXT_INIT;
	char *columns, *select;
	sqlite3_stmt *q, *put = NULL;
	int rc;

	if (sql_get(part, err, "SELECT group_concat(name, ', ') FROM pragma_table_info(?)", "t<t",
		    &columns, p->table))
		return -1;
	select = xasprintf("SELECT %s FROM %s WHERE %s", columns, p->table, p->condition);
	rc = sql_query(s, &q, err, select, "i", run_id);
	text_addf(&insert, "INSERT INTO %s (%s) VALUES (", p->table, columns);
	for (int i = 0; rc == 0 && i < sqlite3_column_count(q); i++)
		text_add(&insert, i ? ", ?" : "?");
	text_add(&insert, ")");
	while (rc == 0 && (rc = sql_row(s, q, err)) == 1) {
		rc = sql_query(part, &put, err, insert.data, "");
		for (int i = 0; rc == 0 && i < sqlite3_column_count(q); i++)
			sqlite3_bind_value(put, i + 1, sqlite3_column_value(q, i));
		if (rc == 0)
			rc = sql_row(part, put, err);
		sql_done(put);
	}
	sql_done(q);
	text_release(&insert);
	free(select);
	free(columns);
	return rc;
}

int store_run_rows(struct store *s, int64_t run_id, struct text *content, struct err *err)
{
	sqlite3_int64 n = 0;
	unsigned char *bytes = NULL;
	struct store part;
	int rc = 0;

	if (schema_fresh(&part, err))
		return -1;
	for (size_t i = 0; rc == 0 && i < sizeof(parts) / sizeof(parts[0]); i++)
		rc = copy_rows(s, &part, &parts[i], run_id, err);
	if (rc == 0)
		bytes = sqlite3_serialize(part.db, "main", &n, 0);
	if (bytes)
		text_add_bytes(content, bytes, (size_t)n);
	else if (rc == 0)
		rc = err_set(err, EX_OSERR, "no memory for a part of the store");
	sqlite3_free(bytes);
	sql_close(&part);
	return rc;
}

int store_open_rows(struct store *s, const struct paths *paths, const char *content, size_t n,
		    struct err *err)
{
	bool is_old = n > 1 && !memcmp(content, "J ", 2);

	if (!is_old && file_replace(paths->store, content, n, err))
		return -1;
	if (store_open(s, paths, STORE_WRITE, err))
		return -1;
	if (!is_old)
		return 0;
	if (store_begin(s, err) == 0) {
		struct taken taken = old_journal_take(s, 0, content, n, err);

		if (taken.found != JOURNAL_WHOLE)
			taken.rc = err_set(err, EX_DATAERR, "the rows of the run are malformed");
		if (store_finish(s, taken.rc, err) == 0)
			return 0;
	}
	store_close(s);
	return -1;
}

int store_job_position_is_old(struct store *s, int64_t job_id, struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE jobs SET position_doubt = ? WHERE id = ?", "ii",
		       (int64_t)POSITION_OLD, job_id);
}

int store_command_place(struct store *s, int64_t job_id, const char *checkpoint_dir,
			struct err *err)
{
	return sql_run(s, NULL, err, "UPDATE commands SET checkpoint_dir = CAST(? AS BLOB)"
		       " WHERE job_id = ? AND checkpoint_dir IS NULL", "ti", checkpoint_dir,
		       job_id);
}
