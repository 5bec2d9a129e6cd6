/* journal.c - see journal.h. */
#include "journal.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

#define HASH_SIZE 10			/* " #89abcdef" */
#define LARGEST_INTEGER (INT64_C(1) << 60)

uint32_t journal_hash(const char *bytes, size_t n)
{
	uint32_t hash = 0x811c9dc5;

	for (size_t i = 0; i < n; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * 0x01000193;
	return hash;
}

/* Walks through the fields of a format: those of struct told, then those of the row. */
struct field_walk {
	const struct record_format *format;
	bool in_row;
	struct column_walk column;
	const struct field *field;
	size_t at;			/* offset of the field in struct told */
};

static bool next_field(struct field_walk *f)
{
	if (!f->field)
		f->column = row_walk(f->format->told);
	if (!column_next(&f->column)) {
		if (f->in_row || !f->format->row.table)
			return false;
		f->in_row = true;
		f->column = row_walk(f->format->row);
		column_next(&f->column);
	}
	f->field = &f->column.column->field;
	f->at = f->column.offset + (f->in_row ? f->format->row_at : 0);
	return true;
}

/* --- writing --- */

static void add_text(struct text *t, const struct field *f, const char *value)
{
	if (!value)
		return;
	text_addf(t, " %s=", f->name);
	for (const char *c = value; *c; c++)
		if (*c > ' ' && *c < 127 && *c != '%')
			text_add_byte(t, *c, 1);
		else
			text_addf(t, "%%%02x", (unsigned)(unsigned char)*c);
}

static void add_integer(struct text *t, const struct field *f, int64_t value)
{
	if ((f->unknown == FIELD_UNKNOWN_ZERO && value == 0) ||
	    (f->unknown == FIELD_UNKNOWN_NEGATIVE && value < 0))
		return;
	if (f->type == FIELD_NAME)
		add_text(t, f, f->names->names[value]);
	else
		text_addf(t, " %s=%lld", f->name, (long long)value);
}

static void add_field(struct text *t, const struct field *f, const void *member)
{
	const char *text = member;
	double number;

	switch (f->type) {
	case FIELD_INT:
	case FIELD_NAME:
	case FIELD_SIGNAL: add_integer(t, f, *(const int *)member); break;
	case FIELD_INT64: add_integer(t, f, *(const int64_t *)member); break;
	case FIELD_BOOL: add_integer(t, f, *(const bool *)member); break;
	case FIELD_BATCH_SIZE: add_integer(t, f, configuration_batch_size(member)); break;
	case FIELD_TEXT: add_text(t, f, *(char *const *)member); break;
	case FIELD_CHARS: add_text(t, f, *text ? text : NULL); break;
	case FIELD_DOUBLE:
		number = *(const double *)member;
		if (!isnan(number))
			text_addf(t, " %s=%a", f->name, number);
		break;
	case FIELD_STRINGS:
	case FIELD_NONE: break;
	}
}

void journal_add(struct text *t, const struct record_format *format, const struct told *told)
{
	struct field_walk f = { .format = format };
	size_t begin = t->length;

	text_add(t, format->name);
	while (next_field(&f))
		add_field(t, f.field, (const char *)told + f.at);
	text_addf(t, " #%08x\n", journal_hash(t->data + begin, t->length - begin));
}

/* --- reading --- */

enum journal_found journal_find(const char *bytes, size_t n, struct record *r)
{
	const char *end = n ? memchr(bytes, '\n', n) : NULL, *blank;
	char hash[HASH_SIZE + 1];
	size_t length;

	if (!end)
		return JOURNAL_PARTIAL;
	length = (size_t)(end - bytes);
	if (length <= HASH_SIZE)
		return JOURNAL_DAMAGED;
	length -= HASH_SIZE;
	snprintf(hash, sizeof(hash), " #%08x", journal_hash(bytes, length));
	if (memcmp(bytes + length, hash, HASH_SIZE) != 0)
		return JOURNAL_DAMAGED;
	blank = memchr(bytes, ' ', length);
	r->kind = bytes;
	r->kind_length = blank ? (size_t)(blank - bytes) : length;
	r->fields = bytes + r->kind_length;
	r->fields_length = length - r->kind_length;
	r->size = (size_t)(end + 1 - bytes);
	return JOURNAL_WHOLE;
}

/* Finds " NAME=VALUE". */
static const char *find(const struct record *r, const char *name, size_t *n)
{
	const char *p = r->fields, *end = p + r->fields_length;
	size_t length = strlen(name);

	while (p < end) {
		const char *field = p + 1;
		const char *blank = field < end ? memchr(field, ' ', (size_t)(end - field)) : NULL;

		p = blank ? blank : end;
		if ((size_t)(p - field) > length && !memcmp(field, name, length) &&
		    field[length] == '=') {
			*n = (size_t)(p - field) - length - 1;
			return field + length + 1;
		}
	}
	return NULL;
}

static int hex(char c)
{
	const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}

/* Returns the text, for the caller to free; NULL: it is malformed. */
static char *parse_text(const char *v, size_t n)
{
	char *text = xmalloc(n + 1), *to = text;

	for (size_t i = 0; i < n; i++) {
		int byte = (unsigned char)v[i];

		if (byte == '%') {
			int high = n - i > 2 ? hex(v[i + 1]) : -1;
			int low = high < 0 ? -1 : hex(v[i + 2]);

			byte = low < 0 ? 0 : high * 16 + low;
			i += 2;
		}
		if (byte == 0) {
			free(text);
			return NULL;
		}
		*to++ = (char)byte;
	}
	*to = '\0';
	return text;
}

/* Puts the value that says that nothing is known; text that was there is freed. */
static void put_unknown(const struct field *f, void *member)
{
	switch (f->type) {
	case FIELD_INT:
	case FIELD_NAME:
	case FIELD_SIGNAL:
		*(int *)member = f->unknown == FIELD_UNKNOWN_NEGATIVE ? -1 : 0;
		break;
	case FIELD_INT64: *(int64_t *)member = 0; break;
	case FIELD_BOOL: *(bool *)member = false; break;
	case FIELD_DOUBLE:
		*(double *)member = f->unknown == FIELD_UNKNOWN_NAN ? (double)NAN : 0;
		break;
	case FIELD_TEXT:
		free(*(char **)member);
		*(char **)member = f->unknown == FIELD_KNOWN ? xstrdup("") : NULL;
		break;
	case FIELD_CHARS: *(char *)member = '\0'; break;
	case FIELD_BATCH_SIZE:
	case FIELD_STRINGS:
	case FIELD_NONE: break;
	}
}

static bool put_field(const struct column_walk *w, const char *v, size_t n, void *member)
{
	const struct field *f = &w->column->field;
	char *text = parse_text(v, n), *end = text;
	bool good = true;
	int64_t value;

	if (!text)
		return false;
	errno = 0;
	switch (f->type) {
	case FIELD_TEXT:
		free(*(char **)member);
		*(char **)member = text;
		return true;
	case FIELD_NAME: *(int *)member = row_parse_name(f->names, text); break;
	case FIELD_CHARS: snprintf(member, f->size, "%s", text); break;
	case FIELD_DOUBLE:
		*(double *)member = strtod(text, &end);
		good = end != text && !*end;
		break;
	case FIELD_INT:
	case FIELD_INT64:
	case FIELD_SIGNAL:
	case FIELD_BOOL:
	case FIELD_BATCH_SIZE:
	case FIELD_STRINGS:
	case FIELD_NONE:
		value = strtoll(text, &end, 10);
		good = end != text && !*end && !errno && value <= LARGEST_INTEGER &&
		       value >= -LARGEST_INTEGER;
		if (f->type == FIELD_BATCH_SIZE && good)
			row_read_batch_size(value, w, member);
		else if (f->type == FIELD_INT64)
			*(int64_t *)member = value;
		else if (f->type == FIELD_BOOL)
			*(bool *)member = value != 0;
		else if ((good = good && value <= INT_MAX && value >= -INT_MAX))
			*(int *)member = (int)value;
		break;
	}
	free(text);
	return good;
}

bool journal_read(const struct record *r, const struct record_format *format, struct told *told)
{
	struct field_walk f = { .format = format };
	bool good = true;

	while (next_field(&f)) {
		void *member = (char *)told + f.at;
		size_t n = 0;
		const char *v = find(r, f.field->name, &n);

		put_unknown(f.field, member);
		good = good && (!v || put_field(&f.column, v, n, member));
	}
	return good;
}

void journal_release(const struct record_format *format, struct told *told)
{
	struct field_walk f = { .format = format };

	while (next_field(&f))
		if (f.field->type == FIELD_TEXT) {
			char **text = (char **)(void *)((char *)told + f.at);

			free(*text);
			*text = NULL;
		}
}
