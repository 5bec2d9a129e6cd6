/* journal_write.c - the journal that this process writes: a record for each commit. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/store_journal.h"
#include "journal.h"
#include "sql.h"

static struct {
	int fd;				/* -1: no journal is written */
	bool paused;
	sqlite3_stmt *q;		/* the values are bound to this statement */
	struct text *values;		/* n_room of them */
	int n_values, n_room;
	struct text items;		/* of the open transaction */
	struct text unwritten;		/* records that are not in the file yet */
	size_t written;			/* bytes of the first of them that are */
} journal = { .fd = -1, .items = TEXT_INIT, .unwritten = TEXT_INIT };

void store_journal_to(int fd)
{
	journal.fd = fd;
}

void store_journal_pause(bool paused)
{
	journal.paused = paused;
}

bool journal_is_on(void)
{
	return journal.fd >= 0 && !journal.paused;
}

static bool writes_rows(sqlite3_stmt *q)
{
	const char *sql = sqlite3_sql(q);

	return !sqlite3_stmt_readonly(q) &&
	       (text_starts_with(sql, "INSERT") || text_starts_with(sql, "UPDATE") ||
		text_starts_with(sql, "DELETE"));
}

static struct text *value_at(int i)
{
	while (journal.n_room < i) {
		journal.values = xgrow(journal.values, journal.n_room, sizeof(*journal.values));
		text_init(&journal.values[journal.n_room++]);
	}
	return &journal.values[i - 1];
}

void journal_bound(sqlite3_stmt *q, int i, const struct journal_value *v)
{
	struct text *value;

	if (!journal_is_on() || i < 1 || !writes_rows(q))
		return;
	if (journal.q != q)
		for (int k = 0; k < journal.n_room; k++)
			text_clear(&journal.values[k]);
	if (journal.q != q || i == 1)
		journal.n_values = 0;
	journal.q = q;
	value = value_at(i);
	text_clear(value);
	journal_add_value(value, v);
	journal.n_values = i > journal.n_values ? i : journal.n_values;
}

void journal_ran(struct store *s, sqlite3_stmt *q)
{
	struct text values = TEXT_INIT;

	if (!journal_is_on() || !writes_rows(q))
		return;
	for (int i = 0; journal.q == q && i < journal.n_values; i++)
		text_add_bytes(&values, journal.values[i].data, journal.values[i].length);
	journal_add_statement(&journal.items, sqlite3_sql(q), &values,
			      journal.q == q ? journal.n_values : 0);
	text_release(&values);
	journal.q = NULL;
	if (sqlite3_get_autocommit(s->db))
		journal_committed(s);
}

void journal_ended(const struct run *run)
{
	journal_add_end(&journal.items, stop_reason_name(run->stop_reason), run->stop_boot_s,
			run->stands_at_samples);
}

void journal_committed(struct store *s)
{
	struct err ignored;

	(void)s;
	if (journal.items.length == 0)
		return;
	if (journal.fd >= 0)
		journal_add_record(&journal.unwritten, &journal.items);
	text_clear(&journal.items);
	store_journal_flush(false, &ignored);
}

void journal_rolled_back(void)
{
	text_clear(&journal.items);
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
