/* old_journal.c - journals of pollux 0.2.0 and before, and the rows that a pass of it wrote: the
 * statements of SQL that its store carried out. Only runs that it began have such files: this file
 * goes when no upgrade from that version is to be expected any more. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"
#include "pollux/mem.h"
#include "pollux/store_runs.h"

/* A record is "J 00000123 89abcdef\n", the number of bytes and their hash, then items: a statement
 * "s2,SQL,VALUES\n" with the number of its values, or the end of the run, "eBOOT_S,REASON\n" or
 * "ESAMPLES,BOOT_S,REASON\n". SQL, VALUES, REASON are "5:bytes"; a value is "i1;", "d0x1p+0;",
 * "t5:bytes;", "b5:bytes;" or "n;". */
#define HEAD_SIZE 20
#define MOST_VALUES 1000

struct text_at {
	const char *p, *end;
};

struct bytes {
	const char *at;
	size_t n;
};

static bool byte(struct text_at *t, char c)
{
	if (t->p >= t->end || *t->p != c)
		return false;
	t->p++;
	return true;
}

static bool number(struct text_at *t, char last, double *value)
{
	char text[40], *rest;
	size_t n = 0;

	while (t->p + n < t->end && t->p[n] != last && n < sizeof(text) - 1)
		n++;
	memcpy(text, t->p, n);
	text[n] = '\0';
	t->p += n;
	*value = strtod(text, &rest);
	return n > 0 && !*rest && byte(t, last);
}

static bool counted(struct text_at *t, struct bytes *b)
{
	double n;

	if (!number(t, ':', &n) || !(n >= 0 && n <= (double)(t->end - t->p)))
		return false;
	*b = (struct bytes){ t->p, (size_t)n };
	t->p += b->n;
	return true;
}

static bool bind_value(struct text_at *t, sqlite3_stmt *q, int i)
{
	const char *digits = t->p + 1;	/* an integer may have more than a double has */
	struct bytes b;
	double value;

	if (byte(t, 'n'))
		return byte(t, ';') && sqlite3_bind_null(q, i) == SQLITE_OK;
	if (byte(t, 'i'))
		return number(t, ';', &value) &&
		       sqlite3_bind_int64(q, i, strtoll(digits, NULL, 10)) == SQLITE_OK;
	if (byte(t, 'd'))
		return number(t, ';', &value) && sqlite3_bind_double(q, i, value) == SQLITE_OK;
	if (byte(t, 't'))
		return counted(t, &b) && byte(t, ';') &&
		       sqlite3_bind_text64(q, i, b.at, b.n, SQLITE_STATIC, SQLITE_UTF8) ==
		       SQLITE_OK;
	return byte(t, 'b') && counted(t, &b) && byte(t, ';') &&
	       sqlite3_bind_blob64(q, i, b.at, b.n, SQLITE_STATIC) == SQLITE_OK;
}

static int malformed(struct err *err)
{
	return err_set(err, EX_DATAERR, "the journal of the run, of an older pollux, is malformed");
}

/* Only rows are written. */
static int run_statement(struct store *s, struct text_at *t, struct err *err)
{
	struct bytes sql, values;
	sqlite3_stmt *q = NULL;
	double n;
	char *text;
	int rc = 0;

	if (!number(t, ',', &n) || !(n >= 0 && n <= MOST_VALUES) || !counted(t, &sql) ||
	    !counted(t, &values) || !byte(t, '\n'))
		return malformed(err);
	text = xasprintf("%.*s", (int)sql.n, sql.at);
	if (text_starts_with(text, "INSERT ") || text_starts_with(text, "UPDATE ") ||
	    text_starts_with(text, "DELETE "))
		rc = sql_query(s, &q, err, text, "");
	else
		rc = malformed(err);
	free(text);
	for (struct text_at v = { values.at, values.at + values.n }; rc == 0 && v.p < v.end;)
		for (int i = 1; rc == 0 && i <= (int)n; i++)
			if (!bind_value(&v, q, i))
				rc = malformed(err);
	if (rc == 0 && sql_row(s, q, err) < 0)
		rc = -1;
	sql_done(q);
	return rc;
}

/* The run's own row has by now all that its supervisor wrote, but for how it is to end. */
static int end_run(struct store *s, int64_t run_id, struct text_at *t, struct err *err)
{
	double samples = (double)NAN, boot_s;
	struct bytes reason;
	struct run run;
	char *name;
	int rc;

	if (byte(t, 'E') ? !number(t, ',', &samples) : !byte(t, 'e'))
		return malformed(err);
	if (!run_id || !number(t, ',', &boot_s) || !counted(t, &reason) || !byte(t, '\n'))
		return malformed(err);
	name = xasprintf("%.*s", (int)reason.n, reason.at);
	rc = store_run_get(s, run_id, &run, err);
	if (rc == 0) {
		run.stop_reason = (enum stop_reason)stop_reason_parse(name);
		if (isfinite(boot_s))
			run.stop_boot_s = boot_s;
		run.stands_at_samples = samples;
		rc = run_end_in_transaction(s, &run, err);
	}
	run_release(&run);
	free(name);
	return rc;
}

/* The handle of the run stays the engine's: it is not the one by which the supervisor's machine
 * finds the run. */
struct taken old_journal_take(struct store *s, int64_t run_id, const char *bytes, size_t n,
			      struct err *err)
{
	struct taken taken = { .found = JOURNAL_PARTIAL };
	struct text_at items = { bytes + HEAD_SIZE, NULL };
	char head[HEAD_SIZE + 1], *rest;
	unsigned long length, hash;
	struct run run;

	if (n < HEAD_SIZE)
		return taken;
	memcpy(head, bytes, HEAD_SIZE);
	head[HEAD_SIZE] = '\0';
	length = strtoul(head + 2, &rest, 16);
	hash = strtoul(rest, &rest, 16);
	if (rest == head + HEAD_SIZE - 1 && *rest == '\n' && length > n - HEAD_SIZE)
		return taken;
	taken.found = JOURNAL_DAMAGED;
	if (*rest != '\n' || length > n - HEAD_SIZE || journal_hash(items.p, length) != hash)
		return taken;
	taken.found = JOURNAL_WHOLE;
	taken.size = HEAD_SIZE + length;
	items.end = items.p + length;
	run_init(&run);
	if (run_id)
		taken.rc = store_run_get(s, run_id, &run, err);
	while (taken.rc == 0 && items.p < items.end)
		taken.rc = byte(&items, 's') ? run_statement(s, &items, err)
					     : end_run(s, run_id, &items, err);
	if (taken.rc == 0 && run_id)
		taken.rc = store_run_set_handle(s, run_id, run.handle, err);
	run_release(&run);
	return taken;
}
