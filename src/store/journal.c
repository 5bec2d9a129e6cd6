/* journal.c - see journal.h. */
#include "journal.h"

#include <errno.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include "pollux/mem.h"
#include "pollux/store_journal.h"
#include "sql.h"

/* --- the text --- */

/* "J 00000123 89abcdef\n" */
#define HEAD_SIZE 20
#define LARGEST_RECORD (64 << 20)

static uint32_t hash_of(const char *bytes, size_t n)
{
	uint32_t hash = 0x811c9dc5;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x01000193;
	return hash;
}

/* --- writing --- */

static void add_counted(struct text *t, const char *bytes, size_t n)
{
	text_addf(t, "%zu:", n);
	text_add_bytes(t, bytes, n);
}

void journal_add_value(struct text *t, const struct journal_value *v)
{
	text_add_byte(t, v->type, 1);
	switch (v->type) {
	case 'i':
		text_addf(t, "%lld", (long long)v->integer);
		break;
	case 'd':
		text_addf(t, "%a", v->number);
		break;
	case 't':
	case 'b':
		add_counted(t, v->bytes, v->n);
		break;
	default:
		break;
	}
	text_add(t, ";");
}

void journal_add_statement(struct text *t, const char *sql, const struct text *values,
			   int n_values)
{
	text_addf(t, "s%d,", n_values);
	add_counted(t, sql, strlen(sql));
	add_counted(t, values->data, values->length);
	text_add(t, "\n");
}

/* "e" has no place where the job stands: the end of former versions, and of most runs. */
static void journal_add_end(struct text *t, const char *reason, double stop_boot_s,
		     double stands_at_samples)
{
	if (isfinite(stands_at_samples))
		text_addf(t, "E%a,%a,", stands_at_samples, stop_boot_s);
	else
		text_addf(t, "e%a,", stop_boot_s);
	add_counted(t, reason, strlen(reason));
	text_add(t, "\n");
}

void journal_add_record(struct text *t, const struct text *items)
{
	text_addf(t, "J %08zx %08x\n", items->length, hash_of(items->data, items->length));
	text_add_bytes(t, items->data, items->length);
}

/* --- reading --- */

static bool read_hex(const char *digits, uint32_t *value)
{
	*value = 0;
	for (int i = 0; i < 8; i++) {
		const char *known = "0123456789abcdef", *at = strchr(known, digits[i]);

		if (!digits[i] || !at)
			return false;
		*value = *value << 4 | (uint32_t)(at - known);
	}
	return true;
}

enum journal_found journal_record(const char *bytes, size_t n, const char **items, size_t *n_items,
				  size_t *size)
{
	uint32_t length, hash;

	if (n < HEAD_SIZE)
		return n > 0 && bytes[0] != 'J' ? JOURNAL_DAMAGED : JOURNAL_PARTIAL;
	if (memcmp(bytes, "J ", 2) != 0 || bytes[10] != ' ' || bytes[HEAD_SIZE - 1] != '\n' ||
	    !read_hex(bytes + 2, &length) || !read_hex(bytes + 11, &hash) ||
	    length > LARGEST_RECORD)
		return JOURNAL_DAMAGED;
	if (n - HEAD_SIZE < length)
		return JOURNAL_PARTIAL;
	*items = bytes + HEAD_SIZE;
	*n_items = length;
	*size = HEAD_SIZE + length;
	return hash_of(*items, length) == hash ? JOURNAL_WHOLE : JOURNAL_DAMAGED;
}

/* Copies a number of at most 39 bytes that ends in the byte; NULL: there is none. */
static const char *read_number(const char **p, const char *end, char last, char text[40])
{
	size_t n = 0;

	while (*p + n < end && (*p)[n] != last && n < 39)
		n++;
	if (*p + n >= end || (*p)[n] != last || n == 0)
		return NULL;
	memcpy(text, *p, n);
	text[n] = '\0';
	*p += n + 1;
	return text;
}

static bool read_integer(const char **p, const char *end, char last, int64_t *value)
{
	char text[40], *rest;

	if (!read_number(p, end, last, text))
		return false;
	*value = strtoll(text, &rest, 10);
	return !*rest;
}

static bool read_double(const char **p, const char *end, char last, double *value)
{
	char text[40], *rest;

	if (!read_number(p, end, last, text))
		return false;
	*value = strtod(text, &rest);
	return !*rest;
}

static bool read_counted(const char **p, const char *end, const char **bytes, size_t *n)
{
	int64_t length;

	if (!read_integer(p, end, ':', &length) || length < 0 || length > end - *p)
		return false;
	*bytes = *p;
	*n = (size_t)length;
	*p += length;
	return true;
}

static bool read_byte(const char **p, const char *end, char c)
{
	if (*p >= end || **p != c)
		return false;
	++*p;
	return true;
}

static bool read_statement(const char **p, const char *end, struct journal_item *item)
{
	size_t n_values;
	int64_t n;

	if (!read_integer(p, end, ',', &n) || n < 0 || n > 1000 ||
	    !read_counted(p, end, &item->sql, &item->sql_length) ||
	    !read_counted(p, end, &item->values, &n_values) || !read_byte(p, end, '\n'))
		return false;
	item->n_values = (int)n;
	return true;
}

int journal_item(const char **p, const char *end, struct journal_item *item)
{
	*item = (struct journal_item){ .stop_boot_s = NAN, .stands_at_samples = NAN };
	if (*p >= end)
		return 0;
	if (read_byte(p, end, 's'))
		return read_statement(p, end, item) ? 1 : -1;
	if (read_byte(p, end, 'E')
	    ? !read_double(p, end, ',', &item->stands_at_samples) : !read_byte(p, end, 'e'))
		return -1;
	if (!read_double(p, end, ',', &item->stop_boot_s) ||
	    !read_counted(p, end, &item->reason, &item->reason_length) ||
	    !read_byte(p, end, '\n'))
		return -1;
	return 1;
}

int journal_value(const char **p, const char *end, struct journal_value *v)
{
	bool good = true;

	*v = (struct journal_value){ .type = 'n' };
	if (*p >= end)
		return 0;
	v->type = *(*p)++;
	switch (v->type) {
	case 'i':
		return read_integer(p, end, ';', &v->integer) ? 1 : -1;
	case 'd':
		return read_double(p, end, ';', &v->number) ? 1 : -1;
	case 't':
	case 'b':
		good = read_counted(p, end, &v->bytes, &v->n);
		break;
	case 'n':
		break;
	default:
		return -1;
	}
	return good && read_byte(p, end, ';') ? 1 : -1;
}

/* --- what this process writes --- */

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
