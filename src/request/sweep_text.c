/* sweep_text.c - put the values of parameters into texts. */
#include "sweep_text.h"

#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"

#define NAME_BYTES "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"

/* The length of WORD where the text begins with "{WORD}", else 0. */
static size_t word_length(const char *text)
{
	size_t n = *text == '{' ? strspn(text + 1, NAME_BYTES) : 0;

	return n > 0 && text[1 + n] == '}' ? n : 0;
}

static const char *value_of_name(const struct strings *parameters, const char *name, size_t length)
{
	for (size_t i = 0; i < parameters->count; i++)
		if (!strncmp(parameters->items[i], name, length) &&
		    parameters->items[i][length] == '=')
			return parameters->items[i] + length + 1;
	return NULL;
}

/* Returns the value of the parameter that the text begins with; NULL: the text begins otherwise. */
static const char *value_at(const char *text, const struct strings *parameters)
{
	size_t n = word_length(text);

	return n ? value_of_name(parameters, text + 1, n) : NULL;
}

/* Returns the next piece of the text. "{{" is a brace, not the beginning of a word. */
static const char *next_piece(const char *p)
{
	size_t n = word_length(p);

	return p + (text_starts_with(p, "{{") ? 2 : n ? n + 2 : 1);
}

static bool has_parameter(const char *text, const struct strings *parameters)
{
	for (const char *p = text; *p; p = next_piece(p))
		if (value_at(p, parameters))
			return true;
	return false;
}

static void add_escaped(struct text *out, const char *value)
{
	for (; *value; value++)
		text_add_byte(out, *value, *value == '{' ? 2 : 1);
}

void sweep_put(const char *text, enum sweep_text kind, const struct strings *parameters,
	       struct text *out)
{
	bool plain = kind == SWEEP_PLAIN;

	if (plain && !has_parameter(text, parameters)) {
		text_add(out, text);
		return;
	}
	for (const char *p = text, *next; *p; p = next) {
		const char *value = value_at(p, parameters);

		next = next_piece(p);
		if (value && plain)
			text_add(out, value);
		else if (value && strncmp(p, "{lr}", 4) != 0)
			add_escaped(out, value);
		else if (plain && text_starts_with(p, "{{"))
			text_add(out, "{");
		else
			text_add_bytes(out, p, (size_t)(next - p));
	}
}

bool sweep_uses(const char *text, const char *name)
{
	struct strings one = { 0 };
	char *variable = xasprintf("POLLUX_PARAM_%s", name);
	const char *found = strstr(text, variable);
	bool uses;

	strings_addf(&one, "%s=", name);
	uses = has_parameter(text, &one) ||
	       (found && !strspn(found + strlen(variable), NAME_BYTES));
	strings_release(&one);
	free(variable);
	return uses;
}

char *sweep_unknown(const char *text, const struct strings *parameters)
{
	if (!has_parameter(text, parameters))
		return NULL;
	for (const char *p = text; *p; p = next_piece(p))
		if (!text_starts_with(p, "{{") && word_length(p) && !value_at(p, parameters))
			return xasprintf("%.*s", (int)word_length(p), p + 1);
	return NULL;
}
