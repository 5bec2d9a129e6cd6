/* journal_text.c - the text of a journal: written, and read without trust. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "journal.h"

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
void journal_add_end(struct text *t, const char *reason, double stop_boot_s,
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
