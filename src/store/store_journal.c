/* store_journal.c - the kinds of records; what this process tells, and what the store takes. */
#include "pollux/store_journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "columns.h"
#include "journal.h"
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
	CHARS("name", metric.name, IN(METRIC)),
	C("last", DOUBLE, metric.last, UNKNOWN, IN(METRIC)),
	C("samples", DOUBLE, metric.samples, UNKNOWN, IN(METRIC)),
	C("lowest", DOUBLE, metric.lowest, UNKNOWN, IN(METRIC)),
	C("lowest_samples", DOUBLE, metric.lowest_samples, UNKNOWN, IN(METRIC)),
	C("highest", DOUBLE, metric.highest, UNKNOWN, IN(METRIC)),
	C("highest_samples", DOUBLE, metric.highest_samples, UNKNOWN, IN(METRIC)),
	C("time_s", DOUBLE, metric.time_s, UNKNOWN, IN(METRIC)),
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
#undef ROW

static const struct store_columns told_columns = COLUMNS(of_told);
static const struct store_table told_table = {
	"", sizeof(struct told), { { .columns = &told_columns } },
};

static int apply_claim(struct store *s, struct told *t, struct err *err)
{
	return run_claim_row(s, t->run.id, t->run.handle, t->run.launch_time_s,
			     t->run.launch_boot_s, err);
}

static int apply_stop(struct store *s, struct told *t, struct err *err)
{
	return store_run_request_stop(s, t->run.id, t->run.stop_reason, t->run.stop_boot_s, err);
}

static int apply_stopping(struct store *s, struct told *t, struct err *err)
{
	return store_run_set_stopping(s, t->run.id, err);
}

static int apply_diagnosis(struct store *s, struct told *t, struct err *err)
{
	return store_run_set_diagnosis(s, t->run.id, t->text, err);
}

static int apply_code(struct store *s, struct told *t, struct err *err)
{
	return store_run_set_code(s, &t->run, err);
}

static int apply_progress(struct store *s, struct told *t, struct err *err)
{
	t->update.run = &t->run;
	return progress_put(s, &t->update, err);
}

static int apply_observation(struct store *s, struct told *t, struct err *err)
{
	t->observation.run_id = t->run.id;
	return observation_put(s, &t->observation, err);
}

static int apply_gradient(struct store *s, struct told *t, struct err *err)
{
	t->gradient.run_id = t->run.id;
	return gradient_put(s, &t->gradient, err);
}

static int apply_metric(struct store *s, struct told *t, struct err *err)
{
	return metric_put(s, t->run.job_id, &t->metric, err);
}

static int apply_point(struct store *s, struct told *t, struct err *err)
{
	return curve_put(s, t->run.job_id, t->curve, &t->point, err);
}

static int apply_rung(struct store *s, struct told *t, struct err *err)
{
	return store_rung_add(s, t->run.job_id, t->rung.number, t->rung.samples, t->rung.value,
			      err);
}

static int apply_event(struct store *s, struct told *t, struct err *err)
{
	return event_put(s, &t->run, t->time_s, t->event, t->text, err);
}

/* The columns that progress has, too, are written first: the end of a run writes its own alone. */
static int apply_end(struct store *s, struct told *t, struct err *err)
{
	if (rows_update(s, SOME_OF(runs_table, COLUMN_REPORT), &t->run, t->run.id,
			"state <> 'ended'", err) < 0)
		return -1;
	return run_end_in_transaction(s, &t->run, err);
}

#define TOLD(kind) { .table = &told_table, .flags = 1U << RECORD_##kind }
#define ROW_IN(member) offsetof(struct told, member)

const struct record_format record_formats[N_RECORD_KINDS] = {
	[RECORD_CLAIM] = { "claim", TOLD(CLAIM), .apply = apply_claim },
	[RECORD_STOP] = { "stop", TOLD(STOP), .apply = apply_stop },
	[RECORD_STOPPING] = { "stopping", TOLD(STOPPING), .apply = apply_stopping },
	[RECORD_DIAGNOSIS] = { "diagnosis", TOLD(DIAGNOSIS), .apply = apply_diagnosis },
	[RECORD_CODE] = { "code", TOLD(CODE), .apply = apply_code },
	[RECORD_PROGRESS] = { "progress", TOLD(PROGRESS),
			      { .table = &runs_table, .flags = COLUMN_REPORT }, ROW_IN(run),
			      apply_progress },
	[RECORD_OBSERVATION] = { "observation", TOLD(OBSERVATION),
				 { .table = &observations_table }, ROW_IN(observation),
				 apply_observation },
	[RECORD_GRADIENT] = { "gradient", TOLD(GRADIENT),
			      { .table = &gradients_table }, ROW_IN(gradient), apply_gradient },
	[RECORD_METRIC] = { "metric", TOLD(METRIC), .apply = apply_metric },
	[RECORD_POINT] = { "point", TOLD(POINT), .apply = apply_point },
	[RECORD_RUNG] = { "rung", TOLD(RUNG), .apply = apply_rung },
	[RECORD_EVENT] = { "event", TOLD(EVENT), .apply = apply_event },
	[RECORD_END] = { "end", TOLD(END),
			 { .table = &runs_table, .flags = COLUMN_REPORT | COLUMN_END,
			   .without = COLUMN_STOP }, ROW_IN(run), apply_end },
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
		journal_add_head(&journal.unwritten);
	store_journal_flush(false, &ignored);
}

void journal_pause(bool paused)
{
	journal.paused = paused;
}

int journal_tell(struct store *s, enum record_kind kind, const struct told *told)
{
	if (journal.fd < 0 || journal.paused)
		return 0;
	journal_add(&journal.open, &record_formats[kind], told);
	if (sqlite3_get_autocommit(s->db))
		journal_committed();
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
	return sql_ask(s, place, err, "SELECT journal_bytes FROM runs WHERE id = ?", "i", run_id);
}

static int apply(struct store *s, int64_t run_id, const struct record *r,
		 const struct record_format *format, struct err *err)
{
	struct told told = { .update.resumes = -1 };
	int rc = store_run_get(s, run_id, &told.run, err);

	if (rc == 0 && !journal_read(r, format, &told))
		rc = malformed(err);
	if (rc == 0)
		rc = format->apply(s, &told, err);
	journal_release(format, &told);
	run_release(&told.run);
	return rc;
}

static void pass_over(const struct record *r, struct strings *unknown)
{
	char *name = xasprintf("%.*s", (int)(r->kind_length < 40 ? r->kind_length : 40), r->kind);

	for (size_t i = 0; i < unknown->count; i++)
		if (!strcmp(unknown->items[i], name)) {
			free(name);
			return;
		}
	strings_add(unknown, name);
	free(name);
}

/* A journal that begins with another line is one of pollux 0.2.0 or before. */
static enum journal_found take_head(const char *bytes, size_t n, size_t *size, int *rc,
				    struct err *err)
{
	const char *end = memchr(bytes, '\n', n);
	int64_t version;

	if (!end)
		return JOURNAL_PARTIAL;
	*size = (size_t)(end + 1 - bytes);
	version = strtoll(bytes + strlen(JOURNAL_NAME), NULL, 10);
	if (version != JOURNAL_VERSION)
		*rc = err_set(err, EX_DATAERR, "the run's journal is of version %lld, and this "
			      "pollux reads version %d: a newer pollux takes it",
			      (long long)version, JOURNAL_VERSION);
	return JOURNAL_WHOLE;
}

/* Takes what the bytes begin with, unless that is no whole record. *rc: -1 where the store cannot
 * take it. */
static enum journal_found take_record(struct store *s, int64_t run_id, const char *bytes, size_t n,
				      size_t *size, struct strings *unknown, int *rc,
				      struct err *err)
{
	enum journal_found found;
	const struct record_format *format;
	struct record r;

	if (n > 1 && !memcmp(bytes, "J ", 2))
		return old_journal_take(s, run_id, bytes, n, size, rc, err);
	if (n >= strlen(JOURNAL_NAME) && !memcmp(bytes, JOURNAL_NAME, strlen(JOURNAL_NAME)))
		return take_head(bytes, n, size, rc, err);
	found = journal_find(bytes, n, &r);
	if (found != JOURNAL_WHOLE)
		return found;
	*size = r.size;
	format = record_format_of(&r);
	if (format)
		*rc = apply(s, run_id, &r, format, err);
	else
		pass_over(&r, unknown);
	return found;
}

/* *here: the record at the place is to be taken. Another pass may have taken it, or have ended the
 * run, which then stays as it is. */
static int is_here(struct store *s, int64_t run_id, int64_t place, bool *here, struct err *err)
{
	int64_t count;
	int rc = sql_ask(s, &count, err, "SELECT count(*) FROM runs WHERE id = ? AND"
			 " state <> 'ended' AND coalesce(journal_bytes, 0) = ?", "ii", run_id,
			 place);

	*here = count > 0;
	return rc;
}

/* Takes the record at the place, and writes the place after it. *more: another may follow. */
static int take_next(struct store *s, int64_t run_id, struct journal_part *part,
		     struct strings *unknown, bool *more, struct err *err)
{
	size_t size = 0;
	int rc = 0;
	enum journal_found found = take_record(s, run_id, part->bytes, part->n, &size, unknown,
					       &rc, err);

	*more = found == JOURNAL_WHOLE;
	if (found == JOURNAL_DAMAGED)
		return malformed(err);
	if (rc || !*more)
		return rc;
	part->place += (int64_t)size;
	part->bytes += size;
	part->n -= size;
	return sql_run(s, NULL, err, "UPDATE runs SET journal_bytes = ? WHERE id = ?", "ii",
		       part->place, run_id);
}

/* Takes records in one transaction. One that the store cannot take ends it, and leaves no trace;
 * those before it are taken. */
static int take_some(struct store *s, int64_t run_id, struct journal_part *part,
		     struct strings *unknown, bool *more, struct err *err)
{
	struct err other;
	int rc = 0;

	if (store_begin(s, err))
		return -1;
	for (int i = 0; rc == 0 && *more && i < AT_ONCE; i++) {
		if (is_here(s, run_id, part->place, more, err) || store_begin_part(s, err)) {
			store_rollback(s);
			return -1;
		}
		rc = *more ? take_next(s, run_id, part, unknown, more, err) : 0;
		if (store_end_part(s, rc == 0, rc ? &other : err)) {
			store_rollback(s);
			return -1;
		}
	}
	return store_commit(s, rc ? &other : err) || rc ? -1 : 0;
}

int store_journal_take(struct store *s, int64_t run_id, const struct journal_part *part,
		       struct strings *unknown, struct err *err)
{
	struct journal_part left = *part;
	bool more = true;
	int rc = 0;

	while (rc == 0 && more)
		rc = take_some(s, run_id, &left, unknown, &more, err);
	return rc;
}
