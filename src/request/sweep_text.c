/* sweep_text.c - put the values of parameters into texts. */
#include "sweep_text.h"

#include <stdlib.h>
#include <string.h>

#include "pollux/mem.h"
#include "pollux/template.h"
#include "pollux/text.h"

static const char *value_of(const struct strings *parameters, const struct piece *piece)
{
	for (size_t i = 0; piece->word && i < parameters->count; i++)
		if (!strncmp(parameters->items[i], piece->word, piece->word_length) &&
		    parameters->items[i][piece->word_length] == '=')
			return parameters->items[i] + piece->word_length + 1;
	return NULL;
}

static bool knows_nothing(const char *word, size_t length)
{
	(void)word;
	(void)length;
	return false;
}

/* True if the piece is put in later. */
static bool is_for_later(const struct piece *piece,
			 bool (*knows)(const char *word, size_t length))
{
	return piece->word && knows(piece->word, piece->word_length);
}

/* Adds the collected text, of which nothing is put in later. */
static void flush(struct text *literal, bool (*knows)(const char *word, size_t length),
		  struct text *out)
{
	braces_escape(literal->data, knows, out);
	text_release(literal);
	text_init(literal);
}

void sweep_put(const char *text, enum sweep_text kind, const struct strings *parameters,
	       struct text *out)
{
	bool (*knows)(const char *, size_t) = kind == SWEEP_TEMPLATE ? template_knows
		: kind == SWEEP_WITH_JOB ? braces_knows_job : knows_nothing;
	struct braces b = braces_in(text);
	struct text literal = TEXT_INIT;
	struct piece piece;

	while (braces_next(&b, &piece)) {
		const char *value = value_of(parameters, &piece);

		if (is_for_later(&piece, knows)) {
			flush(&literal, knows, out);
			text_add_bytes(out, piece.text, piece.length);
		} else if (value && piece.doubled) {
			text_add_bytes(&literal, piece.text + 1, piece.length - 2);
		} else if (value) {
			text_add(&literal, value);
		} else {
			text_add_bytes(&literal, piece.text, piece.length);
		}
	}
	flush(&literal, knows, out);
	text_release(&literal);
}

bool sweep_uses(const char *text, const char *name)
{
	char *variable = xasprintf("POLLUX_PARAM_%s", name);
	const char *found = strstr(text, variable);
	bool uses = found && !braces_word_goes_on(found + strlen(variable));
	struct braces b = braces_in(text);
	struct piece piece;

	while (!uses && braces_next(&b, &piece))
		uses = !piece.doubled && piece_is(&piece, name);
	free(variable);
	return uses;
}
