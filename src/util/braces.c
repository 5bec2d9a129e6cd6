/* braces.c - see braces.h. */
#include "pollux/braces.h"

#include <stdlib.h>
#include <string.h>

static size_t word_length(const char *text)
{
	return strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
}

struct braces braces_in(const char *text)
{
	return (struct braces){ text, text };
}

/* True if {word} or, with n = 2, {{word}} begins here. */
static bool take_word(const char *at, size_t n, struct piece *piece)
{
	size_t length = strncmp(at, "{{", n) ? 0 : word_length(at + n);

	if (length == 0 || strncmp(at + n + length, "}}", n) != 0)
		return false;
	*piece = (struct piece){
		.text = at, .length = length + 2 * n,
		.word = at + n, .word_length = length, .doubled = n == 2,
	};
	return true;
}

bool braces_word_goes_on(const char *text)
{
	return word_length(text) > 0;
}

bool braces_next(struct braces *b, struct piece *piece)
{
	const char *at = b->at;
	bool is_of_shell = at > b->start && at[-1] == '$';

	if (!*at)
		return false;
	if (!take_word(at, 2, piece) && (is_of_shell || !take_word(at, 1, piece)))
		*piece = (struct piece){ .text = at, .length = 1 + strcspn(at + 1, "{") };
	b->at += piece->length;
	return true;
}

bool piece_is(const struct piece *piece, const char *word)
{
	return piece->word && strlen(word) == piece->word_length &&
	       !memcmp(word, piece->word, piece->word_length);
}

void braces_escape(const char *text, bool (*knows)(const char *word, size_t length),
		   struct text *out)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece)) {
		bool known = piece.word && knows(piece.word, piece.word_length);

		text_add(out, known ? "{" : "");
		text_add_bytes(out, piece.text, piece.length);
		text_add(out, known ? "}" : "");
	}
}

bool braces_knows_job(const char *word, size_t length)
{
	return length == strlen("job") && !strncmp(word, "job", length);
}

bool braces_have_job(const char *text)
{
	struct braces b = braces_in(text);
	struct piece piece;

	while (braces_next(&b, &piece))
		if (piece_is(&piece, "job"))
			return true;
	return false;
}

char *braces_put_job(const char *text, int64_t job_id)
{
	struct braces b = braces_in(text);
	struct text out = TEXT_INIT;
	struct piece piece;

	while (braces_next(&b, &piece)) {
		if (!piece_is(&piece, "job"))
			text_add_bytes(&out, piece.text, piece.length);
		else if (piece.doubled)
			text_add(&out, "{job}");
		else
			text_addf(&out, "%lld", (long long)job_id);
	}
	return text_detach(&out);
}

bool braces_name_is(const char *template, int64_t job_id, const char *name)
{
	char *made = braces_put_job(template, job_id);
	bool same = !strcmp(made, name);

	free(made);
	return same;
}
