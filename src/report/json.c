/* json.c - writes JSON by RFC 8259, without a buffer. */
#include <assert.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/report.h"
#include "pollux/text.h"

void json_init(struct json *j, FILE *out)
{
	*j = (struct json){ .out = out };
}

/* A byte that is no part of valid UTF-8 becomes one U+FFFD. */
static void write_string(FILE *out, const char *s)
{
	static const char letters[] = "\b\t\n\f\r\"\\", escapes[] = "btnfr\"\\";

	fputc('"', out);
	while (*s) {
		size_t plain = 0, n;

		while (s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' && s[plain] != '\\')
			plain++;
		fwrite(s, 1, plain, out);
		s += plain;
		if (!*s)
			break;
		n = utf8_length(s);
		if (n == 0)
			fputs("\\ufffd", out);
		else if (n > 1)
			fwrite(s, 1, n, out);
		else if (strchr(letters, *s))
			fprintf(out, "\\%c", escapes[strchr(letters, *s) - letters]);
		else
			fprintf(out, "\\u%04x", (unsigned char)*s);
		s += n ? n : 1;
	}
	fputc('"', out);
}

/* Write a new line, after a comma if there was a value before. */
static void new_line(const struct json *j, bool comma)
{
	static const char lead[] = ",\n                                ";
	size_t n = 1 + 2 * (size_t)j->depth;

	_Static_assert(sizeof(lead) > 2 + 2 * JSON_DEPTH, "blanks for the deepest level");
	if (j->one_line) {
		fputs(comma ? ", " : "", j->out);
		return;
	}
	fwrite(comma ? lead : lead + 1, 1, comma ? n + 1 : n, j->out);
}

/* Write what stands before every value: the comma, the new line, the key. */
static void begin_value(struct json *j, const char *key)
{
	int top = j->depth - 1;

	if (top < 0) {
		assert(!key);
		return;
	}
	assert(j->array[top] == !key);
	new_line(j, j->any[top]);
	j->any[top] = true;
	if (key) {
		write_string(j->out, key);
		fputs(": ", j->out);
	}
}

static void begin_level(struct json *j, const char *key, bool array)
{
	begin_value(j, key);
	assert(j->depth < JSON_DEPTH);
	fputc(array ? '[' : '{', j->out);
	j->array[j->depth] = array;
	j->any[j->depth] = false;
	j->depth++;
}

void json_object(struct json *j, const char *key)
{
	begin_level(j, key, false);
}

void json_array(struct json *j, const char *key)
{
	begin_level(j, key, true);
}

void json_end(struct json *j)
{
	assert(j->depth > 0);
	j->depth--;
	if (j->any[j->depth])
		new_line(j, false);
	fputc(j->array[j->depth] ? ']' : '}', j->out);
	if (j->depth == 0)
		fputc('\n', j->out);
}

void json_string(struct json *j, const char *key, const char *value)
{
	begin_value(j, key);
	if (value)
		write_string(j->out, value);
	else
		fputs("null", j->out);
}

void json_strings(struct json *j, const char *key, const struct strings *list)
{
	json_array(j, key);
	for (size_t i = 0; i < list->count; i++)
		json_string(j, NULL, list->items[i]);
	json_end(j);
}

void json_text(struct json *j, const char *key, const char *value)
{
	json_string(j, key, value && *value ? value : NULL);
}

void json_integer(struct json *j, const char *key, int64_t value)
{
	begin_value(j, key);
	fprintf(j->out, "%" PRId64, value);
}

void json_integer_if(struct json *j, const char *key, int64_t value, bool known)
{
	if (known)
		json_integer(j, key, value);
	else
		json_string(j, key, NULL);
}

void json_positive(struct json *j, const char *key, int64_t value)
{
	json_integer_if(j, key, value, value > 0);
}

/* 15 digits always survive, 17 always suffice. */
void json_number(struct json *j, const char *key, double value)
{
	char digits[32];

	if (!isfinite(value)) {
		json_string(j, key, NULL);
		return;
	}
	if (!signbit(value) && value < 1e15 && floor(value) >= value) {
		json_integer(j, key, (int64_t)value);
		return;
	}
	begin_value(j, key);
	for (int n = 15; n <= 17; n++) {
		double back;

		snprintf(digits, sizeof(digits), "%.*g", n, value);
		back = strtod(digits, NULL);
		if (!(back < value) && !(back > value))
			break;
	}
	fputs(digits, j->out);
}

void json_value(struct json *j, const char *key, double value)
{
	const char *word = value_word(value);

	if (word)
		json_string(j, key, word);
	else
		json_number(j, key, value);
}

void json_bool(struct json *j, const char *key, bool value)
{
	begin_value(j, key);
	fputs(value ? "true" : "false", j->out);
}

static void put_integer(struct json *j, const struct field *f, int64_t value)
{
	char name[SIGNAL_NAME_SIZE];

	if ((f->unknown == FIELD_UNKNOWN_ZERO && value == 0) ||
	    (f->unknown == FIELD_UNKNOWN_NEGATIVE && value < 0))
		json_string(j, f->name, NULL);
	else if (f->type == FIELD_NAME)
		json_string(j, f->name, f->names->names[value]);
	else if (f->type == FIELD_SIGNAL)
		json_string(j, f->name, signal_name(name, (int)value));
	else
		json_integer(j, f->name, value);
}

void json_field(struct json *j, const struct field *f, const void *member)
{
	switch (f->type) {
	case FIELD_INT:
	case FIELD_NAME:
	case FIELD_SIGNAL: put_integer(j, f, *(const int *)member); break;
	case FIELD_INT64: put_integer(j, f, *(const int64_t *)member); break;
	case FIELD_BOOL: json_bool(j, f->name, *(const bool *)member); break;
	case FIELD_DOUBLE: json_number(j, f->name, *(const double *)member); break;
	case FIELD_TEXT: json_text(j, f->name, *(char *const *)member); break;
	case FIELD_CHARS: json_text(j, f->name, member); break;
	case FIELD_STRINGS:
	case FIELD_BATCH_SIZE:
	case FIELD_NONE: assert(0 && "JSON has no form for this field"); break;
	}
}
