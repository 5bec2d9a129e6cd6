/* text.c - texts: UTF-8, a growing string, a list of strings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/text.h"

/* --- well-formed byte sequences, after table 3-7 of the Unicode standard --- */

/* The ranges of first and second bytes. The second range is narrower after some first bytes, which
 * excludes overlong forms, surrogates, and code points above U+10FFFF. */
static const struct form {
	unsigned char first_low, first_high, second_low, second_high;
	size_t length;
} forms[] = {
	{ 0xc2, 0xdf, 0x80, 0xbf, 2 },
	{ 0xe0, 0xe0, 0xa0, 0xbf, 3 },
	{ 0xe1, 0xec, 0x80, 0xbf, 3 },
	{ 0xed, 0xed, 0x80, 0x9f, 3 },
	{ 0xee, 0xef, 0x80, 0xbf, 3 },
	{ 0xf0, 0xf0, 0x90, 0xbf, 4 },
	{ 0xf1, 0xf3, 0x80, 0xbf, 4 },
	{ 0xf4, 0xf4, 0x80, 0x8f, 4 },
};

/* FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo). */
int64_t text_number(const char *s)
{
	uint64_t hash = 0xcbf29ce484222325;

	for (; *s; s++)
		hash = (hash ^ (unsigned char)*s) * 0x100000001b3;
	return (int64_t)(hash >> 1) | 1;
}

size_t utf8_length(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	const struct form *form = forms;

	if (u[0] < 0x80)
		return 1;
	while (form < forms + sizeof(forms) / sizeof(forms[0]) &&
	       (u[0] < form->first_low || u[0] > form->first_high))
		form++;
	if (form == forms + sizeof(forms) / sizeof(forms[0]) || u[1] < form->second_low ||
	    u[1] > form->second_high)
		return 0;
	for (size_t i = 2; i < form->length; i++)
		if ((u[i] & 0xc0) != 0x80)
			return 0;
	return form->length;
}

size_t utf8_clip(const char *s, size_t n)
{
	size_t kept = 0, length;

	while (kept < n && s[kept] && (length = utf8_length(s + kept)) > 0 && kept + length <= n)
		kept += length;
	return kept;
}

int utf8_width(const char *s, size_t n)
{
	int width = 0;

	for (size_t i = 0; i < n; i++)
		width += ((unsigned char)s[i] & 0xc0) != 0x80;
	return width;
}

bool utf8_is_control(const char *s, size_t n)
{
	const unsigned char *u = (const unsigned char *)s;

	if (n == 1)
		return u[0] < 0x20 || u[0] == 0x7f;
	if (n == 2)
		return u[0] == 0xc2 && u[1] < 0xa0;
	/* U+2028 to U+202E: line separators, embeddings, overrides; U+2066 to U+2069: isolates. */
	return n == 3 && u[0] == 0xe2 && ((u[1] == 0x80 && u[2] >= 0xa8 && u[2] <= 0xae) ||
					  (u[1] == 0x81 && u[2] >= 0xa6 && u[2] <= 0xa9));
}

size_t utf8_shown(const char *s, char shown[UTF8_SHOWN_SIZE])
{
	static const char named[] = "\n\t\r", letters[] = "ntr";
	size_t n = utf8_length(s), bytes = n ? n : 1;
	const char *name = strchr(named, *s);

	if (n && !utf8_is_control(s, n)) {
		memcpy(shown, s, n);
		shown[n] = '\0';
	} else if (name) {
		snprintf(shown, UTF8_SHOWN_SIZE, "\\%c", letters[name - named]);
	} else {
		for (size_t i = 0; i < bytes; i++)
			snprintf(shown + 4 * i, UTF8_SHOWN_SIZE - 4 * i, "\\%03o",
				 (unsigned char)s[i]);
	}
	return bytes;
}

/* --- growing strings and lists of strings --- */

/* The content of every empty text, so that data is always a string. Never written to. */
char text_empty[1];

void text_init(struct text *t)
{
	*t = (struct text)TEXT_INIT;
}

void text_release(struct text *t)
{
	if (t->capacity)
		free(t->data);
	text_init(t);
}

void text_clear(struct text *t)
{
	t->length = 0;
	if (t->capacity)
		t->data[0] = '\0';
}

static void reserve_room(struct text *t, size_t more)
{
	size_t need = t->length + more + 1;

	if (need <= t->capacity)
		return;
	need = need < 64 ? 64 : need + need / 2;
	t->data = xreallocarray(t->capacity ? t->data : NULL, need, 1);
	t->capacity = need;
}

void text_add_bytes(struct text *t, const void *bytes, size_t n)
{
	reserve_room(t, n);
	if (n)
		memcpy(t->data + t->length, bytes, n);
	t->length += n;
	t->data[t->length] = '\0';
}

void text_add(struct text *t, const char *s)
{
	text_add_bytes(t, s, strlen(s));
}

void text_add_byte(struct text *t, char c, size_t times)
{
	reserve_room(t, times);
	memset(t->data + t->length, c, times);
	t->length += times;
	t->data[t->length] = '\0';
}

void text_vaddf(struct text *t, const char *format, va_list ap)
{
	va_list again;
	size_t room;
	int n;

	reserve_room(t, 0);
	room = t->capacity - t->length;
	va_copy(again, ap);
	n = vsnprintf(t->data + t->length, room, format, ap);
	if (n > 0 && (size_t)n >= room) {
		reserve_room(t, (size_t)n);
		vsnprintf(t->data + t->length, (size_t)n + 1, format, again);
	}
	if (n > 0)
		t->length += (size_t)n;
	va_end(again);
}

void text_add_digits(struct text *t, int64_t n, int least)
{
	char digits[24], *first = digits + sizeof(digits);
	uint64_t left = n < 0 ? -(uint64_t)n : (uint64_t)n;

	for (; left || least > 0; left /= 10, least--)
		*--first = (char)('0' + left % 10);
	if (n < 0)
		*--first = '-';
	text_add_bytes(t, first, (size_t)(digits + sizeof(digits) - first));
}

void text_addf(struct text *t, const char *format, ...)
{
	va_list ap;

	va_start(ap, format);
	text_vaddf(t, format, ap);
	va_end(ap);
}

char *text_detach(struct text *t)
{
	char *s = t->capacity ? t->data : xstrdup("");

	text_init(t);
	return s;
}

void strings_init(struct strings *list)
{
	*list = (struct strings){ 0 };
}

void strings_release(struct strings *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->items[i]);
	free(list->items);
	*list = (struct strings){ 0 };
}

static void append_owned(struct strings *list, char *s)
{
	if (list->count + 2 > list->capacity) {
		list->capacity = list->capacity ? 2 * list->capacity : 16;
		list->items = xreallocarray(list->items, list->capacity, sizeof(char *));
	}
	list->items[list->count++] = s;
	list->items[list->count] = NULL;
}

void strings_add(struct strings *list, const char *s)
{
	append_owned(list, xstrdup(s));
}

bool strings_have(const struct strings *list, const char *s)
{
	for (size_t i = 0; i < list->count; i++)
		if (!strcmp(list->items[i], s))
			return true;
	return false;
}

void strings_add_once(struct strings *list, const char *s)
{
	if (!strings_have(list, s))
		strings_add(list, s);
}

void strings_addf(struct strings *list, const char *format, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, format);
	n = vasprintf(&s, format, ap);
	va_end(ap);
	append_owned(list, n < 0 ? xstrdup("") : s);
}

void strings_set_variable(struct strings *list, const char *name, const char *value)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < list->count; i++) {
		if (strncmp(list->items[i], name, n) != 0 || list->items[i][n] != '=')
			continue;
		free(list->items[i]);
		list->items[i] = xasprintf("%s=%s", name, value);
		return;
	}
	strings_addf(list, "%s=%s", name, value);
}

const char *strings_variable(const struct strings *list, const char *name)
{
	size_t n = strlen(name);

	for (size_t i = 0; i < list->count; i++)
		if (!strncmp(list->items[i], name, n) && list->items[i][n] == '=')
			return list->items[i] + n + 1;
	return NULL;
}

void strings_pack(const struct strings *list, struct text *out)
{
	for (size_t i = 0; i < list->count; i++)
		text_add_bytes(out, list->items[i], strlen(list->items[i]) + 1);
}

void strings_unpack(struct strings *list, const void *bytes, size_t n)
{
	const char *p = bytes, *end = p + n;

	while (p < end) {
		size_t length = strnlen(p, (size_t)(end - p));
		char *s = xmalloc(length + 1);

		memcpy(s, p, length);
		s[length] = '\0';
		append_owned(list, s);
		p += length + 1;
	}
}

void text_add_shell_quoted(struct text *t, const char *argument)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789%+,-./:=@_{}";

	if (*argument && strspn(argument, plain) == strlen(argument)) {
		text_add(t, argument);
		return;
	}
	text_add(t, "'");
	for (size_t n; *argument; argument += n) {
		n = utf8_length(argument);
		if (n && !strchr("\n\t", *argument) && utf8_is_control(argument, n)) {
			/* would change how a terminal shows the line: a command that prints it */
			text_add(t, "'\"$(printf '");
			for (size_t i = 0; i < n; i++)
				text_addf(t, "\\%03o", (unsigned char)argument[i]);
			text_add(t, "')\"'");
			continue;
		}
		n = 1;
		if (*argument == '\'')
			text_add(t, "'\\''");
		else
			text_add_bytes(t, argument, 1);
	}
	text_add(t, "'");
}

bool text_starts_with(const char *s, const char *prefix)
{
	return !strncmp(s, prefix, strlen(prefix));
}

bool text_is_among(const char *s, const char *const *list)
{
	while (*list && strcmp(s, *list) != 0)
		list++;
	return *list;
}

const char *plural(long long n)
{
	return n == 1 ? "" : "s";
}
